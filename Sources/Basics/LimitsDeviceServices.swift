/// Bounds of what devices ask for over HTTPS (mcs-device 5).
extension Limits {
    // MARK: Topics and installations

    /// Bytes of a topic's name (FCM).
    public static let topicNameBytes = 900
    /// Topics of one registration (FCM: of one app instance).
    public static let subscriptionsPerRegistration = 2_000
    /// Subscriptions on a page of a list whose size is not given: as with the real service (http 8.7).
    public static let subscriptionsPerPage = 1_000
    /// Requests that wait for what the store knows of an installation: an import of ten connections with ten
    /// full requests each.
    public static let waitingInstallations = 10_000
    /// Registrations of one installation that are looked at: an app has one, and a few that it replaced.
    public static let registrationsPerInstallation = 1_000

    /// Rows of installations looked at in one search for those that nobody uses any more.
    public static let installationRowsPerSweep = 1_000
    /// Seconds for which an installation without any registration is kept unused: twice as long as an access token is good, so
    /// that an app which registers late finds it. Any client that asks makes one, and this is what it leaves.
    public static let unusedInstallationSeconds = 1_209_600

    // MARK: Requests

    /// Bytes that a packed request body may unpack to: as many as one that is not packed, so that no bomb goes off.
    public static let unpackedBodyBytes = 1_048_576
    /// Bytes unpacked at once: most bodies are shorter.
    public static let unpackingStepBytes = 16_384
    /// Seconds between two check-ins of a browser, where we tell it: two days, as it does untold.
    public static let checkInIntervalSeconds = 172_800
    /// Seconds for which the access token of an installation is good (mcs-device 5.5): a week, as clients have it.
    public static let installationTokenSeconds = 604_800
    /// Bytes of a project's name in a path: ten times what Google allows for an id.
    public static let projectNameBytes = 300
    /// Bytes of the version of an app that are kept: it is a number or a short name; a longer one counts as none.
    public static let appVersionBytes = 64
    /// Hexadecimal digits of a token of Apple's: they have 64, and Apple asks not to count on it.
    public static let appleTokenDigits = 400
    /// Bytes of the URL of a web push endpoint: a host and a token.
    public static let endpointBytes = 2_048
}
