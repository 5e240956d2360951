import Basics
import Cluster
import ClusterLog

/// What must hold in every simulated cluster.
struct MemberCheckers {
    /// Within this time after the last fault, the cluster must be at rest.
    static let restMicroseconds: Int64 = 25_000_000
    /// A partition may be without a serving owner for this long after the last fault.
    static let unservedMicroseconds: Int64 = 9_000_000
    /// A planned handover may leave its partition without a serving owner for this long.
    static let handoverMicroseconds: Int64 = 400_000

    private(set) var found: [String] = []
    private let settings: MemberWorld.Settings
    /// The times of the claims of each partition.
    private var claims: [[(time: Int64, node: Int)]]
    private var unservedSince: [Int64?]
    private var restedSince: Int64?
    private var observations = 0
    private(set) var claimCount = 0
    /// How long partitions were without a serving owner, in microseconds.
    private(set) var gaps: [Int64] = []

    init(_ settings: MemberWorld.Settings) {
        self.settings = settings
        claims = Array(repeating: [], count: settings.partitions)
        unservedSince = Array(repeating: 0, count: settings.partitions)
    }

    mutating func mustHold(_ holds: Bool, _ text: @autoclosure () -> String) {
        if !holds, found.count < 20 { found.append(text()) }
    }

    /// The node that accepts requests for a partition and can confirm them, if there is one.
    static func server(of partition: Int, in world: MemberWorld) -> Int? {
        let log = world.logs.partitions[partition]
        guard let owner = log.owner, world.nodes[owner].process == log.process,
            world.nodes[owner].replicas[partition].epoch == log.epoch,
            world.nodes[owner].replicas[partition].isServing, world.nodes[owner].isWell(at: world.time)
        else { return nil }
        return owner
    }

    /// A node claims a partition.
    mutating func claims(_ partition: Int, _ node: Int, _ world: MemberWorld) {
        claimCount += 1
        claims[partition].append((world.time, node))
        claims[partition].removeAll { $0.time < world.time - 1_000_000 }
        let own = claims[partition].count { $0.node == node }
        mustHold(own <= 3, "storm: node \(node) claims \(partition) \(own) times in a second")
        guard settings.lost == 0, settings.late == 0, let owner = Self.server(of: partition, in: world),
            owner != node
        else { return }
        // A node that is cut off, or was until just now, does not know.
        let since = world.time - max(world.nodes[owner].back, world.nodes[node].cutUntil)
        mustHold(
            since < 3_000_000 || world.logs.electionUntil > world.time - 3_000_000,
            "needless: node \(node) claims \(partition) of node \(owner), well since \(since) us, at \(world.time)"
        )
    }

    /// A draining node has reported that it is done, and stops.
    mutating func stops(_ node: Int, _ world: MemberWorld) {
        for partition in world.logs.partitions.indices {
            mustHold(
                Self.server(of: partition, in: world) != node,
                "drain: node \(node) stops with partition \(partition)")
        }
    }

    /// Called 20 times a second.
    mutating func observe(_ world: MemberWorld) {
        observations += 1
        for partition in world.logs.partitions.indices { observeServer(of: partition, world) }
        if observations % 8 == 0 { checkPurge(world) }
        checkKnowledge(world)
        guard world.time > world.calmSince else { return restedSince = nil }
        let isResting = Self.unrest(world) == nil
        restedSince = isResting ? restedSince ?? world.time : nil
    }

    /// Whether the cluster has been at rest for a while.
    func isAtRest(_ world: MemberWorld) -> Bool {
        restedSince.map { world.time - $0 > 2_000_000 } ?? false
    }

    private mutating func observeServer(of partition: Int, _ world: MemberWorld) {
        guard Self.server(of: partition, in: world) == nil else {
            if let since = unservedSince[partition], since > 0 { gaps.append(world.time - since) }
            unservedSince[partition] = nil
            return
        }
        let since = unservedSince[partition] ?? world.time
        unservedSince[partition] = since
        let calm = max(since, world.calmSince)
        mustHold(
            world.time - calm < Self.unservedMicroseconds,
            "unserved: partition \(partition) since \(since), at \(world.time)")
        let isPlanned = since > world.calmSince + Self.unservedMicroseconds
        mustHold(
            !isPlanned || world.time - since < Self.handoverMicroseconds,
            "handover: partition \(partition) is not served since \(since), at \(world.time)")
    }

    /// What a node counts as known of the partitions of others, it has; and when all is calm, that is up to date.
    private mutating func checkKnowledge(_ world: MemberWorld) {
        for node in world.nodes {
            guard let membership = node.membership else { continue }
            for (partition, replica) in node.replicas.enumerated() {
                let log = world.logs.partitions[partition]
                let known = membership.known(of: partition)
                if known != .distantPast {
                    let time = known.nanoseconds / 1_000 - 1_000_000
                    mustHold(
                        replica.applied >= log.end(at: time),
                        "knowledge: node \(node.index) has \(replica.applied) of \(log.end(at: time)) of \(partition)"
                    )
                }
                let calm = max(restedSince ?? world.time, node.back)
                guard world.time - calm > 1_000_000, !replica.role.isOwner else { continue }
                mustHold(
                    world.now().monotonic.milliseconds(since: known) < Limits.ClusterLog.leaseMilliseconds,
                    "knowledge: node \(node.index) has nothing new of \(partition)")
            }
        }
    }

    private mutating func checkPurge(_ world: MemberWorld) {
        for node in world.nodes {
            guard let membership = node.membership else { continue }
            for partition in node.replicas.indices {
                let durable = world.nodes.map(\.replicas[partition].durable).sorted(by: >)
                let purge = membership.purge(of: partition)
                mustHold(
                    purge.bySome.number <= durable[1] && purge.byAll <= purge.bySome,
                    "purge: node \(node.index) purges \(partition) up to \(purge) of \(durable)")
            }
        }
    }

    /// Returns what is missing for a cluster at rest, or `nil`.
    static func unrest(_ world: MemberWorld) -> String? {
        let running = world.nodes.filter(\.isRunning)
        for partition in world.logs.partitions.indices {
            guard let owner = server(of: partition, in: world) else {
                let log = world.logs.partitions[partition]
                let roles = world.nodes.map(\.replicas[partition])
                return "partition \(partition) is not served: \(log), \(roles)"
            }
            let number = world.nodes[owner].number
            if let node = running.first(where: { $0.map[partition] != number }) {
                return
                    "node \(node.index) routes \(partition) to \(node.map[partition].map { "\($0)" } ?? "none"), its owner is \(number)"
            }
        }
        if let node = running.first(where: \.isDraining) {
            return "node \(node.index) does not stop"
        }
        let loads = running.map { node in node.replicas.count { $0.role.isOwner } }
        if let most = loads.max(), let least = loads.min(), most > least + 1 { return "loads \(loads)" }
        let highest = world.nodes.filter { $0.process > 0 || $0.isRunning }
            .map(\.frameVersions.upperBound).min()
        if let node = running.first(where: { $0.frameVersion ?? $0.frameVersions.upperBound != highest }) {
            return
                "node \(node.index) writes frames of version \(node.frameVersion.map { "\($0)" } ?? "none")"
        }
        return nil
    }

    mutating func finish(_ world: MemberWorld) {
        mustHold(isAtRest(world), "rest: \(Self.unrest(world) ?? "too late"), at \(world.time)")
        for node in world.nodes where node.isRunning {
            mustHold(node.alarms.isEmpty, "alarms: \(node.alarms) of node \(node.index)")
        }
    }
}
