import Basics

/// One request and its answer on an HTTP/2 connection.
struct HTTP2Stream {
    /// How far the request has come.
    enum Stage {
        /// Its headers come.
        case head
        /// Its body comes.
        case body(HTTPRequest)
        /// It is whole, and nobody has taken it yet.
        case whole(HTTPRequest)
        /// It was taken, or was refused: what still comes of it is dropped.
        case gone
    }

    var stage = Stage.head
    /// Bytes of the body that have come.
    var body: [UInt8] = []
    /// The length of the body that the peer has told.
    var length: Int?
    /// Bytes of the headers held, for the bound of all.
    var headBytes = 0
    /// Bytes that it may send beyond its window at the start, for the bound of all; 0 before its turn.
    var granted = 0
    /// Whether it waits for its turn to send a long body.
    var waitsForTurn = false
    /// Whether the request is asked for by HEAD.
    var isHead = false
    /// The body of the answer; nil before the answer.
    var answer: [UInt8]?
    /// Bytes of it that have been written.
    var written = 0
    /// Whether the answer is written to its end.
    var isAnswered = false
    /// Whether the peer has said all it has to say.
    var isEnded = false

    /// Bytes of the answer that are not written yet.
    var unwritten: Int { (answer?.count ?? 0) - written }

    /// Whether the request has begun and is neither whole nor refused.
    var isIncomplete: Bool {
        switch stage {
        case .head, .body: true
        case .whole, .gone: false
        }
    }
}
