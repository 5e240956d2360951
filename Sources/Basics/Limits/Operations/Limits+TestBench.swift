extension Limits {
    /// Limits of the test bench, whose devices live in the memory of the server.
    public enum TestBench {
        /// Virtual devices: more than a test suite creates, and far fewer than the descriptors of a process.
        public static let devices = 1_000
        /// Messages in the inbox of a device: more than a test reads.
        public static let inboxMessages = 1_000
        /// Bytes of all inboxes: several thousand of the longest messages.
        public static let inboxBytes = 67_108_864
        /// Bytes that a message counts for besides its content.
        public static let messageBytes = 256
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
        /// Bytes of the file with the identities of the virtual devices.
        public static let fileBytes = 4_194_304
    }
}
