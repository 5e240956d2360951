import Basics
import Wire

/// HTTP/2 on one connection: each request has a stream, and answers leave as they are ready (RFC 9113).
final class HTTP2Front: HTTPFront {
    /// How a request that has begun comes on.
    private struct Coming {
        var pace: RequestPace
        /// Bytes that had come when the peer had to wait for its turn to send more; while it waits, nothing counts
        /// against it.
        var heldAt: Int?
    }

    private let connection = HTTP2Connection()
    private var budget: FrameBudget
    private var coming: [UInt32: Coming] = [:]
    /// When the next look at those is due.
    private var nextLook = Instant.distantFuture
    /// Requests taken up and not answered, among them some whose streams are gone: those cost as much work.
    private var inWork = 0
    /// Since when answers wait for the peer's windows, and how much of them had been written then.
    private var stalled: (since: Instant, written: Int)?
    private(set) var ending: CloseReason?
    private(set) var isOver = false
    private var isBroken = false
    private var refused: [HTTPStatus] = []

    init(now: Now) { budget = FrameBudget(now: now.monotonic) }

    var deadline: Instant { min(nextLook, stallDeadline) }
    var isIdle: Bool { connection.isEmpty }
    /// Answers that the peer does not take press back: no request is taken up, though its windows are still heard of.
    var hasRoom: Bool {
        !isBroken && inWork < Limits.HTTP2.streams
            && connection.unwrittenBytes <= Limits.Connection.outboundBytes
    }
    var readsAlways: Bool { true }
    var hasMoreToWrite: Bool { connection.canWrite }

    private var stallDeadline: Instant {
        stalled?.since.advanced(seconds: Limits.Connection.writeDeadlineSeconds) ?? .distantFuture
    }

    func receive(_ bytes: RawSpan, now: Now) {
        guard !isBroken else { return }
        connection.receive(bytes, at: now.wall)
        note(now)
    }

    func next(now: Now) -> HTTPExchange? {
        guard let (stream, request) = connection.next() else { return nil }
        inWork += 1
        coming[stream] = nil
        return HTTPExchange(number: stream, request: request)
    }

    func watch(isReading: Bool, now: Now) {
        guard isReading else {
            coming.removeAll()
            nextLook = .distantFuture
            return
        }
        if nextLook == .distantFuture, !connection.isEmpty { look(now) }
    }

    func answer(_ exchange: UInt32, _ response: HTTPResponse, now: Now) {
        inWork -= 1
        connection.answer(exchange, response, at: now.wall)
    }

    func write(isCongested: Bool, now: Now, to out: inout Outbox) -> Int {
        // What congestion holds back is bounded by the transport's own deadline.
        guard !isCongested || isBroken else {
            stalled = nil
            return 0
        }
        connection.write(upTo: Limits.Connection.outboundLowBytes, to: &out.bytes)
        out.endRecord()
        let answers = note(now)
        if connection.unwrittenBytes == 0 {
            stalled = nil
        } else if stalled == nil || stalled?.written != connection.writtenBytes {
            stalled = (now.monotonic, connection.writtenBytes)
        }
        let isDone = connection.isFinished || ending != nil && connection.isEmpty
        isOver = isBroken || isDone && !connection.canWrite
        return answers
    }

    func wake(now: Now) {
        if stallDeadline <= now.monotonic {
            breakOff(.slowConsumer, .flood)
        } else if nextLook <= now.monotonic {
            look(now)
        }
    }

    func takeRefused() -> [HTTPStatus] {
        guard !refused.isEmpty else { return [] }
        defer { refused = [] }
        return refused
    }

    var unauthenticatedBytes: Int { connection.unauthenticatedBytes }

    func trust() { connection.trust() }

    func end(_ reason: CloseReason) {
        guard ending == nil else { return }
        ending = reason
        connection.shutDown()
    }

    /// Takes over what has happened on the connection; returns how many requests have been answered.
    @discardableResult
    private func note(_ now: Now) -> Int {
        let tally = connection.takeTally()
        refused += tally.refused
        if !budget.charge(tally, now: now.monotonic) { breakOff(.flood, .flood) }
        if let failure = connection.failure {
            breakOff(failure == .flood ? .flood : .protocolViolation, failure)
        }
        return tally.answers
    }

    /// Ends the connection at once; of what was asked nothing more is answered.
    private func breakOff(_ reason: CloseReason, _ failure: HTTP2Failure) {
        guard !isBroken else { return }
        isBroken = true
        if ending == nil || ending == .idle { ending = reason }
        connection.terminate(failure)
    }

    /// Looks how the requests that have begun come on, and refuses those that come too slowly.
    private func look(_ now: Now) {
        var seen: [UInt32: Coming] = [:]
        var late: [(UInt32, RequestFault)] = []
        connection.forEachIncomplete { stream, received, maySend in
            var entry = coming[stream] ?? Coming(pace: RequestPace(now: now.monotonic))
            if maySend, let held = entry.heldAt {
                entry = Coming(pace: RequestPace(now: now.monotonic, already: held))
            } else if !maySend {
                entry.heldAt = received
            }
            entry.pace.note(body: maySend ? received : nil, now: now.monotonic)
            let limit = maySend ? entry.pace.deadline : entry.pace.whole
            if limit <= now.monotonic { late.append((stream, entry.pace.verdict(now: now.monotonic).fault)) }
            seen[stream] = entry
        }
        for (stream, fault) in late {
            guard stream != connection.openHead else { return breakOff(.requestDeadline, .protocolError) }
            connection.refuse(stream, fault, at: now.wall)
            seen[stream] = nil
        }
        coming = seen
        nextLook =
            seen.isEmpty
            ? .distantFuture : now.monotonic.advanced(milliseconds: Limits.HTTP2.checkMilliseconds)
    }
}
