extension Limits {
    /// Limits of the HTTP server, for HTTP/1.1 and HTTP/2.
    public enum HTTP {
        /// Bytes of a request line and headers.
        public static let requestHeadBytes = 16_384
        /// Bytes of a request line: the longest target in use is a token in a path.
        public static let requestLineBytes = 8_192
        /// Bytes of a path or server key that a connection keeps to recognise it in the next request: the usual ones have under 100.
        public static let recentTextBytes = 256
        /// Bytes of a chunk's size line or of one trailer: clients send neither extensions nor trailers.
        public static let chunkLineBytes = 1_024
        /// Bytes of a request body.
        public static let requestBodyBytes = 1_048_576
        /// Headers of one request.
        public static let requestHeaders = 64
        /// Seconds from the first to the last byte of a request; absolute.
        public static let requestDeadlineSeconds = 30
        /// Bytes of a body that must arrive each second, once `bodyGraceSeconds` are over: less than the slowest mobile link
        /// carries.
        public static let bodyBytesPerSecond = 256
        /// Seconds for which a body may be slower than that: a link that has just woken up.
        public static let bodyGraceSeconds = 5
        /// Seconds that a keep-alive connection may idle between requests.
        public static let requestIdleSeconds = 60
        /// Seconds that a request may wait for the core before it is answered with 503.
        public static let answerDeadlineSeconds = 30
        /// Recipients of one request, as at Google (http 2.1).
        public static let recipientsPerRequest = 1_000
        /// Recipients of one connection whose results are pending; beyond it no request is read. Ten full requests.
        public static let recipientsPerConnection = 10_000
        /// Fields of one form: the longest registration in use has under 40.
        public static let formFields = 256
        /// Seconds after which a rejected message may be sent again: clients block a thread for each while they wait.
        public static let sendRetrySeconds = 10
        /// Messages of one batch, as at Google (http 8.8).
        public static let batchParts = 500
        /// Bytes of a part's ID, which its response repeats: those in use have under 60.
        public static let contentIDBytes = 256
        /// Bytes of an analytics label (http 8.2).
        public static let analyticsLabelBytes = 50
        /// Seconds for which an access token of a service account is valid: what libraries expect (http 9.1).
        public static let accessTokenSeconds = 3_600
        /// Seconds by which the clock of an app server that signs an assertion may be off (http 9.1).
        public static let assertionSkewSeconds = 300
        /// Seconds for which a browser may keep the answer to a preflight, as at Google.
        public static let preflightSeconds = 3_600
        /// Requests of one connection that wait for their responses.
        public static let pipelinedRequests = 16
        /// Bytes that a compressed request body may expand to: the limit of one that is not compressed, against decompression
        /// bombs.
        public static let unpackedBodyBytes = 1_048_576
        /// Bytes decompressed at once: most bodies are shorter.
        public static let unpackingStepBytes = 16_384
        /// Bytes of incomplete requests that a reactor holds for all HTTP connections without a sender's credential: a thousand
        /// from one address could send a GiB. Beyond it, connections that hold more than `HTTP2.streamWindowBytes` are closed.
        public static let unauthenticatedRequestBytes = 67_108_864
    }
}
