/// An event on an HTTP/2 client connection.
public enum HTTP2ClientEvent: Sendable {
    /// The complete answer to the request of a stream.
    case answered(UInt32, HTTPAnswer)
    /// The request of a stream failed; no answer follows.
    case failed(UInt32, HTTP2RequestFailure)
    /// The connection accepts no more requests. Those that the server has seen are finished; use another one for the others.
    /// `code` and `reason` are from the server's GOAWAY, or 0 and empty if this side leaves.
    case leaving(code: UInt32, reason: [UInt8])
    /// The connection has ended and must be closed. Always the last event.
    case ended(HTTP2ClientFailure)
}

/// Why a request failed.
public enum HTTP2RequestFailure: Sendable, Equatable {
    /// The server has not processed it: it was never written, refused by RST_STREAM, or left out by GOAWAY.
    case unprocessed
    /// The server reset the stream with this code.
    case reset(code: UInt32)
    /// The answer breaks the protocol.
    case malformedAnswer
    /// The head of the answer is longer than `Limits` allow.
    case answerTooLong
    /// The body of the answer is longer than `Limits` allow; the server has answered with this status.
    case bodyTooLong(status: Int)
    /// The answer was not complete in time.
    case noAnswer
    /// The connection ended before the answer was complete.
    case connectionEnded

    /// Whether the request can be retried without the risk of carrying it out twice (RFC 9113, 8.7).
    public var isRetryable: Bool { self == .unprocessed }
}

/// Why a connection has ended.
public enum HTTP2ClientFailure: Sendable, Equatable {
    /// The server broke the protocol (RFC 9113).
    case protocolError
    /// The server sent what only an attack sends.
    case flood
    /// The server did not answer a PING, or never sent its settings.
    case silent
    /// The transport ended.
    case lost
    /// One side has left, and every request is finished.
    case finished
}

/// Why a request cannot be sent.
public enum HTTP2SendFailure: Error, Sendable, Equatable {
    /// The limit of the server or of `Limits` on requests or unsent bytes is reached: retry later.
    case busy
    /// This connection accepts no more requests: use another one.
    case leaving
    /// A header or the path contains invalid bytes, or the head is too long.
    case malformed
}
