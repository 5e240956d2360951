import Basics
import Wire

/// How long a request that has begun may take: an absolute deadline, and a least rate for its body.
struct RequestPace {
    /// When the whole request must be there.
    let whole: Instant
    /// When the body began, or began to be read again, and how much of it was there already.
    private var body: (since: Instant, already: Int)?
    /// Bytes of the body that have come.
    private var received = 0

    /// The pace of a request that begins now.
    init(now: Instant) { whole = now.advanced(seconds: Limits.HTTP.requestDeadlineSeconds) }

    /// The pace of a request that goes on now, with so much of its body there already.
    init(now: Instant, already: Int) {
        self.init(now: now)
        body = (now, already)
    }

    /// Notes how much of the body has come; nil before the body.
    mutating func note(body bytes: Int?, now: Instant) {
        guard let bytes else { return }
        if body == nil { body = (now, bytes) }
        received = bytes
    }

    /// When the next byte of the body is late.
    var late: Instant {
        guard let body else { return .distantFuture }
        let earned = Int64(received - body.already) * 1_000 / Int64(Limits.HTTP.bodyBytesPerSecond)
        return body.since.advanced(milliseconds: Int64(Limits.HTTP.bodyGraceSeconds) * 1_000 + earned)
    }

    /// When one of both is over.
    var deadline: Instant { min(whole, late) }

    /// What a request that is over its time is told, and why its connection ends.
    func verdict(now: Instant) -> (fault: RequestFault, reason: CloseReason) {
        whole <= now
            ? (RequestFault(.requestTimeout, "The request took too long."), .requestDeadline)
            : (RequestFault(.requestTimeout, "The body came too slowly."), .slowRequest)
    }
}
