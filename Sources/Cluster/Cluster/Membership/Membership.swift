public import Basics
import ClusterLog

/// Which nodes there are, which of them owns each partition, and what this node is to do about it.
///
/// The log decides who owns a partition; this machine decides only who tries, and when. Wrong heartbeats, lost ones and wrong clocks
/// cost a takeover, never a message.
public struct Membership: Sendable {
    /// A partition, as this node sees it.
    struct Partition: Sendable {
        /// The highest epoch that any node has reported.
        var highest = Epoch(0)
        /// When that has risen: the new owner reports itself soon.
        var rose = Instant.distantPast
        /// The node that owns it, or `nil`.
        var owner: NodeNumber?
        /// Since when the owner is unknown.
        var unownedSince: Instant?
        /// Since when another node claims it.
        var claimedSince: Instant?
        /// When this node last claimed it.
        var tried = Instant.distantPast
        /// When this node may claim it again.
        var retry = Instant.distantPast
        /// The pauses between claims since it was last owned.
        var pauses: Backoff?
        /// When this node may hand it over again.
        var handoverRetry = Instant.distantPast
        /// Up to when this node has everything that counts of it, though another node owns it.
        var knowledge = Knowledge()
    }

    /// A handover that this node has begun.
    struct Handover: Sendable {
        let partition: Int
        let successor: NodeNumber
        let since: Instant
    }

    let settings: Settings
    var random: SeededRandom
    var rendezvous: Rendezvous
    var alarms = AlarmTable()
    /// The partitions that have had no owner for a while: one alarm for all.
    var unowned: [Int] = []
    /// The other nodes, by number.
    var peers: [Peer] = []
    var partitions: [Partition]
    /// The replicas of this node, and as they were in its last heartbeat: what the others decide by.
    var own: [PartitionReport]
    var sent: [PartitionReport]
    var handovers: [Handover] = []
    /// Whether this node gives up its partitions, and whether that was reported to be done.
    var drain = Drain.off
    /// The version of frames that all nodes read, or `nil` if there is none.
    public internal(set) var frameVersion: UInt8?
    /// The nodes that were seen and those that were removed.
    public internal(set) var roster: Roster

    /// When this process began.
    let began: Instant
    /// When this node last handled an event.
    var last: Instant
    /// When a heartbeat of this node last came back.
    var echoed: Instant
    var isDeaf = false
    /// When this node may judge the others: it was stopped or cut off, and waits for their heartbeats.
    var settled: Instant
    /// When nodes last came, went or changed.
    var changed: Instant
    var heartbeats: UInt64 = 0
    var sentAt = Instant.distantPast
    /// When the last heartbeats were sent, the newest last.
    var sentTimes: [(count: UInt64, at: Instant)] = []
    var isUrgent = true
    var evaluated = Instant.distantPast

    enum Drain { case off, underway, reported }

    /// Starts with the roster of the last process. The seed decides the pauses between claims; it must differ between processes.
    public init(_ settings: Settings, roster: Roster = Roster(), seed: UInt64, now: Now) {
        precondition(
            (1...Limits.Cluster.partitions).contains(settings.partitions), "a cluster of too many partitions")
        self.settings = settings
        random = SeededRandom(seed: seed)
        rendezvous = Rendezvous(cluster: settings.cluster, partitions: settings.partitions)
        partitions = Array(repeating: Partition(unownedSince: now.monotonic), count: settings.partitions)
        own = Array(repeating: PartitionReport(), count: settings.partitions)
        sent = own
        self.roster = roster
        (began, last, echoed, changed) = (now.monotonic, now.monotonic, now.monotonic, now.monotonic)
        settled = now.monotonic.advanced(milliseconds: Limits.Cluster.suspicionMilliseconds)
        frameVersion = commonFrameVersion
    }

    /// When `tick` is due.
    public var nextTick: Instant {
        min(heartbeatDue, evaluated.advanced(milliseconds: Limits.Cluster.tickMilliseconds))
    }

    private var heartbeatDue: Instant {
        sentAt.advanced(
            milliseconds: isUrgent
                ? Limits.Cluster.urgentMilliseconds : Limits.Cluster.heartbeatMilliseconds)
    }

    /// Handles an event.
    public mutating func handle(_ event: MembershipEvent, now: Now, effects: inout [MembershipEffect]) {
        let time = now.monotonic
        // Time in which this node did not run is no silence of the others, and what they sent meanwhile is to be handled first.
        let gap = time.milliseconds(since: last)
        if gap > Limits.Cluster.pauseMilliseconds { settle(time) }
        if gap > Limits.Cluster.stallMilliseconds { evaluated = time }
        last = max(last, time)
        switch event {
        case .heartbeat(let heartbeat): receive(heartbeat, now, &effects)
        case .local(let partition, let report): localState(report, of: partition, time, &effects)
        case .drain:
            if drain == .off { (drain, isUrgent) = (.underway, true) }
        case .tick: tick(now, &effects)
        }
    }

    /// Notes to which of the others there is no link.
    public mutating func note(unlinked: Set<NodeNumber>) {
        for index in peers.indices { peers[index].isUnlinked = unlinked.contains(peers[index].node) }
    }

    /// Gives the others time to be noticed before any of them is judged.
    mutating func settle(_ now: Instant) {
        settled = now.advanced(milliseconds: Limits.Cluster.suspicionMilliseconds)
        for index in peers.indices where peers[index].status == .alive {
            peers[index].arrived = max(peers[index].arrived, now)
        }
    }

    private mutating func tick(_ now: Now, _ effects: inout [MembershipEffect]) {
        let time = now.monotonic
        if time.milliseconds(since: evaluated) >= Limits.Cluster.tickMilliseconds {
            evaluated = time
            listen(time)
            judgePeers(time, &effects)
            undoHandovers(time, &effects)
            abandonClaims(time, &effects)
            if !isDeaf, settled <= time {
                claimPartitions(time, &effects)
                handOverPartitions(time, &effects)
                alertUnowned(time, &effects)
                alertSilentNodes(time, &effects)
            }
            alarms.expire(time, &effects)
            alertFrameVersion(&effects)
            // It stays until this node is admitted again; an alarm about another one, while that sends heartbeats.
            if isExpelled { alarms.raise(.removedNode(settings.node), .distantFuture, &effects) }
        }
        if heartbeatDue <= time { send(now, &effects) }
    }

    /// Finds out whether this node's own heartbeats come back. Without them, the silence of the others means nothing.
    private mutating func listen(_ now: Instant) {
        let isSilent = now.milliseconds(since: echoed) > Limits.Cluster.pauseMilliseconds
        if isSilent { settle(now) }
        isDeaf = isSilent
    }

    private mutating func send(_ now: Now, _ effects: inout [MembershipEffect]) {
        heartbeats += 1
        sentAt = now.monotonic
        isUrgent = false
        sent = own
        sentTimes.append((heartbeats, now.monotonic))
        if sentTimes.count > Limits.Cluster.echoedHeartbeats { sentTimes.removeFirst() }
        effects.append(
            .send(
                Heartbeat(
                    cluster: settings.cluster, node: settings.node, incarnation: settings.incarnation,
                    count: heartbeats, name: settings.name, software: settings.software,
                    frameVersions: settings.frameVersions, linkAddress: settings.linkAddress, wall: now.wall,
                    isDraining: drain != .off, partitions: own, echoes: echoes,
                    rosterChanges: roster.changes)))
    }

    /// The shell has reported the state of a replica.
    private mutating func localState(
        _ report: PartitionReport, of partition: Int, _ now: Instant, _ effects: inout [MembershipEffect]
    ) {
        precondition(partitions.indices.contains(partition), "a partition that the cluster does not have")
        precondition(report.durable <= report.applied, "what is durable was not applied")
        let old = own[partition]
        own[partition] = report
        partitions[partition].knowledge.reached(report.applied)
        guard old.role != report.role || old.epoch != report.epoch else { return }
        if old.role != report.role { isUrgent = true }
        findOwner(of: partition, now, &effects)
        if !report.role.isOwner { handovers.removeAll { $0.partition == partition } }
    }
}
