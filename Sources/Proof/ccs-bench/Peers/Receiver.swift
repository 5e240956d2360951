import Basics
import Transport

/// The receiving side of one protocol, without counters and clock.
protocol ReceiverTalk {
    /// The name of such a connection in reports.
    static var what: String { get }
    /// Whether it is logged in.
    var isReady: Bool { get }
    /// Writes the start of the login.
    mutating func begin(_ outbox: inout Outbox)
    /// Consumes bytes, split anywhere: continues the login, calls `due` with the time at which each received message was due,
    /// and writes acknowledgements.
    mutating func consume(
        _ bytes: RawSpan, _ outbox: inout Outbox, _ arrived: (Int64) -> Void
    ) -> TalkVerdict
}

/// A connection that receives messages in any protocol.
protocol Receiving: ConnectionDelegate {
    /// Breaks the connection off.
    func leave()
    /// Whether the connection is closed.
    var hasLeft: Bool { get }
}

/// A receiving connection of the bench: logs in, and counts messages.
final class Receiver<Talk: ReceiverTalk>: Receiving {
    private let receivers: Receivers
    private var talk: Talk
    private let begun = Now.read().monotonic.nanoseconds
    private weak var connection: Connection?
    private var isLeaving = false
    private(set) var hasLeft = false
    /// Called with the number of messages that have arrived, if the sender waits for that.
    var onArrival: ((Int, Now) -> Void)?

    /// Creates a receiver that counts for the load of `receivers`.
    init(_ receivers: Receivers, _ talk: Talk) {
        self.receivers = receivers
        self.talk = talk
    }

    func leave() {
        isLeaving = true
        connection?.abort(.peerReset)
    }

    func connectionOpened(_ connection: Connection, now: Now) {
        self.connection = connection
        if connection.tlsIsResumed { receivers.counters.resumed += 1 }
        talk.begin(&connection.outbox)
        if !connection.outbox.isEmpty { connection.setNeedsFlush() }
    }

    func connection(_ connection: Connection, received bytes: RawSpan, now: Now) {
        let instant = now.monotonic.nanoseconds
        let counters = receivers.counters
        let wasReady = talk.isReady
        let before = counters.delivered
        let verdict = talk.consume(bytes, &connection.outbox) { due in
            counters.deliveryTimes.record(instant - due)
            counters.delivered += 1
            counters.lastDelivery = instant
        }
        if !connection.outbox.isEmpty { connection.setNeedsFlush() }
        if !wasReady, talk.isReady {
            counters.ready += 1
            counters.answerTimes.record(instant - begun)
        }
        if case .failed(let words) = verdict { counters.failures.append(words) }
        let arrived = counters.delivered - before
        if arrived > 0 { onArrival?(arrived, now) }
    }

    func connection(_ connection: Connection, outboundIsCongested: Bool, now: Now) {}
    func connectionDeadline(_ connection: Connection, now: Now) {}

    func connectionClosed(_ connection: Connection, reason: CloseReason, now: Now) {
        hasLeft = true
        guard !isLeaving else { return }
        receivers.counters.recordEnd(Talk.what, reason, connection.failure)
    }
}
