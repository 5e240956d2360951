extension Limits {
    /// Limits of a node's thread for the cluster, and of its setup.
    public enum ClusterHost {
        /// Servers of the log in the file of a node: enough for several groups of five.
        public static let logServers = 16
        /// Events that wait for the owner of their partition: some seconds of traffic of a busy node.
        public static let heldEvents = 100_000
        /// Milliseconds that an event waits for the owner of its partition: longer than a takeover takes, shorter than the patience of
        /// clients.
        public static let heldMilliseconds: Int64 = 5_000
        /// Frames of a followed log that the store has not applied, above which no more are asked for.
        public static let unappliedFrames = 64
        /// Milliseconds between two syncs of the store, after which what is applied counts as durable.
        public static let syncMilliseconds: Int64 = 1_000
        /// Milliseconds between two looks at the state of a stream.
        public static let examineMilliseconds: Int64 = 30_000
        /// Milliseconds between two questions to the monitoring port of a server of the log: its settings change with a restart only.
        public static let monitorMilliseconds: Int64 = 60_000
        /// Seconds that a founding waits for a monitoring port that cannot be reached: the server may have just been started.
        public static let monitorPatienceSeconds = 10
        /// Looks in a row at a stream that ends before what was applied, until it has lost records for certain: a leader without a majority
        /// may report old positions for up to 10 s.
        public static let shortEnds = 2
        /// Milliseconds without a connection to the log after which a node is not ready, and without a link to a living node after which
        /// there is an alarm: a connection to another server takes less.
        public static let readyMilliseconds: Int64 = 3_000
        /// Milliseconds without any answer of a log after which it is stalled: the pause at the death of its leader is shorter.
        public static let stalledMilliseconds: Int64 = 10_000
        /// Milliseconds without a confirmation of any log, although some are due, after which another server is tried. A frame is confirmed
        /// within some milliseconds; a node that waits longer is to be not ready within `readyMilliseconds`, or elsewhere.
        public static let unconfirmedMilliseconds: Int64 = 2_000
        /// Milliseconds between two changes of the server for that reason, which double. A login and the
        /// first confirmation take less; while NATS has no majority at all, no server helps.
        public static let leaveMilliseconds: Int64 = 2_000
        /// The longest pause: servers that are back are found within half a minute.
        public static let longestLeaveMilliseconds: Int64 = 32_000
        /// Records that a node may be behind the log before there is an alarm: some seconds at a high rate.
        public static let recordsBehind = 10_000
        /// Milliseconds between two updates of the gauges.
        public static let figuresMilliseconds: Int64 = 1_000
        /// Bytes of a log above which records are removed although a node that is away needs them: the disks of the log are shared.
        public static let logBytes = 4 << 30
        /// Records that are removed from a log at a time, at least: each removal is a write on all replicas.
        public static let purgedRecords: UInt64 = 1_000
        /// Seconds that a shutdown waits for other nodes to take the partitions: several handovers.
        public static let drainSeconds = 10
        /// Changes by operators that wait for another node: operators make far fewer at a time.
        public static let controlWrites = 1_000
        /// Seconds that a founding waits for all streams: some 0.15 s each were measured.
        public static let foundingSeconds = 180
        /// Milliseconds until a founding asks again for a stream that servers cannot make yet: they elect a leader meanwhile.
        public static let foundingRetryMilliseconds: Int64 = 500
        /// Milliseconds between two rounds over what is due: all partitions share them.
        public static let shortestTickMilliseconds: Int64 = 5
    }
}
