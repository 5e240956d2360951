extension Limits {
    /// Limits of app registrations.
    public enum Registration {
        /// Bytes of one record of an encrypted message before encryption: the usual size, which old clients rely on.
        public static let webPushRecordBytes = 4_096
        /// Attempts to generate a private key: one in four thousand million is invalid, so a source that fails this often is
        /// broken.
        public static let keyDraws = 4
        /// Registrations of one device.
        public static let perDevice = 512
        /// Bytes of an app's name (category), subtype or instance in a registration.
        public static let fieldBytes = 512
        /// Senders that one registration may name (FCM).
        public static let sendersPerRegistration = 100
        /// Senders that may send to one app of one device, over all of its registrations (FCM).
        public static let sendersPerApp = 100
        /// Bytes of the sender string of a registration: a hundred numbers of 19 digits, with commas.
        public static let senderTextBytes = 2_048
        /// Registrations with keys made from one web push endpoint: a web app has one, and a few that it replaced; any client
        /// that has the endpoint can make others.
        public static let perEndpoint = 8
        /// Replaced registrations of one app instance that still work; older ones are removed.
        public static let replaced = 2
        /// Seconds for which a replaced registration works: the longest lifetime of a message.
        public static let replacedSeconds = 2_419_200
        /// Seconds between two check-ins of a browser, if the server sets them: two days, which is also the browser's default.
        public static let checkInIntervalSeconds = 172_800
        /// Bytes of an app version that are stored: it is a number or a short name; a longer one is ignored.
        public static let appVersionBytes = 64
        /// Hexadecimal digits of an Apple token: they have 64, and Apple asks not to rely on it.
        public static let appleTokenDigits = 400
        /// Bytes of the URL of a web push endpoint: a host and a token.
        public static let endpointBytes = 2_048
    }
}
