extension Limits {
    /// Limits of how far unauthenticated peers may grow the registry.
    public enum Registry {
        /// Requests in a minute from one address or IPv6 network that add to the registry without authentication: some hundred
        /// new devices, each with a check-in and one or two registrations. Devices that have logged in do not count.
        public static let requestsPerAddressAndMinute = 1_000
        /// The same from all addresses together: as many devices as the search for unused ones removes, fifty a second.
        public static let requestsPerMinute = 3_000
        /// Bytes on disk beyond which nothing new is added to the registry. A device with two apps takes 118, and 390 if both
        /// have an installation and a topic (measured); somewhat more until compaction. So there is room for 30 million
        /// devices, more than one server has connections for, and a disk of ordinary size does not fill up first.
        public static let bytes = 17_179_869_184
        /// Divisor of the disk's size that gives the registry's largest share: messages and the journal need room as well.
        public static let shareOfDevice = 2
        /// Seconds between two measurements of the registry: the growth in between is a few megabytes.
        public static let measureSeconds = 2
        /// Rows that each measurement reads to count devices and registrations: some 2 ms, in which queries wait. A million
        /// devices with an app each are counted in 13 minutes.
        public static let censusRows = 5_000
        /// Seconds between two attempts to reclaim the space of removed rows in a full registry: each may rewrite all of it,
        /// some minutes of disk time.
        public static let reclaimSeconds = 600
        /// Seconds after which a device may retry a request that a full registry refused: an operator has to act first. App
        /// servers wait `HTTP.sendRetrySeconds` only, because their libraries block while they wait.
        public static let retrySeconds = 300
        /// Bytes that a registry row counts for while it is in memory: a short row with its key and its overhead.
        public static let rowBytes = 128
        /// Bytes that the engine allocates for a column family with only a few rows in memory: its filter and the first block
        /// for rows (measured: 1,460,192). They do not reflect the size of the data.
        public static let memtableBytes = 1_572_864
        /// Addresses whose requests are remembered: a bound on a table that starts empty each minute.
        public static let addressesRemembered = 65_536
        /// Seconds after which a throttled unauthenticated peer may retry: its minute is over then.
        public static let addressRetrySeconds = 60
    }
}
