import Basics

/// An error that a NATS server sends (`-ERR`).
public enum NATSServerError: Hashable, Sendable {
    /// User, password, token, key or JWT are wrong.
    case authorizationViolation
    /// The login came too late.
    case authenticationTimeout
    /// The JWT has expired or was revoked.
    case authenticationExpired
    /// The user may not publish to a subject, or not subscribe to it. The connection stays open.
    case permissionsViolation(String)
    /// A message was longer than the server allows.
    case maximumPayload
    /// The server or the account has too many connections.
    case maximumConnections
    /// The client has too many subscriptions.
    case maximumSubscriptions
    /// The client has not read fast enough.
    case slowConsumer
    /// The client has not answered the server's pings.
    case staleConnection
    /// The server wants TLS.
    case tlsRequired
    /// The server ends.
    case serverShutdown
    /// Another error, in the server's words.
    case other(String)

    /// The texts of nats-server, in lower case.
    private static let known: [(text: String, error: NATSServerError)] = [
        ("authorization violation", .authorizationViolation),
        ("authentication timeout", .authenticationTimeout),
        ("user authentication expired", .authenticationExpired),
        ("user authentication revoked", .authenticationExpired),
        ("account authentication expired", .authenticationExpired),
        ("maximum payload violation", .maximumPayload),
        ("maximum connections exceeded", .maximumConnections),
        ("maximum account active connections exceeded", .maximumConnections),
        ("maximum subscriptions exceeded", .maximumSubscriptions),
        ("slow consumer", .slowConsumer), ("stale connection", .staleConnection),
        ("secure connection - tls required", .tlsRequired), ("server shutdown", .serverShutdown),
    ]

    /// Reads the text of an error. Harmful characters are replaced, since it is written to logs.
    init(_ text: [UInt8]) {
        let words = Printable.text(
            String(decoding: text, as: UTF8.self), limit: Limits.NATS.errorCharacters)
        let lower = words.lowercased()
        if let known = Self.known.first(where: { $0.text == lower }) {
            self = known.error
        } else if lower.hasPrefix("permissions violation") {
            self = .permissionsViolation(words)
        } else {
            self = .other(words)
        }
    }

    /// Whether the server closes the connection with this error. Unknown ones are left to the server.
    var endsConnection: Bool {
        switch self {
        case .permissionsViolation, .other: false
        default: true
        }
    }
}

extension NATSServerError: CustomStringConvertible {
    /// The error in words, for the log.
    public var description: String {
        switch self {
        case .authorizationViolation: "refused the login: user, password, token or key is wrong"
        case .authenticationTimeout: "refused the login: it came too late"
        case .authenticationExpired: "ended the login: the JWT has expired or was revoked"
        case .permissionsViolation(let words): "refused: \(words)"
        case .maximumPayload: "refused a message that is longer than its max_payload"
        case .maximumConnections: "has too many connections"
        case .maximumSubscriptions: "refused a subscription: there are too many"
        case .slowConsumer: "ended the connection: ccsd has read too slowly"
        case .staleConnection: "ended the connection: ccsd has not answered its pings"
        case .tlsRequired: "requires TLS"
        case .serverShutdown: "shuts down"
        case .other(let words): "reported: \(words)"
        }
    }
}
