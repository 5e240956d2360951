extension Limits {
    /// Limits of topics, conditions and messages to them.
    public enum Topic {
        /// Bytes of a topic's name (FCM).
        public static let nameBytes = 900
        /// Topics that a condition may test (FCM).
        public static let conditionTests = 5
        /// Operators that one may have where the rules of the older interfaces are kept to the letter (FCM).
        public static let strictConditionOperators = 2
        /// Parentheses within one another in a condition: five tests need no more than four, the rest is for machines that
        /// write some too many.
        public static let conditionDepth = 16
        /// Subscriptions that app servers of one sender may make or end in a second, and at once (FCM).
        public static let changesPerSecond = 3_000
        /// Seconds after which one that was too many may be tried again. Some clients do so by themselves, which does no harm here:
        /// the same subscription twice is one.
        public static let changeRetrySeconds = 1
        /// Bytes of keys and values of a message to a topic (FCM).
        public static let payloadBytes = 2_048
        /// Messages to topics that one sender may have under way; the next is refused as too many (FCM).
        public static let jobsPerSender = 1_000
        /// The same for all senders: what their bodies may take of the memory, 40 MB.
        public static let jobs = 10_000
        /// Subscribers whose devices are asked at once for one message; each may be a question to the store.
        public static let page = 128
        /// Pages of all messages to topics that are under way at once in one partition, so that other messages are not kept
        /// waiting behind them.
        public static let pagesInFlight = 4
        /// The same in all partitions, for the same reason; each may have one.
        public static let pagesInAll = 16
        /// Rows of the registry that one page of a condition which reaches all looks at: a sender may have few of very many.
        public static let scanRows = 4_096
        /// Subscriptions counted in one read for an operator: some milliseconds, in which nothing is kept from being written.
        public static let countRows = 65_536
        /// Milliseconds after which subscribers whom the store could not serve are tried again.
        public static let retryMilliseconds = 1_000
        /// Messages to topics read at once when those that a stop has interrupted go on.
        public static let jobsRead = 64
        /// Seconds for which a body outlives the messages that share it: by then the last of them has been swept away.
        public static let sharedBodyGraceSeconds = 3_600
    }
}
