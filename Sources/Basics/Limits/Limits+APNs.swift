extension Limits {
    /// Limits of the APNs gateway.
    public enum APNs {
        /// Bytes of a payload (apns 1.2).
        public static let payloadBytes = 4_096
        /// Bytes of the payload of a VoIP push (apns 1.2).
        public static let voipPayloadBytes = 5_120
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
