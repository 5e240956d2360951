extension Limits {
    /// Limits of log and metrics.
    public enum Log {
        /// Bytes of one value in a log line; what a stranger sends may be longer, and one line must stay readable.
        public static let valueBytes = 512
        /// Lines of one event in a second; more are counted and held back, so that a storm does not fill the disk.
        public static let linesPerEventAndSecond = 20
        /// Events whose rate is remembered: all of ours, with room to spare.
        public static let eventsRemembered = 1_024
        /// Cells of a metric up to which those that are zero stand on the page of metrics; beyond it the page would be mostly
        /// zeros.
        public static let renderedZeroCells = 128
        /// Seconds between two lines of an event that goes on failing: ten minutes of one trouble make 21 lines.
        public static let repeatedEventSeconds = 30
        /// Kinds of failing events that are told apart at a time; a stranger who makes more of them shares one place.
        public static let repeatedEventsRemembered = 256
        /// Kinds of refusals that one turn of a reactor logs; more are counted with the last.
        public static let refusalsPerTurn = 64
        /// Bytes of an address or a message ID of a refused request in its log line: enough to find it again, too few to use it.
        public static let refusedTextBytes = 16
    }
}
