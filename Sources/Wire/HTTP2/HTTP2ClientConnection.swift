public import Basics
import HTTP2Engine

/// The client's side of one HTTP/2 connection (RFC 9113): requests in, bytes out; bytes in, answers out.
///
/// It knows no socket and no clock. Everything that a server can make it keep is bounded by `Limits`, and nothing is left of
/// a stream after its end. Use it so: after each call write what can be written (`write`), take the events (`next`), and
/// call `wake` at `deadline`.
public final class HTTP2ClientConnection {
    /// One request and its answer.
    struct Stream {
        /// The body of the request.
        var body: [UInt8]
        /// Bytes of it that have been written.
        var written = 0
        /// Whether the head of the request has been written: from then on the server may have processed it.
        var isSent = false
        /// Whether the request has been written to its end.
        var isSentWhole = false
        /// Whether its end has been reported: it is here only until the session has closed the stream.
        var isDone = false
        /// The answer as far as it has come. `nil` before its head is whole.
        var answer: HTTPAnswer?
        /// Bytes of the answer that are kept.
        var answerBytes = 0
        /// The code by which the server ended the stream.
        var reset: UInt32?
        /// When the answer must have ended.
        let deadline: Instant

        /// Bytes of the body that are not written yet.
        var unsent: Int { body.count - written }
    }

    let session: HTTP2Session
    private let authority: String
    var streams: [Int32: Stream] = [:]
    /// The header block that comes now: there is one at most (RFC 9113, 4.3).
    var head: HTTP2AnswerHead?
    var events: [HTTP2ClientEvent] = []
    /// Bytes of the bodies of requests that wait to be written.
    var unsentBytes = 0
    /// Bytes of all answers that have begun and not ended.
    var answersBytes = 0
    /// Whether one side has said that it leaves.
    var isLeaving = false
    /// Whether the server's settings have come.
    var hasSettings = false
    /// Why the session has ended the connection by itself.
    var sessionFailure: HTTP2ClientFailure?
    /// What has happened since the budget was asked last.
    var tally = HTTP2Connection.Tally()
    private var budget: FrameBudget
    /// When the server last sent something, at first when the connection was opened.
    private var lastReceived: Instant
    /// When the first of the requests under way was sent.
    private var busySince = Instant.distantPast
    /// When a PING without an answer was sent; at first when the connection was opened, since settings are due.
    private var askedAt: Instant?
    /// No request ends before this.
    private var earliestDeadline = Instant.distantFuture
    /// Why the connection is over. `nil` before.
    public private(set) var failure: HTTP2ClientFailure?

    /// A connection that has just been opened to a server of that name, and port unless it is 443.
    ///
    /// `firstStreams` is how many requests may be under way before the server's settings have come.
    public init(
        authority: String, firstStreams: Int = Limits.HTTP2Client.streamsBeforeSettings, now: Instant
    ) {
        self.authority = authority
        session = HTTP2Session(
            .client,
            [
                .enablePush(false), .maxConcurrentStreams(0),
                // One byte more than is taken, so that a body that is too long is seen to be.
                .initialWindowSize(Limits.HTTP2Client.answerBodyBytes + 1),
                .maxHeaderListSize(Limits.HTTP2Client.answerHeadBytes), .noRFC7540Priorities,
            ], firstStreams: firstStreams)
        budget = FrameBudget(now: now)
        lastReceived = now
        askedAt = now
        // Twice what may be kept: nghttp2 reports room only once half of the window is free again.
        session.setWindow(of: 0, to: 2 * Limits.HTTP2Client.answersBytes)
    }

    /// Requests under way.
    public var underWay: Int { streams.count }

    /// Requests that may be sent now.
    public var room: Int {
        guard failure == nil, !isLeaving else { return 0 }
        return max(0, min(session.peerStreamLimit, Limits.HTTP2Client.streams) - streams.count)
    }

    /// Whether something can be written now. What waits for the server's windows cannot.
    public var canWrite: Bool { session.canWrite }

    /// When `wake` is due.
    public var deadline: Instant { failure == nil ? min(livenessDeadline, earliestDeadline) : .distantFuture }

    // MARK: Requests

    /// Sends a request. Returns its stream, by which events name it.
    public func send(_ call: HTTPCall, now: Instant) throws(HTTP2SendFailure) -> UInt32 {
        guard failure == nil, !isLeaving else { throw .leaving }
        guard room > 0, unsentBytes == 0 || unsentBytes + call.body.count <= Limits.HTTP2Client.unsentBytes
        else {
            throw .busy
        }
        let fields = try call.fields(authority: authority)
        guard let stream = session.submitRequest(fields, hasBody: !call.body.isEmpty) else {
            // The numbers of streams are used up.
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

    /// Gives a request up. No event follows for it; the server may have carried it out.
    public func cancel(_ stream: UInt32) { close(Int32(bitPattern: stream), resets: true) }

    /// Sends no more requests; the connection ends when those that the server has seen have their ends.
    public func shutDown() {
        guard failure == nil, !isLeaving else { return }
        leave(code: 0, reason: [])
        session.goAway()
        endIfFinished()
    }

    // MARK: Bytes

    /// Takes bytes from the server.
    public func receive(_ bytes: borrowing RawSpan, now: Instant) {
        guard failure == nil else { return }
        lastReceived = now
        let open = head?.stream
        switch session.receive(bytes, HTTP2ClientHandler(connection: self)) {
        case .flood: return breakOff(.flood)
        case .protocolError: return breakOff(.protocolError)
        case .taken: break
        }
        // CONTINUATION frames cost a server little, and may even be empty.
        if let open, head?.stream == open { head?.wireBytes += bytes.byteCount }
        let isEndless =
            head?.wireBytes ?? 0 > Limits.HTTP2Client.answerHeadBytes * Limits.HTTP2.headBombFactor
        let isInBudget = budget.take(tally, now: now)
        tally = HTTP2Connection.Tally()
        if isEndless || !isInBudget { return breakOff(.flood) }
        if hasSettings { askedAt = nil }
        endIfFinished()
    }

    /// Appends frames until nothing can be written or `limit` bytes are in `out`.
    public func write(upTo limit: Int, to out: inout ByteBuffer) {
        let isIntact = session.write(upTo: limit, to: &out, HTTP2ClientHandler(connection: self))
        if let sessionFailure { end(sessionFailure) }
        if !isIntact { end(.protocolError) }
        endIfFinished()
    }

    /// The next event. Returns `nil` if there is none.
    public func next() -> HTTP2ClientEvent? { events.isEmpty ? nil : events.removeFirst() }

    /// The transport has ended.
    public func connectionLost() { end(.lost) }

    // MARK: Time

    /// When a silent server is asked whether it is still there, or has not answered that.
    private var livenessDeadline: Instant {
        if let askedAt { return askedAt.advanced(seconds: Limits.HTTP2Client.pongSeconds) }
        guard !streams.isEmpty else {
            return lastReceived.advanced(seconds: Limits.HTTP2Client.idlePingSeconds)
        }
        return max(lastReceived, busySince).advanced(seconds: Limits.HTTP2Client.pingSeconds)
    }

    /// Ends requests whose answers are late, and asks a silent server whether it is still there.
    public func wake(now: Instant) {
        guard failure == nil else { return }
        if livenessDeadline <= now {
            guard askedAt == nil else { return breakOff(.silent) }
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

    /// The streams by number: the order of events must not depend on that of a dictionary.
    private var inOrder: [(key: Int32, value: Stream)] {
        streams.filter { !$0.value.isDone }.sorted { $0.key < $1.key }
    }

    /// Notes that a request has its end, and drops what is kept for it. Returns false if it had one before.
    @discardableResult
    func close(_ stream: Int32, resets: Bool) -> Bool {
        guard let entry = streams[stream], !entry.isDone else { return false }
        unsentBytes -= entry.unsent
        answersBytes -= entry.answerBytes
        session.consumeConnection(entry.answer?.body.count ?? 0)
        var closed = Stream(body: [], deadline: entry.deadline)
        closed.isDone = true
        streams[stream] = closed
        if resets { session.reset(stream, .cancel) }
        return true
    }

    /// Ends a request without an answer.
    func fail(_ stream: Int32, _ failure: HTTP2RequestFailure, resets: Bool = true) {
        guard close(stream, resets: resets) else { return }
        events.append(.failed(UInt32(bitPattern: stream), failure))
    }

    /// The connection takes no more requests: those that the server cannot have seen go elsewhere.
    func leave(code: UInt32, reason: [UInt8]) {
        guard !isLeaving else { return }
        isLeaving = true
        events.append(.leaving(code: code, reason: reason))
        for (stream, entry) in inOrder where !entry.isSent { fail(stream, .unprocessed) }
    }

    /// Ends the connection with an error for the server; what is written next is the last.
    private func breakOff(_ failure: HTTP2ClientFailure) {
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
