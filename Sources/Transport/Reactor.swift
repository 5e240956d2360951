package import Basics

/// One epoll loop: it owns its listeners, connections and timers, and runs on one thread.
///
/// Not Sendable: only `handle` may leave the thread.
package final class Reactor {
    /// Who is told of wake-ups and ends of turns.
    package var delegate: (any ReactorDelegate)?
    /// Which reactor this is.
    package let index: Int
    /// Wakes the reactor from any thread.
    package let handle: ReactorHandle
    /// The clocks, read once per turn.
    package private(set) var now: Now
    /// Called for what an operator should read.
    package var report: ((TransportReport) -> Void)?

    /// Makes the loop; nothing runs yet.
    package init(index: Int) throws(TransportError) { fatalError("lands next") }

    /// Accepts connections; `accept` gives each its delegate, nil refuses it.
    package func listen(
        on socket: consuming ListeningSocket, name: ListenerName, tls: TLSContextHolder?, pace: PaceSettings = PaceSettings(),
        accept: @escaping (Connection) -> (any ConnectionDelegate)?
    ) throws(TransportError) { fatalError("lands next") }

    /// Opens a connection; its success or failure is told to the delegate.
    package func connect(
        to address: SocketAddress, tls: TLSClientSettings? = nil, serverName: String? = nil,
        pace: PaceSettings = PaceSettings(), delegate: any ConnectionDelegate
    ) throws(TransportError) -> Connection { fatalError("lands next") }

    /// Calls `body` at or soon after an instant, once.
    @discardableResult
    package func schedule(at instant: Instant, _ body: @escaping (Now) -> Void) -> TimerID { fatalError("lands next") }
    /// Takes a timer back; nothing happens where it has fired.
    package func cancel(_ timer: TimerID) { fatalError("lands next") }

    /// The connection of that name; nil when it is gone or closing.
    package func connection(_ id: ConnectionID) -> Connection? { fatalError("lands next") }
    /// All connections that are open, in no order.
    package func forEachConnection(_ body: (Connection) -> Void) { fatalError("lands next") }
    /// Connections that are open.
    package var connectionCount: Int { fatalError("lands next") }

    /// Calls `body` whenever a descriptor of the caller's is readable; the caller keeps it open until `stop`.
    package func watch(_ descriptor: borrowing Descriptor, _ body: @escaping (Now) -> Void) throws(TransportError) { fatalError("lands next") }

    /// Closes all listeners (or those of one name).
    package func stopListening(_ name: ListenerName? = nil) { fatalError("lands next") }
    /// Ends `run` after this turn.
    package func stop() { fatalError("lands next") }
    /// Runs on the calling thread until `stop`; what is still open is dropped then.
    package func run() { fatalError("lands next") }
    /// One turn, waiting at most so many milliseconds (-1: for ever); for tests and single-threaded tools.
    package func turn(waitMilliseconds: Int) { fatalError("lands next") }
}

/// Wakes a reactor from any thread.
package final class ReactorHandle: Sendable {
    /// Makes the reactor call `reactorWoke` soon; one call for any number of wake-ups.
    package func wake() { fatalError("lands next") }
}

/// Names a timer of one reactor.
package struct TimerID: Hashable, Sendable {
    var index: UInt32
    var generation: UInt32
}
