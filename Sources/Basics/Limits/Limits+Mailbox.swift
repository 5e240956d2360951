extension Limits {
    /// Limits of what is stored for one device or one sender.
    public enum Mailbox {
        /// Collapse keys stored for one app of one device (FCM).
        public static let collapseKeys = 4
        /// Messages without collapse key stored for one app of one device (FCM); the next discards all.
        public static let storedMessages = 100
        /// Upstream messages of one app of one device that wait to be stored (FCM).
        public static let waitingUpstream = 20
        /// Upstream messages kept for one sender: a day at a steady 10 a second; beyond it devices are refused.
        public static let storedUpstreamPerSender = 1_000_000
        /// Upstream messages of one device kept for one sender: a hundredth of `storedUpstreamPerSender`, so that no device takes
        /// the places of all others; one that sends every nine seconds has a day's.
        public static let storedUpstreamPerDevice = 10_000
        /// Messages sent on one connection and not acknowledged; beyond it the device is asked to come again
        /// with its list of received ids, since some clients acknowledge only at login.
        public static let unacknowledgedPerDevice = 1_000
        /// Stored messages read at once for a device that has just logged in.
        public static let page = 100
        /// Bytes of upstream stanzas written to an app server at once: half of what may wait, as answers need room too.
        public static let upstreamBytesAtOnce = 524_288
    }
}
