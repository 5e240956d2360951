extension Limits {
    /// Limits of Instance ID and Firebase installations.
    public enum Installation {
        /// Topics of one registration (FCM: of one app instance).
        public static let subscriptionsPerRegistration = 2_000
        /// Subscriptions on one page of a list if the request gives no size, as at Google (http 8.7).
        public static let subscriptionsPerPage = 1_000
        /// Requests that wait for the store to read an installation: an import of ten connections with ten full requests each.
        public static let waiting = 10_000
        /// Registrations of one installation that are read: an app has one, and a few that it replaced.
        public static let registrations = 1_000
        /// Installation rows examined in one search for unused ones.
        public static let rowsPerSweep = 1_000
        /// Seconds for which an installation without a registration is kept: twice the lifetime of an access token, so that an
        /// app which registers late finds it. Unauthenticated clients can create such installations, so they must expire.
        public static let unusedSeconds = 1_209_600
        /// Seconds for which the access token of an installation is valid (mcs-device 5.5): a week, as clients expect.
        public static let tokenSeconds = 604_800
        /// Bytes of a project's name in a path: ten times what Google allows for an ID.
        public static let projectNameBytes = 300
        /// Apple tokens in one import, as at Google (http 7.4).
        public static let appleTokensPerImport = 100
    }
}
