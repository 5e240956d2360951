public import Basics
import HTTP2Engine

/// Why an HTTP/2 connection was terminated.
public enum HTTP2Failure: Sendable {
    /// The peer broke the protocol (RFC 9113).
    case protocolError
    /// The peer sent what only an attack sends.
    case flood
}

/// The server's side of one HTTP/2 connection (RFC 9113): bytes in, whole requests out; answers in, bytes out.
///
/// It has no socket and no clock. Its memory is bounded by `Limits`: flow control stops a peer that sends more than its
/// windows allow, and bodies longer than the window of their stream are received in turns.
public final class HTTP2Connection {
    let session = HTTP2Session(
        .server,
        [
            .maxConcurrentStreams(Limits.HTTP2.streams), .initialWindowSize(Limits.HTTP2.streamWindowBytes),
            .maxHeaderListSize(Limits.HTTP.requestHeadBytes),
            // Without a priority tree, which a peer could make large.
            .noRFC7540Priorities,
        ])
    var streams: [Int32: HTTP2Stream] = [:]
    /// The header block being received; there is at most one (RFC 9113, 4.3).
    var head: HTTP2Head?
    /// Streams with complete requests, in order of completion; some may be closed by now.
    var ready: [Int32] = []
    /// Streams waiting for their turn to send a long body, in order; some may be closed by now.
    var turns: [Int32] = []
    /// The sum of `granted` over all streams.
    var granted = 0
    /// The bytes of all bodies held.
    var bodyBytes = 0
    /// Whether a request has authenticated the peer; before that a lower limit applies to the bodies of all streams.
    public private(set) var isTrusted = false
    /// The sum of `headBytes` over all streams.
    var headBytes = 0
    /// Whether the peer has acknowledged our SETTINGS; before that its streams have the default window.
    var hasSettingsAck = false
    /// Returns the answer to a fault of a request, of which only the start may be known, or nothing.
    public var refusal: (RequestFault, HTTPRequest?) -> HTTPResponse = { fault, _ in .plain(fault) }
    /// The time of the current `receive`.
    var now: UnixMilliseconds = 0
    /// Why the connection was terminated; once set, nothing more is read.
    public internal(set) var failure: HTTP2Failure?
    /// Whether the peer has sent GOAWAY (RFC 9113, 6.8).
    public internal(set) var hasPeerLeft = false
    /// Bytes of answers waiting to be written, mostly for the peer's flow control.
    public internal(set) var unwrittenBytes = 0
    /// Bytes of answers written since the connection opened.
    public internal(set) var writtenBytes = 0
    /// Sees the frames that the session drops.
    private var scanner = FrameScanner(ofClient: true)
    /// Frames that the session has reported, or that were counted as idle since it did not.
    var seenFrames = 0
    /// Events since the last `takeTally`.
    var tally = Tally()

    /// Counts that the owner limits or reports.
    public struct Tally: Sendable {
        /// Frames that do not advance a request.
        public var idleFrames = 0
        /// Streams reset by either side before their answer was written.
        public var resets = 0
        /// Answers written completely.
        public var answers = 0
        /// The statuses of requests that were refused before they were complete.
        public var refused: [HTTPStatus] = []
    }

    /// Creates the state for a new connection: the peer's preface is expected, and our SETTINGS are ready to be written.
    public init() {}

    /// Whether no request is in flight.
    public var isEmpty: Bool { streams.isEmpty }

    /// Whether the peer has left and no request is in flight; nghttp2 ignores anything else it sends.
    public var isFinished: Bool { hasPeerLeft && isEmpty }

    /// The stream of the incomplete header block; until its end no other frame is allowed.
    public var openHead: UInt32? { head.map { UInt32($0.stream) } }

    /// Whether something can be written now; data that waits for the peer's flow control does not count.
    public var canWrite: Bool { session.canWrite }

    /// Returns the counts since the last call, and resets them.
    public func takeTally() -> Tally {
        defer { tally = Tally() }
        return tally
    }

    /// Processes bytes from the peer; `now` is the date of responses that the connection sends on its own.
    public func receive(_ bytes: borrowing RawSpan, at now: UnixMilliseconds) {
        guard failure == nil else { return }
        self.now = now
        let open = head?.stream
        _ = scanner.scan(bytes)
        defer { countDropped() }
        switch session.receive(bytes, HTTP2ServerHandler(connection: self)) {
        case .flood: terminate(.flood)
        case .protocolError: terminate(.protocolError)
        case .taken:
            if let open, head?.stream == open, isEndless(bytes.byteCount) {
                terminate(.flood)
            } else {
                grantTurns()
            }
        }
    }

    /// Counts the frames that the session has dropped: they advance no request.
    private func countDropped() {
        tally.idleFrames += max(0, scanner.frames - seenFrames)
        seenFrames = max(seenFrames, scanner.frames)
    }

    /// Adds received bytes to the open header block. Returns whether it is an endless one: CONTINUATION frames cost the peer
    /// little, and may even be empty (CVE-2024-28182).
    private func isEndless(_ more: Int) -> Bool {
        head?.wireBytes += more
        return head?.wireBytes ?? 0 > Limits.HTTP.requestHeadBytes * Limits.HTTP2.headBombFactor
    }

    /// Returns the next complete request with its stream, or `nil` if there is none.
    public func next() -> (stream: UInt32, request: HTTPRequest)? {
        while let stream = ready.first {
            ready.removeFirst()
            guard case .whole(let request)? = streams[stream]?.stage else { continue }
            let body = releaseRequest(of: stream)
            return (UInt32(stream), request.with(body: body))
        }
        return nil
    }

    /// Calls `body` for each incomplete request that was not refused, with the bytes received of its body (`nil` before its
    /// head is complete), and whether flow control allows the peer to send more.
    public func forEachIncomplete(_ body: (_ stream: UInt32, _ received: Int?, _ maySend: Bool) -> Void) {
        for (number, stream) in streams where stream.isIncomplete {
            let isHeldBack = stream.waitsForTurn && stream.body.count >= Limits.HTTP2.streamWindowBytes
            var received: Int?
            if case .body = stream.stage { received = stream.body.count }
            body(UInt32(number), received, !isHeldBack)
        }
    }

    /// Bytes of heads and bodies held for an unauthenticated peer; 0 once a request has authenticated it.
    public var unauthenticatedBytes: Int { isTrusted ? 0 : bodyBytes + headBytes }

    /// Call when a request has authenticated the peer.
    public func trust() { isTrusted = true }

    /// Sends GOAWAY (RFC 9113, 6.8): requests in flight are finished, and new ones are not accepted.
    public func shutDown() {
        session.goAway()
    }

    /// Terminates the connection with an error for the peer; the next write is the last one.
    public func terminate(_ failure: HTTP2Failure) {
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
