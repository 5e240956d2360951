extension Limits {
    /// Limits of HTTP, in both versions.
    public enum HTTP {
        /// Bytes of a request line and headers.
        public static let requestHeadBytes = 16_384
        /// Bytes of a request line: the longest target in use is a token in a path.
        public static let requestLineBytes = 8_192
        /// Bytes of a chunk's size line or of one trailer: clients send neither extensions nor trailers.
        public static let chunkLineBytes = 1_024
        /// Bytes of a request body.
        public static let requestBodyBytes = 1_048_576
        /// Headers of one request.
        public static let requestHeaders = 64
        /// Seconds from the first to the last byte of a request; absolute.
        public static let requestDeadlineSeconds = 30
        /// Bytes of a body that must come in a second, once the grace is over: less than the slowest mobile link carries.
        public static let bodyBytesPerSecond = 256
        /// Seconds for which a body may be slower than that: a link that has just woken up.
        public static let bodyGraceSeconds = 5
        /// Seconds that a kept connection may idle between requests.
        public static let requestIdleSeconds = 60
        /// Seconds that a request may wait for the core before it is answered with 503.
        public static let answerDeadlineSeconds = 30
        /// Recipients of one request: as with the real service (http 2.1).
        public static let recipientsPerRequest = 1_000
        /// Recipients of one connection whose answers are not known; beyond it no request is read. Ten full requests.
        public static let recipientsPerConnection = 10_000
        /// Fields of one form: the longest registration in use has under 40.
        public static let formFields = 256
        /// Seconds after which a message that could not be taken may be sent again: clients wait so long with a thread each.
        public static let sendRetrySeconds = 10
        /// Messages of one batch: as with the real service (http 8.8).
        public static let batchParts = 500
        /// Bytes of a part's id, which its answer repeats: those in use have under 60.
        public static let contentIDBytes = 256
        /// Bytes of an analytics label (http 8.2).
        public static let analyticsLabelBytes = 50
        /// Seconds that an access token of a service account is valid: what libraries expect (http 9.1).
        public static let accessTokenSeconds = 3_600
        /// Seconds by which the clock of an app server that signs for one may be off (http 9.1).
        public static let assertionSkewSeconds = 300
        /// Requests of one connection that wait for their answers.
        public static let pipelinedRequests = 16
        /// Bytes that a packed request body may unpack to: as many as one that is not packed, so that no bomb goes off.
        public static let unpackedBodyBytes = 1_048_576
        /// Bytes unpacked at once: most bodies are shorter.
        public static let unpackingStepBytes = 16_384
        /// Bytes of requests not yet whole that a reactor holds for all HTTP connections which have shown no sender's credential:
        /// a thousand from one address could bring a GiB. Beyond it those that hold more than `http2StreamWindowBytes` end.
        public static let unauthenticatedRequestBytes = 67_108_864
    }
}
