import Basics
import Delivery
import Sessions
import Transport

/// A connection with the protocol machine that speaks on it. Lives on one reactor's thread.
class Link: ConnectionDelegate {
    /// Which protocol is spoken; the raw value is the word in `ccsctl` and metrics.
    enum Kind: String, CaseIterable, Sendable {
        case appServer = "app_server"
        case appServerPreproduction = "app_server_preproduction"
        case device
        case https
        case admin
        case control

        /// Its position among all kinds: the value of the label `listener`.
        var position: Int {
            // In the order of the cases; a search through them would be paid for by every record.
            switch self {
            case .appServer: 0
            case .appServerPreproduction: 1
            case .device: 2
            case .https: 3
            case .admin: 4
            case .control: 5
            }
        }

        /// The interface that its refusals are counted under.
        var refusalInterface: RefusalInterface {
            switch self {
            case .appServer, .appServerPreproduction: .xmpp
            case .device: .device
            case .https, .admin: .http
            case .control: .control
            }
        }

        /// Whether it speaks TLS.
        var hasTLS: Bool { self != .admin && self != .control }

        /// Whether an app server speaks on it.
        var isAppServer: Bool { self == .appServer || self == .appServerPreproduction }
    }

    let kind: Kind
    let connection: Connection
    /// When it was accepted, milliseconds since 1970.
    let openedAt: UnixMilliseconds
    /// Who has logged in: a sender ID or a device; nil before.
    private(set) var peerNumber: UInt64?
    /// Whether the peer has logged in.
    var isLoggedIn = false
    /// The host outlives its links; a strong reference is the cheapest to follow.
    let host: ReactorHost

    init(kind: Kind, connection: Connection, host: ReactorHost) {
        self.kind = kind
        self.connection = connection
        self.host = host
        openedAt = host.reactor.now.wall
    }

    /// Whether the host has stopped this connection's reading because another reactor is behind.
    var isPressed = false

    /// Hands a command to the machine.
    func perform(_ command: SessionCommand, now: Now) {}

    /// The same in decimal, for people; empty before.
    final var peerName: String { peerNumber.map { String($0) } ?? "" }

    /// The session says in which name its peer wants to log in; a second attempt may be in another name than the first.
    final func note(_ claim: LoginClaim) { peerNumber = claim.number }

    /// A proxy has named the client, which may be one that fails to log in too often.
    func connectionIntroduced(_ connection: Connection, now: Now) {
        if host.refuses(connection.peer, kind, isAccepting: false) { connection.abort(.tooManyLogins) }
    }

    func connectionOpened(_ connection: Connection, now: Now) {
        if kind.hasTLS { host.tally.handshake(succeeded: true) }
    }
    func connection(_ connection: Connection, received bytes: RawSpan, now: Now) {}
    func connection(_ connection: Connection, outboundIsCongested: Bool, now: Now) {}
    func connectionDeadline(_ connection: Connection, now: Now) {}
    func connectionInputEnded(_ connection: Connection, now: Now) -> Bool { false }
    func connectionClosed(_ connection: Connection, reason: CloseReason, now: Now) {
        host.closed(self, reason: reason)
    }
}

/// A link whose machine is a `ProtocolSession`.
class SessionLink<Session: ProtocolSession & ~Copyable>: Link {
    private(set) var session: Session

    init(kind: Kind, connection: Connection, host: ReactorHost, session: consuming Session) {
        self.session = session
        super.init(kind: kind, connection: connection, host: host)
        connection.deadline = self.session.deadline
    }

    override func perform(_ command: SessionCommand, now: Now) {
        note(command)
        let now = host.sessionTime(now)
        call(now) { session, io in session.perform(command, now: now, io: &io) }
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
        // The connection's deadline is only ever moved forward here: a session puts its own off with every byte.
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
        host.tally.take(&io.responses)
        if !io.refusals.isEmpty { noteRefusals(&io.refusals) }
        io.out.removeAll()
        io.hostRequests.removeAll()
        io.loginClaim = nil
        io.close = nil
        host.giveBack(io)
        super.connectionClosed(connection, reason: reason, now: now)
    }

    /// Lets the machine work, with the connection's own outbox, and carries out what it asks for.
    @inline(__always)
    final func call(_ now: Now, _ body: (inout Session, inout SessionIO) -> Void) {
        var io = host.takeIO()
        io.isReading = isReadingWanted
        swap(&io.out, &connection.outbox)
        let waiting = io.out.bytes.count
        body(&session, &io)
        if io.out.bytes.count != waiting { host.tally.sent(io.out.bytes.count - waiting, kind) }
        if io.counts.misdirectedCommands > 0 { logMisdirected() }
        if io.counts.oddLogins > 0 {
            host.log.debug("odd_login", ["listener": LogValue(kind), "peer": .text("\(connection.peer)")])
        }
        host.tally.take(&io.counts, kind)
        host.tally.take(&io.responses)
        if !io.refusals.isEmpty { noteRefusals(&io.refusals) }
        swap(&io.out, &connection.outbox)
        isReadingWanted = io.isReading
        let close = io.close
        io.close = nil
        let requests = io.hostRequests
        if !requests.isEmpty { io.hostRequests.removeAll() }
        if let claim = io.loginClaim {
            note(claim)
            io.loginClaim = nil
        }
        host.accept(&io.events, from: self, now: now)
        host.giveBack(io)

        if !connection.outbox.isEmpty { connection.setNeedsFlush() }
        let isReading = isReadingWanted && !isPressed
        if connection.isReading != isReading { connection.isReading = isReading }
        for request in requests { answer(request, now: now) }
        if session.deadline < connection.deadline { connection.deadline = session.deadline }
        if let close { connection.close(close) }
    }

    private final var isReadingWanted = true

    /// Whether the host has stopped this connection's reading because another reactor is behind.
    override var isPressed: Bool {
        didSet { connection.isReading = isReadingWanted && !isPressed }
    }

    /// Answers a request for a page of the daemon's own.
    func answer(_ request: HostRequest, now: Now) {}

    @inline(never)
    private func logMisdirected() {
        host.log.error(
            "invariant_broken",
            [
                "listener": LogValue(kind), "peer": .text("\(connection.peer)"), "name": .text(peerName),
                "problem": .text("a command for another kind of session"),
            ])
    }

    @inline(__always)
    private func note(_ command: SessionCommand) {
        switch command {
        // The two of every message first: nothing is to be noted, and nothing copied.
        case .submission(_, .accepted), .device(.deliver): break
        default: noteOthers(command)
        }
    }

    @inline(never)
    private func noteOthers(_ command: SessionCommand) {
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
            // Who guesses makes the same line again and again.
            host.log.repeating(
                .notice, "login_refused", by: "\(kind) \(connection.peer.host) \(peerName) \(refusal)",
                [
                    "listener": LogValue(kind), "peer": .text("\(connection.peer)"),
                    "name": .text(peerName),
                    "reason": LogValue(refusal),
                ])
            if refusal == .wrongCredentials { host.noteFailedLogin(of: self) }
        case .submission(_, .refused(let refusal)):
            host.refused(TurnRefusals.Row(kind, .refusal(refusal), name: peerNumber, peer: connection.peer))
        case .connection(.placeUnused):
            host.door.strangers.giveBack(connection.peer, now: host.reactor.now.monotonic)
        case .reply(_, .registrationRefused(.tooManyStrangers)):
            host.refused(
                TurnRefusals.Row(kind, .tooManyStrangers, name: nil, peer: connection.peer))
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

    /// Counts and logs what the session refused by itself, and leaves the array empty.
    private func noteRefusals(_ refusals: inout [RefusalNote]) {
        for note in refusals {
            var row = TurnRefusals.Row(
                kind, note.reason, name: note.sender?.number ?? peerNumber, peer: connection.peer)
            row.count = note.count
            row.to = note.to
            row.messageID = note.messageID
            host.refused(row)
        }
        refusals.removeAll(keepingCapacity: true)
    }
}
