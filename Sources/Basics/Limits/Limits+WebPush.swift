extension Limits {
    /// Limits of web push.
    public enum WebPush {
        /// Bytes of the topic of a web push (RFC 8030, 5.4).
        public static let topicBytes = 32
        /// Bytes of a header that goes with a web push: those in use have under 250.
        public static let headerBytes = 1_024
        /// Seconds that the token of a web push may be valid from now on (RFC 8292, 2).
        public static let vapidSeconds = 86_400
        /// Seconds by which the clock of an application server may be ahead: libraries ask for exactly the longest time.
        public static let vapidClockSkewSeconds = 60
        /// Seconds after which a web push that could not be taken may be tried again.
        public static let retrySeconds = 30
    }
}
