extension Limits {
    /// Limits of the store: commits, queries, sweeps and the engine.
    public enum Store {
        /// Writes in one commit: bounds the memory of a commit and the time of one sync.
        public static let writesPerCommit = 16_384
        /// Writes that wait for the store before new messages are refused with SERVICE_UNAVAILABLE.
        public static let waitingWrites = 262_144
        /// Expired messages removed in one sweep.
        public static let expiredPerSweep = 10_000
        /// Milliseconds between sweeps: expiry is on time within a second.
        public static let sweepMilliseconds = 500
        /// Milliseconds for which changes without a waiting caller may wait to join a durable commit.
        public static let lazyCommitMilliseconds = 50
        /// Milliseconds between attempts while the store fails: enough not to turn a full disk into a busy loop.
        public static let retryMilliseconds = 100
        /// Milliseconds by which the sequence lease on disk is ahead of the sequences in use: fifty writes a second at most,
        /// and less than any process takes to start, so that no number of restarts drives the sequences ahead of the clock.
        public static let sequenceLeaseMilliseconds = 20
        /// Queries that wait for the store; each login makes two.
        public static let waitingQueries = 65_536
        /// Queries that the store answers in one batch: they share the fixed cost of a read, and the first result waits for the
        /// last, a few milliseconds.
        public static let queriesPerBatch = 256
        /// Names of unreadable records that one audit lists.
        public static let unreadableNames = 1_000
        /// Damaged tables that the mark of a damaged store names: what an operator reads before a restore. Others are only logged.
        public static let damagedTables = 64
        /// Bytes of the mark of a damaged store that are read: the tables, with a description of each.
        public static let damageMarkBytes = 262_144
        /// Bytes of tables that the scrub reads in a second, on average over a table: a hundredth of a processor, and little for
        /// any disk. The registry at its limit of 16 GiB takes 35 minutes.
        public static let scrubBytesPerSecond = 8_388_608
        /// Milliseconds between two tables of the scrub at least: many small tables do not make it a busy loop.
        public static let scrubPauseMilliseconds = 100
        /// Seconds between the end of a scrub and the next one: damage that no request reads is found within a day.
        public static let scrubRoundSeconds = 86_400
        /// Bytes of the cache of uncompressed blocks, which index and filter blocks share.
        public static let cacheBytes = 67_108_864
        /// Bytes in memtables, over all column families, before they are flushed to sorted files.
        public static let writeBuffersBytes = 67_108_864
        /// Bytes of one column family in memory at which the engine would flush by itself: more than recovery inserts at once,
        /// so that it never does.
        public static let columnFamilyBytes = 1_073_741_824
        /// Sorted files that the store keeps open.
        public static let openFiles = 512
        /// Bytes of a manifest that is searched for a torn end; usual are some tens of thousands.
        public static let manifestBytes = 67_108_864
        /// Bytes that must be free on the device before the store is opened: recovery flushes the contents of the logs.
        public static let freeBytes = 16_777_216
        /// Threads for compaction: one core is left to the connections.
        public static let backgroundJobs = 2
        /// Duplicates of upstream messages that one commit drops from memory, once they are in sorted files: more than one
        /// commit adds on average, few enough not to delay it.
        public static let duplicatesDroppedPerCommit = 4_096
    }
}

extension Limits {
    /// Limits of the journal, and of the recent messages that exist only there.
    public enum Journal {
        /// Bytes of one journal segment before the next one is started: each costs a sync of the directory.
        public static let segmentBytes = 8_388_608
        /// Bytes of the journal whose messages are kept in memory: messages delivered by then never reach the engine. About
        /// half a second at full load, and the most that recovery has to insert into the engine.
        public static let recentBytes = 25_165_824
        /// Empty mailboxes kept in memory, beyond the number of those in use, before the empty ones are freed: most owners get
        /// their next message soon. An empty one costs 100 bytes and its reserved storage.
        public static let emptyMailboxes = 1_024
        /// Messages for which an emptied mailbox keeps storage (40 bytes each): most mailboxes never have more at once.
        public static let emptyMailboxSlots = 64
        /// Bytes of the journal after which the engine is asked to flush, so that old segments can be deleted; at twice this
        /// size commits wait for it. Bounds what recovery reads.
        public static let bytes = 67_108_864
        /// Bytes of a journal file that is read back: a segment, and the largest commit after it.
        public static let fileBytes = 1_073_741_824
        /// Bytes at the end of the manifest that a power failure may have torn: the engine writes fewer before it syncs them,
        /// one change for each column family that it flushes.
        public static let manifestTailBytes = 16_384
    }
}
