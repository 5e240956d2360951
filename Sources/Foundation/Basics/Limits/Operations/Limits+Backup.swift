extension Limits {
    /// Limits of backups, restores, exports and imports.
    public enum Backup {
        /// Bytes that are read and written at once: large enough for the disk, small enough to cancel and to show progress.
        public static let copyBytes = 1_048_576
        /// Bytes of the manifest of a backup: about 500,000 files, ten times those of the largest registry.
        public static let manifestBytes = 67_108_864
        /// Progress reports of one backup: one for each percent.
        public static let reports = 100
        /// Entries of one page of an export, which is one line of a response.
        public static let exportedEntries = 5_000
        /// Bytes of rows after which a page of an export ends early: a device may have a gigabyte of subscriptions.
        public static let exportedBytes = 4_194_304
        /// Bytes of the rows in one request of an import: few enough for a request, many enough to share commits.
        public static let importedBytes = 524_288
        /// Rows in one request of an import.
        public static let importedRows = 2_000
        /// Bytes of one line of an export: a sender with all keys and accounts, or a registration with all senders.
        public static let lineBytes = 131_072
        /// Problems that an import prints; all are counted.
        public static let shownProblems = 1_000
        /// Seconds that a shutdown waits for a running backup, which it cancels, to remove its files.
        public static let cancelSeconds = 10
    }
}
