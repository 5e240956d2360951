import Basics
import Transport

/// What a receiver says and hears in one protocol: no books, no clock.
protocol ReceiverTalk {
    /// What such a connection is called in reports.
    static var what: String { get }
    /// Whether it is logged in.
    var isReady: Bool { get }
    /// Writes what the login begins with.
    mutating func begin(_ outbox: inout Outbox)
    /// Takes bytes, cut anywhere: goes on with the login, tells when each message was due that has come, and writes what
    /// acknowledges it.
    mutating func take(
        _ bytes: RawSpan, _ outbox: inout Outbox, _ arrived: (Int64) -> Void
    ) -> TalkVerdict
}

/// One connection that messages come on, whatever it speaks.
protocol Receiving: ConnectionDelegate {
    /// Breaks its connection off.
    func leave()
    /// Whether its connection is gone.
    var hasLeft: Bool { get }
}

/// One connection of the bench that messages come on: logs in, and counts what comes.
final class Receiver<Talk: ReceiverTalk>: Receiving {
    private let receivers: Receivers
    private var talk: Talk
    private let begun = Now.read().monotonic.nanoseconds
    private weak var connection: Connection?
    private var isLeaving = false
    private(set) var hasLeft = false
    /// Is told how many messages have come, where the sender waits for that.
    var onArrival: ((Int, Now) -> Void)?

    /// Counts for whom `receivers` count.
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
        let verdict = talk.take(bytes, &connection.outbox) { due in
            counters.deliveryTimes.note(instant - due)
            counters.delivered += 1
            counters.lastDelivery = instant
        }
        if !connection.outbox.isEmpty { connection.setNeedsFlush() }
        if !wasReady, talk.isReady {
            counters.ready += 1
            counters.answerTimes.note(instant - begun)
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
        receivers.counters.noteEnd(Talk.what, reason, connection.failure)
    }
}
