public import Basics
import HTTP2Engine

/// The client's side of one HTTP/2 connection (RFC 9113): requests in, bytes out; bytes in, answers out.
///
/// It has no socket and no clock. All memory that a server can make it hold is bounded by `Limits`, and a stream's state is
/// freed when the stream ends. After each call, send what `write` produces, handle the events of `next`, and call `wake`
/// at `deadline`.
public final class HTTP2ClientConnection {
    /// A request and its answer. Each frame of it changes something here, so it is not copied out of the table.
    final class Stream {
        /// The body of the request.
        var body: [UInt8]
        /// Bytes of the body written so far.
        var written = 0
        /// Whether the head of the request has been written; from then on the server may process the request.
        var isSent = false
        /// Whether the whole request has been written.
        var isSentWhole = false
        /// Whether the outcome has been reported; the entry then only waits for the session to close the stream.
        var isDone = false
        /// The answer received so far; `nil` before its head is complete.
        var answer: HTTPAnswer?
        /// Bytes of the answer held, for the limit on all answers.
        var answerBytes = 0
        /// The error code with which the server reset the stream.
        var reset: UInt32?
        /// When the answer must be complete.
        let deadline: Instant

        init(body: [UInt8], deadline: Instant) {
            self.body = body
            self.deadline = deadline
        }

        /// Bytes of the body not written yet.
        var unsent: Int { body.count - written }

        /// Marks it as finished, and frees what it holds.
        func finish() {
            isDone = true
            body = []
            written = 0
            answer = nil
            answerBytes = 0
        }
    }

    let session: HTTP2Session
    private let authority: String
    var streams: [Int32: Stream] = [:]
    /// The header block being received; there is at most one (RFC 9113, 4.3).
    var head: HTTP2AnswerHead?
    /// The events for the caller; those before `firstEvent` have been returned.
    var events: [HTTP2ClientEvent] = []
    private var firstEvent = 0
    /// Bytes of request bodies waiting to be written.
    var unsentBytes = 0
    /// Bytes of all incomplete answers.
    var answersBytes = 0
    /// Whether one side has sent GOAWAY or the stream IDs are used up.
    var isLeaving = false
    /// Whether the server's SETTINGS have arrived.
    var hasSettings = false
    /// Why the session itself terminated the connection.
    var sessionFailure: HTTP2ClientFailure?
    /// Sees the frames that the session drops.
    private var scanner = FrameScanner(ofClient: false)
    /// Frames that the session has reported, or that were counted as idle since it did not.
    var seenFrames = 0
    /// Events since the last charge to the budget.
    var tally = HTTP2Connection.Tally()
    private var budget: FrameBudget
    /// When the server last sent bytes of a frame that HTTP/2 defines; initially the time of connecting.
    private var lastReceived: Instant
    /// When the connection last changed from idle to busy; initially the time of connecting.
    private var busySince: Instant
    /// When the unanswered PING was sent; initially the time of connecting, since SETTINGS are due.
    private var askedAt: Instant?
    /// No request times out before this.
    private var earliestDeadline = Instant.distantFuture
    /// Why the connection has ended; `nil` while it is open.
    public private(set) var failure: HTTP2ClientFailure?

    /// Creates the state for a new connection; `authority` is the host name, with the port unless it is 443.
    ///
    /// `firstStreams` limits the requests in flight before the server's SETTINGS have arrived.
    public init(
        authority: String, firstStreams: Int = Limits.HTTP2Client.streamsBeforeSettings, now: Instant
    ) {
        self.authority = authority
        session = HTTP2Session(
            .client,
            [
                .enablePush(false), .maxConcurrentStreams(0),
                // One byte over the limit, so that a body that is too long is detected.
                .initialWindowSize(Limits.HTTP2Client.answerBodyBytes + 1),
                .maxHeaderListSize(Limits.HTTP2Client.answerHeadBytes), .noRFC7540Priorities,
            ], firstStreams: firstStreams)
        budget = FrameBudget(now: now)
        lastReceived = now
        busySince = now
        askedAt = now
        // Twice the limit: nghttp2 sends WINDOW_UPDATE only when half of the window is free again.
        session.setWindow(of: 0, to: 2 * Limits.HTTP2Client.answersBytes)
    }

    /// Requests in flight.
    public var requestsInFlight: Int { streams.count }

    /// The number of requests that may be sent now.
    public var availableStreams: Int {
        guard failure == nil, !isLeaving else { return 0 }
        return max(0, min(session.peerStreamLimit, Limits.HTTP2Client.streams) - streams.count)
    }

    /// Whether something can be written now; data that waits for the server's flow control does not count.
    public var canWrite: Bool { session.canWrite }

    /// When `wake` is due.
    public var deadline: Instant { failure == nil ? min(livenessDeadline, earliestDeadline) : .distantFuture }

    // MARK: Requests

    /// Sends a request. Returns its stream ID, which events refer to.
    public func send(_ call: HTTPCall, now: Instant) throws(HTTP2SendFailure) -> UInt32 {
        guard failure == nil, !isLeaving else { throw .leaving }
        guard availableStreams > 0,
            unsentBytes == 0 || unsentBytes + call.body.count <= Limits.HTTP2Client.unsentBytes
        else {
            throw .busy
        }
        let fields = try call.fields(authority: authority)
        guard let stream = session.submitRequest(fields, hasBody: !call.body.isEmpty) else {
            // The stream IDs are used up.
            leave(code: 0, reason: [])
            throw .leaving
        }
        if streams.isEmpty {
            busySince = now
            let staleAt = lastReceived.advanced(seconds: Limits.HTTP2Client.staleSeconds)
            if askedAt == nil, staleAt <= now { ask(now) }
        }
        let deadline = now.advanced(seconds: Limits.HTTP2Client.answerSeconds)
        streams[stream] = Stream(body: call.body, deadline: deadline)
        unsentBytes += call.body.count
        earliestDeadline = min(earliestDeadline, deadline)
        return UInt32(bitPattern: stream)
    }

    /// Cancels a request. No event follows; the server may have carried it out.
    public func cancel(_ stream: UInt32) { close(Int32(bitPattern: stream), resets: true) }

    /// Accepts no more requests; the connection ends when the requests that the server has seen are finished.
    public func shutDown() {
        guard failure == nil, !isLeaving else { return }
        leave(code: 0, reason: [])
        session.goAway()
        endIfFinished()
    }

    // MARK: Bytes

    /// Processes bytes from the server.
    public func receive(_ bytes: borrowing RawSpan, now: Instant) {
        guard failure == nil else { return }
        // Frames of unknown types do not show that the server answers.
        let isAlive = scanner.scan(bytes)
        if isAlive { lastReceived = now }
        let open = head?.stream
        switch session.receive(bytes, HTTP2ClientHandler(connection: self)) {
        case .flood: return terminate(.flood)
        case .protocolError: return terminate(.protocolError)
        case .taken: break
        }
        // CONTINUATION frames cost a server little, and may even be empty.
        if let open, head?.stream == open { head?.wireBytes += bytes.byteCount }
        let isEndless =
            head?.wireBytes ?? 0 > Limits.HTTP2Client.answerHeadBytes * Limits.HTTP2.headBombFactor
        tally.idleFrames += max(0, scanner.frames - seenFrames)
        seenFrames = max(seenFrames, scanner.frames)
        let isInBudget = budget.charge(tally, now: now)
        tally = HTTP2Connection.Tally()
        if isEndless || !isInBudget { return terminate(.flood) }
        if hasSettings, isAlive { askedAt = nil }
        endIfFinished()
    }

    /// Appends frames until nothing can be written or `limit` bytes are in `out`.
    public func write(upTo limit: Int, to out: inout ByteBuffer) {
        let isIntact = session.write(upTo: limit, to: &out, HTTP2ClientHandler(connection: self))
        if let sessionFailure { end(sessionFailure) }
        if !isIntact { end(.protocolError) }
        endIfFinished()
    }

    /// Returns the next event, or `nil` if there is none.
    public func next() -> HTTP2ClientEvent? {
        guard firstEvent < events.count else { return nil }
        let event = events[firstEvent]
        firstEvent += 1
        if firstEvent == events.count {
            events.removeAll(keepingCapacity: true)
            firstEvent = 0
        }
        return event
    }

    /// Call when the transport has ended.
    public func connectionLost() { end(.lost) }

    // MARK: Time

    /// When a silent server is due for a PING, or has left one unanswered for too long.
    private var livenessDeadline: Instant {
        if let askedAt { return askedAt.advanced(seconds: Limits.HTTP2Client.pongSeconds) }
        guard !streams.isEmpty else {
            return lastReceived.advanced(seconds: Limits.HTTP2Client.idlePingSeconds)
        }
        return max(lastReceived, busySince).advanced(seconds: Limits.HTTP2Client.pingSeconds)
    }

    /// Fails requests whose answers are late, and sends a PING to a silent server.
    public func wake(now: Instant) {
        guard failure == nil else { return }
        if livenessDeadline <= now {
            guard askedAt == nil else { return terminate(.silent) }
            ask(now)
        }
        guard earliestDeadline <= now else { return }
        for (stream, entry) in inOrder where entry.deadline <= now {
            fail(stream, entry.isSent ? .noAnswer : .unprocessed)
        }
        earliestDeadline = streams.values.lazy.filter { !$0.isDone }.map(\.deadline).min() ?? .distantFuture
    }

    private func ask(_ now: Instant) {
        askedAt = now
        session.ping()
    }

    // MARK: Ends

    /// The unfinished streams in order of their IDs, so that the order of events does not depend on the dictionary's.
    private var inOrder: [(key: Int32, value: Stream)] {
        streams.filter { !$0.value.isDone }.sorted { $0.key < $1.key }
    }

    /// Marks a request as finished and frees what it holds. Returns false if it was finished before.
    @discardableResult
    func close(_ stream: Int32, resets: Bool) -> Bool {
        guard let entry = streams[stream], !entry.isDone else { return false }
        unsentBytes -= entry.unsent
        answersBytes -= entry.answerBytes
        session.consumeConnection(entry.answer?.body.count ?? 0)
        entry.finish()
        if resets { session.reset(stream, .cancel) }
        return true
    }

    /// Fails a request.
    func fail(_ stream: Int32, _ failure: HTTP2RequestFailure, resets: Bool = true) {
        guard close(stream, resets: resets) else { return }
        events.append(.failed(UInt32(bitPattern: stream), failure))
    }

    /// Accepts no more requests, and fails those that the server cannot have seen as unprocessed.
    func leave(code: UInt32, reason: [UInt8]) {
        guard !isLeaving else { return }
        isLeaving = true
        events.append(.leaving(code: code, reason: reason))
        for (stream, entry) in inOrder where !entry.isSent { fail(stream, .unprocessed) }
    }

    /// Terminates the connection with an error for the server; the next write is the last one.
    private func terminate(_ failure: HTTP2ClientFailure) {
        switch failure {
        case .flood: session.terminate(.enhanceYourCalm)
        case .protocolError: session.terminate(.protocolError)
        case .silent, .lost, .finished: session.terminate(.noError)
        }
        end(failure)
    }

    private func end(_ failure: HTTP2ClientFailure) {
        guard self.failure == nil else { return }
        self.failure = failure
        for (stream, entry) in inOrder {
            fail(stream, entry.isSent ? .connectionEnded : .unprocessed, resets: false)
        }
        streams = [:]
        head = nil
        events.append(.ended(failure))
    }

    private func endIfFinished() {
        if isLeaving, streams.isEmpty { end(.finished) }
    }
}
