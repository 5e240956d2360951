extension Limits {
    /// Limits of web push.
    public enum WebPush {
        /// Bytes of the topic of a web push (RFC 8030, 5.4).
        public static let topicBytes = 32
        /// Bytes of a header of a web push request: those in use have under 250.
        public static let headerBytes = 1_024
        /// Longest validity of a VAPID token from now, in seconds (RFC 8292, 2).
        public static let vapidSeconds = 86_400
        /// Seconds by which the clock of an application server may be ahead: libraries ask for exactly the longest validity.
        public static let vapidClockSkewSeconds = 60
        /// Seconds after which a rejected web push may be retried.
        public static let retrySeconds = 30
    }
}
