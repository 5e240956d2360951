import Basics
import Wire

/// The wire format of one HTTP version on one connection: parses requests, writes answers and enforces deadlines.
///
/// Routing and execution of requests are the same for all versions and done by `HTTPSession`.
protocol HTTPCodec: AnyObject {
    /// When to call `wake`; `.distantFuture` for never.
    var deadline: Instant { get }
    /// Whether no request has started and none waits for its answer.
    var isIdle: Bool { get }
    /// Whether another request may be accepted.
    var hasRoom: Bool { get }
    /// Whether bytes are read even without room, because flow control limits the peer.
    var readsAlways: Bool { get }
    /// Whether answers wait only because of the limit on bytes written in one call.
    var hasMoreToWrite: Bool { get }
    /// Why the connection ends after the last answer; set once no further request is accepted.
    var ending: CloseReason? { get }
    /// Whether the connection is to close once the written bytes are sent.
    var isFinished: Bool { get }

    /// Processes bytes from the peer.
    func receive(_ bytes: RawSpan, now: Now)
    /// Returns the next complete request, or `nil` if there is none.
    func next(now: Now) -> HTTPExchange?
    /// Updates the deadlines of incomplete requests; while `isReading` is false, the peer is not timed.
    func updateDeadlines(isReading: Bool, now: Now)
    /// Answers a request; ignored if it is already answered or gone.
    func answer(_ exchange: UInt32, _ response: HTTPResponse, now: Now)
    /// Writes as much as possible. Returns how many requests have been answered with it.
    func write(isCongested: Bool, now: Now, to out: inout Outbox) -> Int
    /// Returns the statuses of requests refused as unreadable since the last call.
    func takeRefused() -> [HTTPStatus]
    /// Does what is due at `deadline`.
    func wake(now: Now)
    /// Buffered bytes of incomplete requests; 0 once a request was authenticated.
    var unauthenticatedBytes: Int { get }
    /// Whether a request was authenticated.
    var isTrusted: Bool { get }
    /// Raises the buffer limits, because a request was authenticated.
    func trust()
    /// Stops accepting requests and answers those that are open. The first reason is kept.
    func end(_ reason: CloseReason)
}

/// A complete request, with the number by which it is answered.
struct HTTPExchange {
    /// Unique on the connection among open requests.
    var number: UInt32
    var request: HTTPRequest
}
