extension Limits {
    /// Limits of the log and the metrics.
    public enum Log {
        /// Bytes of one value in a log line; values from peers may be longer, and a line must stay readable.
        public static let valueBytes = 512
        /// Lines of one event in a second; more are counted and suppressed, so that a storm does not fill the disk.
        public static let linesPerEventAndSecond = 20
        /// Events whose rate is remembered: all that the server logs, with room to spare.
        public static let eventsRemembered = 1_024
        /// Cells of a metric up to which cells with the value zero are rendered too; a larger metric would be mostly zeros.
        public static let renderedZeroCells = 160
        /// Seconds between two lines of an event that keeps failing: ten minutes of one problem make 21 lines.
        public static let repeatedEventSeconds = 30
        /// Kinds of failing events that are distinguished at a time; beyond it further kinds share one entry.
        public static let repeatedEventsRemembered = 256
        /// Kinds of refusals that one turn of a reactor logs; more are counted with the last.
        public static let refusalsPerTurn = 64
        /// Bytes of an address or a message ID of a refused request in its log line: enough to find it, too few to use it.
        public static let refusedTextBytes = 16
    }
}
