extension Limits {
    /// Limits of streams of app servers after the login.
    public enum AppServer {
        /// Tokens of devices that a connection of an app server keeps, of those whose messages it wrote last: 12 KiB.
        public static let cachedTokens = 64
        /// Seconds for which the stream of a lost connection can be resumed: an app server is back long before.
        public static let resumptionSeconds = 300
        /// Streams of one sender that wait to be resumed; the oldest is given up.
        public static let resumableStreamsPerSender = 100
        /// Bytes of answers that one stream keeps until they are confirmed; beyond it the stream cannot be resumed.
        public static let unconfirmedBytes = 65_536
        /// Stanzas after which an app server is asked how many it has handled.
        public static let stanzasPerAckRequest = 10
        /// Bytes of a resource (RFC 6120, 7.1).
        public static let resourceBytes = 1_023
        /// Connections of one sender (FCM).
        public static let connectionsPerSender = 1_000
        /// Messages sent and not yet answered, on one connection and in one direction (FCM).
        public static let pendingWindow = 100
        /// Withdrawn upstream messages, and as many receipts, whose late answers one connection recognises: the default window.
        public static let withdrawnRemembered = 100
        /// Bytes of stanzas read beyond a full window while looking for acks; then reading stops.
        public static let unreadBytes = 262_144
        /// Message ids remembered per connection to refuse a repeated one.
        public static let rememberedMessageIDs = 10_000
        /// Milliseconds for answers still owed after an app server has ended its stream: clients wait two seconds.
        public static let farewellMilliseconds: Int64 = 1_000
        /// Bytes of a refused value shown in a NACK: enough to recognise it.
        public static let refusalTextBytes = 64
        /// Bytes of a message id: clients use under 100; it returns in acks and receipts.
        public static let messageIDBytes = 1_024
        /// Seconds of server silence before one space is sent.
        public static let keepaliveSeconds = 60
    }
}
