extension Limits {
    /// Limits of registrations of apps.
    public enum Registration {
        /// Bytes of a record of an encrypted message before its encryption: the usual size, which old clients take for granted.
        public static let webPushRecordBytes = 4_096
        /// Draws of a private key: one in four thousand million is none, so a source that gives none so often is broken.
        public static let keyDraws = 4
        /// Registrations of one device.
        public static let perDevice = 512
        /// Bytes of an app's name (category), subtype or instance in a registration.
        public static let fieldBytes = 512
        /// Senders that one registration may name (FCM).
        public static let sendersPerRegistration = 100
        /// Senders that may send to one app of one device, over all of its registrations (FCM).
        public static let sendersPerApp = 100
        /// Bytes of the sender string of a registration: so many numbers of 19 digits, with commas.
        public static let senderTextBytes = 2_048
        /// Registrations with keys that were made from one web push endpoint: a web app has one, and a few that it replaced; a
        /// client that knows the endpoint can make others.
        public static let perEndpoint = 8
        /// Registrations of one app instance that newer ones have replaced and that still work; older ones go.
        public static let replaced = 2
        /// Seconds for which a replaced registration works: as long as a message may live.
        public static let replacedSeconds = 2_419_200
        /// Seconds between two check-ins of a browser, where we tell it: two days, as it does untold.
        public static let checkInIntervalSeconds = 172_800
        /// Bytes of the version of an app that are kept: it is a number or a short name; a longer one counts as none.
        public static let appVersionBytes = 64
        /// Hexadecimal digits of a token of Apple's: they have 64, and Apple asks not to count on it.
        public static let appleTokenDigits = 400
        /// Bytes of the URL of a web push endpoint: a host and a token.
        public static let endpointBytes = 2_048
    }
}
