import Basics
import Transport

/// One app server of the bench that sends over HTTP/1.1, with as many requests on their way as its window says.
///
/// Answers come in the order of their requests; of each no more is read than its status and length.
final class HTTPLane: ConnectionDelegate, Lane {
    private weak let load: LoadRun?
    private let counters: LoadCounters
    private let requests: [Template]
    let window: Int
    private var answers = AnswerCounter()
    private var times = [Int64](repeating: 0, count: 4_096)
    private var next = 0
    private(set) var outstanding = 0
    private var target: Int
    private weak var connection: Connection?

    /// Sends one of `requests` after the other, beginning with `first`; the window is at most 4,096.
    init(_ load: LoadRun, requests: [Template], window: Int, first: Int) {
        self.load = load
        counters = load.counters
        self.requests = requests
        self.window = window
        target = first
    }

    func send(dueAt time: Int64) {
        guard let connection else { return }
        times[next & 4_095] = time
        requests[target].append(number: next, time: time, to: &connection.outbox)
        target = target + 1 == requests.count ? 0 : target + 1
        next += 1
        outstanding += 1
    }

    func flush() { connection?.setNeedsFlush() }

    func connectionOpened(_ connection: Connection, now: Now) {
        self.connection = connection
        counters.ready += 1
    }

    func connection(_ connection: Connection, received bytes: RawSpan, now: Now) {
        let instant = now.monotonic.nanoseconds
        var answered = 0
        var isRefused = Bytes.contains(bytes, "\"failure\":1")
        answers.count(bytes) { status in
            counters.answerTimes.note(instant - times[(next - outstanding + answered) & 4_095])
            answered += 1
            if status != 200 { isRefused = true }
        }
        guard answered > 0 else { return }
        if isRefused {
            counters.refused += answered
            if counters.refusal.isEmpty {
                counters.refusal = String(decoding: [UInt8](copying: bytes), as: UTF8.self)
            }
        } else {
            counters.acknowledged += answered
        }
        outstanding -= answered
        load?.answered(self, now: now)
    }

    func connection(_ connection: Connection, outboundIsCongested: Bool, now: Now) {}
    func connectionDeadline(_ connection: Connection, now: Now) {}

    func connectionClosed(_ connection: Connection, reason: CloseReason, now: Now) {
        counters.noteEnd("HTTP", reason, connection.failure)
    }
}

/// Counts answers of HTTP/1.1 that say their length, as those of ccsd do.
struct AnswerCounter {
    /// A head that is not whole yet.
    private var head: [UInt8] = []
    /// Octets of a body that are still to come, and the status of its answer.
    private var rest = 0
    private var status = 0

    /// Takes the next octets, cut anywhere; calls `found` with the status of each answer that is whole.
    mutating func count(_ bytes: RawSpan, _ found: (_ status: Int) -> Void) {
        var at = 0
        while at < bytes.byteCount {
            if rest > 0 {
                let part = min(rest, bytes.byteCount - at)
                rest -= part
                at += part
                if rest == 0 { found(status) }
                continue
            }
            let known = head.count
            if known > 0 {
                // Rare: a head that was cut. Its end may be cut as well.
                head += [UInt8](copying: bytes.extracting(at..<bytes.byteCount))
                let whole = head
                guard let end = Bytes.offset(of: "\r\n\r\n", in: whole.raw) else { return }
                read(whole.raw.extracting(0..<end))
                at += end + 4 - known
                head = []
            } else {
                guard let end = Bytes.offset(of: "\r\n\r\n", in: bytes, from: at) else {
                    head = [UInt8](copying: bytes.extracting(at..<bytes.byteCount))
                    return
                }
                read(bytes.extracting(at..<end))
                at = end + 4
            }
            if rest == 0 { found(status) }
        }
    }

    private mutating func read(_ head: RawSpan) {
        status = number(in: head, at: 9)
        let mark: StaticString = "\r\nContent-Length: "
        rest = Bytes.offset(of: mark, in: head).map { number(in: head, at: $0 + mark.utf8CodeUnitCount) } ?? 0
    }

    private func number(in bytes: RawSpan, at start: Int) -> Int {
        var value = 0
        var at = start
        while at < bytes.byteCount, value < 1 << 40, case let digit = bytes.byte(at: at),
            (0x30...0x39).contains(digit)
        {
            value = value * 10 + Int(digit - 0x30)
            at += 1
        }
        return value
    }
}
