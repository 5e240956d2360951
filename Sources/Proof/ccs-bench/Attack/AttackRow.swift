import Basics
import Wire

/// The result of one attack, and its consequences for good peers.
struct AttackRow {
    /// Counts of the good peers' messages.
    struct Books: Equatable {
        var sent = 0
        var acknowledged = 0
        var refused = 0
        var delivered = 0
        /// Good peers' connections that ended, with the reason.
        var ended: [String] = []

        /// Subtracts the counts at the start.
        mutating func since(_ start: Books) {
            sent -= start.sent
            acknowledged -= start.acknowledged
            refused -= start.refused
            delivered -= start.delivered
        }
    }

    /// The daemon's resident memory, in KiB.
    struct Memory: Equatable {
        var before = 0
        var peak = 0
        var after = 0
    }

    let name: String
    /// Hostile connections that were started, and how many of them reached their flood.
    var connections = 0
    var flooding = 0
    /// Blocks and bytes that they sent; for signals their number.
    var blocks = 0
    var bytes = 0
    /// The required effects, and how often they occurred.
    var reached: [AttackReach] = []
    /// What ccsd did and how often: close reasons and responses.
    var actions: [(word: String, count: Int)] = []
    var books = Books()
    var before = Latencies(Histogram())
    var during = Latencies(Histogram())
    var memory = Memory()
    /// Other violations, as text.
    var breaches: [String] = []
    /// Whether a new app server, a new request and the control socket are served after the attack.
    var isServing = true
    /// Whether ccsd is still the process that was attacked.
    var isRunning = true

    /// KiB by which memory may exceed its initial value: what the allocator and OpenSSL keep for the next storm.
    static let toleranceKiB = 32_768
    /// Bytes that each good message may leave in memory for a while: the store's memtables contain it, its removal and its
    /// counts until they are flushed. The row `none` shows about 300.
    static let bytesPerGoodMessage = 1_024

    /// Returns the KiB by which memory may exceed its initial value, after a number of good messages.
    func allowedKiB(_ messages: Int) -> Int { Self.toleranceKiB + Self.storedKiB(messages) }

    /// Returns the KiB that a number of good messages may use: at most the size of all memtables.
    static func storedKiB(_ messages: Int) -> Int {
        min(messages * bytesPerGoodMessage, Limits.Store.writeBuffersBytes) / 1_024
    }

    /// All faults; empty if ccsd has withstood the attack.
    var faults: [String] {
        var found = breaches
        if !isRunning { found.append("ccsd has ended") }
        if !isServing { found.append("ccsd no longer serves new peers") }
        if books.acknowledged == 0 { found.append("no good message was accepted") }
        let lost = books.acknowledged - books.delivered
        if lost > 0 { found.append("\(lost) acknowledged messages lost") }
        if lost < 0 { found.append("\(-lost) messages were delivered twice") }
        if books.refused > 0 { found.append("\(books.refused) good messages refused") }
        let unanswered = books.sent - books.acknowledged - books.refused
        if unanswered > 0 { found.append("\(unanswered) good messages were not acknowledged") }
        if !books.ended.isEmpty {
            found.append("good connections ended: " + books.ended.joined(separator: ", "))
        }
        if memory.after > memory.before + allowedKiB(books.acknowledged) {
            found.append("\(memory.after - memory.before) KiB of memory were not returned")
        }
        if name != Attack.baseline, reached.isEmpty {
            found.append("nothing shows that the attack took place")
        }
        for reach in reached where reach.isMissing {
            found.append(
                "the attack reached \(reach.word) \(reach.count) times, expected at least \(reach.floor)")
        }
        return found
    }

    /// Returns the faults of all rows together.
    static func faults(of rows: [AttackRow]) -> [String] {
        var found = rows.flatMap { row in row.faults.map { "\(row.name): \($0)" } }
        if rows.isEmpty { found.append("no attack was run") }
        // The remainders of all attacks must not add up.
        if let first = rows.first, let last = rows.last {
            let messages = rows.reduce(0) { $0 + $1.books.acknowledged }
            let growth = last.memory.after - first.memory.before
            if growth > 2 * toleranceKiB + storedKiB(messages) {
                found.append("\(growth) KiB of memory were not returned over all attacks")
            }
        }
        return found
    }

    /// Returns all rows as a table.
    static func table(_ rows: [AttackRow]) -> String {
        Table.text([head] + rows.map(\.cells), lastIsWords: true)
    }

    /// Returns the effects of each attack as a table, with the required counts.
    static func reachTable(_ rows: [AttackRow]) -> String {
        let head = ["attack", "reached", "minimum", "what"]
        return Table.text(
            [head]
                + rows.flatMap { row in
                    row.reached.map { [row.name, Figure.whole($0.count), Figure.whole($0.floor), $0.word] }
                }, lastIsWords: true)
    }

    /// The column heads of the table.
    static let head = [
        "attack", "conns", "blocks", "MB", "good p50/p99 before", "during", "lost", "MiB before/peak/after",
        "what ccsd did",
    ]

    /// The cells of the row.
    var cells: [String] {
        let mebibytes = [memory.before, memory.peak, memory.after].map { Figure.whole(Double($0) / 1_024) }
        let words = actions.map { "\($0.word) \(Figure.whole($0.count))" }.joined(separator: ", ")
        return [
            name, Figure.whole(connections), Figure.whole(blocks), Figure.fixed(Double(bytes) / 1e6, 1),
            "\(Figure.duration(before.p50))/\(Figure.duration(before.p99))",
            "\(Figure.duration(during.p50))/\(Figure.duration(during.p99))",
            Figure.whole(max(0, books.acknowledged - books.delivered)), mebibytes.joined(separator: "/"),
            (faults.isEmpty ? "" : "FAILED: \(faults.joined(separator: "; ")). ")
                + (words.isEmpty ? "nothing" : words),
        ]
    }

    var json: JSONValue {
        .object([
            .init("attack", .string(name)), .init("connections", .integer(connections)),
            .init("flooding", .integer(flooding)), .init("blocks", .integer(blocks)),
            .init("bytes", .integer(bytes)),
            .init(
                "reached",
                .array(
                    reached.map {
                        .object([
                            .init("what", .string($0.word)), .init("count", .integer($0.count)),
                            .init("floor", .integer($0.floor)),
                        ])
                    })),
            .init("actions", .object(actions.map { .init($0.word, .integer($0.count)) })),
            .init(
                "good",
                .object([
                    .init("sent", .integer(books.sent)), .init("acknowledged", .integer(books.acknowledged)),
                    .init("refused", .integer(books.refused)), .init("delivered", .integer(books.delivered)),
                ])),
            .init("before", before.json), .init("during", during.json),
            .init(
                "resident_kib",
                .object([
                    .init("before", .integer(memory.before)), .init("peak", .integer(memory.peak)),
                    .init("after", .integer(memory.after)),
                ])),
            .init("faults", .array(faults.map { .string($0) })),
        ])
    }
}

/// A fault planted into the results, which must make the command fail.
enum AttackPlant: String, CaseIterable {
    /// An acknowledged message that was never delivered.
    case loss
    /// Memory that is never returned.
    case memory
    /// New peers that are not served.
    case silence
    /// An attack that never reached ccsd.
    case absence

    /// Plants the fault into a row.
    func spoil(_ row: inout AttackRow) {
        switch self {
        case .loss: row.books.delivered -= 1
        case .memory: row.memory.after = row.memory.before + row.allowedKiB(row.books.acknowledged) + 1
        case .silence: row.isServing = false
        case .absence: row.reached = row.reached.map { AttackReach(word: $0.word, count: 0, floor: $0.floor) }
        }
    }
}
