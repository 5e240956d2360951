extension Limits {
    /// Limits of Instance ID and Firebase installations.
    public enum Installation {
        /// Topics of one registration (FCM: of one app instance).
        public static let subscriptionsPerRegistration = 2_000
        /// Subscriptions on a page of a list whose size is not given: as with the real service (http 8.7).
        public static let subscriptionsPerPage = 1_000
        /// Requests that wait for what the store knows of an installation: an import of ten connections with ten
        /// full requests each.
        public static let waiting = 10_000
        /// Registrations of one installation that are looked at: an app has one, and a few that it replaced.
        public static let registrations = 1_000
        /// Rows of installations looked at in one search for those that nobody uses any more.
        public static let rowsPerSweep = 1_000
        /// Seconds for which an installation without any registration is kept unused: twice as long as an access token is good, so
        /// that an app which registers late finds it. Any client that asks makes one, and this is what it leaves.
        public static let unusedSeconds = 1_209_600
        /// Seconds for which the access token of an installation is good (mcs-device 5.5): a week, as clients have it.
        public static let tokenSeconds = 604_800
        /// Bytes of a project's name in a path: ten times what Google allows for an id.
        public static let projectNameBytes = 300
        /// Tokens of Apple's in one import: as with the real service (http 7.4).
        public static let appleTokensPerImport = 100
    }
}
