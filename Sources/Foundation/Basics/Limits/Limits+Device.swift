extension Limits {
    /// Limits of devices, their records and their connections.
    public enum Device {
        /// Seconds without a frame before a device is pinged.
        public static let pingSeconds = 600
        /// Shortest ping interval that a device may ask for, in seconds.
        public static let shortestPingSeconds = 60
        /// Seconds without a frame after which a device that has answered a ping before counts as dead.
        public static let silenceSeconds = 1_500
        /// Unacknowledged upstream frames after which the server sends a stream ack unasked (mcs-device 3.4).
        public static let framesBeforeStreamAck = 10
        /// Upstream messages of one device, over all its apps, that wait to be stored.
        public static let waitingUpstream = 100
        /// Milliseconds for which a stream ack may wait for upstream messages that are being written.
        public static let streamAckDelayMilliseconds: Int64 = 20
        /// Seconds after which a device whose upstream message could not be stored is asked to reconnect and repeat it.
        public static let upstreamRetrySeconds = 60
        /// The same in a cluster, where a partition usually has another owner after about a second.
        public static let clusterUpstreamRetrySeconds = 1
        /// Devices whose state is kept in memory while they are offline.
        public static let idleInMemory = 100_000
        /// How many of these may be transient, loaded only for a topic message: a million subscribers must not displace devices
        /// with other activity. The state of their rates is lost with them.
        public static let transientInMemory = 4_096
        /// Events that wait for the state of one device to be loaded.
        public static let waitingEvents = 1_000
        /// Seconds after which a login updates the time a device was last seen: a write for each login would be of no use.
        public static let seenGranularitySeconds = 3_600
        /// The same for the end of a connection: a fleet that loses its network writes once a day at most.
        public static let seenAtCloseSeconds = 86_400
        /// Seconds without contact after which a device is forgotten (FCM: 270 days).
        public static let expirySeconds = 23_328_000
        /// Devices whose last contact could not be written to the store yet: the number of connections of a large server, 160
        /// KiB.
        public static let pendingLastSeen = 10_000
        /// How many of those are retried at each tick: a failing store gets little load.
        public static let lastSeenPerTick = 50
        /// Device records examined in one search for devices that have been away for too long.
        public static let examinedPerSweep = 500
        /// Devices forgotten after one such search: each may have hundreds of messages, which are removed with it.
        public static let expiredPerSweep = 50
        /// Milliseconds between two such searches, over all partitions: one round over ten million devices takes six hours.
        public static let sweepMilliseconds = 1_000
        /// Seconds from the end of one round over all devices to the next.
        public static let sweepPauseSeconds = 3_600
        /// Seconds after its check-in at which a device that neither logged in nor registered is forgotten: clients do so at
        /// once, and those that were switched off in between check in again.
        public static let unusedSeconds = 86_400
    }
}
