extension Limits {
    /// Limits of the messages stored for one device or one sender.
    public enum Mailbox {
        /// Collapse keys stored for one app of one device (FCM).
        public static let collapseKeys = 4
        /// Messages without a collapse key stored for one app of one device (FCM); the next one discards them all.
        public static let storedMessages = 100
        /// Upstream messages of one app of one device that wait to be stored (FCM).
        public static let waitingUpstream = 20
        /// Upstream messages stored for one sender: a day at a steady 10 a second; beyond it messages of devices are refused.
        public static let storedUpstreamPerSender = 1_000_000
        /// Upstream messages of one device stored for one sender: a hundredth of `storedUpstreamPerSender`, so that one device
        /// cannot fill the sender's mailbox; a device that sends every nine seconds has room for a day's messages.
        public static let storedUpstreamPerDevice = 10_000
        /// Messages sent on one connection and not acknowledged; beyond it the device is asked to reconnect with its list of
        /// received IDs, since some clients acknowledge only at login.
        public static let unacknowledgedPerDevice = 1_000
        /// Stored messages read at once for a device that has just logged in.
        public static let page = 100
        /// Bytes of upstream stanzas written to an app server at once: half of what may wait, as replies need room too.
        public static let upstreamBytesAtOnce = 524_288
    }
}
