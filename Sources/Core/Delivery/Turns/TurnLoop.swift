public import Basics

/// The turns of one reactor: its partitions, and the ways of events and commands between them, sessions, other reactors and other nodes.
///
/// Pure: the shell passes in what has arrived (`handle(report:of:now:)`, `accept`, `answer`), has its sessions perform commands until there
/// are none (`next`, `nextSession`, `giveBack`), and does what the turn wants done (`takeEffects`, `outgoing`, `elsewhere`). Then it ends the
/// turn (`endTurn`). The reactors of the daemon and the simulation are such shells.
///
/// Only partitions with an event in a turn are visited, so an idle partition costs nothing.
public final class TurnLoop {
    /// Handles an event of a partition in place of the loop, and may look at what comes of it.
    public typealias Witness = (consuming Event, HostedPartition, Now) -> Void

    /// The number of the reactor.
    public let index: Int
    /// The assignment of partitions to reactors.
    public let map: PartitionMap
    /// The node that the IDs of connections name; 0 without a cluster.
    let node: UInt16
    /// Reads the monotonic clock, for leases; `nil` without a cluster.
    let leaseTime: (() -> Instant)?
    /// Handles events in place of the loop, in tests; `nil` in the daemon.
    public var witness: Witness?

    /// The number of the first partition.
    let first: Int
    /// The partitions of this reactor's range that this node owns.
    var all: [HostedPartition?]
    /// The partitions with an event in this turn, in the order of their first event.
    public internal(set) var active: [HostedPartition] = []
    /// Which way the events of each partition go; of those of this reactor, in a cluster.
    var doors: [PartitionDoor]
    /// The partitions of this reactor that come back before the store has answered all that they had asked it before they left.
    var awaited: [Int: AwaitedPartition] = [:]
    /// The partitions that were to leave and have not.
    var leaves: [Int: Leave] = [:]
    /// The part of the partitions that ticks next.
    public private(set) var tickPart = 0

    /// What goes to the other reactors in this turn.
    public var outgoing: [Crossing]
    /// What goes to other nodes in this turn.
    public var elsewhere = Crossing()
    /// Until when the leases hold by which this turn lets decisions out.
    public internal(set) var letOutUntil = Instant.distantFuture
    /// Commands of the shell itself to sessions.
    var answers: [(ConnectionID, SessionCommand)] = []
    var effects = TurnEffects()
    var round = OutputRound()
    var topicTurns = TopicTurns()

    /// Creates the partitions of a reactor. `make` returns `nil` for those that another node owns. In a cluster, `leaseTime` reads the clock.
    public init(
        reactor index: Int, of map: PartitionMap, node: UInt16 = 0, leaseTime: (() -> Instant)? = nil,
        make: (Int) -> Partition?
    ) {
        self.index = index
        self.map = map
        self.node = node
        self.leaseTime = leaseTime
        let range = map.partitions(of: index)
        first = range.lowerBound
        all = range.map { number in
            if let core = make(number) { HostedPartition(number, core) } else { nil }
        }
        doors = Array(repeating: PartitionDoor(), count: map.partitions)
        outgoing = Array(repeating: Crossing(), count: map.reactors)
        active.reserveCapacity(all.count)
    }

    // MARK: Events

    /// Handles a report of the store to a partition of this reactor at once. A partition that has left gets none.
    public func handle(report event: consuming Event, of partition: Int, now: Now) {
        guard let hosted = all[partition - first] else { return }
        hosted.openRequests -= 1
        handle(event, hosted, now)
    }

    /// Routes an event to its partition: on this reactor at once, on another one with what crosses in this turn. An event without a key goes
    /// to all partitions of this reactor.
    ///
    /// The reactor of a partition passes on its events if another node owns it: all of them come by that way, so that none overtakes.
    public func accept(_ event: consuming Event, now: Now) {
        guard let key = event.key else { return handleInAll(event, now: now) }
        let partition = key.partition(of: map.partitions)
        let owner = map.reactor(of: partition)
        if owner != index {
            outgoing[owner].events.append(consume event)
        } else if leaseTime == nil {
            queue(consume event, of: partition)
        } else {
            pass(consume event, of: partition, isPassedBack: false)
        }
    }

    /// Sends a command to a session at the end of this turn.
    public func answer(_ command: SessionCommand, to connection: ConnectionID) {
        answers.append((connection, command))
    }

    /// Handles an event for all partitions at once.
    public func handleInAll(_ event: Event, now: Now) {
        for case let hosted? in all { handle(event, hosted, now) }
    }

    /// Ticks one part of the partitions, so that they do not all query the store at once. Returns after how many milliseconds to call it
    /// again.
    public func tick(now: Now) -> Int64 {
        let parts = min(Limits.Partition.tickParts, max(1, all.count))
        for at in stride(from: tickPart, to: all.count, by: parts) {
            guard let hosted = all[at], !hosted.isLeaving else { continue }
            handle(.tick, hosted, now)
        }
        tickPart = (tickPart + 1) % parts
        return Limits.Partition.tickMilliseconds / Int64(parts)
    }

    /// Queues an event of a partition that is being served.
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
            events.drain { (event: consuming Event) in handle(consume event, hosted, now) }
            swap(&events, &hosted.events)
        }
        return hadEvents
    }

    func activate(_ hosted: HostedPartition) {
        guard !hosted.isActive else { return }
        hosted.isActive = true
        active.append(hosted)
    }

    func handle(_ event: consuming Event, _ hosted: HostedPartition, _ now: Now) {
        activate(hosted)
        if hosted.leased?.gate.lets(in: event) == false { return }
        if let witness { return witness(event, hosted, now) }
        #if DEBUG
            let key = event.key
        #endif
        hosted.core.handle(consume event, now: now)
        #if DEBUG
            if let words = hosted.core.violation(of: key) { preconditionFailure(words) }
        #endif
    }
}
