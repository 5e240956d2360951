extension Limits {
    /// Limits of what the nodes of a cluster exchange.
    public enum NodeProtocol {
        /// Bytes of encoded batches that are read at a time: a batch is never divided, and a long one fills several frames of the log.
        public static let entriesBytes = Limits.ClusterLog.waitingBytes
        /// Batches in the entries of one frame: a partition makes one in a turn, and a frame takes what gathers in some turns.
        public static let batchesPerFrame = 4_096
        /// Mutations of one batch: a frame has room for 40,000 of the shortest that are usual (26 bytes).
        public static let mutationsPerBatch = 65_536
        /// Bytes of one parcel of events and commands. The longest event is an import of one device: 512 registrations with all
        /// fields at their limits take two million bytes, its subscriptions as much again.
        public static let parcelBytes = 8_388_608
        /// Items of one parcel: a turn of a reactor makes fewer, and each takes some bytes of memory more than it has on the link.
        public static let itemsPerParcel = 65_536
        /// Elements of one list in an event, a command or a mutation: names, sequence numbers, keys. The longest are the marks of a
        /// message to topics.
        public static let listItems = 131_072
        /// Bytes of one field. The longest is a stanza of a stream that waits to be resumed.
        public static let fieldBytes = 1_048_576
        /// Events in an event: a request of an installation wraps the request that it vouches for.
        public static let eventDepth = 4
        /// Events that one node has sent to others and that are not answered: what one reactor may have waiting for another.
        public static let openRequests = 262_144
        /// Milliseconds after which an event without an answer counts as failed. The log pauses for 4 to 9 s when its leader dies, and
        /// what was under way then is still answered; most app servers wait longer than this.
        public static let answerMilliseconds: Int64 = 15_000
    }
}
