extension Limits {
    /// Limits of webhooks: requests with upstream messages and receipts to the endpoint of a sender.
    public enum Webhook {
        /// Messages, and apart from them receipts, that the webhook of one sender holds: in flight, or waiting for their next attempt.
        /// 1 MiB of the largest ones; those of 64 devices that are refused time and again keep up the others.
        public static let held = 256
        /// Those of one device: sent one after the other, so more would only wait in memory.
        public static let heldPerDevice = 4
        /// Messages in the store that an answer about webhooks counts: read with their bodies, of 4 KiB at most, in well under a second.
        public static let countedWaiting = 1_000
        /// Requests in flight to the endpoint of one sender: at 50 ms each, 320 a second.
        public static let requestsPerSender = 16
        /// Requests in flight to all endpoints: each is a connection with its buffers, some 100 KiB.
        public static let requests = 256
        /// Milliseconds that a request may take from its start to the end of its answer; receivers are to answer first and work later.
        public static let requestMilliseconds: Int64 = 15_000
        /// Milliseconds of these for the name, TCP and TLS.
        public static let connectMilliseconds: Int64 = 5_000
        /// Milliseconds until a message is sent again; the wait doubles with each attempt.
        public static let retryMilliseconds: Int64 = 1_000
        /// Milliseconds after which a message is looked at again whose node must confirm its lease first, which takes one renewal.
        public static let leaseMilliseconds: Int64 = 250
        /// Milliseconds between two attempts of a message at most: twelve an hour until its lifetime ends.
        public static let longestRetryMilliseconds: Int64 = 300_000
        /// Failures in a row after which an endpoint is paused: fewer may be those of one restart.
        public static let failuresBeforePause = 5
        /// Milliseconds of the first pause of an endpoint; each pause that ends with a failure doubles the next.
        public static let pauseMilliseconds: Int64 = 5_000
        /// Milliseconds of a pause at most, so that an endpoint that works again gets its messages soon.
        public static let longestPauseMilliseconds: Int64 = 300_000
        /// Seconds of `Retry-After` that are respected: an endpoint must not stop its messages for longer by mistake.
        public static let retryAfterSeconds = 3_600
        /// Milliseconds after which an endpoint that has answered 410 is reported again, if that could not be recorded.
        public static let goneAgainMilliseconds: Int64 = 60_000
        /// Bytes of the body of an answer that are read and discarded; a longer one costs the connection.
        public static let answerBytes = 16_384
        /// Bytes of an answer as it arrives: its heads and its body with the framing, such as extensions of chunks.
        public static let answerWireBytes = 65_536
        /// Bytes of a URL: what servers and proxies accept.
        public static let urlBytes = 12...2_048
        /// Bytes of a secret, between the ends that Standard Webhooks allows.
        public static let secretBytes = 32
        /// Bytes of a secret that an operator brings along (Standard Webhooks).
        public static let chosenSecretBytes = 24...64
        /// Secrets of one endpoint that are valid at once: the new one, and the one that it replaces.
        public static let secrets = 2
        /// Bytes of the reason of a failure that are kept and shown.
        public static let reasonBytes = 200
        /// Milliseconds between two ticks while messages wait for their time.
        public static let tickMilliseconds: Int64 = 250
        /// Seconds that a shutdown waits for the answers to requests in flight.
        public static let drainSeconds = 10
        /// Connections to endpoints that are kept open for the next request: one for each endpoint in usual use.
        public static let keptConnections = 64
    }
}
