public import Transport

/// Where and how to connect to NATS.
public struct NATSSettings: Sendable {
    /// The servers of one cluster, in any order. Servers that they announce themselves are not used.
    public var servers: [NATSServerAddress]
    /// Those of `servers` that are tried before the others, and to which a client returns: the server of its own machine. Without effect
    /// if they are all or none of `servers`.
    public var preferred: Set<NATSServerAddress> = []
    /// The name of this client in the server's monitoring.
    public var name: String
    /// How to log in.
    public var login: NATSLogin
    /// When TLS is used.
    public var tlsUse: NATSSession.TLSUse
    /// The trusted authorities and this client's certificate; required unless `tlsUse` is `.never`.
    public var tls: TLSClientSettings?

    /// Creates settings without login and TLS.
    public init(
        servers: [NATSServerAddress], name: String, login: NATSLogin = .none,
        tlsUse: NATSSession.TLSUse = .never, tls: TLSClientSettings? = nil
    ) {
        self.servers = servers
        self.name = name
        self.login = login
        self.tlsUse = tlsUse
        self.tls = tls
    }
}
