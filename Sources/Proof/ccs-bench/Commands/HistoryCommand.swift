import Basics
import Catalogue
import Operator
import Transport
import Wire

extension Bench {
    /// Measures how long an operator waits for answers from a history of many messages.
    func history() throws(BenchError) {
        let target = try DaemonTarget(
            self, reactors: reactors,
            flags: ["--history-hours", "48", "--history-bytes", "\(1 << 40 as Int)"])
        target.stop()
        let count = invocation.integer("--messages") ?? 10_000_000
        let (written, size) = try writeHistory(count, to: target.dataDirectory + "/history")
        try target.startAgain()
        var rows: [HistoryFigures] = []
        for question in HistoryQuestion.allCases {
            rows.append(try ask(question, of: written, target))
        }
        let table = Table.text(
            [["question", "p50", "p99", "longest", "found"]] + rows.map(\.row), lastIsWords: false)
        let json = JSONValue.object([
            .init("messages", .integer(count)), .init("bytes", .integer(size.bytes)),
            .init("files", .integer(size.files)), .init("questions", .array(rows.map(\.json))),
        ])
        let each = Figure.fixed(Double(size.bytes) / Double(count), 1)
        printResult(
            "\(Figure.whole(count)) messages: \(each) bytes each, in \(Figure.whole(size.files)) files\n\(table)\n",
            json)
        // The last messages may be the ones that still wait; all others have been written.
        guard rows.allSatisfy({ $0.found == $0.asked }) else {
            throw BenchError("not every question has found what was written")
        }
    }

    private func writeHistory(
        _ count: Int, to folder: String
    ) throws(BenchError) -> ([WrittenHistory.Message], (bytes: Int, files: Int)) {
        do throws(TransportError) {
            let history = try WrittenHistory(count, in: folder, now: Now.read().wall)
            try history.write { progress.show("messages written", $0, of: count) }
            progress.clear()
            var random = SeededRandom(seed: 1)
            let asked = (0..<HistoryQuestion.times).map { _ in
                // None that is refused: it has no persistent ID.
                let number = Int.random(in: 0..<count, using: &random)
                return history.message(number % WrittenHistory.messagesPerRefusal == 1 ? number - 1 : number)
            }
            return (asked, (history.bytes, history.files))
        } catch { throw BenchError("\(error)") }
    }

    private func ask(
        _ question: HistoryQuestion, of written: [WrittenHistory.Message], _ target: DaemonTarget
    ) throws(BenchError) -> HistoryFigures {
        var figures = HistoryFigures(question)
        for (at, message) in written.prefix(question.times).enumerated() {
            progress.show(question.rawValue, at, of: question.times)
            let begin = Now.read().monotonic
            let isFound = try question.ask(for: message, target)
            figures.note(Now.read().monotonic.nanoseconds - begin.nanoseconds, isFound: isFound)
        }
        progress.clear()
        return figures
    }
}

/// What is asked of a history.
enum HistoryQuestion: String, CaseIterable {
    case id = "message_id"
    case persistentID = "persistent ID"
    case device = "messages of a device"
    case sender = "last 50 of a sender"
    case hour = "50 before a time"
    case refused = "last one that was refused"
    case firstTotals = "totals, first question"
    case totals = "totals, later ones"

    /// How often most are asked.
    static let times = 200

    /// How often it is asked.
    var times: Int {
        switch self {
        case .firstTotals: 1
        case .refused, .totals: 20
        default: Self.times
        }
    }

    /// Asks for a message, or what it belongs to. Returns whether the answer has what was written.
    func ask(for message: WrittenHistory.Message, _ target: DaemonTarget) throws(BenchError) -> Bool {
        switch self {
        case .id: return try find(FindMessages(messageID: message.id), target) == [message.id]
        case .persistentID:
            return try find(FindMessages(messageID: message.persistentID.text), target) == [message.id]
        case .device:
            let answer = try target.control(
                ListHistory(device: .device(DeviceID(message.device)), limit: Limits.History.rows))
            return answer.messages.contains { $0.messageID == message.id }
        case .sender:
            return try !find(FindMessages(sender: SenderID(message.sender), limit: 50), target).isEmpty
        case .hour: return try !find(FindMessages(until: message.time, limit: 50), target).isEmpty
        case .refused: return try !refused(target).isEmpty
        case .firstTotals, .totals:
            return try !target.control(CountMessages(sender: nil, days: 2)).days.isEmpty
        }
    }

    /// Follows the pages until one message was found: refusals are rare.
    private func refused(_ target: DaemonTarget) throws(BenchError) -> [HistoryRow] {
        var question = FindMessages(outcome: .refused)
        while true {
            let answer = try target.control(question)
            guard answer.messages.isEmpty, let next = answer.nextBefore else { return answer.messages }
            question.before = next
        }
    }

    private func find(_ question: FindMessages, _ target: DaemonTarget) throws(BenchError) -> [String?] {
        try target.control(question).messages.map(\.messageID)
    }
}

/// How long the answers to a question took.
struct HistoryFigures {
    let question: HistoryQuestion
    private(set) var asked = 0
    private(set) var found = 0
    private var histogram = Histogram()
    private var longest: Int64 = 0

    init(_ question: HistoryQuestion) { self.question = question }

    mutating func note(_ nanoseconds: Int64, isFound: Bool) {
        asked += 1
        found += isFound ? 1 : 0
        longest = max(longest, nanoseconds)
        histogram.record(nanoseconds)
    }

    var row: [String] {
        let latencies = Latencies(histogram)
        let times = [latencies.p50, latencies.p99, Double(longest) / 1_000].map(Figure.duration)
        return [question.rawValue] + times + ["\(found) of \(asked)"]
    }

    var json: JSONValue {
        .object([
            .init("question", .string(question.rawValue)), .init("found", .integer(found)),
            .init("latency", Latencies(histogram).json),
        ])
    }
}
