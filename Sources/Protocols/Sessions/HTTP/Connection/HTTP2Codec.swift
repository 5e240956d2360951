import Basics
import Wire

/// HTTP/2 on one connection: each request has a stream, and answers are sent as soon as they are ready (RFC 9113).
final class HTTP2Codec: HTTPCodec {
    /// The progress of an incomplete request.
    private struct IncomingRequest {
        var pace: RequestPace
        /// Bytes received when flow control stopped the peer; `nil` if it may send. While it is stopped, the rate of the body is
        /// not enforced.
        var bytesAtPause: Int?
    }

    private let connection = HTTP2Connection()
    private var budget: FrameBudget
    private var incoming: [UInt32: IncomingRequest] = [:]
    /// When the progress of the incomplete requests is checked next.
    private var nextCheck: Instant?
    /// Requests accepted and not answered, including those whose streams are closed: they cost as much work.
    private var requestsInProgress = 0
    /// Since when answers wait for the peer's windows, and how many bytes had been written at that time.
    private var stalled: (since: Instant, written: Int)?
    private(set) var ending: CloseReason?
    private(set) var isFinished = false
    private var isBroken = false
    private var refused: [HTTPStatus] = []

    init(_ refusals: HTTPRefusals, now: Now) {
        budget = FrameBudget(now: now.monotonic)
        connection.refusal = { refusals.response(to: $0, of: $1) }
    }

    var deadline: Instant { stallDeadline.orEarlier(nextCheck) }
    var isIdle: Bool { connection.isEmpty }
    /// Unread answers cause backpressure: no request is accepted, but frames are still read because of window updates.
    var hasRoom: Bool {
        !isBroken && requestsInProgress < Limits.HTTP2.streams
            && connection.unwrittenBytes <= Limits.Connection.outboundBytes
    }
    var readsAlways: Bool { true }
    var hasMoreToWrite: Bool { connection.canWrite }

    private var stallDeadline: Instant {
        stalled?.since.advanced(seconds: Limits.Connection.writeDeadlineSeconds) ?? .distantFuture
    }

    func receive(_ bytes: RawSpan, now: Now) {
        guard !isBroken else { return }
        connection.receive(bytes, at: now.machineWall)
        processTally(now)
    }

    func next(now: Now) -> HTTPExchange? {
        guard let (stream, request) = connection.next() else { return nil }
        requestsInProgress += 1
        incoming[stream] = nil
        return HTTPExchange(number: stream, request: request)
    }

    func updateDeadlines(isReading: Bool, now: Now) {
        guard isReading else {
            incoming.removeAll()
            nextCheck = nil
            return
        }
        if nextCheck == nil, !connection.isEmpty { checkProgress(now) }
    }

    func answer(_ exchange: UInt32, _ response: HTTPResponse, now: Now) {
        requestsInProgress -= 1
        connection.answer(exchange, response, at: now.machineWall)
    }

    func write(isCongested: Bool, now: Now, to out: inout Outbox) -> Int {
        // During congestion the transport's own write deadline applies.
        guard !isCongested || isBroken else {
            stalled = nil
            return 0
        }
        connection.write(upTo: Limits.Connection.outboundLowBytes, to: &out.bytes)
        out.endRecord()
        let answers = processTally(now)
        if connection.unwrittenBytes == 0 {
            stalled = nil
        } else if stalled == nil || stalled?.written != connection.writtenBytes {
            stalled = (now.monotonic, connection.writtenBytes)
        }
        let isDone = connection.isFinished || ending != nil && connection.isEmpty
        isFinished = isBroken || isDone && !connection.canWrite
        return answers
    }

    func wake(now: Now) {
        if stallDeadline <= now.monotonic {
            breakOff(.slowConsumer, .flood)
        } else if now.hasReached(nextCheck) {
            checkProgress(now)
        }
    }

    func takeRefused() -> [HTTPStatus] {
        guard !refused.isEmpty else { return [] }
        defer { refused = [] }
        return refused
    }

    var unauthenticatedBytes: Int { connection.unauthenticatedBytes }

    var isTrusted: Bool { connection.isTrusted }

    func trust() { connection.trust() }

    func end(_ reason: CloseReason) {
        guard ending == nil else { return }
        ending = reason
        connection.shutDown()
    }

    /// Processes the counts and failures of the connection. Returns how many requests have been answered.
    @discardableResult
    private func processTally(_ now: Now) -> Int {
        let tally = connection.takeTally()
        refused += tally.refused
        if !budget.charge(tally, now: now.monotonic) { breakOff(.flood, .flood) }
        if let failure = connection.failure {
            breakOff(failure == .flood ? .flood : .protocolViolation, failure)
        }
        return tally.answers
    }

    /// Ends the connection at once; open requests are not answered.
    private func breakOff(_ reason: CloseReason, _ failure: HTTP2Failure) {
        guard !isBroken else { return }
        isBroken = true
        if ending == nil || ending == .idle { ending = reason }
        connection.terminate(failure)
    }

    /// Checks the progress of the incomplete requests, and refuses those that are too slow.
    private func checkProgress(_ now: Now) {
        var seen: [UInt32: IncomingRequest] = [:]
        var late: [(UInt32, RequestFault)] = []
        connection.forEachIncomplete { stream, received, maySend in
            var entry = incoming[stream] ?? IncomingRequest(pace: RequestPace(now: now.monotonic))
            if maySend, let bytes = entry.bytesAtPause {
                entry = IncomingRequest(pace: RequestPace(now: now.monotonic, already: bytes))
            } else if !maySend {
                entry.bytesAtPause = received
            }
            entry.pace.record(body: maySend ? received : nil, now: now.monotonic)
            let limit = maySend ? entry.pace.deadline : entry.pace.requestDeadline
            if limit <= now.monotonic { late.append((stream, entry.pace.verdict(now: now.monotonic).fault)) }
            seen[stream] = entry
        }
        for (stream, fault) in late {
            guard stream != connection.openHead else { return breakOff(.requestDeadline, .protocolError) }
            connection.refuse(stream, fault, at: now.machineWall)
            seen[stream] = nil
        }
        incoming = seen
        nextCheck =
            seen.isEmpty ? nil : now.monotonic.advanced(milliseconds: Limits.HTTP2.checkMilliseconds)
    }
}
