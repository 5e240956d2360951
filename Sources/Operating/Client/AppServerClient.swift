public import Basics
public import ClientProtocol
public import Transport

/// An app server on a reactor; one process can run ten thousand of them.
///
/// Used on the reactor's thread only. All events are reported to `onEvent`.
public final class AppServerClient: ConnectionDelegate {
    private let reactor: Reactor
    private let endpoint: Endpoint
    private let login: AppServerLogin
    private var machine: AppServerMachine
    private var connection: Connection?
    private var backoff: Backoff
    private var isEnding = false
    /// The callback for all events.
    public var onEvent: ((AppServerClient, AppServerEvent, Now) -> Void)?
    /// Whether the client reconnects when the connection ends without a call of `end` or `abort`.
    public var reconnects = false

    /// Creates a client that is not connected yet.
    public init(reactor: Reactor, endpoint: Endpoint, login: AppServerLogin) {
        self.reactor = reactor
        self.endpoint = endpoint
        self.login = login
        machine = AppServerMachine(login: login)
        backoff = Backoff(
            minimumMilliseconds: Limits.Client.reconnectMinimumMilliseconds,
            maximumMilliseconds: Limits.Client.reconnectMaximumMilliseconds, seed: SecureRandom.number())
    }

    /// Whether messages may be sent.
    public var isReady: Bool { machine.isReady && connection != nil }
    /// Messages sent and not yet answered.
    public var outstanding: Int { machine.outstanding }
    /// Whether the server has sent `CONNECTION_DRAINING`.
    public var isDraining: Bool { machine.isDraining }
    /// Whether there is a connection, logged in or not.
    public var isConnected: Bool { connection != nil }

    /// Opens the connection and logs in; `.ready`, `.loginFailed` or `.closed` follows.
    public func connect() throws(TransportError) {
        guard connection == nil else { return }
        isEnding = false
        machine = AppServerMachine(login: login)
        connection = try reactor.connect(
            to: endpoint.address, tls: endpoint.tls, serverName: endpoint.serverName, delegate: self)
    }

    /// Sends a message. Returns false if the client is not ready.
    @discardableResult
    public func send(_ message: Downstream) -> Bool {
        guard isReady else { return false }
        return write { $0.send(message, out: &$1) }
    }

    /// Acknowledges a message or receipt if the login does not do it automatically. For the daemon's tests; no tool uses it.
    public func acknowledge(_ message: ReceivedUpstream) { write { $0.acknowledge(message, out: &$1) } }

    /// Ends the stream gracefully; `.streamEnded` and `.closed` follow.
    public func end() {
        isEnding = true
        write { $0.end(out: &$1) }
    }

    /// Closes the connection without ending the stream.
    public func abort() {
        isEnding = true
        connection?.abort(.peerReset)
    }

    @discardableResult
    private func write(_ body: (inout AppServerMachine, inout Outbox) -> Void) -> Bool {
        guard let connection, connection.isOpen else { return false }
        body(&machine, &connection.outbox)
        connection.setNeedsFlush()
        return true
    }

    // MARK: ConnectionDelegate

    public func connectionOpened(_ connection: Connection, now: Now) {
        connection.deadline = now.monotonic.advanced(seconds: Limits.Client.answerSeconds)
        write { $0.open(out: &$1) }
    }

    public func connection(_ connection: Connection, received bytes: RawSpan, now: Now) {
        var events: [AppServerEvent] = []
        machine.receive(bytes, out: &connection.outbox, events: &events)
        if !connection.outbox.isEmpty { connection.setNeedsFlush() }
        for event in events {
            switch event {
            case .ready:
                connection.deadline = .distantFuture
                backoff.reset()
            case .streamEnded, .loginFailed: connection.close(.peerEndedStream)
            default: break
            }
            onEvent?(self, event, now)
        }
    }

    public func connection(_ connection: Connection, outboundIsCongested: Bool, now: Now) {}

    public func connectionDeadline(_ connection: Connection, now: Now) {
        if !machine.isReady { connection.abort(.loginDeadline) }
    }

    public func connectionClosed(_ connection: Connection, reason: CloseReason, now: Now) {
        let detail = connection.failure
        self.connection = nil
        onEvent?(self, .closed(reason, detail: detail), now)
        guard reconnects, !isEnding else { return }
        reactor.schedule(at: now.monotonic.advanced(milliseconds: backoff.next())) { [self] _ in
            if reconnects, !isEnding { try? connect() }
        }
    }
}
