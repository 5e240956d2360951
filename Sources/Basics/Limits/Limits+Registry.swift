extension Limits {
    /// Limits of how far peers that have not authenticated may grow the registry.
    public enum Registry {
        /// Requests in a minute from one address, or IPv6 network, that would add to the registry for a stranger: some hundred new
        /// devices, each with a check-in and one or two registrations. Devices that have logged in do not count.
        public static let requestsPerAddressAndMinute = 1_000
        /// The same from all addresses together: as many devices as the search for unused ones takes away again, fifty a second.
        public static let requestsPerMinute = 3_000
        /// Bytes that the registry may take on the disk before nothing new is added to it. A device with two apps takes 118 of
        /// them, and 390 where both have an installation and a topic (measured); some more until the engine has cleared up. So
        /// there is room for 30 million of them, more than one server has connections for, and a disk of ordinary size is not full
        /// before.
        public static let bytes = 17_179_869_184
        /// The registry has at most one of so many parts of the device: messages and the journal need room as well.
        public static let shareOfDevice = 2
        /// Seconds between two measurements of the registry: what all senders and strangers may add meanwhile is a few megabytes.
        public static let measureSeconds = 2
        /// Seconds between two attempts to get back the room of what was removed from a registry that is full: each may rewrite all
        /// of it, some minutes of the disk's time.
        public static let reclaimSeconds = 600
        /// Seconds after which a device may ask again for which the registry had no room: an operator has to act first. App servers
        /// wait `sendRetrySeconds` only, because their libraries block while they wait.
        public static let retrySeconds = 300
        /// Bytes that a row of the registry counts for while it is in memory: a short one with its key and the place that it takes.
        public static let rowBytes = 128
        /// Bytes that the engine takes for a family with only a few rows in memory: its filter and the first piece for rows
        /// (measured: 1,460,192). They say nothing of how much there is.
        public static let memtableBytes = 1_572_864
        /// Addresses whose requests are remembered: a bound on a table that starts anew each minute.
        public static let addressesRemembered = 65_536
        /// Seconds after which a stranger may ask again: its minute is over then.
        public static let addressRetrySeconds = 60
    }
}
