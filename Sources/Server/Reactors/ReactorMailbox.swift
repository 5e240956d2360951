import Basics
import Delivery
import Synchronization
import Transport

/// What other threads have for a reactor: handed over in one piece, with one wake-up for all of it.
struct Parcel: Sendable {
    /// For partitions of the reactor, by their addresses; those without an address are for all.
    var events: [Event] = []
    /// What the store reports to partitions of the reactor.
    var reports: [StoreReport] = []
    /// For sessions of the reactor, in order per connection.
    var commands: [(ConnectionID, SessionCommand)] = []
    /// Slow control-plane work that must run on the reactor's thread.
    var jobs: [@Sendable (ReactorHost) -> Void] = []

    /// Whether there is nothing in it.
    var isEmpty: Bool { events.isEmpty && reports.isEmpty && commands.isEmpty && jobs.isEmpty }

    /// Pieces in it.
    var count: Int { events.count + reports.count + commands.count + jobs.count }

    /// Takes over the pieces of another one; copies nothing where this one is empty.
    mutating func take(_ other: consuming Parcel) {
        if isEmpty {
            self = other
            return
        }
        events.append(contentsOf: other.events)
        reports.append(contentsOf: other.reports)
        commands.append(contentsOf: other.commands)
        jobs.append(contentsOf: other.jobs)
    }
}

extension [ReactorMailbox] {
    /// Asks every reactor, each on its own thread; the answers arrive at the latches, in the order of the reactors.
    func ask<Answer: Sendable>(_ question: @escaping @Sendable (ReactorHost) -> Answer) -> [Latch<Answer>] {
        map { mailbox in
            let latch = Latch<Answer>()
            mailbox.post { host in latch.fulfil(question(host)) }
            return latch
        }
    }
}

/// The door by which other threads reach a reactor.
final class ReactorMailbox: Sendable {
    private struct Inbox {
        var parcel = Parcel()
        var isAwake = false
    }

    private let inbox = Mutex(Inbox())
    private let depth = Atomic<Int>(0)
    private let handle: ReactorHandle

    /// A mailbox that wakes this reactor.
    init(handle: ReactorHandle) { self.handle = handle }

    /// Whether so much waits that producers should press back on their connections (`Limits.Connection.reactorMailbox`).
    ///
    /// Nothing is refused: what a connection may have under way is bounded by its window, so the overrun is as well.
    var isPressed: Bool { depth.load(ordering: .relaxed) > Limits.Connection.reactorMailbox }

    /// Hands over a parcel; any thread.
    func post(_ parcel: Parcel) {
        depth.add(parcel.count, ordering: .relaxed)
        let mustWake = inbox.withLock { inbox in
            inbox.parcel.take(parcel)
            defer { inbox.isAwake = true }
            return !inbox.isAwake
        }
        if mustWake { handle.wake() }
    }

    /// Runs a job on the reactor's thread; any thread.
    func post(_ job: @escaping @Sendable (ReactorHost) -> Void) {
        var parcel = Parcel()
        parcel.jobs.append(job)
        post(parcel)
    }

    /// Takes all that waits; the reactor's thread only.
    func takeAll() -> Parcel {
        let parcel = inbox.withLock { inbox in
            var taken = Parcel()
            swap(&taken, &inbox.parcel)
            inbox.isAwake = false
            return taken
        }
        depth.subtract(parcel.count, ordering: .relaxed)
        return parcel
    }
}
