extension Limits {
    /// Limits of devices and their connections, as the core sees them.
    public enum Device {
        /// Seconds without a frame before a device is pinged.
        public static let pingSeconds = 600
        /// Shortest ping interval that a device may ask for, in seconds.
        public static let shortestPingSeconds = 60
        /// Seconds without a frame, after a ping was answered once, before a device is taken for dead.
        public static let silenceSeconds = 1_500
        /// Unacknowledged upstream frames after which a stream ack is sent unasked (mcs-device 3.4).
        public static let framesBeforeStreamAck = 10
        /// Upstream messages of one device, over all its apps, that wait to be stored.
        public static let waitingUpstream = 100
        /// Milliseconds for which a stream ack may wait for the upstream messages still on their way to the disk.
        public static let streamAckDelayMilliseconds: Int64 = 20
        /// Seconds after which a device whose upstream message could not be stored is asked to come again and repeat it.
        public static let upstreamRetrySeconds = 60
        /// Devices whose state is kept in memory while they are offline.
        public static let idleInMemory = 100_000
        /// Of these, how many may be such that only a message to a topic has met: a million subscribers must not take the place of
        /// devices that something happens to. What is left of their rates goes with them.
        public static let visitingInMemory = 4_096
        /// Events that wait for the state of one device to be loaded.
        public static let waitingEvents = 1_000
        /// Seconds after which a login renews the time a device was last seen: a write per login would buy nothing.
        public static let seenGranularitySeconds = 3_600
        /// The same for the end of a connection: a fleet that loses its network writes once a day at most.
        public static let seenAtCloseSeconds = 86_400
        /// Seconds without contact after which a device is forgotten (FCM: 270 days).
        public static let expirySeconds = 23_328_000
        /// Devices whose last contact the store could not be told yet: as many as are connected to a large server,
        /// and 160 KiB.
        public static let unwrittenContacts = 10_000
        /// How many of those are tried again at each tick: a store that fails is not asked for more than a little.
        public static let contactsPerTick = 50
        /// Records of devices looked at in one search for those that have been away for too long.
        public static let perSweep = 500
        /// Devices forgotten after one such search: each may take hundreds of messages with it.
        public static let expiredPerSweep = 50
        /// Milliseconds between two such searches, whichever partition's turn it is: ten million devices are gone through in six
        /// hours.
        public static let sweepMilliseconds = 1_000
        /// Seconds from the end of one round over all devices to the next.
        public static let sweepPauseSeconds = 3_600
        /// Seconds after its check-in at which a device is forgotten that neither logged in nor registered: clients do so at once,
        /// and those that were switched off in between check in again.
        public static let unusedSeconds = 86_400
    }
}
