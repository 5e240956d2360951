public import Basics
public import Transport
public import Wire

/// A connection to one of several NATS servers, which is made again for ever; confined to the thread of its reactor.
///
/// It never blocks: a server that does not answer is given up after its pings, and another one is tried.
public final class NATSConnection {
    /// What happens to the connection. Reports are made within a turn of the reactor; the owner may call the connection in them.
    public enum Report {
        /// A server has accepted the login: subscriptions must be made again.
        case connected(NATSServerInfo)
        /// The connection is lost: what was sent may or may not have arrived.
        case disconnected(NATSServerAddress, NATSFailure)
        /// An attempt to connect has failed; others follow.
        case attemptFailed(NATSServerAddress, NATSFailure)
        /// A message for a subscription.
        case message(NATSMessage)
        /// The server reports an error, and the connection stays.
        case warning(NATSServerError)
        /// The server shuts down soon: the connection ends in a moment, and another server is tried.
        case leaving
    }

    let settings: NATSSettings
    let reactor: Reactor
    private let report: (Report) -> Void
    private var rotation: ServerRotation
    var session: NATSSession
    private var connection: Connection?
    private var isRunning = false
    /// Whether the end of the connection has to be reported as such, and not as a failed attempt.
    private var isConnected = false
    /// The server of the current attempt or connection, and its number, by which late lookups are recognized.
    private var server: NATSServerAddress?
    private var attempt = 0
    /// The addresses of the server that were not tried yet.
    private var addresses: ArraySlice<SocketAddress> = []
    private var timer: TimerID?
    private var armed = Instant.distantFuture
    /// What is sent when the connection cannot take it: nothing. It gives the session a buffer while no socket is open.
    private var discarded = ByteBuffer()

    /// Creates a client that does nothing before `start`. The settings must have a server.
    public init(
        settings: NATSSettings, reactor: Reactor, seed: UInt64, report: @escaping (Report) -> Void
    ) {
        precondition(settings.tlsUse == .never || settings.tls != nil, "TLS without its settings")
        self.settings = settings
        self.reactor = reactor
        self.report = report
        rotation = ServerRotation(servers: settings.servers, seed: seed)
        session = NATSSession(
            name: settings.name, login: settings.login, tls: settings.tlsUse, now: reactor.now.monotonic)
    }

    // MARK: Life

    /// Connects, and keeps connecting until `stop`.
    public func start() {
        guard !isRunning else { return }
        isRunning = true
        tryNext()
    }

    /// Sends what waits, closes the connection, and reports its end. Nothing is reported afterwards.
    public func stop() {
        guard isRunning else { return }
        fail(.stopped)
    }

    /// Ends the connection to a server that does not help, and tries the others first. Does nothing while there is none.
    public func leave() {
        guard isConnected else { return }
        fail(.left)
    }

    private func tryNext() {
        guard isRunning else { return }
        switch rotation.next() {
        case .wait(let milliseconds):
            let number = attempt
            // A timer of its own: an attempt that has begun meanwhile makes it void.
            reactor.schedule(at: Now.read().monotonic.advanced(milliseconds: milliseconds)) {
                [weak self] _ in
                guard let self, self.attempt == number, self.server == nil else { return }
                self.tryNext()
            }
        case .connect(let server): begin(server)
        }
    }

    private func begin(_ server: NATSServerAddress) {
        attempt += 1
        self.server = server
        session = NATSSession(
            name: settings.name, login: settings.login, tls: settings.tlsUse, now: Now.read().monotonic)
        arm()
        let number = attempt
        reactor.lookUp(server.host, port: server.port) { [weak self] result in
            guard let self, self.attempt == number, self.server != nil else { return }
            switch result {
            case .success(let found):
                self.addresses = found.shuffled()[...]
                self.connectNext(.unreachable("no address"))
            case .failure(let error): self.fail(.unreachable(error.detail))
            }
        }
    }

    private func connectNext(_ failure: NATSFailure) {
        guard let server, let address = addresses.popFirst() else { return fail(failure) }
        do throws(TransportError) {
            connection = try reactor.connect(
                to: address, tls: settings.tlsUse == .first ? settings.tls : nil, serverName: server.host,
                pace: .nats, delegate: self)
        } catch {
            connectNext(.unreachable(error.detail))
        }
    }

    /// Ends the attempt or the connection, reports it, and tries the next server.
    private func fail(_ failure: NATSFailure) {
        guard let server else {
            isRunning = false
            return
        }
        let wasConnected = isConnected
        isConnected = false
        attempt += 1
        self.server = nil
        addresses = []
        if failure == .stopped { isRunning = false }
        if let connection {
            self.connection = nil
            // What a server that answers still has to get is sent: commands before a stop, and answers to its pings.
            let isOrderly = failure == .stopped || failure == .lameDuck
            if isOrderly { connection.close(.operatorRequest) } else { connection.abort(.operatorRequest) }
        }
        if failure == .left {
            rotation.left(server)
        } else if wasConnected {
            rotation.lost(server, now: reactor.now.monotonic)
        }
        session = NATSSession(
            name: settings.name, login: settings.login, tls: settings.tlsUse, now: reactor.now.monotonic)
        report(wasConnected ? .disconnected(server, failure) : .attemptFailed(server, failure))
        if self.server == nil { tryNext() }
    }

    // MARK: Commands

    /// Whether messages can be published.
    public var isReady: Bool { session.isReady && connection?.isOpen == true }

    /// The last description of the server.
    public var serverInfo: NATSServerInfo? { isReady ? session.info : nil }

    /// Bytes that may be published before too many wait for the server.
    public var outboundRoom: Int {
        guard isReady, let connection else { return 0 }
        return max(0, Limits.NATSConnection.outboundBytes - connection.outboundCount)
    }

    /// Publishes a message; it is sent at the end of the turn. Returns false if there is no connection, or the message is longer than
    /// the server allows.
    @discardableResult
    public func publish(_ payload: borrowing RawSpan, to subject: [UInt8], reply: [UInt8]? = nil) -> Bool {
        guard isReady, let connection, payload.byteCount <= session.info?.maximumPayload ?? 0 else {
            return false
        }
        session.publish(payload, to: subject, reply: reply, output: &connection.outbox.bytes)
        connection.setNeedsFlush()
        return true
    }

    /// Subscribes to a subject until the connection ends. Returns false if there is none.
    @discardableResult
    public func subscribe(_ subject: [UInt8], as number: UInt64) -> Bool {
        guard isReady, let connection else { return false }
        session.subscribe(subject, as: number, output: &connection.outbox.bytes)
        connection.setNeedsFlush()
        return true
    }

    /// Ends a subscription.
    public func unsubscribe(_ number: UInt64) {
        guard isReady, let connection else { return }
        session.unsubscribe(number, output: &connection.outbox.bytes)
        connection.setNeedsFlush()
    }

    // MARK: Session

    /// Lets the session write to the connection, and handles what it reports.
    private func run(
        _ body: (inout NATSSession, inout ByteBuffer, inout [NATSSession.Event]) -> Void
    ) {
        var events: [NATSSession.Event] = []
        if let connection, connection.isOpen {
            let before = connection.outbox.bytes.count
            body(&session, &connection.outbox.bytes, &events)
            if connection.outbox.bytes.count > before { connection.setNeedsFlush() }
        } else {
            body(&session, &discarded, &events)
            discarded.removeAll()
        }
        let number = attempt
        for event in events {
            // The owner may have stopped the connection in a report: its other events are void.
            guard attempt == number else { return }
            handle(event)
        }
        arm()
    }

    private func handle(_ event: NATSSession.Event) {
        switch event {
        case .startTLS: startTLS()
        case .ready(let info):
            isConnected = true
            rotation.connected(now: reactor.now.monotonic)
            report(.connected(info))
        case .message(let message): report(.message(message))
        case .warning(let error): report(.warning(error))
        case .leaving: report(.leaving)
        case .ended(let failure): fail(failure)
        }
    }

    private func startTLS() {
        guard let connection, let tls = settings.tls, let server else { return fail(.tlsRequired) }
        do throws(TransportError) {
            try connection.startTLS(tls, serverName: server.host)
        } catch {
            fail(.untrusted(error.description))
        }
    }

    /// Sets the timer for the session, if it fires too late.
    private func arm() {
        let next = session.nextTick
        guard server != nil, next < armed else { return }
        if let timer { reactor.cancel(timer) }
        armed = next
        timer = reactor.schedule(at: next) { [weak self] now in
            guard let self else { return }
            self.timer = nil
            self.armed = .distantFuture
            guard self.server != nil else { return }
            self.run { $0.tick(now: now.monotonic, output: &$1, events: &$2) }
        }
    }
}

extension NATSConnection: ConnectionDelegate {
    public func connectionOpened(_ connection: Connection, now: Now) {
        guard connection === self.connection else { return connection.abort(.operatorRequest) }
        guard session.isAwaitingTLS else { return session.connected() }
        run { $0.tlsStarted(now: now.monotonic, output: &$1, events: &$2) }
    }

    public func connection(_ connection: Connection, received bytes: RawSpan, now: Now) {
        guard connection === self.connection else { return }
        var events: [NATSSession.Event] = []
        let before = connection.outbox.bytes.count
        session.receive(
            bytes, now: now.monotonic, output: &connection.outbox.bytes, events: &events)
        if connection.outbox.bytes.count > before { connection.setNeedsFlush() }
        run { $2 = events }
    }

    public func connection(_ connection: Connection, outboundIsCongested: Bool, now: Now) {}

    public func connectionDeadline(_ connection: Connection, now: Now) {}

    public func connectionClosed(_ connection: Connection, reason: CloseReason, now: Now) {
        guard connection === self.connection else { return }
        self.connection = nil
        let words = connection.failure.isEmpty ? reason.rawValue : connection.failure
        if reason == .handshakeFailed { return fail(.untrusted(words)) }
        if session.isConnecting { return connectNext(.unreachable(words)) }
        fail(.closed(words))
    }
}

extension PaceSettings {
    /// Settings of connections to NATS: the session has its own, shorter deadlines.
    static var nats: PaceSettings {
        var pace = PaceSettings.outgoing
        // The owner stops appending at half of it; the rest is for what is not counted.
        pace.outboundBytes = 2 * Limits.NATSConnection.outboundBytes
        pace.joinsRecords = true
        return pace
    }
}
