extension Limits {
    /// Limits of partitions, and the minimum share of other limits that each partition has.
    public enum Partition {
        /// Slots that keys hash to. Part of the format of the store: it never changes.
        public static let slots = 4_096
        /// Partitions of a new store by default: four for each of four processors, and few enough that their fixed cost is
        /// negligible.
        public static let count = 16
        /// Partitions of a store at most: four slots each, so that their sizes differ by a quarter at most.
        public static let maximumCount = 1_024
        /// Batches that one turn refuses because an invariant failed: the refusal of the first may find another; more are a
        /// loop.
        public static let batchesRefusedPerTurn = 8
        /// Offline devices that one partition may keep in memory at least.
        public static let leastIdleDevices = 64
        /// How many of these may be transient at least: what one page of a topic's subscribers needs.
        public static let leastTransientDevices = Limits.Topic.page
        /// Changes of one partition that may wait for the store at least: the size of one commit.
        public static let leastWaitingWrites = Limits.Store.writesPerCommit
        /// Expired messages that one partition removes in one sweep at least: one sender's mailbox may hold a million, in one
        /// partition.
        public static let leastExpiredPerSweep = 1_000
        /// Last contacts of devices that one partition remembers at least while the store fails.
        public static let leastPendingLastSeen = 64
        /// Messages to topics that wait in one partition at least for the logs of all: those of one sender.
        public static let leastOpenTopics = Limits.Topic.openPerSender
        /// Bytes of the pairs of topic messages that a partition keeps in memory at least: those of 500 messages.
        public static let leastTopicBodyBytes = 1_048_576
        /// Connected devices that topic messages are sent to in one batch of a partition at least: a batch is a sync of the disk.
        public static let leastTopicDevices = 2
        /// Requests of one kind that may wait in one partition at least: ten times those of one connection.
        public static let leastWaitingRequests = 1_000
        /// Empty mailboxes that one partition may keep in memory at least.
        public static let leastEmptyMailboxes = 16
        /// Parts of a tick over which a reactor distributes its partitions, so that not all of them search the store at once. Each part is a
        /// wake-up of an idle process.
        public static let tickParts = 2
        /// Milliseconds between two ticks of the core: half of the longest delay of an expiry.
        public static let tickMilliseconds: Int64 = 250
    }
}
