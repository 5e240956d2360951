extension Limits {
    /// Limits of our own clients and tools.
    public enum Client {
        /// Bytes of the body of an answer that a tool of ours reads: a page of metrics is the longest.
        public static let answerBodyBytes = 16_777_216
        /// Seconds that a tool of ours waits for the answer to a request.
        public static let answerSeconds = 30
        /// Bytes of a device's state file: a list of received ids is the longest part.
        public static let stateFileBytes = 1_048_576
        /// Devices that a tool makes, or logs in, at the same time: below what one address may have without login.
        public static let enrolmentsAtOnce = 64
        /// Milliseconds between two looks of a tool's devices at what they have to do of themselves.
        public static let activityMilliseconds: Int64 = 20
        /// Milliseconds before the first attempt to connect again.
        public static let reconnectLeastMilliseconds: Int64 = 250
        /// Milliseconds before a device comes again that was asked to go: another login of it may want to finish first.
        public static let reconnectAfterCloseMilliseconds: Int64 = 2_000
        /// Milliseconds between attempts to connect again, at most.
        public static let reconnectMostMilliseconds: Int64 = 30_000
        /// Bytes of a server key read from a file or standard input: longer is the wrong file.
        public static let keyFileBytes = 4_096
        /// Columns of a progress bar.
        public static let progressBarColumns = 30
    }
}
