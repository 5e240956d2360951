import Basics
import Delivery

/// The partitions of one reactor, with their effects in the current turn.
///
/// Only partitions with an event in a turn are visited, so an idle partition costs nothing.
final class ReactorPartitions {
    /// A partition with its effects.
    final class Hosted {
        let number: Int
        var core: Partition
        /// The events of the current turn that wait for the end of their turn's input.
        fileprivate var events: [Event] = []
        /// The effects of the current turn; empty between turns.
        var effects: Effects {
            _read { yield core.effects }
            _modify { yield &core.effects }
        }
        /// Whether the partition had an event in this turn.
        fileprivate var isActive = false
        /// What the partition is to this node. Once it leaves, it gets only the reports for what it has asked the store.
        fileprivate(set) var presence = Presence.serving
        /// Batches and queries without a report.
        fileprivate var openRequests = 0
        /// The lease of this node and what may pass by it; `nil` without a cluster.
        fileprivate var leased: (lease: PartitionLease, gate: OutputGate)?

        /// What a partition is to its node.
        enum Presence {
            case serving
            /// Another node is to own it.
            case leaving
            /// The lease was surrendered: another node may decide.
            case surrendered
        }

        /// Whether another node is to own the partition.
        var isLeaving: Bool { presence != .serving }

        fileprivate init(
            _ number: Int, _ core: consuming Partition,
            _ leased: (lease: PartitionLease, gate: OutputGate)? = nil
        ) {
            self.number = number
            self.core = core
            self.leased = leased
        }

        /// Holds back what may not go out now, and adds what has waited for that. Returns until when the rest may go out.
        func passGate() -> Instant {
            guard let lease = leased?.lease else { return .distantFuture }
            let until = passGate(lease)
            guard leased?.gate.isHolding == true else { return until }
            lease.wait()
            // It may have been confirmed meanwhile.
            return Now.read().monotonic < lease.until ? passGate(lease) : .distantFuture
        }

        private func passGate(_ lease: PartitionLease) -> Instant {
            let standing: OutputGate.Standing =
                switch presence {
                case .serving: .owned(until: lease.until)
                case .leaving: .leaving(until: lease.until)
                case .surrendered: .lost
                }
            // Read for each partition, as late as possible: the process may have stood still since the turn began.
            return leased?.gate.pass(&effects, standing, now: Now.read().monotonic) ?? .distantFuture
        }

        /// Whether there are commands for sessions or events for other partitions.
        var hasOutput: Bool { !effects.commands.isEmpty || !effects.forwards.isEmpty }

        /// Removes and returns commands and forwarded events, with their storage.
        func takeOutput() -> (commands: [(ConnectionID, SessionCommand)], forwards: [Event]) {
            var output: (commands: [(ConnectionID, SessionCommand)], forwards: [Event]) = ([], [])
            swap(&output.commands, &effects.commands)
            swap(&output.forwards, &effects.forwards)
            return output
        }

        /// Returns the storage for reuse, unless there are new effects.
        func giveBack(_ commands: inout [(ConnectionID, SessionCommand)], _ forwards: inout [Event]) {
            if effects.commands.isEmpty {
                commands.removeAll(keepingCapacity: true)
                swap(&commands, &effects.commands)
            }
            if effects.forwards.isEmpty {
                forwards.removeAll(keepingCapacity: true)
                swap(&forwards, &effects.forwards)
            }
        }
    }

    /// The number of the first partition.
    private let first: Int
    /// The clock whose time the partitions get.
    private let clock: ClockStatus
    /// The partitions of this reactor's range that this node owns.
    private var all: [Hosted?]
    /// The partitions with an event in this turn, in the order of their first event.
    private(set) var active: [Hosted] = []

    /// Creates the partitions of a range, which may be empty. `make` returns `nil` for those that another node owns.
    init(_ range: Range<Int>, clock: ClockStatus = ClockStatus(), make: (Int) -> Partition?) {
        first = range.lowerBound
        self.clock = clock
        all = range.map { number in
            if let core = make(number) { Hosted(number, core) } else { nil }
        }
        active.reserveCapacity(all.count)
    }

    /// The number of partitions of the range.
    var count: Int { all.count }

    /// The first partition, which represents all where they must agree; `nil` if there are no partitions.
    var leader: Hosted? { all.lazy.compactMap { $0 }.first }

    /// Handles a report of the store to a partition of this reactor at once. A partition that has left gets none.
    func handle(report event: consuming Event, of partition: Int, now: Now) {
        guard let hosted = all[partition - first] else { return }
        hosted.openRequests -= 1
        handle(event, hosted, now)
    }

    /// Whether events can be queued for a partition of this reactor.
    func isServing(_ partition: Int) -> Bool { all[partition - first].map { !$0.isLeaving } ?? false }

    /// Queues an event of a partition that is being served, for `handleQueued`.
    func queue(_ event: consuming Event, of partition: Int) {
        guard let hosted = all[partition - first] else { return }
        activate(hosted)
        hosted.events.append(consume event)
    }

    /// Handles the queued events, partition by partition. Returns whether there were any.
    ///
    /// In the order of arrival, each event would evict the state of the partition before from the processor's first cache: with 16
    /// partitions that took some 5 % of the CPU of a message.
    func handleQueued(now: Now) -> Bool {
        var hadEvents = false
        // More partitions may become active in the loop.
        var at = 0
        while at < active.count {
            let hosted = active[at]
            at += 1
            guard !hosted.events.isEmpty else { continue }
            hadEvents = true
            var events: [Event] = []
            swap(&events, &hosted.events)
            for index in events.indices {
                // Moved, not copied.
                var event = Event.partition(.tick)
                swap(&event, &events[index])
                handle(event, hosted, now)
            }
            events.removeAll(keepingCapacity: true)
            swap(&events, &hosted.events)
        }
        return hadEvents
    }

    /// Handles an event for all partitions.
    func handleInAll(_ event: Event, now: Now) {
        for case let hosted? in all { handle(event, hosted, now) }
    }

    /// Ticks one of `parts` parts of the partitions.
    func tick(_ part: Int, of parts: Int, now: Now) {
        for at in stride(from: part, to: all.count, by: parts) {
            guard let hosted = all[at], !hosted.isLeaving else { continue }
            handle(.tick, hosted, now)
        }
    }

    private func activate(_ hosted: Hosted) {
        guard !hosted.isActive else { return }
        hosted.isActive = true
        active.append(hosted)
    }

    /// Handles an event at a reading of the machine's clocks.
    private func handle(_ event: consuming Event, _ hosted: Hosted, _ now: Now) {
        activate(hosted)
        if hosted.leased?.gate.lets(in: event) == false { return }
        #if DEBUG
            let key = event.key
        #endif
        hosted.core.handle(event, now: clock.serverTime(now))
        #if DEBUG
            if let words = hosted.core.violation(of: key) { preconditionFailure(words) }
        #endif
    }

    /// Removes and returns the writes of this turn, one batch per partition with writes.
    func takeBatches() -> [PartitionBatch] {
        var batches: [PartitionBatch] = []
        for hosted in active where !hosted.effects.mutations.isEmpty {
            if let batch = hosted.core.endTurn() {
                hosted.openRequests += 1
                batches.append(PartitionBatch(partition: hosted.number, batch))
            }
        }
        return batches
    }

    /// Removes and returns the deliveries to the APNs gateway of this turn.
    func takeDeliveries() -> [GatewayDelivery] {
        var deliveries: [GatewayDelivery] = []
        for hosted in active where !hosted.effects.deliveries.isEmpty {
            deliveries.append(contentsOf: hosted.effects.deliveries)
            hosted.effects.deliveries.removeAll(keepingCapacity: true)
        }
        return deliveries
    }

    /// Removes and returns the orders to webhooks of this turn. Those of a partition that leaves are dropped: it has no sessions.
    func takeWebhookOrders() -> [WebhookOrder] {
        var orders: [WebhookOrder] = []
        for hosted in active where !hosted.effects.webhooks.isEmpty {
            if !hosted.isLeaving { orders.append(contentsOf: hosted.effects.webhooks) }
            hosted.effects.webhooks.removeAll(keepingCapacity: true)
        }
        return orders
    }

    /// Removes and returns the store queries of this turn.
    func takeLoads() -> [PartitionQuery] {
        var loads: [PartitionQuery] = []
        for hosted in active where !hosted.effects.loads.isEmpty {
            hosted.openRequests += hosted.effects.loads.count
            for load in hosted.effects.loads { loads.append(PartitionQuery(partition: hosted.number, load)) }
            hosted.effects.loads.removeAll(keepingCapacity: true)
        }
        return loads
    }

    /// Ends the turn, after all effects have been applied.
    func endTurn() {
        for hosted in active {
            assert(!hosted.hasOutput && hosted.effects.mutations.isEmpty, "effects are left over")
            hosted.isActive = false
        }
        active.removeAll(keepingCapacity: true)
    }

    // MARK: Taking and leaving

    /// Begins to serve a partition of the range, one of `count`, that is not there.
    func take(_ partition: Int, of count: Int, _ core: consuming Partition, _ lease: PartitionLease) {
        precondition(all[partition - first] == nil, "a partition is taken that has not left")
        all[partition - first] = Hosted(
            partition, core, (lease, OutputGate(partition: partition, of: count)))
    }

    /// Looks at what waits for the lease of a partition.
    func leaseRenewed(_ partition: Int) {
        if let hosted = all[partition - first] { activate(hosted) }
    }

    /// Lets no decision of a partition out any more: another node may decide.
    func surrender(_ partition: Int) { all[partition - first]?.presence = .surrendered }

    /// Stops serving a partition; it stays until all its requests to the store have been answered. Returns what the webhooks must
    /// forget.
    func leave(_ partition: Int) -> [WebhookOrder] {
        guard let hosted = all[partition - first] else { return [] }
        if hosted.presence == .serving { hosted.presence = .leaving }
        // What waits for its lease leaves, or is answered.
        activate(hosted)
        return hosted.core.webhooksLeft()
    }

    /// Removes the partitions that have left, and returns them. Called between turns.
    func removeLeft() -> [Int] {
        var left: [Int] = []
        for at in all.indices {
            guard let hosted = all[at], hosted.isLeaving, hosted.openRequests == 0 else { continue }
            all[at] = nil
            left.append(first + at)
        }
        return left
    }

    /// Calls a closure with each partition, for queries of operators.
    func forEach(_ body: (borrowing Partition) -> Void) {
        for case let hosted? in all { body(hosted.core) }
    }

    /// Calls a closure with a partition of this reactor. Returns `nil` if the partition belongs to another one.
    func query<Answer>(_ partition: Int, _ body: (borrowing Partition) -> Answer) -> Answer? {
        guard all.indices.contains(partition - first), let hosted = all[partition - first] else { return nil }
        return body(hosted.core)
    }

    /// Returns up to `limit` messages to topics that are being sent, and the number of all.
    func runningTopics(limit: Int) -> (jobs: [TopicJob], count: Int) {
        var found: (jobs: [TopicJob], count: Int) = ([], 0)
        for case let hosted? in all {
            let running = hosted.core.runningTopics(limit: limit)
            found.jobs += running.jobs
            found.count += running.count
        }
        found.jobs = Array(found.jobs.sorted { $0.name < $1.name }.prefix(limit))
        return found
    }
}
