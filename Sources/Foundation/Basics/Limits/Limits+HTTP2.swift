extension Limits {
    /// Limits of the HTTP/2 server, where a peer may have many requests in progress.
    public enum HTTP2 {
        /// Concurrent streams of one connection: a client library fires 500 messages together (http 1.2).
        public static let streams = 512
        /// Initial window of a stream in bytes: a message with its envelope.
        public static let streamWindowBytes = 8_192
        /// Bytes of longer bodies in transfer at once on one connection; the next one waits.
        public static let longBodiesBytes = 2_097_152
        /// Bytes of all bodies that one connection holds before any of its requests has authenticated: one of the longest and a
        /// hundred messages; an unauthenticated peer must not get as much memory as a sender.
        public static let unauthenticatedBodiesBytes = 2_097_152
        /// Bytes of the heads of requests whose bodies are still to come: those of all streams, with long credentials.
        public static let headsBytes = 2_097_152
        /// Multiple of the permitted size of a header block, compressed or not, beyond which the connection is closed: that is
        /// an attack, not a mistake.
        public static let headBombFactor = 4
        /// PING and SETTINGS acknowledgements that wait to be written.
        public static let waitingAcks = 256
        /// Settings in one SETTINGS frame: the protocol defines eight.
        public static let settings = 32
        /// Burst of frames that advance no request (pings, settings, window updates, empty or tiny data).
        public static let idleFrames = 2_000
        /// How many of them are allowed again each second.
        public static let idleFramesPerSecond = 50
        /// How many of them are allowed again with each response: a client acknowledges what it has read.
        public static let idleFramesPerAnswer = 16
        /// Bytes under which a DATA frame that does not end a body is one of them.
        public static let tinyDataBytes = 64
        /// Requests that a peer may reset before the response, in `resetSeconds` (CVE-2023-44487).
        public static let resets = 1_000
        /// Seconds in which all of those are allowed again.
        public static let resetSeconds = 30
        /// Milliseconds between two checks of the progress of requests.
        public static let checkMilliseconds: Int64 = 1_000
    }
}

extension Limits {
    /// Limits of the HTTP/2 client that connects to APNs and push services.
    public enum HTTP2Client {
        /// Concurrent streams of one connection, if the server allows that: APNs allows 1,000, of which this leaves some in
        /// reserve.
        public static let streams = 900
        /// Concurrent streams of one connection before the server's settings are known: APNs allows one.
        public static let streamsBeforeSettings = 1
        /// Bytes of request bodies that wait to be written on one connection: those of all streams, at 1 KiB each.
        public static let unsentBytes = 1_048_576
        /// Bytes of the headers of a response: those in use have under 1,000.
        public static let answerHeadBytes = 16_384
        /// Headers of a response.
        public static let answerHeaders = 64
        /// Bytes of a response body: an error of APNs has under 100, of a push service under 4,000.
        public static let answerBodyBytes = 16_384
        /// Bytes of all unfinished responses of one connection: all streams at 2 KiB each.
        public static let answersBytes = 2_097_152
        /// Bytes of debug data in a GOAWAY frame: APNs names a reason in under 100.
        public static let goAwayBytes = 1_024
        /// Seconds from sending a request to the end of its response.
        public static let answerSeconds = 15
        /// Seconds of silence, while responses are pending, after which the client sends a PING.
        public static let pingSeconds = 5
        /// Seconds of silence after which a request is sent together with a PING: the connection may have been lost unnoticed.
        public static let staleSeconds = 60
        /// Seconds of silence on an idle connection after which the client sends a PING: Apple asks not to do so more often.
        public static let idlePingSeconds = 1_800
        /// Seconds in which the server must answer a PING, and must send its settings on a new connection.
        public static let pongSeconds = 10
    }
}
