public import Basics
public import Wire

/// One connection to a NATS server, without its socket: the description, TLS, the login, pings, and messages.
///
/// The owner calls `connected` once TCP (or TLS first) is open, passes bytes and time, and sends what is appended to `output`. After
/// `.ended` nothing more happens.
public struct NATSSession: ~Copyable {
    /// What the owner has to do or to know.
    public enum Event: Hashable, Sendable {
        /// Start TLS, and call `tlsStarted` after the handshake.
        case startTLS
        /// The login is accepted.
        case ready(NATSServerInfo)
        /// A message for a subscription.
        case message(NATSMessage)
        /// The server reports an error, such as a subject that is not permitted; the connection stays.
        case warning(NATSServerError)
        /// The server shuts down soon; the connection ends in a moment.
        case leaving
        /// Close the connection.
        case ended(NATSFailure)
    }

    /// When TLS is used.
    public enum TLSUse: Hashable, Sendable {
        /// Never: a server that requires it is refused.
        case never
        /// If the server requires it.
        case ifRequired
        /// Always, after the server's description in plain text.
        case always
        /// Always, before the server's description.
        case first
    }

    enum State: Hashable {
        case connecting
        case awaitingInfo
        case startingTLS
        case loggingIn
        case ready
        case ended
    }

    let name: String
    let login: NATSLogin
    let tls: TLSUse
    var state = State.connecting
    var reader = NATSReader()
    /// The last description of the server.
    public internal(set) var info: NATSServerInfo?
    /// The end of the time for lookup, connection and login.
    let openBy: Instant
    /// When a ping or a check is due.
    var nextPing: Instant
    /// When the unanswered pings were sent.
    var pings: [Instant] = []
    var lastByte: Instant
    /// When a server that shuts down is left.
    var leaveAt: Instant?

    /// Creates a session for a new connection.
    public init(name: String, login: NATSLogin, tls: TLSUse, now: Instant) {
        self.name = name
        self.login = login
        self.tls = tls
        openBy = now.advanced(milliseconds: Limits.NATSConnection.openMilliseconds)
        nextPing = openBy
        lastByte = now
    }

    /// Whether messages can be published.
    public var isReady: Bool { state == .ready }

    /// Whether the connection is not open yet.
    public var isConnecting: Bool { state == .connecting }

    /// Whether the owner has to start TLS.
    public var isAwaitingTLS: Bool { state == .startingTLS }

    /// When `tick` is due.
    public var nextTick: Instant {
        switch state {
        case .connecting, .awaitingInfo, .startingTLS, .loggingIn: openBy
        case .ready: nextPing.orEarlier(leaveAt)
        case .ended: .distantFuture
        }
    }

    /// The connection is open: TCP, or TLS if it comes first.
    public mutating func connected() {
        guard state == .connecting else { return }
        state = .awaitingInfo
    }

    /// Checks what is due.
    public mutating func tick(now: Instant, output: inout ByteBuffer, events: inout [Event]) {
        guard nextTick <= now else { return }
        guard state == .ready else { return end(.timedOut, &events) }
        if let leaveAt, leaveAt <= now { return end(.lameDuck, &events) }
        guard let first = pings.first else { return ping(now, &output) }
        let patience = Limits.NATSConnection.pingMilliseconds * Int64(Limits.NATSConnection.unansweredPings)
        let isSilent =
            pings.count >= Limits.NATSConnection.unansweredPings
            && now >= max(first, lastByte).advanced(milliseconds: patience)
        let isTooLate = now >= first.advanced(milliseconds: Limits.NATSConnection.pongMilliseconds)
        guard !isSilent, !isTooLate else { return end(.silent, &events) }
        if pings.count < Limits.NATSConnection.unansweredPings {
            ping(now, &output)
        } else {
            nextPing = now.advanced(milliseconds: Limits.NATSConnection.pingMilliseconds)
        }
    }

    mutating func ping(_ now: Instant, _ output: inout ByteBuffer) {
        pings.append(now)
        nextPing = now.advanced(milliseconds: Limits.NATSConnection.pingMilliseconds)
        NATSWriter.ping(to: &output)
    }

    mutating func end(_ failure: NATSFailure, _ events: inout [Event]) {
        guard state != .ended else { return }
        state = .ended
        events.append(.ended(failure))
    }

    // MARK: Commands

    /// Publishes a message. Requires `isReady`, valid subjects, and a payload up to `maximumPayload`.
    public func publish(
        _ payload: borrowing RawSpan, to subject: [UInt8], reply: [UInt8]? = nil, output: inout ByteBuffer
    ) {
        precondition(isReady, "a message is published before the login")
        precondition(payload.byteCount <= info?.maximumPayload ?? 0, "a message is too long")
        NATSWriter.publish(payload, to: subject, reply: reply, in: &output)
    }

    /// Subscribes to a subject. Requires `isReady` and a valid subject.
    public func subscribe(_ subject: [UInt8], as number: UInt64, output: inout ByteBuffer) {
        precondition(isReady, "a subscription is made before the login")
        NATSWriter.subscribe(subject, as: number, to: &output)
    }

    /// Ends a subscription. Requires `isReady`.
    public func unsubscribe(_ number: UInt64, output: inout ByteBuffer) {
        precondition(isReady, "a subscription is ended before the login")
        NATSWriter.unsubscribe(number, to: &output)
    }
}
