public import Basics

/// Limits of unauthenticated peers behind one listener.
public struct PaceSettings: Sendable {
    /// Milliseconds from TCP accept to the end of the TLS handshake; absolute.
    public var handshakeMilliseconds = Int64(Limits.Login.handshakeDeadlineSeconds) * 1_000
    /// Connections accepted in one turn of a reactor.
    public var acceptsPerTurn = Limits.Connection.acceptsPerTurn
    /// Bytes read from one connection in one turn.
    public var readBytesPerTurn = Limits.Connection.readBytesPerTurn
    /// Pending outbound bytes of one connection; beyond it the connection ends with `CloseReason.slowConsumer`.
    public var outboundBytes = Limits.Connection.outboundBytes
    /// Pending outbound bytes above which a connection is congested.
    public var outboundLowBytes = Limits.Connection.outboundLowBytes
    /// Milliseconds that pending output may wait without progress; then the connection ends with `CloseReason.slowConsumer`.
    public var writeMilliseconds = Int64(Limits.Connection.writeDeadlineSeconds) * 1_000
    /// Milliseconds that a closed connection waits for the peer's end of stream, so that a reset does not discard our last
    /// bytes.
    public var lingerMilliseconds = Int64(Limits.Connection.lingerMilliseconds)
    /// Seconds after which a peer that does not acknowledge sent bytes is dead.
    public var silenceSeconds = Limits.Connection.peerSilenceSeconds
    /// Connections of one address, on one reactor, that have not logged in, beyond which the oldest is closed; 0 disables the limit.
    public var anonymousPerAddress = Limits.Connection.anonymousPerAddress
    /// Connections of this listener on one reactor.
    public var connections = Int.max
    /// Whether the owner gets all records that have arrived in one call, up to 16 KiB; otherwise one record per call, as a client that
    /// depends on the boundaries of records reads them.
    public var joinsRecords = false

    /// Uses the limits of the server.
    public init() {}
}

/// The name of a listener in logs, metrics and `ccsctl status`: `app_server`, `device`.
public struct ListenerName: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
    public var rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: StaticString) { rawValue = "\(value)" }

    /// Outbound connections.
    public static let outgoing: ListenerName = "outgoing"
}

/// A listener event for the log.
public enum TransportReport: Sendable {
    /// No descriptors (or no memory) are left: `dropped` new connections were closed, and the listener is paused for a while.
    case acceptFailed(listener: ListenerName, reason: ConnectionRefusal, code: Int32, dropped: Int)
    /// The listener accepts again after `acceptFailed`.
    case acceptResumed(listener: ListenerName)
    /// A connection was closed at accept, or before its login for a newer one (`CloseReason.tooManyConnections`).
    case refused(listener: ListenerName, peer: SocketAddress, reason: ConnectionRefusal)
}
