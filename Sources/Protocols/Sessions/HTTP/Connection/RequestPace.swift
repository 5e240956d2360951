import Basics
import Wire

/// The deadlines of an incomplete request: an absolute one, and a minimum rate for its body.
struct RequestPace {
    /// When the request must be complete.
    let requestDeadline: Instant
    /// When reading of the body started or resumed, and how many bytes had been received then.
    private var body: (since: Instant, already: Int)?
    /// Bytes of the body received.
    private var received = 0

    /// Creates the deadlines of a request that starts now.
    init(now: Instant) { requestDeadline = now.advanced(seconds: Limits.HTTP.requestDeadlineSeconds) }

    /// Creates the deadlines of a request whose reading resumes now, with `already` bytes of its body received.
    init(now: Instant, already: Int) {
        self.init(now: now)
        body = (now, already)
    }

    /// Records how many bytes of the body have been received; `nil` before the body.
    mutating func record(body bytes: Int?, now: Instant) {
        guard let bytes else { return }
        if body == nil { body = (now, bytes) }
        received = bytes
    }

    /// When the body falls below `Limits.HTTP.bodyBytesPerSecond`.
    var bodyDeadline: Instant {
        guard let body else { return .distantFuture }
        let earned = Int64(received - body.already) * 1_000 / Int64(Limits.HTTP.bodyBytesPerSecond)
        return body.since.advanced(milliseconds: Int64(Limits.HTTP.bodyGraceSeconds) * 1_000 + earned)
    }

    /// The earlier of both deadlines.
    var deadline: Instant { min(requestDeadline, bodyDeadline) }

    /// Returns the error for a request past its deadline, and the reason why the connection ends.
    func verdict(now: Instant) -> (fault: RequestFault, reason: CloseReason) {
        requestDeadline <= now
            ? (RequestFault(.requestTimeout, "The request took too long."), .requestDeadline)
            : (RequestFault(.requestTimeout, "The body came too slowly."), .slowRequest)
    }
}
