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
        /// Milliseconds that a session of an app server may send on after its node was last up to date about its sender: NATS takes 4 to 9
        /// seconds to elect a leader, and messages to partitions that work do not wait for that.
        public static let sessionMilliseconds: Int64 = 10_000
        /// Frames of a followed log that the store has not applied, above which no more are asked for.
        public static let unappliedFrames = 64
        /// Milliseconds between two syncs of the store, after which what is applied counts as durable.
        public static let syncMilliseconds: Int64 = 1_000
        /// Milliseconds between two looks at the state of a stream: a replica that is down is an alarm within a minute.
        public static let examineMilliseconds: Int64 = 15_000
        /// Milliseconds between two questions to the monitoring port of a server of the log: two looks that find a server of the group
        /// silent are an alarm within a minute.
        public static let monitorMilliseconds: Int64 = 20_000
        /// Seconds that a founding waits for a monitoring port that cannot be reached: the server may have just been started.
        public static let monitorPatienceSeconds = 10
        /// Looks in a row at a stream that ends before what was applied, until it has lost records for certain: a leader that has just
        /// taken over may report an old position once.
        public static let shortEnds = 2
        /// Milliseconds since the leader of a stream was together with a majority, up to which its word on the end of the stream counts:
        /// no other leader is elected earlier than four seconds after that.
        public static let majorityMilliseconds: Int64 = 2_000
        /// Milliseconds without a proof that the log works after which a node is not ready: a connection to another server takes less.
        /// What is due is noticed within a second, so that it is three from the beginning.
        public static let readyMilliseconds: Int64 = 2_000
        /// Milliseconds without a link to a living node after which there is an alarm: a new link takes less.
        public static let unlinkedMilliseconds: Int64 = 3_000
        /// Milliseconds without any answer of a log after which it is stalled: the pause at the death of its leader is shorter.
        public static let stalledMilliseconds: Int64 = 10_000
        /// Milliseconds without a proof that the log works, although something is due, after which another server is tried: leaders are
        /// together with their majority once a second.
        public static let unconfirmedMilliseconds: Int64 = 1_800
        /// Milliseconds without a proof, although something is due, after which streams are asked whether their leaders have a majority,
        /// and until they are asked again.
        public static let askMilliseconds: Int64 = 300
        /// Milliseconds without a proof after which a node for which nothing is due asks for one: it is not ready two seconds later.
        public static let idleMilliseconds: Int64 = 1_000
        /// Streams that are asked at a time by a node for which nothing is due.
        public static let idleStreams = 2
        /// Streams that are asked at a time: the leaders of all of them are seldom on one server.
        public static let askedStreams = 8
        /// Milliseconds in which what a node takes or loses is gathered for one line of the log: a takeover of all partitions of a node
        /// takes less.
        public static let newsMilliseconds: Int64 = 250
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
