extension Limits {
    /// Limits of messages, in both directions.
    public enum Message {
        /// Bytes of all keys and values of a message (FCM).
        public static let payloadBytes = 4_096
        /// Bytes of what a message of v1 says for Apple alone: a payload of 4,096, which is all that Apple takes, and its headers.
        public static let apnsOverrideBytes = 8_192
        /// Seconds a downstream message lives at most, and by default: four weeks (FCM).
        public static let lifetimeSeconds = 2_419_200
        /// Messages that one device may be sent in a minute, and at once (FCM).
        public static let deviceMessagesPerMinute = 240
        /// Messages that one device may be sent in an hour (FCM).
        public static let deviceMessagesPerHour = 5_000
        /// Messages with collapse key for one app of one device at once, where they are throttled (FCM).
        public static let collapsibleBurst = 20
        /// Seconds in which one of them comes back (FCM).
        public static let collapsibleRefillSeconds = 180
        /// Upstream messages of one device in a minute, and at once (FCM).
        public static let upstreamPerDeviceAndMinute = 1_000
        /// Upstream messages to one sender in a minute, and at once (FCM).
        public static let upstreamPerSenderAndMinute = 1_500_000
        /// Highest rate that may be configured: beyond it there is none.
        public static let highestRate = 100_000_000
        /// Seconds an upstream message lives at most, and by default: one day (FCM).
        public static let upstreamLifetimeSeconds = 86_400
        /// Bytes of a collapse key.
        public static let collapseKeyBytes = 1_024
        /// Reports of expired upstream messages that wait for one device: five apps with all they may have under way. Beyond it the
        /// oldest goes.
        public static let sendErrorsPerDevice = 100
        /// Pairs of one upstream message: the payload counts keys and values alone, and empty ones have none.
        public static let upstreamPairs = 1_024
        /// Seconds after which a receipt that nobody acknowledged leaves the window: most clients never ack one.
        public static let receiptSettleSeconds = 30
        /// Milliseconds for which an upstream message without lifetime may wait to be written: that is still now.
        public static let promptMilliseconds: Int64 = 1_000
        /// Seconds for which upstream messages are remembered, to drop what a device repeats.
        public static let upstreamMemorySeconds = 86_400
    }
}
