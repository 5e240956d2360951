extension Limits {
    /// Limits of the metrics and of the checks of `ccsctl health`.
    public enum Metrics {
        /// Senders that have series of their own. Each has 13, so that a scrape stays below 30 KB for all of them; a server with
        /// more senders is read by its busiest ones.
        public static let namedSenders = 20
        /// Senders whose messages are remembered to find the busiest: some 300 bytes each, more if messages are refused. Those beyond count as `other`.
        public static let countedSenders = 10_000
        /// Seconds between two rankings of the senders: longer than a scrape interval, so that a series is seen more than once.
        public static let rankingSeconds = 60
        /// Days before a certificate's end from which on it is reported: a renewal that is automatic happens 30 days before.
        public static let certificateDays = 14
        /// Percent of free space on the disk below which it is reported.
        public static let leastFreePercent = 10
        /// Percent of the descriptors in use above which it is reported: new connections are refused soon.
        public static let mostDescriptorsPercent = 80
        /// Seconds without success after which APNs counts as failing: longer than a connection takes to be replaced.
        public static let failingGatewaySeconds = 30
        /// Seconds for which a refused connection is reported: a client that is refused tries again within them.
        public static let refusalSeconds = 60
        /// Percent of the registry's limit above which it is reported.
        public static let mostRegistryPercent = 90
    }
}
