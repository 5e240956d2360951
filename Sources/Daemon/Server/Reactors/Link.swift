import Basics
import Delivery
import Sessions
import Transport

/// A connection with its protocol session, confined to one reactor's thread.
class Link: ConnectionDelegate {
    /// The listener, which determines the protocol; the raw value is its name in `ccsctl` and metrics.
    enum Kind: String, CaseIterable, Sendable {
        case appServer = "app_server"
        case appServerPreproduction = "app_server_preproduction"
        case device
        case https
        case admin
        case control

        /// The listeners of clients: not those of the operator.
        static let clients: Set<Kind> = [.appServer, .appServerPreproduction, .device, .https]

        /// The position among all kinds, which is the index of the metric label `listener`.
        var position: Int {
            // In the order of the cases; a search would cost time for every record.
            switch self {
            case .appServer: 0
            case .appServerPreproduction: 1
            case .device: 2
            case .https: 3
            case .admin: 4
            case .control: 5
            }
        }

        /// The interface under which its refusals are counted.
        var refusalInterface: RefusalInterface {
            switch self {
            case .appServer, .appServerPreproduction: .xmpp
            case .device: .device
            case .https, .admin: .http
            case .control: .control
            }
        }

        /// Whether the peers are app servers.
        var isAppServer: Bool { self == .appServer || self == .appServerPreproduction }
    }

    let kind: Kind
    let connection: Connection
    /// When the connection was accepted, in milliseconds since 1970.
    let openedAt: UnixMilliseconds
    /// The sender ID or device number with which the peer logs in; `nil` before.
    private(set) var peerNumber: UInt64?
    /// Whether the peer has logged in.
    var isLoggedIn = false
    /// The host outlives its links; a strong reference has the cheapest access.
    let host: ReactorHost

    init(kind: Kind, connection: Connection, host: ReactorHost) {
        self.kind = kind
        self.connection = connection
        self.host = host
        openedAt = host.clock.judged(host.reactor.now).wall
    }

    /// Whether the host has paused reading on this connection because another reactor is overloaded.
    var hasBackpressure = false

    /// Passes a command to the session.
    func perform(_ command: SessionCommand, now: Now) {}

    /// Passes the next commands of a round that are for this connection, at least one.
    func perform(_ round: inout CommandRound, now: Now) {
        while let command = round.take(for: connection.id) { perform(command, now: now) }
    }

    /// The sender ID or device number in decimal; empty before the login.
    final var peerName: String { peerNumber.map { String($0) } ?? "" }

    /// Records the identity that the peer claims; a second login attempt may claim another one.
    final func record(_ claim: LoginClaim) { peerNumber = claim.number }

    func connectionOpened(_ connection: Connection, now: Now) {
        if !connection.isPlain { host.tally.handshake(succeeded: true) }
    }
    func connection(_ connection: Connection, received bytes: RawSpan, now: Now) {}
    func connection(_ connection: Connection, outboundIsCongested: Bool, now: Now) {}
    func connectionDeadline(_ connection: Connection, now: Now) {}
    func connectionInputEnded(_ connection: Connection, now: Now) -> Bool { false }
    func connectionClosed(_ connection: Connection, reason: CloseReason, now: Now) {
        host.closed(self, reason: reason)
    }
}

/// A link with a `ProtocolSession`.
class SessionLink<Session: ProtocolSession & ~Copyable>: Link {
    private(set) var session: Session

    init(kind: Kind, connection: Connection, host: ReactorHost, session: consuming Session) {
        self.session = session
        super.init(kind: kind, connection: connection, host: host)
        connection.deadline = self.session.deadline
    }

    override func perform(_ command: SessionCommand, now: Now) {
        var command = command
        record(&command)
        let now = host.sessionTime(now)
        call(now) { session, io in session.perform(command, now: now, io: &io) }
    }

    override func perform(_ round: inout CommandRound, now: Now) {
        let now = host.sessionTime(now)
        let id = connection.id
        call(now) { session, io in
            // A close takes effect before the next command.
            while io.close == nil, var command = round.take(for: id) {
                record(&command)
                session.perform(command, now: now, io: &io)
            }
        }
    }

    override func connection(_ connection: Connection, received bytes: RawSpan, now: Now) {
        host.tally.received(bytes.byteCount, kind)
        let now = host.sessionTime(now)
        call(now) { session, io in session.receive(bytes, now: now, io: &io) }
    }

    override func connection(_ connection: Connection, outboundIsCongested isCongested: Bool, now: Now) {
        let now = host.sessionTime(now)
        call(now) { session, io in
            session.outboundChanged(isCongested: isCongested, now: now, io: &io)
        }
    }

    override func connectionDeadline(_ connection: Connection, now: Now) {
        // A session postpones its deadline with every received byte; the connection's timer follows only when it fires.
        guard session.deadline <= now.monotonic else {
            connection.deadline = session.deadline
            return
        }
        connection.deadline = .distantFuture
        let now = host.sessionTime(now)
        call(now) { session, io in session.wake(now: now, io: &io) }
    }

    override func connectionInputEnded(_ connection: Connection, now: Now) -> Bool {
        var hasMore = false
        call(now) { session, io in hasMore = session.inputEnded(now: now, io: &io) }
        return hasMore
    }

    override func connectionClosed(_ connection: Connection, reason: CloseReason, now: Now) {
        var io = host.takeIO()
        session.ended(reason, now: now, io: &io)
        host.accept(&io.events, from: self, now: now)
        host.ended(self)
        if !io.responses.isEmpty { host.meter.responded(&io.responses) }
        if !io.refusals.isEmpty { recordRefusals(&io.refusals) }
        io.out.removeAll()
        io.hostRequests.removeAll()
        io.loginClaim = nil
        io.close = nil
        host.giveBack(io)
        super.connectionClosed(connection, reason: reason, now: now)
    }

    /// Calls the session with the connection's outbox, and applies its requests.
    @inline(__always)
    final func call(_ now: Now, _ body: (inout Session, inout SessionIO) -> Void) {
        if kind == .https || kind.isAppServer { host.readsSenders() }
        var io = host.takeIO()
        io.isReading = isReadingWanted
        swap(&io.out, &connection.outbox)
        let waiting = io.out.bytes.count
        body(&session, &io)
        if io.out.bytes.count != waiting { host.tally.sent(io.out.bytes.count - waiting, kind) }
        if io.counts.misdirectedCommands > 0 { logMisdirected() }
        if io.counts.inconsistentLogins > 0 {
            host.log.debug(
                "inconsistent_login", ["listener": LogValue(kind), "peer": .text("\(connection.peer)")])
        }
        host.tally.collect(&io.counts, kind)
        if !io.acknowledged.isEmpty {
            host.meter.acknowledged(&io.acknowledged, isUpstream: kind == .device)
        }
        if !io.responses.isEmpty { host.meter.responded(&io.responses) }
        if !io.refusals.isEmpty { recordRefusals(&io.refusals) }
        swap(&io.out, &connection.outbox)
        isReadingWanted = io.isReading
        let close = io.close
        io.close = nil
        let requests = io.hostRequests
        if !requests.isEmpty { io.hostRequests.removeAll() }
        if let claim = io.loginClaim {
            record(claim)
            io.loginClaim = nil
        }
        host.accept(&io.events, from: self, now: now)
        host.giveBack(io)

        if !connection.outbox.isEmpty { connection.setNeedsFlush() }
        let isReading = isReadingWanted && !hasBackpressure
        if connection.isReading != isReading { connection.isReading = isReading }
        for request in requests { answer(request, now: now) }
        if session.deadline < connection.deadline { connection.deadline = session.deadline }
        if let close { connection.close(close) }
    }

    private final var isReadingWanted = true

    /// Whether the host has paused reading on this connection because another reactor is overloaded.
    override var hasBackpressure: Bool {
        didSet { connection.isReading = isReadingWanted && !hasBackpressure }
    }

    /// Answers a request for a page of the daemon itself.
    func answer(_ request: HostRequest, now: Now) {}

    @inline(never)
    private func logMisdirected() {
        host.log.error(
            "invariant_broken",
            [
                "listener": LogValue(kind), "peer": .text("\(connection.peer)"), "name": .text(peerName),
                "problem": .text("command for another kind of session"),
            ])
    }

    @inline(__always)
    private func record(_ command: inout SessionCommand) {
        switch command {
        // The two commands of every message come first: nothing is recorded or copied for them.
        case .submission(_, .accepted), .device(.deliver): break
        default: recordOthers(&command)
        }
    }

    @inline(never)
    private func recordOthers(_ command: inout SessionCommand) {
        switch command {
        case .appServer(.loginRefused(.wrongCredentials)):
            command = .appServer(.loginRefused(host.refusal(ofWrongLogin: self)))
        case .device(.loginRefused(.wrongCredentials)):
            command = .device(.loginRefused(host.refusal(ofWrongLogin: self)))
        default: break
        }
        switch command {
        case .appServer(.loginAccepted), .device(.loginAccepted):
            isLoggedIn = true
            connection.isAnonymous = false
            host.tally.login(kind, succeeded: true)
            host.log.debug(
                "login",
                [
                    "listener": LogValue(kind), "peer": .text("\(connection.peer)"),
                    "name": .text(peerName),
                    "tls": .text(connection.tlsVersion ?? ""),
                ])
        case .appServer(.loginRefused(let refusal)), .device(.loginRefused(let refusal)):
            host.tally.login(kind, succeeded: false)
            guard refusal != .tooManyFailures else {
                return host.logRefusal(
                    of: connection.peer, listener: kind.rawValue, reason: refusal.rawValue)
            }
            // A peer that guesses secrets would repeat the same line.
            host.log.repeating(
                .notice, "login_refused", by: "\(kind) \(connection.peer.host) \(peerName) \(refusal)",
                [
                    "listener": LogValue(kind), "peer": .text("\(connection.peer)"),
                    "name": .text(peerName),
                    "reason": LogValue(refusal),
                ])
        case .submission(_, .refused(let refusal)):
            host.refused(TurnRefusals.Row(kind, .refusal(refusal), name: peerNumber, peer: connection.peer))
        case .connection(.refundQuota):
            host.admission.unauthenticatedRequests.withdraw(connection.peer, now: host.reactor.now.monotonic)
        case .reply(_, .registrationRefused(.tooManyUnauthenticated)):
            host.refused(
                TurnRefusals.Row(kind, .tooManyUnauthenticated, name: nil, peer: connection.peer))
        case .reply(_, .registrationRefused(.registryFull)), .reply(_, .groupRefused(.registryFull)),
            .reply(_, .tokenRefused(.registryFull)):
            host.refused(TurnRefusals.Row(kind, .registryFull, name: peerNumber, peer: connection.peer))
        case .submission(_, .group(let answer)):
            guard answer.success == 0, let first = answer.failed.first else { return }
            host.refused(
                TurnRefusals.Row(kind, .refusal(first.refusal), name: peerNumber, peer: connection.peer))
        default: break
        }
    }

    /// Counts and logs the refusals made by the session itself, and empties the array.
    private func recordRefusals(_ refusals: inout [RefusalRecord]) {
        for note in refusals {
            var row = TurnRefusals.Row(
                kind, note.reason, name: note.sender?.number ?? peerNumber, peer: connection.peer)
            row.count = note.count
            row.to = note.to
            row.messageID = Array(note.messageID.prefix(Limits.Log.refusedTextBytes))
            host.refused(row)
            let sender = note.sender ?? (kind.isAppServer && isLoggedIn ? peerNumber.map(SenderID.init) : nil)
            if let sender { host.meter.refused(note.reason, note.count, of: sender) }
            host.history?.refused(note, of: sender, host.sessionTime(host.reactor.now))
        }
        refusals.removeAll(keepingCapacity: true)
    }
}
