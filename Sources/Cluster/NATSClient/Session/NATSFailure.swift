public import Wire

/// Why a connection to a NATS server could not be made, or has ended.
public enum NATSFailure: Error, Hashable, Sendable {
    /// The server could not be found or reached.
    case unreachable(String)
    /// The TLS handshake has failed: mostly, the certificate is not trusted.
    case untrusted(String)
    /// The server has not completed the login in time.
    case timedOut
    /// The server requires TLS, which the configuration turns off.
    case tlsRequired
    /// The configuration requires TLS, which the server does not offer.
    case tlsUnavailable
    /// Bytes came between the server's description and TLS: an attacker may have added them.
    case bytesBeforeTLS
    /// The login needs a nonce to sign, and the server sends none: its users have no NKeys.
    case noNonce
    /// The server's description cannot be read, or is incomplete.
    case badDescription(String)
    /// The server has ended the connection with an error.
    case refused(NATSServerError)
    /// The stream of the server cannot be read.
    case unreadable(NATSFault)
    /// The server has not answered two pings: it is stopped or cut off.
    case silent
    /// The server shuts down soon, and was left in an orderly way.
    case lameDuck
    /// The owner has left the server, since it confirms nothing.
    case left
    /// The client has returned to a server that it prefers.
    case returned
    /// The connection was closed, for this reason.
    case closed(String)
    /// The owner has stopped the client.
    case stopped
}

extension NATSFailure: CustomStringConvertible {
    /// The failure in words, for the log.
    public var description: String {
        switch self {
        case .unreachable(let words): "cannot be reached: \(words)"
        case .untrusted(let words): "TLS failed: \(words)"
        case .timedOut: "no login in time"
        case .tlsRequired: "requires TLS, but TLS is off: set the trusted authorities"
        case .tlsUnavailable: "offers no TLS, but TLS is required"
        case .bytesBeforeTLS: "sent bytes before TLS"
        case .noNonce: "sends no nonce to sign: its configuration names no NKeys"
        case .badDescription(let words): "sent an invalid description: \(words)"
        case .refused(let error): "\(error)"
        case .unreadable(let fault): "broke the protocol: \(fault)"
        case .silent: "did not answer two pings"
        case .lameDuck: "shuts down"
        case .left: "confirms nothing: another server is tried"
        case .returned: "left for the server of this machine"
        case .closed(let words): "closed: \(words)"
        case .stopped: "stopped by ccsd"
        }
    }
}
