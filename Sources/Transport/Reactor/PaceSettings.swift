public import Basics

/// How much and how fast the strangers behind one listener may do.
public struct PaceSettings: Sendable {
    /// Milliseconds from TCP accept to the end of the TLS handshake; absolute.
    public var handshakeMilliseconds = Int64(Limits.Login.handshakeDeadlineSeconds) * 1_000
    /// Connections accepted in one turn of a reactor.
    public var acceptsPerTurn = Limits.Connection.acceptsPerTurn
    /// Bytes read from one connection in one turn.
    public var readBytesPerTurn = Limits.Connection.readBytesPerTurn
    /// Outbound bytes that may wait on one connection; beyond it `CloseReason.slowConsumer`.
    public var outboundBytes = Limits.Connection.outboundBytes
    /// Waiting outbound bytes over which a connection is congested.
    public var outboundLowBytes = Limits.Connection.outboundLowBytes
    /// Milliseconds that outbound bytes may wait without one leaving; then `CloseReason.slowConsumer`.
    public var writeMilliseconds = Int64(Limits.Connection.writeDeadlineSeconds) * 1_000
    /// Milliseconds that a closed connection waits for the peer's end, so that our last bytes are not reset away.
    public var lingerMilliseconds = Int64(Limits.Connection.lingerMilliseconds)
    /// Connections of one address, on one reactor, that have not logged in; 0 disables the limit.
    public var anonymousPerAddress = Limits.Connection.anonymousPerAddress
    /// Connections of this listener on one reactor.
    public var connections = Int.max

    /// The limits of the server.
    public init() {}
}

/// The name of a listener in logs, metrics and `ccsctl status`: `app_server`, `device`.
public struct ListenerName: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
    /// The word.
    public var rawValue: String
    /// Wraps a word.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Wraps a literal.
    public init(stringLiteral value: StaticString) { rawValue = "\(value)" }

    /// Connections that we opened ourselves.
    public static let outgoing: ListenerName = "outgoing"
}

/// Something about listeners that an operator wants to read in the log.
public enum TransportReport: Sendable {
    /// No descriptor is left (or no memory): so many new connections were dropped, and the listener rests for a while.
    case acceptFailed(listener: ListenerName, reason: DoorRefusal, code: Int32, dropped: Int)
    /// The listener accepts again after `acceptFailed`.
    case acceptResumed(listener: ListenerName)
    /// A connection was closed at accept.
    case refused(listener: ListenerName, peer: SocketAddress, reason: DoorRefusal)
    /// A connection ends because the client that a proxy named has too many already (`CloseReason.tooManyConnections`).
    case clientFull(listener: ListenerName, client: SocketAddress)
}
