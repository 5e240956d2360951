import Basics

/// A request and its answer on an HTTP/2 connection.
struct HTTP2Stream {
    /// The state of the request.
    enum Stage {
        /// The headers are being received.
        case head
        /// The body is being received.
        case body(HTTPRequest)
        /// The request is complete and not yet returned by `next`.
        case whole(HTTPRequest)
        /// The request was returned or refused; further bytes are dropped.
        case gone
    }

    var stage = Stage.head
    /// The bytes received of the body.
    var body: [UInt8] = []
    /// The announced length of the body.
    var length: Int?
    /// Bytes of the headers held, for the common limit.
    var headBytes = 0
    /// Bytes of a long body that the stream may send in its turn, for the common limit; 0 before its turn.
    var granted = 0
    /// Whether the stream waits for its turn to send a long body.
    var waitsForTurn = false
    /// Whether the method is HEAD.
    var isHead = false
    /// The body of the answer; `nil` before the answer.
    var answer: [UInt8]?
    /// Bytes of the answer written so far.
    var written = 0
    /// Whether the whole answer has been written.
    var isAnswered = false
    /// Whether the peer has ended its side of the stream.
    var isEnded = false

    /// Bytes of the answer not written yet.
    var unwritten: Int { (answer?.count ?? 0) - written }

    /// The request, as far as it is known; `nil` before its head is complete and after it was returned.
    var request: HTTPRequest? {
        switch stage {
        case .body(let request), .whole(let request): request
        case .head, .gone: nil
        }
    }

    /// Whether the request is neither complete nor refused.
    var isIncomplete: Bool {
        switch stage {
        case .head, .body: true
        case .whole, .gone: false
        }
    }
}
