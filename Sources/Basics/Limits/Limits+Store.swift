extension Limits {
    /// Limits of the store: commits, loads, sweeps and the engine.
    public enum Store {
        /// Writes in one commit: bounds the memory of a commit and the time of one sync.
        public static let writesPerCommit = 16_384
        /// Writes that wait for the store before submissions are refused with SERVICE_UNAVAILABLE.
        public static let waitingWrites = 262_144
        /// Expired messages removed in one sweep.
        public static let expiredPerSweep = 10_000
        /// Milliseconds between sweeps: expiry is on time within a second.
        public static let sweepMilliseconds = 500
        /// Milliseconds for which changes that nobody waits for may wait to ride with a durable commit.
        public static let lazyCommitMilliseconds = 50
        /// Milliseconds between attempts while the store fails: enough not to turn a full disk into a busy loop.
        public static let retryMilliseconds = 100
        /// Milliseconds by which the mark of sequences on disk is ahead of those that are used: fifty writes a second at most, and
        /// less than any process takes to start, so that no number of restarts drives the sequences ahead of the clock.
        public static let sequenceLeaseMilliseconds = 20
        /// Questions that wait for the store; each login asks two.
        public static let waitingLoads = 65_536
        /// Questions that the store answers in one go: they share what reading costs to begin, and the first answer waits for the
        /// last, a few milliseconds.
        public static let loadsPerRound = 256
        /// Names of unreadable records that one audit lists.
        public static let unreadableNames = 1_000
        /// Bytes of the cache of uncompressed blocks, which index and filter blocks share.
        public static let cacheBytes = 67_108_864
        /// Bytes gathered in memory, over all families, before they are written as sorted files.
        public static let writeBuffersBytes = 67_108_864
        /// Bytes of one family in memory that the engine would not exceed by itself: more than an opening brings at once, so that
        /// it never does.
        public static let columnFamilyBytes = 1_073_741_824
        /// Sorted files that the store keeps open.
        public static let openFiles = 512
        /// Bytes of the engine's list of files in which a torn end is looked for; usual are some tens of thousands.
        public static let listBytes = 67_108_864
        /// Bytes that must be free on the device before the store is opened: opening writes out what the logs hold.
        public static let freeBytes = 16_777_216
        /// Threads that the engine compacts with: one core is left to the connections.
        public static let backgroundJobs = 2
        /// Repeats of upstream messages that one commit ceases to keep in memory, once they are in sorted files: more than one
        /// commit brings on the average, few enough that none waits for it.
        public static let forgottenPerCommit = 4_096
    }
}

extension Limits {
    /// Limits of the journal, and the messages that are in it alone.
    public enum Journal {
        /// Bytes of one file of the journal before the next one is begun: each costs a sync of the folder.
        public static let segmentBytes = 8_388_608
        /// Bytes of the journal whose messages are kept in memory: what is delivered by then never reaches the engine. About half a
        /// second at full load, and what an opening has to bring to the engine at most.
        public static let recentBytes = 25_165_824
        /// Mailboxes in memory that may hold nothing, or as many as hold something, before the empty ones go: most owners get their
        /// next message soon. An empty one costs 100 bytes and the storage that it keeps.
        public static let keptMailboxes = 1_024
        /// Messages for which an emptied mailbox keeps storage (40 bytes each): as many as most ever have at once.
        public static let keptMailboxSlots = 64
        /// Bytes of the journal after which the engine is asked to write out what it has, so that old files can go; at twice as
        /// many commits wait for it. Bounds what an opening reads.
        public static let bytes = 67_108_864
        /// Bytes of a file of the journal that is read back: a segment, and the largest commit behind it.
        public static let fileBytes = 1_073_741_824
        /// Bytes at the end of that list which a power cut may have torn: the engine writes fewer before it syncs them, one
        /// change for each family that it writes out.
        public static let tornListBytes = 16_384
    }
}
