import Basics
import ClusterLog
import Testing
import Wire

@testable import NATSClient

/// The machine with a server whose answers are good, failed, late, repeated, those of others, or never come. A seed repeats a run.
private final class MachineWorld {
    private let run = MachineRun()
    private var random: SeededRandom
    private var isFaulty = true
    /// Answers on their way: when they arrive, and on which connection.
    private var agenda: [(at: Instant, connection: Int, message: NATSMessage)] = []
    private var connection = 0
    /// How many records the stream has.
    private var records: UInt64 = 0
    /// Requests that are not answered yet, by a word.
    private var open: [String: Int] = [:]
    private var appended: UInt64 = 0
    private var followed: UInt64 = 0
    private(set) var forms: [String: Int] = [:]
    private(set) var problems: [String] = []

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    private func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    private func chance(_ percent: Int) -> Bool { number(0...99) < percent }

    /// Runs the world. Returns what was wrong.
    func play() -> [String] {
        run.machine.follow(5, after: .start, now: run.now)
        for _ in 0..<600 {
            ask()
            step()
        }
        isFaulty = false
        // Longer than any deadline.
        for _ in 0..<4_000 { step() }
        if !open.isEmpty { problems.append("never answered: \(open)") }
        let waits = if case .waiting? = run.machine.followers[5]?.state { true } else { false }
        if run.machine.requests.count > (waits ? 0 : 1) {
            problems.append("\(run.machine.requests.count) requests are open")
        }
        if followed != records { problems.append("followed \(followed) of \(records)") }
        return problems
    }

    private func ask() {
        switch number(0...19) {
        case 0...3:
            appended += 1
            begin("append \(appended)")
            run.append(appended)
        case 4...6:
            let position = LogPosition(UInt64(number(1...50)))
            begin("read \(position.number)")
            run.machine.read(position, of: 5, now: run.now)
        case 7:
            begin("purge 1")
            run.machine.purge(upTo: LogPosition(1), of: 5, now: run.now)
        case 8:
            begin("stream")
            run.machine.create(5, StreamSettings(replicas: 1), now: run.now)
        case 9:
            begin("stream")
            run.machine.examine(5, StreamSettings(replicas: 1), now: run.now)
        case 10 where chance(20):
            run.disconnect()
            connection += 1
            take()
            run.connect()
        case 11: run.machine.pauseFollowing(5)
        case 12...13: run.machine.resumeFollowing(5, now: run.now)
        default: break
        }
    }

    private func begin(_ word: String) { open[word, default: 0] += 1 }

    private func step() {
        if !isFaulty { run.machine.resumeFollowing(5, now: run.now) }
        for command in run.machine.commands {
            if case .publish(let payload, let to, let reply?) = command { serve(payload, to, reply) }
        }
        run.machine.commands = []
        run.pass(isFaulty ? Int64(number(0...40)) : 20)
        let due = agenda.filter { $0.at <= run.now }
        agenda.removeAll { $0.at <= run.now }
        // What a connection has on its way is lost with it.
        for entry in due where entry.connection == connection { run.receive(entry.message) }
        take()
    }

    /// Notes what the machine reports: an end of each request, and the records in order.
    private func take() {
        for event in run.machine.events {
            switch event {
            case .stored(_, let name, _), .refused(_, let name, _): ended("append \(name.number)")
            case .record(_, let position, _), .readFailed(_, let position, _):
                ended("read \(position.number)")
            case .end(_, let position): ended("read \(position.number + 1)")
            case .purged, .purgeFailed: ended("purge 1")
            case .stream, .streamFailed: ended("stream")
            case .followed(_, let position, let bytes):
                if position.number != followed + 1 || bytes != [UInt8(truncatingIfNeeded: position.number)] {
                    problems.append("followed \(position.number) after \(followed)")
                }
                followed = position.number
            case .caughtUp, .followFailed, .connected, .disconnected, .message, .attemptFailed, .warning,
                .leaving:
                break
            }
        }
        run.machine.events = []
    }

    private func ended(_ word: String) {
        guard let count = open[word] else { return problems.append("answered without a request: \(word)") }
        open[word] = count > 1 ? count - 1 : nil
    }

    // MARK: The server

    private func serve(_ payload: [UInt8], _ subject: [UInt8], _ reply: [UInt8]) {
        let subject = String(decoding: subject, as: UTF8.self)
        var answers: [NATSMessage]
        if subject.contains("DIRECT.GET") {
            answers = batch(payload, reply)
        } else if subject.contains("MSG.GET") {
            answers = [message(reply, text: record(payload))]
        } else if subject.hasPrefix("ccs.") {
            records += 1
            answers = [message(reply, text: "{\"stream\":\"CCS_5\",\"seq\":\(records)}")]
        } else if subject.contains("PURGE") {
            answers = [message(reply, text: "{\"success\":true}")]
        } else {
            answers = [
                message(reply, text: "{\"error\":{\"code\":503,\"err_code\":1,\"description\":\"x\"}}")
            ]
        }
        let form = isFaulty ? number(0...9) : 0
        switch form {
        case 1:
            note("failed")
            answers = [
                message(reply, text: "{\"error\":{\"code\":503,\"err_code\":1,\"description\":\"x\"}}")
            ]
        case 2: note("never"); answers = []
        case 3: note("twice"); answers += answers
        case 4:
            note("another's")
            answers =
                answers.map {
                    var other = $0; other.subject += Array("77".utf8); return other
                } + answers
        case 5: note("unreadable"); answers = [message(reply, text: "{")]
        case 6:
            note("no responder");
            answers = [NATSMessage(subject: reply, subscription: 1, status: 503, headers: [], payload: [])]
        default: break
        }
        var delay = Int64(number(0...30))
        if form == 7 {
            note("late")
            delay = Int64(number(500...20_000))
        }
        for answer in answers { agenda.append((run.now.advanced(milliseconds: delay), connection, answer)) }
    }

    private func note(_ form: String) { forms[form, default: 0] += 1 }

    private func message(_ reply: [UInt8], text: String) -> NATSMessage {
        NATSMessage(subject: reply, subscription: 1, payload: Array(text.utf8))
    }

    /// The answer of the leader to a read.
    private func record(_ payload: [UInt8]) -> String {
        let wanted = asked(payload)
        guard wanted <= records else {
            return "{\"error\":{\"code\":404,\"err_code\":10037,\"description\":\"no message found\"}}"
        }
        let data = Base64.text([UInt8(truncatingIfNeeded: wanted)])
        return "{\"message\":{\"seq\":\(wanted),\"data\":\"\(data)\"}}"
    }

    private func asked(_ payload: [UInt8]) -> UInt64 {
        (try? JSONValue(parsing: payload.raw))?["seq"]?.integer.map { UInt64($0) } ?? 0
    }

    /// A batch of at most five records, and its end.
    private func batch(_ payload: [UInt8], _ reply: [UInt8]) -> [NATSMessage] {
        let first = asked(payload)
        guard first <= records else {
            return [NATSMessage(subject: reply, subscription: 1, status: 404, headers: [], payload: [])]
        }
        let last = min(records, first + 4)
        var batch = (first...last).map { number in
            NATSMessage(
                subject: reply, subscription: 1,
                headers: Array(
                    "NATS/1.0\r\nNats-Sequence: \(number)\r\nNats-Num-Pending: \(records - number)\r\n\r\n"
                        .utf8),
                payload: [UInt8(truncatingIfNeeded: number)])
        }
        // One of them may be lost on the way.
        if isFaulty, chance(10) { batch.remove(at: number(0...batch.count - 1)) }
        let headers = "NATS/1.0 204\r\nNats-Num-Pending: \(records - last)\r\n\r\n"
        return batch + [
            NATSMessage(
                subject: reply, subscription: 1, status: 204, headers: Array(headers.utf8), payload: [])
        ]
    }
}

/// `JetStreamMachine` with every form of answer.
@Suite("the client of JetStream in the simulation") struct MachineSimulationTests {
    @Test("every request ends once, every record is followed once and in order, and nothing is left open")
    func seeds() {
        var forms: [String: Int] = [:]
        for seed in 0..<25 as Range<UInt64> {
            let world = MachineWorld(seed: seed)
            let found = world.play()
            #expect(found.isEmpty, "seed \(seed): \(found.prefix(5))")
            forms.merge(world.forms) { $0 + $1 }
        }
        #expect(forms.count == 7 && forms.values.allSatisfy { $0 >= 20 }, "\(forms)")
    }
}
