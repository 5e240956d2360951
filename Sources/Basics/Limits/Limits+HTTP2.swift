extension Limits {
    /// Limits of HTTP/2 of a server, where a peer may have many requests in progress.
    public enum HTTP2 {
        /// Requests of one HTTP/2 connection at once: a client library fires 500 messages together (http 1.2).
        public static let streams = 512
        /// Bytes of a body that may come on each HTTP/2 stream unasked: a message with its envelope.
        public static let streamWindowBytes = 8_192
        /// Bytes of longer bodies that may be on their way at once on one HTTP/2 connection; the next waits its turn.
        public static let longBodiesBytes = 2_097_152
        /// Bytes of all bodies that one HTTP/2 connection holds before any of its requests showed who asks: one of the longest
        /// and a hundred messages; a stranger must not get as much memory as a sender.
        public static let unauthenticatedBodiesBytes = 2_097_152
        /// Bytes of the heads of requests whose bodies are still to come: those of all streams, with long credentials.
        public static let headsBytes = 2_097_152
        /// Header blocks that are so many times as long as what is taken, packed or unpacked, are no mistake: the connection ends.
        public static let headBombFactor = 4
        /// PING and SETTINGS acknowledgements that wait to be written.
        public static let waitingAcks = 256
        /// Settings in one SETTINGS frame: the protocol knows eight.
        public static let settings = 32
        /// Frames that bring no request on (pings, settings, window updates, empty or tiny data) and that a peer may send at once.
        public static let idleFrames = 2_000
        /// How many of them come back in a second.
        public static let idleFramesPerSecond = 50
        /// How many of them come back with each answer: a client reports what it has read.
        public static let idleFramesPerAnswer = 16
        /// Bytes under which a DATA frame that does not end a body is one of them.
        public static let tinyDataBytes = 64
        /// HTTP/2 requests broken off before their answer, in `http2ResetSeconds` (CVE-2023-44487).
        public static let resets = 1_000
        /// Seconds in which all of those come back.
        public static let resetSeconds = 30
        /// Milliseconds between two looks at how HTTP/2 requests that have begun come on.
        public static let checkMilliseconds: Int64 = 1_000
    }
}

extension Limits {
    /// Limits of HTTP/2 of a client.
    public enum HTTP2Client {
        /// Requests of one connection at once, where the server allows as many: APNs allows 1,000, of which some are left to it.
        public static let streams = 900
        /// Requests of one connection at once before the server's settings are known: APNs lets the first one go alone.
        public static let streamsBeforeSettings = 1
        /// Bytes of the bodies of requests that wait to be written on one connection: those of all streams, at 1 KiB each.
        public static let unsentBytes = 1_048_576
        /// Bytes of the headers of an answer: those in use have under 1,000.
        public static let answerHeadBytes = 16_384
        /// Headers of an answer.
        public static let answerHeaders = 64
        /// Bytes of the body of an answer: an error of APNs has under 100, of a push service under 4,000.
        public static let answerBodyBytes = 16_384
        /// Bytes of all answers of one connection that have begun and not ended: all streams at 2 KiB each.
        public static let answersBytes = 2_097_152
        /// Bytes of what a server says of why it leaves: APNs names a reason in under 100.
        public static let goAwayBytes = 1_024
        /// Seconds from sending a request to the end of its answer.
        public static let answerSeconds = 15
        /// Seconds of silence, while answers are due, after which the server is asked by PING whether it is still there.
        public static let pingSeconds = 5
        /// Seconds of silence after which a request does not go out without a PING beside it: a connection may be lost unnoticed.
        public static let staleSeconds = 60
        /// Seconds of silence on an idle connection after which the server is asked by PING: Apple asks for no more than that.
        public static let idlePingSeconds = 1_800
        /// Seconds in which it must answer, and in which it must send its settings after the connection was opened.
        public static let pongSeconds = 10
    }
}
