extension Limits {
    /// Limits of topics, conditions and messages to them.
    public enum Topic {
        /// Bytes of a topic's name (FCM).
        public static let nameBytes = 900
        /// Topics that a condition may test (FCM).
        public static let conditionTests = 5
        /// Operators of a condition if the rules of the older interfaces are applied to the letter (FCM).
        public static let strictConditionOperators = 2
        /// Nesting of parentheses in a condition: five tests need four at most, generated conditions may have redundant ones.
        public static let conditionDepth = 16
        /// Subscriptions that app servers of one sender may create or remove in a second, which is also the burst (FCM).
        public static let changesPerSecond = 3_000
        /// Seconds after which a throttled change may be retried. Some clients retry by themselves, which is harmless:
        /// subscribing twice has no effect.
        public static let changeRetrySeconds = 1
        /// Bytes of keys and values of a message to a topic (FCM).
        public static let payloadBytes = 2_048
        /// Messages to topics of one sender that not all partitions have in their logs; the next is refused as too many (FCM).
        public static let openPerSender = 1_000
        /// The same for all senders: their pairs take up to 40 MB of memory.
        public static let open = 10_000
        /// Messages that are passed on to a partition at once, so that other events of the partition are not delayed.
        public static let copiedAtOnce = 64
        /// Live messages to topics in the logs: their heads take about 40 MB of memory.
        public static let live = 100_000
        /// Live messages of one topic: the older half of them is discarded when there are more. That is five times what a device may have
        /// waiting, so that no device loses what it could have had.
        public static let livePerTopic = 1_000
        /// Bytes of the newest pairs that the partitions keep in memory; older ones are read from the store.
        public static let bodyBytes = 67_108_864
        /// Live messages of which a partition keeps what all recipients have in common: more than the mailbox of a device takes.
        public static let sharesKept = 256
        /// Connected devices whose mailboxes topic messages enter at once, in all partitions of a reactor together: about a millisecond, so
        /// that other messages are not delayed. With 256, they waited up to 40 ms.
        public static let devicesPerBatch = 32
        /// Devices with iOS apps that are looked up at once for one message; each may be a query to the store.
        public static let page = 128
        /// Rows of the registry read for one page of a condition that matches all topics: a sender may have few rows among very
        /// many.
        public static let scanRows = 4_096
        /// Subscriptions counted in one read for an operator: some milliseconds, in which no write is blocked.
        public static let countRows = 65_536
        /// Topics in a page for an app server, each of which is a seek.
        public static let topicsPerPage = 100
        /// Subscribers in a page for an app server: their registrations are read one by one, some milliseconds in which no other query of
        /// the store is answered.
        public static let subscribersPerPage = 500
        /// Milliseconds after which what has failed is retried: a query, or what another partition could not store.
        public static let retryMilliseconds = 1_000
        /// Topic messages read at once after a start, with their pairs.
        public static let messagesRead = 64
        /// Entries of a log read at once after a start, without pairs.
        public static let entriesRead = 1_024
    }
}
