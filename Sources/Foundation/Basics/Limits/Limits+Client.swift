extension Limits {
    /// Limits of the project's own clients and tools.
    public enum Client {
        /// Bytes of a response body that a tool reads: a page of metrics is the longest.
        public static let answerBodyBytes = 16_777_216
        /// Seconds that a tool waits for the response to a request.
        public static let answerSeconds = 30
        /// Bytes of a device's state file: a list of received IDs is the longest part.
        public static let stateFileBytes = 1_048_576
        /// Devices that a tool creates, or logs in, at the same time: below the limit of unauthenticated connections of one
        /// address.
        public static let enrolmentsAtOnce = 64
        /// Milliseconds between two checks of a simulated device for work of its own, such as pings and upstream messages.
        public static let activityMilliseconds: Int64 = 20
        /// Milliseconds before the first attempt to reconnect.
        public static let reconnectMinimumMilliseconds: Int64 = 250
        /// Milliseconds before a device reconnects that the server has closed: another login of the device may want to finish
        /// first.
        public static let reconnectAfterCloseMilliseconds: Int64 = 2_000
        /// Longest wait between two attempts to reconnect, in milliseconds.
        public static let reconnectMaximumMilliseconds: Int64 = 30_000
        /// Bytes of a server key read from a file or standard input: a longer one is the wrong file.
        public static let keyFileBytes = 4_096
        /// Iterations of SCRAM that a client computes for a server: thirty times those of RFC 7677; more would only occupy the client.
        public static let scramIterations = 131_072
        /// Seconds between two screens of figures: counters are exact to a turn, so a shorter time shows noise.
        public static let topIntervalSeconds = 2
        /// The longest time between two screens of figures, in seconds.
        public static let topIntervalMaximumSeconds = 3_600
        /// Columns of a progress bar.
        public static let progressBarColumns = 30
    }
}
