


/// Versions of TLS that may be the lowest accepted.
package enum TLSVersion: String, Sendable, CaseIterable {
    /// TLS 1.2 with ECDHE and AEAD ciphers only.
    case tls12 = "1.2"
    /// TLS 1.3.
    case tls13 = "1.3"
}

/// How a listener speaks TLS, apart from its certificate.
package struct TLSServerSettings: Sendable {
    /// The lowest version accepted.
    package var minimum = TLSVersion.tls12
    /// Application protocols in order of preference; a client that offers only others goes on without one.
    package var applicationProtocols: [String] = []

    /// TLS 1.2 or higher, no application protocol.
    package init() {}
}

/// A certificate chain with its key and settings, as OpenSSL holds them; made once, used for many handshakes.
package final class TLSServerContext: @unchecked Sendable {  // SSL_CTX locks itself
    /// Reads PEM.
    package init(chain: [UInt8], key: [UInt8], settings: TLSServerSettings) throws(TransportError) { fatalError("lands next") }
}

/// The context that new handshakes of some listeners use; it may be exchanged at any time from any thread.
package final class TLSContextHolder: Sendable {
    /// Holds a first context.
    package init(_ context: TLSServerContext) { fatalError("lands next") }
    /// What the next handshake uses.
    package var current: TLSServerContext { fatalError("lands next") }
    /// Exchanges it; handshakes and connections under way keep the old one.
    package func replace(with context: TLSServerContext) { fatalError("lands next") }
}

/// How we speak TLS to a server; made once, used for many connections.
package final class TLSClientSettings: @unchecked Sendable {  // SSL_CTX locks itself
    /// Whose certificates are trusted.
    package enum Trust: Sendable {
        /// Authorities in a PEM file.
        case file(String)
        /// The system's authorities.
        case system
        /// Anyone: for tests and loopback tools.
        case anyone
    }
    /// Settings for connections as a client.
    package init(trust: Trust, applicationProtocols: [String] = []) throws(TransportError) { fatalError("lands next") }
}
