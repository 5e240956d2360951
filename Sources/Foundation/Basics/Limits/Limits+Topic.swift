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
        /// Messages to topics that one sender may have in progress; the next is refused as too many (FCM).
        public static let jobsPerSender = 1_000
        /// The same for all senders: their bodies take up to 40 MB of memory.
        public static let jobs = 10_000
        /// Subscribers whose devices are looked up at once for one message; each may be a query to the store.
        public static let page = 128
        /// Pages of all topic messages in progress at once in one partition, so that other messages are not delayed.
        public static let pagesInFlight = 4
        /// The same in all partitions, for the same reason; each may have one.
        public static let pagesInAll = 16
        /// Rows of the registry read for one page of a condition that matches all topics: a sender may have few rows among very
        /// many.
        public static let scanRows = 4_096
        /// Subscriptions counted in one read for an operator: some milliseconds, in which no write is blocked.
        public static let countRows = 65_536
        /// Milliseconds after which subscribers whose lookup failed are retried.
        public static let retryMilliseconds = 1_000
        /// Topic messages read at once when fan-out resumes after a restart.
        public static let jobsRead = 64
        /// Seconds for which a shared body outlives its messages: by then the last of them has been swept.
        public static let sharedBodyGraceSeconds = 3_600
        /// Milliseconds until a message is read again whose shared body is not there: on a node of a cluster, another partition's
        /// log has it, which is a little behind. Each further read of the message is after twice as long.
        public static let bodyRetryMilliseconds: Int64 = 500
        /// How often that time doubles, to a little more than an hour: a body that was damaged never comes, and its messages are
        /// read again until they expire.
        public static let bodyRetryDoublings = 13
        /// Registrations of a partition whose messages are read again in one tick: after a takeover all of them may wait.
        public static let bodyRetriesPerTick = 1_000
    }
}
