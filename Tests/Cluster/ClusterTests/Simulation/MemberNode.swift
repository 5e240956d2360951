import Basics
import Cluster
import ClusterLog

/// A node of a simulated cluster.
struct MemberNode {
    let index: Int
    /// `nil` while its process does not run.
    var membership: Membership?
    var replicas: [SimulatedReplica]
    /// Where it routes the requests for each partition.
    var map: [NodeNumber?]
    /// Counts its processes: what was meant for an earlier one is dropped.
    var process = 0
    /// Until when it does nothing, in microseconds; what happens meanwhile reaches it then.
    var pausedUntil: Int64 = 0
    /// Until when nothing passes between it and the others, nor the logs.
    var cutUntil: Int64 = 0
    /// When it last started, went on after a pause, or was connected again.
    var back: Int64 = 0
    var inbox: [MembershipEvent] = []
    var isDraining = false
    /// What its store has of the other nodes.
    var roster = Roster()
    var frameVersion: UInt8?
    var frameVersions: ClosedRange<UInt8> = 1...1
    var alarms: Set<ClusterAlarm> = []

    var number: NodeNumber { NodeNumber(UInt16(index + 1)) }
    var isRunning: Bool { membership != nil }

    func isWell(at time: Int64) -> Bool { isRunning && pausedUntil <= time && cutUntil <= time }

    /// An alarm is over. One alarm stands for all partitions without an owner, and which these are may change meanwhile.
    mutating func clear(_ alarm: ClusterAlarm) {
        guard case .unowned = alarm else { return _ = alarms.remove(alarm) }
        alarms = alarms.filter { if case .unowned = $0 { false } else { true } }
    }

    /// The process ends. What it had flushed stays.
    mutating func kill() {
        membership = nil
        process += 1
        inbox = []
        alarms = []
        isDraining = false
        map = map.map { _ in nil }
        for partition in replicas.indices {
            let durable = replicas[partition].durable
            replicas[partition] = SimulatedReplica(applied: durable, durable: durable)
        }
    }
}
