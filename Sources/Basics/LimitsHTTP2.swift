/// The bounds of HTTP/2, which lets a peer have many things under way at once.
extension Limits {
    /// Requests of one HTTP/2 connection at once: a client library fires 500 messages together (http 1.2).
    package static let http2Streams = 512
    /// Octets of a body that may come on each HTTP/2 stream unasked: a message with its envelope.
    package static let http2StreamWindowBytes = 8_192
    /// Octets of longer bodies that may be on their way at once on one HTTP/2 connection; the next waits its turn.
    package static let http2LongBodiesBytes = 2_097_152
    /// Octets of the heads of requests whose bodies are still to come: those of all streams, with long credentials.
    package static let http2HeadsBytes = 2_097_152
    /// CONTINUATION frames of one header block: a head as long as it may be fits into the first frame and one more.
    package static let http2Continuations = 4
    /// Header blocks that unpack to so many times what is taken are no mistake: the connection ends.
    package static let http2HeadBombFactor = 4
    /// PING and SETTINGS acknowledgements that wait to be written.
    package static let http2WaitingAcks = 256
    /// Settings in one SETTINGS frame: the protocol knows eight.
    package static let http2Settings = 32
    /// Frames that bring no request on (pings, settings, window updates, empty or tiny data) and that a peer may send at once.
    package static let http2IdleFrames = 2_000
    /// How many of them come back in a second.
    package static let http2IdleFramesPerSecond = 50
    /// How many of them come back with each answer: a client reports what it has read.
    package static let http2IdleFramesPerAnswer = 16
    /// Octets under which a DATA frame that does not end a body is one of them.
    package static let http2TinyDataBytes = 64
    /// HTTP/2 requests broken off before their answer, in `http2ResetSeconds` (CVE-2023-44487).
    package static let http2Resets = 1_000
    /// Seconds in which all of those come back.
    package static let http2ResetSeconds = 30
    /// Milliseconds between two looks at how HTTP/2 requests that have begun come on.
    package static let http2LookMilliseconds: Int64 = 1_000
}
