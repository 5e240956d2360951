/// The bounds of HTTP/2 connections that are opened from here, to a server that is not ours.
extension Limits {
    /// Requests of one connection at once, where the server allows as many: APNs allows 1,000, of which some are left to it.
    public static let http2ClientStreams = 900
    /// Requests of one connection at once before the server's settings are known: APNs lets the first one go alone.
    public static let http2StreamsBeforeSettings = 1
    /// Bytes of the bodies of requests that wait to be written on one connection: those of all streams, at 1 KiB each.
    public static let http2UnsentBytes = 1_048_576
    /// Bytes of the headers of an answer: those in use have under 1,000.
    public static let http2AnswerHeadBytes = 16_384
    /// Headers of an answer.
    public static let http2AnswerHeaders = 64
    /// Bytes of the body of an answer: an error of APNs has under 100, of a push service under 4,000.
    public static let http2AnswerBodyBytes = 16_384
    /// Bytes of all answers of one connection that have begun and not ended: all streams at 2 KiB each.
    public static let http2AnswersBytes = 2_097_152
    /// Bytes of what a server says of why it leaves: APNs names a reason in under 100.
    public static let http2GoAwayBytes = 1_024
    /// Seconds from sending a request to the end of its answer.
    public static let http2AnswerSeconds = 15
    /// Seconds of silence, while answers are due, after which the server is asked by PING whether it is still there.
    public static let http2PingSeconds = 5
    /// Seconds of silence after which a request does not go out without a PING beside it: a connection may be lost unnoticed.
    public static let http2StaleSeconds = 60
    /// Seconds of silence on an idle connection after which the server is asked by PING: Apple asks for no more than that.
    public static let http2IdlePingSeconds = 1_800
    /// Seconds in which it must answer, and in which it must send its settings after the connection was opened.
    public static let http2PongSeconds = 10
}
