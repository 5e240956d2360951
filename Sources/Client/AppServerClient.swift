public import Basics
public import ClientProtocol
public import Transport

/// An app server on a reactor: ten thousand of them fit into one process.
///
/// Used on the reactor's thread only. Everything that happens is told to `onEvent`.
public final class AppServerClient: ConnectionDelegate {
    private let reactor: Reactor
    private let endpoint: Endpoint
    private let login: AppServerLogin
    private var machine: AppServerMachine
    private var connection: Connection?
    private var backoff: Backoff
    private var isEnding = false
    /// What is told of everything that happens.
    public var onEvent: ((AppServerClient, AppServerEvent, Now) -> Void)?
    /// Whether it connects again when the connection ends without `close` having been called.
    public var reconnects = false

    /// A client that is not connected yet.
    public init(reactor: Reactor, endpoint: Endpoint, login: AppServerLogin) {
        self.reactor = reactor
        self.endpoint = endpoint
        self.login = login
        machine = AppServerMachine(login: login)
        backoff = Backoff(
            floorMilliseconds: Limits.Client.reconnectLeastMilliseconds,
            ceilingMilliseconds: Limits.Client.reconnectMostMilliseconds, seed: SecureRandom.number())
    }

    /// Whether messages may be sent.
    public var isReady: Bool { machine.isReady && connection != nil }
    /// Messages sent and not yet answered.
    public var outstanding: Int { machine.outstanding }
    /// Whether the server has asked to go elsewhere.
    public var isDraining: Bool { machine.isDraining }
    /// Whether there is a connection, ready or not.
    public var isConnected: Bool { connection != nil }

    /// Opens the connection and logs in; `.ready`, `.loginFailed` or `.closed` follows.
    public func connect() throws(TransportError) {
        guard connection == nil else { return }
        isEnding = false
        machine = AppServerMachine(login: login)
        connection = try reactor.connect(
            to: endpoint.address, tls: endpoint.tls, serverName: endpoint.serverName, delegate: self)
    }

    /// Sends a message; false if the client is not ready.
    @discardableResult
    public func send(_ message: Downstream) -> Bool {
        guard isReady else { return false }
        return write { $0.send(message, out: &$1) }
    }

    /// Acknowledges a message or receipt, where that is not done by itself: no tool does, the daemon's tests choose when.
    public func acknowledge(_ message: ReceivedUpstream) { write { $0.acknowledge(message, out: &$1) } }

    /// Ends the stream in order; `.streamEnded` and `.closed` follow.
    public func end() {
        isEnding = true
        write { $0.end(out: &$1) }
    }

    /// Breaks the connection off without a word.
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
