import Basics
import Wire

/// One version of HTTP on one connection: cuts what comes into requests, and puts answers on the wire.
///
/// What a request leads to is the same for all versions and none of its business.
protocol HTTPFront: AnyObject {
    /// When `wake` wants to be called; `.distantFuture` for never.
    var deadline: Instant { get }
    /// Whether no request has begun and none waits for its answer.
    var isIdle: Bool { get }
    /// Whether another request may be taken up.
    var hasRoom: Bool { get }
    /// Whether bytes are to be taken even without room: the peer's windows decide then what it may send.
    var readsAlways: Bool { get }
    /// Whether answers wait only because much has been written in one call.
    var hasMoreToWrite: Bool { get }
    /// Set once no further request is taken up; the connection ends with the last answer, for this reason.
    var ending: CloseReason? { get }
    /// Whether the connection is to end as soon as what is written has left.
    var isOver: Bool { get }

    /// Takes bytes from the peer.
    func receive(_ bytes: RawSpan, now: Now)
    /// The next whole request; nil if there is none.
    func next(now: Now) -> HTTPExchange?
    /// Sets the deadlines of requests that have begun; with `isReading` false nothing counts against the peer.
    func watch(isReading: Bool, now: Now)
    /// Answers a request; one that is answered or gone already is passed over.
    func answer(_ exchange: UInt32, _ response: HTTPResponse, now: Now)
    /// Writes what can be written; returns how many requests have been answered with it.
    func write(isCongested: Bool, now: Now, to out: inout Outbox) -> Int
    /// Returns the statuses of requests that the front has refused by itself since the last call.
    func takeRefused() -> [HTTPStatus]
    /// The deadline is reached.
    func wake(now: Now)
    /// Bytes held of requests that are not whole; 0 once a request has shown who asks.
    var unauthenticatedBytes: Int { get }
    /// A request has shown who asks: from now on more may be held for the peer.
    func trust()
    /// Takes up no further request; what was asked is answered. The first reason stands.
    func end(_ reason: CloseReason)
}

/// A whole request, and by what its answer finds back to it.
struct HTTPExchange {
    /// Names it on its connection.
    var number: UInt32
    /// What is asked.
    var request: HTTPRequest
}
