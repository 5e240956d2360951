extension Limits {
    /// Limits of the test bench, whose devices live in the memory of the server.
    public enum TestBench {
        /// Virtual devices: more than a test suite creates, and far fewer than the descriptors of a process.
        public static let devices = 1_000
        /// Seconds that a reset may take besides the usual ones: each of 1,000 devices is unregistered by a request of its own.
        public static let resetSeconds = 60
        /// Messages in the inbox of a device: more than a test reads.
        public static let inboxMessages = 1_000
        /// Bytes of all inboxes: several thousand of the longest messages.
        public static let inboxBytes = 67_108_864
        /// Bytes that a message counts for besides its content.
        public static let messageBytes = 256
        /// Bytes of the messages that one device has to send: those that an app may have waiting, each of the longest, and their keys.
        public static let unsentBytes = 131_072
        /// Messages of one device whose outcome is kept: more than a test sends.
        public static let sentMessages = 200
        /// Senders whose upstream messages are recorded at a time: each is a connection.
        public static let recorders = 100
        /// Faults at a time: each is compared with every message.
        public static let faults = 100
        /// Messages that one fault acts on at most.
        public static let faultMessages = 10_000
        /// Milliseconds by which a fault delays a message at most: less than libraries wait for an answer.
        public static let delayMilliseconds = 30_000
        /// Messages on one reactor that faults delay at a time; beyond it they are refused as unavailable.
        public static let delayed = 1_000
        /// Messages in an answer by default: what a test of one message needs.
        public static let pageDefault = 20
        /// Messages in an answer at most: it has up to 1 MiB.
        public static let page = 100
        /// Seconds that a request may wait for a message: less than proxies wait.
        public static let waitSeconds = 50
        /// Requests that wait for messages at a time: each occupies a thread of the control plane.
        public static let waiting = 32
        /// Seconds until a device has checked in and registered, or its message is stored, or the request fails.
        public static let answerSeconds = 10
        /// Seconds that a test waits by default until nothing more is on its way to a device: far more than messages take.
        public static let settleDefaultSeconds = 10
        /// Milliseconds between two looks at what is on its way: as long as a message takes on a slow machine.
        public static let settleMilliseconds: Int64 = 20
        /// Longest `Retry-After` of a fault in seconds: longer than any test waits.
        public static let retrySeconds = 86_400
        /// Bytes of the file with the identities of the virtual devices.
        public static let fileBytes = 4_194_304
    }
}
