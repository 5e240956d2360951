extension Limits {
    /// Limits of the membership of a cluster.
    public enum Cluster {
        /// Nodes of a cluster: each sends its heartbeat to all others, and each pair has a link.
        public static let nodes = 256
        /// Partitions of a cluster: the heartbeat of a node that owns them all is shorter than 64 KiB.
        public static let partitions = 1_024
        /// Bytes of a heartbeat: 1,024 partitions at 32 bytes, and the longest names.
        public static let heartbeatBytes = 65_536
        /// Bytes of a node's name and of its version: lines of a status have room for them.
        public static let nameBytes = 64
        /// Bytes of a link address: the longest host name of the DNS and a port.
        public static let addressBytes = 261
        /// Milliseconds between heartbeats: six are lost before a node is suspected.
        public static let heartbeatMilliseconds: Int64 = 200
        /// Milliseconds between a change that others wait for and the next heartbeat: the changes of a moment share one.
        public static let urgentMilliseconds: Int64 = 20
        /// Milliseconds between two evaluations of what is to be done: they add to each takeover.
        public static let tickMilliseconds: Int64 = 100
        /// Heartbeats of this node whose times it remembers, for the answers of others to them: those of more than the longest lease, also where
        /// many are urgent.
        public static let echoedHeartbeats = 64
        /// Milliseconds of silence after which a node is suspected: shorter ones caused takeovers without reason in measurements.
        public static let suspicionMilliseconds: Int64 = 1_200
        /// Milliseconds of silence after which a node is gone: a restart takes less.
        public static let goneMilliseconds: Int64 = 60_000
        /// Milliseconds between two events of this node after which it was itself stopped: with the age of the last heartbeats, still
        /// below the time of suspicion.
        public static let pauseMilliseconds: Int64 = 600
        /// Milliseconds between two events of this node after which its decisions wait for the heartbeats that wait: two ticks and more.
        public static let stallMilliseconds: Int64 = 250
        /// Milliseconds that the next candidate waits for the one before it: several times the duration of a claim.
        public static let rankMilliseconds: Int64 = 1_000
        /// Milliseconds that others leave to a node that claims: the longest election of the log's leader.
        public static let claimMilliseconds: Int64 = 10_000
        /// Milliseconds until a claim is given up whose partition has an owner after all: many times the duration of a claim.
        public static let abandonMilliseconds: Int64 = 1_000
        /// Milliseconds of the first pause between two claims of a partition by one node: the others notice the winner meanwhile.
        public static let retryMilliseconds: Int64 = 600
        /// Milliseconds of the longest pause between two claims: an election of the log's leader.
        public static let longestRetryMilliseconds: Int64 = 8_000
        /// Claims of a node at a time: all marks fit into the connection to the log.
        public static let claimsAtOnce = 64
        /// Handovers of a draining node at a time: each costs its partition a pause of some heartbeats.
        public static let drainHandovers = 4
        /// Milliseconds after which a handover is undone: the successor has not taken the partition.
        public static let handoverMilliseconds: Int64 = 2_000
        /// Milliseconds that a handover waits until the store owes the partition nothing: longer than a read takes, and a small part of the time
        /// for a handover. What is read later is refused.
        public static let leaveMilliseconds: Int64 = 500
        /// Milliseconds until a handover is tried again that failed: what prevented it may last.
        public static let handoverRetryMilliseconds: Int64 = 5_000
        /// Records that a successor may be behind: some milliseconds at the highest rate.
        public static let successorLag: UInt64 = 512
        /// Milliseconds that the cluster must be without changes before partitions are moved for balance: a restart is over.
        public static let rebalanceMilliseconds: Int64 = 5_000
        /// Milliseconds that a node's wall clock may differ from ours: times to live are given in seconds.
        public static let clockMilliseconds: Int64 = 2_000
        /// Milliseconds for which all heartbeats of a node must have a wrong clock before the alarm. Those that waited in a network
        /// that was cut come late, and all at once.
        public static let clockPatienceMilliseconds: Int64 = 5_000
        /// Milliseconds of silence after which a node is an alarm: a restart takes less.
        public static let silentMilliseconds: Int64 = 10_000
        /// Milliseconds without a reason after which an alarm is over: several heartbeats.
        public static let alarmMilliseconds: Int64 = 10_000
        /// Milliseconds without an owner after which an alarm is raised: the longest election of the log's leader.
        public static let unownedMilliseconds: Int64 = 10_000
        /// Nodes that are remembered because they were seen or removed: four generations of the largest cluster.
        public static let rosterNodes = 1_024
        /// Alarms at a time: what strangers send must not fill the memory.
        public static let alarms = 64
        /// Earlier incarnations of a node that are remembered: a node restarts seldom within the time that a heartbeat may be late.
        public static let incarnations = 8
    }
}
