public import Basics
import HTTP2Engine

/// Why an HTTP/2 connection cannot go on.
public enum HTTP2Failure: Sendable {
    /// The peer broke the protocol (RFC 9113).
    case protocolError
    /// The peer sent what only an attack sends.
    case flood
}

/// The server's side of one HTTP/2 connection (RFC 9113): bytes in, whole requests out; answers in, bytes out.
///
/// It knows no socket and no time. What it holds is bounded by `Limits`: a peer that sends more than its windows allow is
/// stopped by the session's flow control, and bodies longer than the window of their stream come in turns.
public final class HTTP2Connection {
    let session = HTTP2Session(
        .server,
        [
            .maxConcurrentStreams(Limits.HTTP2.streams), .initialWindowSize(Limits.HTTP2.streamWindowBytes),
            .maxHeaderListSize(Limits.HTTP.requestHeadBytes),
            // No tree of priorities to grow and to walk.
            .noRFC7540Priorities,
        ])
    var streams: [Int32: HTTP2Stream] = [:]
    /// The header block that comes now: there is one at most (RFC 9113, 4.3).
    var head: HTTP2Head?
    /// Streams whose requests are whole, in that order; some may be gone.
    var ready: [Int32] = []
    /// Streams that wait for their turn to send a long body, in that order; some may be gone.
    var turns: [Int32] = []
    /// Sum of `granted` over all streams.
    var granted = 0
    /// Sum of the bytes of all bodies held.
    var bodyBytes = 0
    /// Whether a request has shown who asks: before that the bodies of all streams have a bound of their own.
    private(set) var isTrusted = false
    /// Sum of `headBytes` over all streams.
    var headBytes = 0
    /// Whether the peer knows our settings: before that its streams have another window.
    var isSettled = false
    /// When the peer's bytes came that are taken now.
    var now: UnixMilliseconds = 0
    /// Set once nothing more is read.
    public internal(set) var failure: HTTP2Failure?
    /// Whether the peer has said that it leaves (RFC 9113, 6.8).
    public internal(set) var peerLeaves = false
    /// Bytes of answers that wait to be written, mostly for the peer's windows.
    public internal(set) var unwrittenBytes = 0
    /// Bytes of answers written since the connection opened.
    public internal(set) var writtenBytes = 0
    /// What has happened since `takeTally`.
    var tally = Tally()

    /// Counts of what the owner bounds or tells.
    public struct Tally: Sendable {
        /// Frames that bring no request on.
        public var idleFrames = 0
        /// Streams broken off before their answer was written, by whom or why ever.
        public var resets = 0
        /// Answers written to their end.
        public var answers = 0
        /// Requests that were refused before they were whole: the statuses of their answers.
        public var refused: [HTTPStatus] = []
    }

    /// A connection at its begin: the peer's preface is expected, our settings are ready to be written.
    public init() {}

    /// Whether no request is under way.
    public var isEmpty: Bool { streams.isEmpty }

    /// Whether the peer leaves and nothing is under way: nghttp2 passes over whatever it still sends.
    public var isFinished: Bool { peerLeaves && isEmpty }

    /// The stream whose header block has begun and not ended; nothing else can come before its end.
    public var openHead: UInt32? { head.map { UInt32($0.stream) } }

    /// Whether something can be written now; what waits for the peer's windows cannot.
    public var canWrite: Bool { session.canWrite }

    /// What has happened since the last call.
    public func takeTally() -> Tally {
        defer { tally = Tally() }
        return tally
    }

    /// Takes bytes from the peer; the time is for the dates of answers that it brings about by itself.
    public func receive(_ bytes: borrowing RawSpan, at now: UnixMilliseconds) {
        guard failure == nil else { return }
        self.now = now
        let open = head?.stream
        switch session.receive(bytes, HTTP2ServerHandler(connection: self)) {
        case .flood: breakOff(.flood)
        case .protocolError: breakOff(.protocolError)
        case .taken:
            if let open, head?.stream == open, isEndless(bytes.byteCount) {
                breakOff(.flood)
            } else {
                giveTurns()
            }
        }
    }

    /// Whether the open header block, of which so many bytes more have come, is one that will never end: CONTINUATION
    /// frames cost the peer little, and may even be empty (CVE-2024-28182).
    private func isEndless(_ more: Int) -> Bool {
        head?.wireBytes += more
        return head?.wireBytes ?? 0 > Limits.HTTP.requestHeadBytes * Limits.HTTP2.headBombFactor
    }

    /// The next whole request, by its stream; nil if there is none.
    public func next() -> (stream: UInt32, request: HTTPRequest)? {
        while let stream = ready.first {
            ready.removeFirst()
            guard case .whole(let request)? = streams[stream]?.stage else { continue }
            let body = letGo(of: stream)
            return (UInt32(stream), request.with(body: body))
        }
        return nil
    }

    /// Calls `body` for each request that has begun and is neither whole nor refused, with the bytes of its body that have
    /// come (nil before its head is whole), and whether the peer may send more of it.
    public func forEachIncomplete(_ body: (_ stream: UInt32, _ received: Int?, _ maySend: Bool) -> Void) {
        for (number, stream) in streams where stream.isIncomplete {
            let isHeldBack = stream.waitsForTurn && stream.body.count >= Limits.HTTP2.streamWindowBytes
            var received: Int?
            if case .body = stream.stage { received = stream.body.count }
            body(UInt32(number), received, !isHeldBack)
        }
    }

    /// Bytes of heads and bodies held; 0 once a request has shown who asks.
    public var strangersBytes: Int { isTrusted ? 0 : bodyBytes + headBytes }

    /// A request has shown who asks.
    public func trust() { isTrusted = true }

    /// Lets the peer finish what it has begun, and tells it where that ends (RFC 9113, 6.8); no new request is taken.
    public func shutDown() {
        session.goAway()
    }

    /// Ends the connection with an error for the peer; what is written next is the last.
    public func breakOff(_ failure: HTTP2Failure) {
        guard self.failure == nil else { return }
        self.failure = failure
        session.terminate(failure == .flood ? .enhanceYourCalm : .protocolError)
    }

    /// Appends frames until nothing can be written or `limit` bytes are in `out`.
    public func write(upTo limit: Int, to out: inout ByteBuffer) {
        let handler = HTTP2ServerHandler(connection: self)
        if !session.write(upTo: limit, to: &out, handler) { failure = failure ?? .protocolError }
    }
}
