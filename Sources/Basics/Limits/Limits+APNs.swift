extension Limits {
    /// Limits of the APNs gateway.
    public enum APNs {
        /// Bytes of a payload (apns 1.2).
        public static let payloadBytes = 4_096
        /// Bytes of the payload of a VoIP push (apns 1.2).
        public static let voipPayloadBytes = 5_120
        /// Milliseconds that a submission waits for Apple's verdict; then it is answered by what is known (apns 4.1).
        public static let verdictMilliseconds: Int64 = 5_000
        /// Submissions that wait for a verdict: at 5 s each, 20,000 a second. Beyond it, stored ones are answered at once.
        public static let waitingVerdicts = 100_000
        /// Now-or-never messages of one registration that wait for an earlier one: the window of one app server.
        public static let waitingUnstored = 100
        /// Milliseconds after which an accepted message is offered again whose credential was not usable.
        public static let credentialRetryMilliseconds: Int64 = 60_000
        /// Milliseconds after which a message is offered again whose token Apple calls dead since before the app reported it.
        public static let renewedRetryMilliseconds: Int64 = 1_000
        /// Milliseconds within which a second `BadDeviceToken` ends a registration: a day (apns 4.2).
        public static let unknownWithinMilliseconds: Int64 = 86_400_000
        /// Milliseconds after which `DeviceTokenNotForTopic` ends a registration: a week (apns 4.2).
        public static let mismatchedMilliseconds: Int64 = 604_800_000
        /// Milliseconds after which a device token that an app reports again is recorded again: an hour, as apps report it at each
        /// start.
        public static let confirmedEveryMilliseconds: Int64 = 3_600_000
        /// Marked devices read at once after a start: each is loaded, which costs as much as a login.
        public static let devicesPerSearch = 100
        /// Milliseconds for which the feedback list shows an entry: 30 days (apns 2.3).
        public static let feedbackMilliseconds: Int64 = 30 * 86_400_000
        /// Entries of the feedback list in one page (apns 2.3).
        public static let feedbackPerPage = 1_000
        /// Bytes of `apns-collapse-id` (apns 1.2).
        public static let collapseIDBytes = 64
        /// Seconds that APNs keeps a message of HTTP v1 that names no expiration: 30 days (apns 3.3).
        public static let lifetimeSeconds = 2_592_000
    }
}

extension Limits {
    /// Limits of the credentials for APNs.
    public enum APNsCredentials {
        /// Credentials that are kept: an operator of hundreds of apps has one certificate or key for each.
        public static let count = 1_000
        /// Bytes of a certificate, archive or key: two of them, as Base64, fit into one control request.
        public static let fileBytes = 20_480
        /// Bytes of a stored credential: certificates and key as PEM, in JSON.
        public static let storedBytes = 65_536
        /// Bytes of the password of an archive or key.
        public static let passwordBytes = 255
        /// Iterations of a password-based key that are accepted: an archive must not occupy a processor for minutes.
        public static let passwordIterations = 10_000_000
        /// Bytes of the ID of an app: Apple allows 155 characters, and further ones are for the suffix of a topic.
        public static let bundleBytes = 1...255
        /// Characters of a key ID and of a team ID, fixed by Apple.
        public static let identifierBytes = 10
        /// Days before the expiry of a certificate at which a warning is logged.
        public static let warningDays = [30, 14, 7, 1]
        /// The number of days left that is reported if no certificate can expire: more than any certificate has.
        public static let daysWithoutExpiry = 36_500
    }
}
