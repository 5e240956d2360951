extension Limits {
    /// Limits of a copy of a store from one node to another.
    public enum StoreCopy {
        /// Files of a store: ten times those of the largest registry.
        public static let files = 500_000
        /// Bytes of the name of a file: those of a store have twelve.
        public static let nameBytes = 64
        /// Bytes that the giver reads from its disk at a time: a quarter of what may be under way.
        public static let partBytes = Limits.NodeLinks.streamWindowBytes / 4
        /// Milliseconds until a node that was asked must have answered: a checkpoint takes some milliseconds.
        public static let answerMilliseconds: Int64 = 30_000
        /// Milliseconds without progress after which a copy is given up, on both sides: longer than a disk stalls.
        public static let stallMilliseconds: Int64 = 30_000
        /// Milliseconds between two looks of a waiting giver at whether it is to stop.
        public static let sliceMilliseconds: Int64 = 500
        /// Milliseconds between the discovery that records are missing and the first request: the streams of all partitions are looked
        /// at meanwhile.
        public static let delayMilliseconds: Int64 = 2_000
        /// Milliseconds until another node is asked after a copy has failed.
        public static let retryMilliseconds: Int64 = 3_000
        /// Milliseconds until the same node is asked again.
        public static let pauseMilliseconds: Int64 = 60_000
    }
}
