extension Limits {
    /// Limits of app server streams after login.
    public enum AppServer {
        /// Registration tokens cached for each app server connection, of the devices whose messages it wrote last: 12 KiB.
        public static let cachedTokens = 64
        /// Seconds for which the stream of a lost connection can be resumed: app servers reconnect long before.
        public static let resumptionSeconds = 300
        /// Streams of one sender that wait to be resumed; beyond it the oldest is given up.
        public static let resumableStreamsPerSender = 100
        /// Bytes of unconfirmed replies that one stream keeps for resumption; beyond it the stream cannot be resumed.
        public static let unconfirmedBytes = 65_536
        /// Stanzas after which an app server is asked how many it has handled.
        public static let stanzasPerAckRequest = 10
        /// Bytes of a resource (RFC 6120, 7.1).
        public static let resourceBytes = 1_023
        /// Connections of one sender (FCM).
        public static let connectionsPerSender = 1_000
        /// Messages sent and not yet acknowledged, on one connection and in one direction (FCM).
        public static let pendingWindow = 100
        /// Withdrawn upstream messages, and as many receipts, whose late answers one connection recognises: the default window.
        public static let withdrawnRemembered = 100
        /// Bytes of stanzas read beyond a full window while looking for acks; then reading stops.
        public static let unreadBytes = 262_144
        /// Message IDs remembered for each connection, to refuse a repeated one: 50 default windows. They take 72 KiB, so those of ten
        /// busy connections fit in the second-level cache of a processor.
        public static let rememberedMessageIDs = 5_000
        /// Milliseconds in which pending replies are still sent after an app server has ended its stream: clients wait two
        /// seconds.
        public static let farewellMilliseconds: Int64 = 1_000
        /// Bytes of a refused value shown in a NACK: enough to recognise it.
        public static let refusalTextBytes = 64
        /// Bytes of a message ID: clients use under 100; it returns in acks and receipts.
        public static let messageIDBytes = 1_024
        /// Seconds without outbound data after which the server sends one space as a keepalive.
        public static let keepaliveSeconds = 60
    }
}
