/// The bounds of HTTP.
extension Limits {
    // MARK: Both versions

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
    /// Bytes of the topic of a web push (RFC 8030, 5.4).
    public static let pushTopicBytes = 32
    /// Bytes of a header that goes with a web push: those in use have under 250.
    public static let pushHeaderBytes = 1_024
    /// Seconds that the token of a web push may be valid from now on (RFC 8292, 2).
    public static let vapidSeconds = 86_400
    /// Seconds by which the clock of an application server may be ahead: libraries ask for exactly the longest time.
    public static let vapidClockSkewSeconds = 60
    /// Seconds after which a web push that could not be taken may be tried again.
    public static let pushRetrySeconds = 30
    /// Seconds after which a message that could not be taken may be sent again: clients wait so long with a thread each.
    public static let sendRetrySeconds = 10
    /// Tokens of Apple's in one import: as with the real service (http 7.4).
    public static let appleTokensPerImport = 100
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

    // MARK: HTTP/2, where a peer may have many things under way at once

    /// Requests of one HTTP/2 connection at once: a client library fires 500 messages together (http 1.2).
    public static let http2Streams = 512
    /// Bytes of a body that may come on each HTTP/2 stream unasked: a message with its envelope.
    public static let http2StreamWindowBytes = 8_192
    /// Bytes of longer bodies that may be on their way at once on one HTTP/2 connection; the next waits its turn.
    public static let http2LongBodiesBytes = 2_097_152
    /// Bytes of all bodies that one HTTP/2 connection holds before any of its requests showed who asks: one of the longest
    /// and a hundred messages; a stranger must not get as much memory as a sender.
    public static let http2StrangerBodiesBytes = 2_097_152
    /// Bytes of requests not yet whole that a reactor holds for all HTTP connections which have shown no sender's credential:
    /// a thousand from one address could bring a GiB. Beyond it those that hold more than `http2StreamWindowBytes` end.
    public static let strangersRequestBytes = 67_108_864
    /// Bytes of the heads of requests whose bodies are still to come: those of all streams, with long credentials.
    public static let http2HeadsBytes = 2_097_152
    /// Header blocks that are so many times as long as what is taken, packed or unpacked, are no mistake: the connection ends.
    public static let http2HeadBombFactor = 4
    /// PING and SETTINGS acknowledgements that wait to be written.
    public static let http2WaitingAcks = 256
    /// Settings in one SETTINGS frame: the protocol knows eight.
    public static let http2Settings = 32
    /// Frames that bring no request on (pings, settings, window updates, empty or tiny data) and that a peer may send at once.
    public static let http2IdleFrames = 2_000
    /// How many of them come back in a second.
    public static let http2IdleFramesPerSecond = 50
    /// How many of them come back with each answer: a client reports what it has read.
    public static let http2IdleFramesPerAnswer = 16
    /// Bytes under which a DATA frame that does not end a body is one of them.
    public static let http2TinyDataBytes = 64
    /// HTTP/2 requests broken off before their answer, in `http2ResetSeconds` (CVE-2023-44487).
    public static let http2Resets = 1_000
    /// Seconds in which all of those come back.
    public static let http2ResetSeconds = 30
    /// Milliseconds between two looks at how HTTP/2 requests that have begun come on.
    public static let http2LookMilliseconds: Int64 = 1_000
}
