extension Limits {
    /// Limits of partitions, and the least share of a limit that each of them has.
    public enum Partition {
        /// Slots that keys hash to. Part of the format of the store: it never changes.
        public static let slots = 4_096
        /// Partitions of a store that is created without a number of its own: four for each of four processors, and few enough that
        /// what each of them does for itself costs nothing.
        public static let count = 16
        /// The most partitions that a store may have: four slots each, so that they differ by a quarter in size at most.
        public static let most = 1_024
        /// Batches of one turn that are refused because a state cannot be: answering the first may find another; more are a loop.
        public static let batchesRefusedPerTurn = 8
        /// Offline devices that one partition keeps in memory at least.
        public static let leastIdleDevices = 64
        /// Of these, how many may be such that only a message to a topic has met: what one page of its subscribers needs.
        public static let leastVisitingDevices = Limits.Topic.page
        /// Changes of one partition that may wait for the store at least: as many as one commit takes.
        public static let leastWaitingWrites = Limits.Store.writesPerCommit
        /// Expired messages that one partition removes in one sweep at least: a sender's mailbox may hold a million, in one
        /// partition.
        public static let leastExpiredPerSweep = 1_000
        /// Last contacts of devices that one partition remembers at least while the store cannot be told.
        public static let leastUnwrittenContacts = 64
        /// Messages to topics that one partition may have under way at least: those of one sender.
        public static let leastTopicJobs = Limits.Topic.jobsPerSender
        /// Requests of one kind that may wait in one partition at least: those of one connection, ten times.
        public static let leastWaitingRequests = 1_000
        /// Mailboxes in memory of one partition that may hold nothing at least.
        public static let leastKeptMailboxes = 16
        /// Parts of a tick in which the partitions of a reactor have their turn, so that not all of them search the store at once.
        public static let tickParts = 8
        /// Milliseconds between two ticks of the core: half of the longest that an expiry may be late.
        public static let tickMilliseconds: Int64 = 250
    }
}
