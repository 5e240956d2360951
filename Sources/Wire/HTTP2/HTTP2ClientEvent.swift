/// What a server does on an HTTP/2 connection that was opened from here.
public enum HTTP2ClientEvent: Sendable {
    /// The answer to the request of a stream, whole.
    case answered(UInt32, HTTPAnswer)
    /// The request of a stream has no answer, and will have none.
    case failed(UInt32, HTTP2RequestFailure)
    /// The server takes no more requests on this connection. What it has begun is finished; for the rest open another.
    /// `code` and `reason` are the server's own words, 0 and empty where this side leaves.
    case leaving(code: UInt32, reason: [UInt8])
    /// The connection is over: close it. Always the last event.
    case ended(HTTP2ClientFailure)
}

/// Why a request has no answer.
public enum HTTP2RequestFailure: Sendable, Equatable {
    /// The server has not processed it: it was never written, refused by RST_STREAM, or left out by GOAWAY.
    case unprocessed
    /// The server ended the stream by this code.
    case reset(code: UInt32)
    /// The answer breaks the protocol.
    case malformedAnswer
    /// The answer is longer than `Limits` allow.
    case answerTooLong
    /// The answer did not end in time.
    case noAnswer
    /// The connection ended meanwhile.
    case connectionEnded

    /// Whether it may be sent again without the risk that it is carried out twice (RFC 9113, 8.7).
    public var maySendAgain: Bool { self == .unprocessed }
}

/// Why a connection is over.
public enum HTTP2ClientFailure: Sendable, Equatable {
    /// The server broke the protocol (RFC 9113).
    case protocolError
    /// The server sent what only an attack sends.
    case flood
    /// The server did not answer a PING, or never sent its settings.
    case silent
    /// The transport ended.
    case lost
    /// One side has left, and every request has its end.
    case finished
}

/// Why a request cannot be sent.
public enum HTTP2SendFailure: Error, Sendable, Equatable {
    /// As many as the server or `Limits` allow are under way, or wait to be written: send it later.
    case busy
    /// This connection takes no more requests: send it on another.
    case leaving
    /// A header or the path has bytes that HTTP does not allow, or the head is too long.
    case malformed
}
