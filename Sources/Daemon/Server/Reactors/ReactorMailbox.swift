import Basics
import Delivery
import Synchronization
import Transport

/// Work from other threads for a reactor.
struct Parcel: ThreadParcel {
    /// Events for partitions of the reactor, by key; those without a key are for all partitions.
    var events: [Event] = []
    /// Until when the commands may be performed: the end of the leases by which they were decided.
    var validUntil = Instant.distantFuture
    /// Reports of the store to partitions of the reactor.
    var reports: [StoreReport] = []
    /// Commands for sessions of the reactor, in order per connection.
    var commands: [(ConnectionID, SessionCommand)] = []
    /// Control-plane work that must run on the reactor's thread.
    var jobs: [@Sendable (ReactorHost) -> Void] = []
    /// How many events the jobs have: they count for backpressure as well.
    var eventsOfJobs = 0

    init() {}

    /// Creates a parcel of events or of reports.
    init(events: [Event] = [], reports: [StoreReport] = []) {
        self.events = events
        self.reports = reports
    }

    /// Creates a parcel of what another reactor passes on.
    init(_ crossing: consuming Crossing) {
        events = crossing.events
        commands = crossing.commands
        validUntil = crossing.validUntil
    }

    var isEmpty: Bool {
        events.isEmpty && reports.isEmpty && commands.isEmpty && jobs.isEmpty
    }

    /// The number of items.
    var count: Int { events.count + reports.count + commands.count + jobs.count + eventsOfJobs }

    /// Appends the items of another parcel, without copying if this one is empty.
    mutating func append(_ other: consuming Parcel) {
        if isEmpty {
            self = other
            return
        }
        events.append(contentsOf: other.events)
        validUntil = min(validUntil, other.validUntil)
        reports.append(contentsOf: other.reports)
        commands.append(contentsOf: other.commands)
        jobs.append(contentsOf: other.jobs)
        eventsOfJobs += other.eventsOfJobs
    }
}

extension [ReactorMailbox] {
    /// Runs a query on every reactor's thread. Returns the latches of the answers, in the order of the reactors.
    func ask<Answer: Sendable>(_ question: @escaping @Sendable (ReactorHost) -> Answer) -> [Latch<Answer>] {
        map { mailbox in
            let latch = Latch<Answer>()
            mailbox.post { host in latch.fulfil(question(host)) }
            return latch
        }
    }
}

/// The mailbox of a reactor, and its length.
final class ReactorMailbox: Sendable {
    private let mailbox: ThreadMailbox<Parcel>
    private let depth = Atomic<Int>(0)

    /// Creates a mailbox that wakes this reactor.
    init(handle: ReactorHandle) { mailbox = ThreadMailbox(waking: handle) }

    /// Whether the queue is so long that producers should pause reading (backpressure, `Limits.Connection.reactorMailbox`).
    ///
    /// Nothing is refused: the window of each connection limits its messages in flight, and so the overrun.
    var hasBackpressure: Bool { depth.load(ordering: .relaxed) > Limits.Connection.reactorMailbox }

    /// Adds a parcel; can be called on any thread.
    func post(_ parcel: Parcel) {
        depth.add(parcel.count, ordering: .relaxed)
        mailbox.add { $0.append(parcel) }
    }

    /// Runs a job on the reactor's thread; can be called on any thread.
    func post(_ job: @escaping @Sendable (ReactorHost) -> Void) {
        var parcel = Parcel()
        parcel.jobs.append(job)
        post(parcel)
    }

    /// Removes and returns all queued work; only on the reactor's thread.
    func takeAll() -> Parcel {
        let parcel = mailbox.takeAll()
        depth.subtract(parcel.count, ordering: .relaxed)
        return parcel
    }
}
