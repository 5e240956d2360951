extension Limits {
    /// Limits of what the nodes of a cluster exchange.
    public enum NodeProtocol {
        /// Bytes of the entries of one frame of the log: what a frame has room for beside its header of 48 bytes.
        public static let entriesBytes = Limits.ClusterLog.frameBytes - 64
        /// Batches in the entries of one frame: a partition makes one in a turn, and a frame takes what gathers in some turns.
        public static let batchesPerFrame = 4_096
        /// Mutations of one batch: a frame has room for 40,000 of the shortest that are usual (26 bytes).
        public static let mutationsPerBatch = 65_536
        /// Elements of one list in an event, a command or a mutation: names, sequence numbers, keys. The longest are the marks of a
        /// message to topics.
        public static let listItems = 131_072
        /// Bytes of one field. The longest is a stanza of a stream that waits to be resumed.
        public static let fieldBytes = 1_048_576
    }
}
