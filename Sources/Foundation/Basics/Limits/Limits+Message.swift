extension Limits {
    /// Limits of messages, in both directions.
    public enum Message {
        /// Bytes of all keys and values of a message (FCM).
        public static let payloadBytes = 4_096
        /// Bytes of the Apple override of a v1 message: a payload of 4,096, which is all that APNs accepts, and its headers.
        public static let apnsOverrideBytes = 8_192
        /// Longest and default lifetime of a downstream message in seconds: four weeks (FCM).
        public static let lifetimeSeconds = 2_419_200
        /// Messages to one device in a minute, which is also the burst (FCM).
        public static let deviceMessagesPerMinute = 240
        /// Messages to one device in an hour (FCM).
        public static let deviceMessagesPerHour = 5_000
        /// Burst of messages with a collapse key to one app of one device (FCM).
        public static let collapsibleBurst = 20
        /// Seconds in which one of them is allowed again (FCM).
        public static let collapsibleRefillSeconds = 180
        /// Upstream messages of one device in a minute, which is also the burst (FCM).
        public static let upstreamPerDeviceAndMinute = 1_000
        /// Upstream messages to one sender in a minute, which is also the burst (FCM).
        public static let upstreamPerSenderAndMinute = 1_500_000
        /// Highest rate that may be configured: higher than any server reaches.
        public static let highestRate = 100_000_000
        /// Longest and default lifetime of an upstream message in seconds: one day (FCM).
        public static let upstreamLifetimeSeconds = 86_400
        /// Bytes of a collapse key.
        public static let collapseKeyBytes = 1_024
        /// Reports of expired upstream messages that wait for one device: five apps with all the messages they may have in
        /// progress. Beyond it the oldest is dropped.
        public static let sendErrorsPerDevice = 100
        /// Searches for the messages with an ID that one partition has open: ten times those of one connection.
        public static let lookups = 1_000
        /// Pairs in one upstream message: the payload limit counts keys and values alone, so empty ones need their own.
        public static let upstreamPairs = 1_024
        /// Seconds after which an unacknowledged receipt leaves the window: most clients never acknowledge receipts.
        public static let receiptAckSeconds = 30
        /// Milliseconds that an upstream message with a lifetime of 0 may wait to be written and still count as immediate.
        public static let promptMilliseconds: Int64 = 1_000
        /// Seconds for which upstream messages are remembered, to drop a device's duplicates.
        public static let upstreamMemorySeconds = 86_400
    }
}

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

extension Limits {
    /// Limits of the pairs that messages of one partition share in the store.
    public enum SharedBody {
        /// Messages of a request that a partition stores with pairs of their own, before further ones share theirs. Shared pairs are two
        /// rows of the engine, put and removed, where a message that is delivered at once has none: that costs what a few bodies cost.
        public static let unsharedMessages = 4
        /// Bytes of pairs below which each message has its own: the reference and the row take about as much.
        public static let leastBytes = 256
        /// Requests of one partition whose messages are being stored: their pairs take up to 200 KB of memory.
        public static let open = 16
        /// Seconds for which messages of a request are awaited: its devices are read meanwhile.
        public static let openSeconds = 30
        /// Pairs whose entries are counted, about 100 MB of memory: they end with their last entry. Beyond, messages have their own.
        public static let counted = 1_048_576
        /// Seconds for which shared pairs outlive the messages: by then the last mailbox has been swept.
        public static let graceSeconds = 3_600
    }
}

extension Limits {
    /// Limits of messages that are sent at a time of their own (`send_at`).
    public enum Schedule {
        /// Seconds that the time may be ahead: as long as a message may wait for its device.
        public static let aheadSeconds = Limits.Message.lifetimeSeconds
        /// Scheduled messages of one device: the number that may wait for one app. They are in memory with the mailbox.
        public static let perDevice = 100
        /// Scheduled messages of one sender; each partition has an equal part of them.
        public static let perSender = 1_000_000
        /// Scheduled messages of all senders: about a gigabyte with usual payloads.
        public static let total = 4_000_000
        /// Entries of the schedule that are counted by one read.
        public static let countedAtOnce = 1_000
        /// Seconds after which a sender that has reached its limit is counted again.
        public static let countSeconds = 60
        /// Scheduled messages on one page that an app server asks for: each is read with its device.
        public static let page = 100
        /// Bytes of a position in the list of scheduled messages: three numbers.
        public static let positionBytes = 64
    }
}
