import Basics
import Transport

/// The sending side of one protocol, without counters and clock.
protocol SenderTalk {
    /// The name of such a connection in reports.
    static var what: String { get }
    /// Whether messages may be sent.
    var isReady: Bool { get }
    /// Writes the start of the login.
    mutating func begin(_ outbox: inout Outbox)
    /// Consumes bytes, split anywhere: continues the login, or calls `found` with each acknowledgement.
    mutating func consume(
        _ bytes: RawSpan, _ outbox: inout Outbox, _ answered: (Answer) -> Void
    ) -> TalkVerdict
    /// Writes what follows a message.
    mutating func sent(_ outbox: inout Outbox)
    /// Writes what ends a batch of messages.
    mutating func endBatch(_ outbox: inout Outbox)
}

extension SenderTalk {
    /// Most protocols need nothing there.
    mutating func sent(_ outbox: inout Outbox) {}
    mutating func endBatch(_ outbox: inout Outbox) {}
}

/// The result of consuming bytes of a server.
enum TalkVerdict: Equatable {
    /// No error.
    case fine
    /// One of the responses refuses a message.
    case refused
    /// The server refused the connection; contains the text for people.
    case failed(String)
}

/// A sending connection of the bench: logs in, sends messages of its load, and counts acknowledgements.
///
/// Responses are parsed only as far as their numbers, so that the generator costs less than the server.
final class SendingLane<Talk: SenderTalk>: ConnectionDelegate, Lane {
    private weak let load: LoadRun?
    private let counters: LoadCounters
    private var talk: Talk
    private var underway: PendingMessages
    let window: Int
    var outstanding: Int { underway.outstanding }
    private weak var connection: Connection?

    /// Creates a lane that sends `messages` in turn, starting with `first`; the window is at most `PendingMessages.kept`.
    init(_ load: LoadRun, _ talk: Talk, messages: [Template], window: Int, first: Int = 0) {
        self.load = load
        counters = load.counters
        self.talk = talk
        self.window = window
        underway = PendingMessages(messages, first: first, endsRecords: !load.bench.writesBatches)
    }

    func send(dueAt time: Int64) {
        guard let connection else { return }
        underway.send(dueAt: time, to: &connection.outbox)
        talk.sent(&connection.outbox)
    }

    func flush() {
        guard let connection else { return }
        talk.endBatch(&connection.outbox)
        connection.outbox.endRecord()
        connection.setNeedsFlush()
    }

    /// Counts `count` arrived messages as acknowledged, for servers without acknowledgements.
    func arrived(_ count: Int, now: Now) {
        consume(.next(count), now.monotonic.nanoseconds)
        counters.acknowledged += count
        load?.answered(self, now: now)
    }

    func connectionOpened(_ connection: Connection, now: Now) {
        self.connection = connection
        talk.begin(&connection.outbox)
        if talk.isReady { counters.ready += 1 }
        if !connection.outbox.isEmpty { connection.setNeedsFlush() }
    }

    func connection(_ connection: Connection, received bytes: RawSpan, now: Now) {
        let instant = now.monotonic.nanoseconds
        let wasReady = talk.isReady
        let before = underway.outstanding
        let verdict = talk.consume(bytes, &connection.outbox) { consume($0, instant) }
        if !connection.outbox.isEmpty { connection.setNeedsFlush() }
        if !wasReady, talk.isReady { counters.ready += 1 }
        let answered = before - underway.outstanding
        switch verdict {
        case .fine: counters.acknowledged += answered
        case .refused:
            counters.refused += answered
            if counters.refusal.isEmpty {
                counters.refusal = String(decoding: [UInt8](copying: bytes), as: UTF8.self)
            }
        case .failed(let words): counters.failures.append(words)
        }
        if answered > 0 { load?.answered(self, now: now) }
    }

    @inline(__always)
    private func consume(_ answer: Answer, _ instant: Int64) {
        underway.consume(answer) { counters.answerTimes.record(instant - $0) }
    }

    func connection(_ connection: Connection, outboundIsCongested: Bool, now: Now) {}
    func connectionDeadline(_ connection: Connection, now: Now) {}

    func connectionClosed(_ connection: Connection, reason: CloseReason, now: Now) {
        counters.recordEnd(Talk.what, reason, connection.failure)
    }
}
