import COpenSSL
import Glibc
import Synchronization

/// TLS settings of connections to a server; created once, used for many connections.
@safe public final class TLSClientSettings: @unchecked Sendable {  // SSL_CTX locks itself
    /// The certificates that are trusted.
    public enum Trust: Sendable {
        /// Authorities in a PEM file.
        case file(String)
        /// The system's authorities.
        case system
        /// Any certificate: for tests and loopback tools.
        case anyone
    }

    /// The certificate of a client and its key, for servers that ask for one.
    public struct Identity: Sendable {
        /// The certificate and its issuers, PEM.
        public var chain: [UInt8]
        /// The private key, PEM.
        public var key: [UInt8]

        /// Creates an identity; `TLSClientSettings` checks that the key belongs to the certificate.
        public init(chain: [UInt8], key: [UInt8]) {
            self.chain = chain
            self.key = key
        }
    }

    let raw: OpaquePointer
    let verifies: Bool
    private let ticket: TLSTicket?

    /// Creates client settings; with `resumes`, each connection resumes the last session that a server offered, so the settings
    /// are for one server only.
    public init(
        trust: Trust, identity: Identity? = nil, applicationProtocols: [String] = [], resumes: Bool = false
    ) throws(TransportError) {
        guard let raw = unsafe SSL_CTX_new(TLS_client_method()) else {
            throw OpenSSLErrors.failure("make a TLS context")
        }
        unsafe self.raw = raw
        if case .anyone = trust { verifies = false } else { verifies = true }
        unsafe TLSContext.setCommonOptions(raw, minimum: .tls12)
        ticket = unsafe resumes ? TLSTicket(raw) : nil
        if !resumes {
            _ = unsafe SSL_CTX_ctrl(raw, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
        }
        unsafe SSL_CTX_set_verify(raw, verifies ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nil)
        switch trust {
        case .file(let path):
            guard unsafe SSL_CTX_load_verify_file(raw, path) == 1 else {
                throw OpenSSLErrors.failure("read authorities from \(path)")
            }
        case .system:
            guard unsafe SSL_CTX_set_default_verify_paths(raw) == 1 else {
                throw OpenSSLErrors.failure("read the system's authorities")
            }
        case .anyone: break
        }
        if let identity { try unsafe TLSContext.use(chain: identity.chain, key: identity.key, in: raw) }
        var wire: [UInt8] = []
        for name in applicationProtocols {
            let name = Array(name.utf8.prefix(255))
            wire.append(UInt8(name.count))
            wire += name
        }
        // This function returns zero on success, unlike others.
        guard unsafe wire.isEmpty || SSL_CTX_set_alpn_protos(raw, wire, UInt32(wire.count)) == 0 else {
            throw OpenSSLErrors.failure("offer application protocols")
        }
    }

    deinit { unsafe SSL_CTX_free(raw) }

    /// Sets the session that was offered last, if any, for a new connection.
    func resume(_ ssl: OpaquePointer) { unsafe ticket?.use(for: ssl) }
}

/// The session that a server has offered last.
private final class TLSTicket: Sendable {
    /// The address of an SSL_SESSION, with a reference of its own; 0 if there is none.
    private let stored = Mutex<UInt>(0)

    /// Stores the sessions that servers offer to connections of a context, for the context's lifetime.
    init(_ context: OpaquePointer) {
        let mode = Int(SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL_STORE)
        _ = unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE, mode, nil)
        // Index 0 is reserved for applications.
        unsafe SSL_CTX_set_ex_data(context, 0, Unmanaged.passUnretained(self).toOpaque())
        unsafe SSL_CTX_sess_set_new_cb(context) { ssl, session in
            guard let ssl = unsafe ssl, let session = unsafe session,
                let own = unsafe SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), 0)
            else { return 0 }
            unsafe Unmanaged<TLSTicket>.fromOpaque(own).takeUnretainedValue().keep(session)
            // The connection keeps its own reference.
            return 0
        }
    }

    deinit { unsafe SSL_SESSION_free(OpaquePointer(bitPattern: stored.withLock { $0 })) }

    /// Stores a copy: OpenSSL invalidates a session when the first connection with it is broken off.
    private func keep(_ session: OpaquePointer) {
        let address = unsafe UInt(bitPattern: SSL_SESSION_dup(session))
        let before = stored.withLock { stored in
            let before = stored
            stored = address
            return before
        }
        unsafe SSL_SESSION_free(OpaquePointer(bitPattern: before))
    }

    /// Offers the session to a server.
    func use(for ssl: OpaquePointer) {
        stored.withLock { stored in
            guard let session = unsafe OpaquePointer(bitPattern: stored),
                let copy = unsafe SSL_SESSION_dup(session)
            else { return }
            _ = unsafe SSL_set_session(ssl, copy)
            unsafe SSL_SESSION_free(copy)
        }
    }
}
