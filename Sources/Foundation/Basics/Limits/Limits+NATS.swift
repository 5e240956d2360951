extension Limits {
    /// Limits of the protocol of NATS, as a client reads it.
    public enum NATS {
        /// Bytes of a control line but `INFO`: the server's own limit (`max_control_line`).
        public static let lineBytes = 4_096
        /// Bytes of the server's description, which names all servers of its cluster.
        public static let infoBytes = 65_536
        /// Bytes of a message with its headers: a frame of the log in Base64, and the JSON around it.
        public static let messageBytes = 2_097_152
        /// Bytes of a subject: those that we use are much shorter.
        public static let subjectBytes = 255
        /// Characters of an error of the server that are kept.
        public static let errorCharacters = 200
        /// Bytes of a file with credentials: a JWT of a user has 1 to 2 KiB.
        public static let credentialsBytes = 65_536
        /// Bytes of the server's nonce, which is signed; nats-server sends 15 to 22.
        public static let nonceBytes = 256
    }
}

extension Limits {
    /// Limits of connections to servers of NATS.
    public enum NATSConnection {
        /// Milliseconds between two pings: with two unanswered ones a stopped server is noticed within a second.
        public static let pingMilliseconds: Int64 = 300
        /// Unanswered pings, without a byte from the server since the first one, after which a connection is given up.
        public static let unansweredPings = 2
        /// Milliseconds that the answer to a ping may take while other bytes arrive: it may be behind megabytes of records.
        public static let pongMilliseconds: Int64 = 5_000
        /// Milliseconds from the lookup of a server's name to the end of the login; then the next server is tried.
        public static let openMilliseconds: Int64 = 2_000
        /// Milliseconds until all servers are tried again after all have failed; the wait doubles with each round.
        public static let retryMilliseconds: Int64 = 100
        /// Milliseconds between two such rounds at most: a server that has restarted is healthy after 2 to 6 s.
        public static let longestRetryMilliseconds: Int64 = 2_000
        /// Milliseconds that a connection must last before the waits start at the shortest again.
        public static let steadyMilliseconds: Int64 = 5_000
        /// Milliseconds on another server until a return to a preferred one is tried. The pause doubles when a return fails or does not
        /// last, and begins anew after one that has lasted.
        public static let returnMilliseconds: Int64 = 2_000
        /// Milliseconds of that pause at most.
        public static let longestReturnMilliseconds: Int64 = 300_000
        /// Milliseconds that a connection to a preferred server must last for that.
        public static let steadyReturnMilliseconds: Int64 = 10_000
        /// Milliseconds after which a server in lame duck mode is left, so that answers in flight arrive. It waits for ten seconds, but
        /// its JetStream has ended by then.
        public static let leaveMilliseconds: Int64 = 100
        /// Bytes that wait for the server: beyond, appends are refused. Four full windows of the largest frames.
        public static let outboundBytes = 67_108_864
        /// Servers of one cluster in the configuration.
        public static let servers = 32
        /// Subscriptions of one connection, in addition to the one for answers: a node needs two or three.
        public static let subscriptions = 64
    }
}

extension Limits {
    /// Limits of the client of JetStream.
    public enum JetStream {
        /// Requests that wait for their answers: 64 partitions with 16 frames each, sent again a few times.
        public static let openRequests = 8_192
        /// Milliseconds that an append may take: the election of a stream's leader takes 4 to 9 s.
        public static let appendMilliseconds: Int64 = 10_000
        /// Milliseconds that a read may take: the leader answers from memory or disk at once, and it is asked again.
        public static let readMilliseconds: Int64 = 2_000
        /// Milliseconds that other requests may take: they may wait for an election in the group of all servers.
        public static let manageMilliseconds: Int64 = 15_000
        /// Records that a follower asks for at once.
        public static let followRecords = 256
        /// Bytes of records that a follower asks for at once: with 16 partitions 16 MiB are in flight at most.
        public static let followBytes = 1_048_576
        /// Milliseconds without a record after which a follower asks again: the replica that was asked may be gone.
        public static let followAnswerMilliseconds: Int64 = 1_000
        /// Milliseconds until a follower that is at the end asks again after it has received records.
        public static let followMilliseconds: Int64 = 10
        /// Milliseconds between two questions of a follower at the end at most. The wait doubles while nothing is new.
        public static let longestFollowMilliseconds: Int64 = 160
        /// Bytes of the prefix of the names of streams.
        public static let prefixBytes = 1...32
        /// Nanoseconds of the shortest window for duplicates that JetStream accepts; it cannot be turned off.
        public static let duplicateNanoseconds = 100_000_000
        /// Milliseconds in which a replica has sent the leader nothing, after which its server is down: replicas answer once a
        /// second, and a restart takes less.
        public static let silentReplicaMilliseconds: Int64 = 5_000
        /// Operations that a replica may be behind: some seconds at a high rate.
        public static let replicaLag = 1_000
        /// Looks in a row that find a replica silent before it is reported: the first may be in a restart.
        public static let silentLooks = 2
        /// Looks in a row that find a replica behind before it is reported: three quarters of a minute.
        public static let behindLooks = 3
    }
}
