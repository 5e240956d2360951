public import Basics
public import Transport
public import Wire

/// A connection to one of several NATS servers, which is made again for ever; confined to the thread of its reactor.
///
/// It never blocks: a server that does not answer is given up after its pings, and another one is tried. While it uses a server that is
/// not preferred, it returns to a preferred one by a probe: a second connection, which a message must reach from the first one and back.
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

    private enum State {
        case stopped
        /// The next attempt follows: when the timer fires, or at the end of a report.
        case waiting(TimerID?)
        case connecting(Attempt)
        /// The server has accepted the login.
        case connected(Attempt)
    }

    private let settings: NATSSettings
    private let reactor: Reactor
    private let report: (Report) -> Void
    private var rotation: ServerRotation
    private var state = State.stopped
    /// The second connection, what the subjects of its messages begin with, and whether one has come back to the first one.
    private var probe: (attempt: Attempt, inbox: String, isProved: Bool)?
    /// The number of the subscriptions for these messages; those of the owner begin with 1.
    private static let probeSubscription: UInt64 = 0
    private let timer: EarliestTimer
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
        timer = EarliestTimer(reactor)
        rotation = ServerRotation(servers: settings.servers, preferred: settings.preferred, seed: seed)
    }

    /// The current attempt or connection.
    private var attempt: Attempt? {
        switch state {
        case .stopped, .waiting: nil
        case .connecting(let attempt), .connected(let attempt): attempt
        }
    }

    // MARK: Life

    /// Connects, and keeps connecting until `stop`.
    public func start() {
        guard case .stopped = state else { return }
        tryNext()
    }

    /// Sends what waits, closes the connection, and reports its end. Nothing is reported afterwards.
    public func stop() {
        if case .waiting(let timer) = state {
            if let timer { reactor.cancel(timer) }
            state = .stopped
        }
        end(.stopped)
    }

    /// Ends the connection to a server that does not help, and tries the others first. Does nothing while there is none.
    public func leave() {
        guard case .connected = state else { return }
        end(.left)
    }

    private func tryNext() {
        switch rotation.next() {
        case .wait(let milliseconds):
            let end = Now.read().monotonic.advanced(milliseconds: milliseconds)
            state = .waiting(
                reactor.schedule(at: end) { [weak self] _ in
                    guard let self, case .waiting = self.state else { return }
                    self.tryNext()
                })
        case .connect(let server): begin(server)
        }
    }

    private func begin(_ server: NATSServerAddress) {
        let attempt = makeAttempt(server)
        state = .connecting(attempt)
        open(attempt)
    }

    private func makeAttempt(_ server: NATSServerAddress) -> Attempt {
        let session = NATSSession(
            name: settings.name, login: settings.login, tls: settings.tlsUse, now: Now.read().monotonic)
        return Attempt(server, session)
    }

    private func open(_ attempt: Attempt) {
        arm()
        reactor.lookUp(attempt.server.host, port: attempt.server.port) { [weak self] result in
            guard let self, self.has(attempt) else { return }
            switch result {
            case .success(let found):
                attempt.addresses = found.shuffled()[...]
                self.connectNext(attempt, .unreachable("no address"))
            case .failure(let error): self.fail(attempt, .unreachable(error.detail))
            }
        }
    }

    private func connectNext(_ attempt: Attempt, _ failure: NATSFailure) {
        guard let address = attempt.addresses.popFirst() else { return fail(attempt, failure) }
        do throws(TransportError) {
            attempt.connection = try reactor.connect(
                to: address, tls: settings.tlsUse == .first ? settings.tls : nil,
                serverName: attempt.server.host, pace: .nats, delegate: self)
        } catch {
            connectNext(attempt, .unreachable(error.detail))
        }
    }

    /// Whether an attempt is the current one or the probe.
    private func has(_ attempt: Attempt) -> Bool { attempt === self.attempt || attempt === probe?.attempt }

    /// Ends an attempt or a connection; a probe in silence.
    private func fail(_ attempt: Attempt, _ failure: NATSFailure) {
        guard attempt !== probe?.attempt else {
            endProbe()
            rotation.returnFailed(now: reactor.now.monotonic)
            return arm()
        }
        if attempt === self.attempt { end(failure) }
    }

    /// Ends the current attempt or connection, reports it, and goes on with the successor, or tries the next server.
    private func end(_ failure: NATSFailure, successor: Attempt? = nil) {
        guard let attempt else { return }
        endProbe()
        let wasConnected = if case .connected = state { true } else { false }
        state = failure == .stopped ? .stopped : .waiting(nil)
        if let connection = attempt.connection {
            attempt.connection = nil
            // What a server that answers still has to get is sent: commands before a stop, and answers to its pings.
            let isOrderly = failure == .stopped || failure == .lameDuck || failure == .returned
            if isOrderly { connection.close(.operatorRequest) } else { connection.abort(.operatorRequest) }
        }
        let server = attempt.server
        if failure == .left {
            rotation.left(now: reactor.now.monotonic)
        } else if wasConnected, successor == nil {
            rotation.lost(now: reactor.now.monotonic)
        }
        report(wasConnected ? .disconnected(server, failure) : .attemptFailed(server, failure))
        guard case .waiting(nil) = state else {
            successor?.connection?.abort(.operatorRequest)
            return
        }
        if let successor { enter(successor, isReturn: true) } else { tryNext() }
    }

    /// The server of an attempt has accepted the login.
    private func enter(_ attempt: Attempt, isReturn: Bool) {
        guard let info = attempt.session.info else { return }
        state = .connected(attempt)
        rotation.connected(to: attempt.server, isReturn: isReturn, now: reactor.now.monotonic)
        report(.connected(info))
        arm()
    }

    // MARK: Return

    /// Connects to a preferred server as well, and subscribes to the message that is to come back from there.
    private func beginProbe(_ server: NATSServerAddress) {
        let inbox = "_INBOX.\(Base32.text(SecureRandom.bytes(15)))"
        let attempt = makeAttempt(server)
        probe = (attempt, inbox, false)
        subscribe(Array("\(inbox).back".utf8), as: Self.probeSubscription)
        open(attempt)
    }

    private func endProbe() {
        guard let attempt = probe?.attempt else { return }
        probe = nil
        unsubscribe(Self.probeSubscription)
        attempt.connection?.abort(.operatorRequest)
        attempt.connection = nil
    }

    /// Sends a message to a probe that has logged in, again and again: a server that has just started may not have its routes yet.
    private func ask(_ now: Instant) {
        guard let (attempt, inbox, _) = probe, attempt.session.isReady else { return }
        guard now < attempt.session.openBy else { return fail(attempt, .timedOut) }
        publish([UInt8]().raw, to: Array("\(inbox).there".utf8))
    }

    /// Handles what the session of the probe reports. It may have ended since.
    private func handle(_ event: NATSSession.Event, ofProbe attempt: Attempt, _ inbox: String) {
        switch event {
        case .startTLS: startTLS(attempt)
        case .ready where attempt.session.isReady:
            run(attempt) { session, output, _ in
                session.subscribe(Array("\(inbox).there".utf8), as: Self.probeSubscription, output: &output)
            }
        case .message where attempt.session.isReady:
            run(attempt) { session, output, _ in
                session.publish([UInt8]().raw, to: Array("\(inbox).back".utf8), output: &output)
            }
        case .ready, .message, .warning: break
        case .leaving: fail(attempt, .lameDuck)
        case .ended(let failure): fail(attempt, failure)
        }
    }

    // MARK: Commands

    /// The session and its connection while messages can be published.
    private var ready: (attempt: Attempt, connection: Connection)? {
        guard case .connected(let attempt) = state, attempt.session.isReady,
            let connection = attempt.connection, connection.isOpen
        else { return nil }
        return (attempt, connection)
    }

    /// Whether messages can be published.
    public var isReady: Bool { ready != nil }

    /// The last description of the server.
    public var serverInfo: NATSServerInfo? { ready?.attempt.session.info }

    /// Bytes that may be published before too many wait for the server.
    public var outboundRoom: Int {
        ready.map { max(0, Limits.NATSConnection.outboundBytes - $0.connection.outboundCount) } ?? 0
    }

    /// Publishes a message; it is sent at the end of the turn. Returns false if there is no connection, or the message is longer than
    /// the server allows.
    @discardableResult
    public func publish(_ payload: borrowing RawSpan, to subject: [UInt8], reply: [UInt8]? = nil) -> Bool {
        guard let (attempt, connection) = ready,
            payload.byteCount <= attempt.session.info?.maximumPayload ?? 0
        else { return false }
        attempt.session.publish(payload, to: subject, reply: reply, output: &connection.outbox.bytes)
        connection.setNeedsFlush()
        return true
    }

    /// Subscribes to a subject until the connection ends. Returns false if there is none.
    @discardableResult
    public func subscribe(_ subject: [UInt8], as number: UInt64) -> Bool {
        guard let (attempt, connection) = ready else { return false }
        attempt.session.subscribe(subject, as: number, output: &connection.outbox.bytes)
        connection.setNeedsFlush()
        return true
    }

    /// Ends a subscription.
    public func unsubscribe(_ number: UInt64) {
        guard let (attempt, connection) = ready else { return }
        attempt.session.unsubscribe(number, output: &connection.outbox.bytes)
        connection.setNeedsFlush()
    }

    // MARK: Session

    /// Lets a session write to its connection, and handles what it reports.
    private func run(
        _ attempt: Attempt, _ body: (inout NATSSession, inout ByteBuffer, inout [NATSSession.Event]) -> Void
    ) {
        var events: [NATSSession.Event] = []
        if let connection = attempt.connection, connection.isOpen {
            let before = connection.outbox.bytes.count
            body(&attempt.session, &connection.outbox.bytes, &events)
            if connection.outbox.bytes.count > before { connection.setNeedsFlush() }
        } else {
            body(&attempt.session, &discarded, &events)
            discarded.removeAll()
        }
        for event in events {
            // The owner may have stopped the connection in a report: its other events are void.
            guard has(attempt) else { return }
            handle(event, of: attempt)
        }
        if let probe, probe.isProved {
            self.probe = nil
            end(.returned, successor: probe.attempt)
        }
        arm()
    }

    private func handle(_ event: NATSSession.Event, of attempt: Attempt) {
        if let probe, probe.attempt === attempt { return handle(event, ofProbe: attempt, probe.inbox) }
        switch event {
        case .startTLS: startTLS(attempt)
        case .ended(let failure): fail(attempt, failure)
        case .ready: enter(attempt, isReturn: false)
        case .message(let message) where message.subscription == Self.probeSubscription:
            if let probe, message.subject == Array("\(probe.inbox).back".utf8) { self.probe?.isProved = true }
        case .message(let message): report(.message(message))
        case .warning(let error): report(.warning(error))
        case .leaving: report(.leaving)
        }
    }

    private func startTLS(_ attempt: Attempt) {
        guard let connection = attempt.connection, let tls = settings.tls else {
            return fail(attempt, .tlsRequired)
        }
        do throws(TransportError) {
            try connection.startTLS(tls, serverName: attempt.server.host)
        } catch {
            fail(attempt, .untrusted(error.description))
        }
    }

    /// Sets the timer for the sessions and the return, if it fires too late.
    private func arm() {
        guard let attempt else { return }
        let next = attempt.session.nextTick.orEarlier(probe?.attempt.session.nextTick)
        timer.set(at: min(next, rotation.returnAt)) { [weak self] now in self?.tick(now.monotonic) }
    }

    private func tick(_ now: Instant) {
        if let attempt { run(attempt) { $0.tick(now: now, output: &$1, events: &$2) } }
        if let attempt = probe?.attempt {
            run(attempt) { $0.tick(now: now, output: &$1, events: &$2) }
            ask(now)
        }
        if let server = rotation.returnTarget(now: now) { beginProbe(server) }
        arm()
    }
}

extension NATSConnection: ConnectionDelegate {
    /// The attempt that a connection belongs to.
    private func attempt(of connection: Connection) -> Attempt? {
        if connection === attempt?.connection { return attempt }
        return connection === probe?.attempt.connection ? probe?.attempt : nil
    }

    public func connectionOpened(_ connection: Connection, now: Now) {
        guard let attempt = self.attempt(of: connection) else { return connection.abort(.operatorRequest) }
        guard attempt.session.isAwaitingTLS else { return attempt.session.connected() }
        run(attempt) { $0.tlsStarted(now: now.monotonic, output: &$1, events: &$2) }
    }

    public func connection(_ connection: Connection, received bytes: RawSpan, now: Now) {
        guard let attempt = self.attempt(of: connection) else { return }
        var events: [NATSSession.Event] = []
        let before = connection.outbox.bytes.count
        attempt.session.receive(
            bytes, now: now.monotonic, output: &connection.outbox.bytes, events: &events)
        if connection.outbox.bytes.count > before { connection.setNeedsFlush() }
        run(attempt) { $2 = events }
    }

    public func connection(_ connection: Connection, outboundIsCongested: Bool, now: Now) {}

    public func connectionDeadline(_ connection: Connection, now: Now) {}

    public func connectionClosed(_ connection: Connection, reason: CloseReason, now: Now) {
        guard let attempt = self.attempt(of: connection) else { return }
        attempt.connection = nil
        let words = connection.failure.isEmpty ? reason.rawValue : connection.failure
        if reason == .handshakeFailed { return fail(attempt, .untrusted(words)) }
        if attempt.session.isConnecting { return connectNext(attempt, .unreachable(words)) }
        fail(attempt, .closed(words))
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
