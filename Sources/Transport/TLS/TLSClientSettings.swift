import COpenSSL
import Glibc
import Synchronization

/// How we speak TLS to a server; made once, used for many connections.
@safe public final class TLSClientSettings: @unchecked Sendable {  // SSL_CTX locks itself
    /// Whose certificates are trusted.
    public enum Trust: Sendable {
        /// Authorities in a PEM file.
        case file(String)
        /// The system's authorities.
        case system
        /// Anyone: for tests and loopback tools.
        case anyone
    }

    let raw: OpaquePointer
    let verifies: Bool
    private let ticket: TLSTicket?

    /// Settings for connections as a client; with `resumes` each goes on with the session that a server offered last, so they are
    /// for one server alone.
    public init(
        trust: Trust, applicationProtocols: [String] = [], resumes: Bool = false
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
        var wire: [UInt8] = []
        for name in applicationProtocols {
            let name = Array(name.utf8.prefix(255))
            wire.append(UInt8(name.count))
            wire += name
        }
        // Zero is success here, unlike elsewhere.
        guard unsafe wire.isEmpty || SSL_CTX_set_alpn_protos(raw, wire, UInt32(wire.count)) == 0 else {
            throw OpenSSLErrors.failure("offer application protocols")
        }
    }

    deinit { unsafe SSL_CTX_free(raw) }

    /// Has a connection go on with the session that was offered last, where there is one.
    func resume(_ ssl: OpaquePointer) { unsafe ticket?.use(for: ssl) }
}

/// The session that a server has offered last.
private final class TLSTicket: Sendable {
    /// The address of an SSL_SESSION, which is counted once for us; 0: there is none.
    private let held = Mutex<UInt>(0)

    /// Takes what servers offer to connections of a context, for as long as that lives.
    init(_ context: OpaquePointer) {
        let mode = Int(SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL_STORE)
        _ = unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE, mode, nil)
        // Index 0 is that of the application.
        unsafe SSL_CTX_set_ex_data(context, 0, Unmanaged.passUnretained(self).toOpaque())
        unsafe SSL_CTX_sess_set_new_cb(context) { ssl, session in
            guard let ssl = unsafe ssl, let session = unsafe session,
                let own = unsafe SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), 0)
            else { return 0 }
            unsafe Unmanaged<TLSTicket>.fromOpaque(own).takeUnretainedValue().keep(session)
            // The session itself stays the connection's.
            return 0
        }
    }

    deinit { unsafe SSL_SESSION_free(OpaquePointer(bitPattern: held.withLock { $0 })) }

    /// Keeps a copy: OpenSSL gives a session up with the first connection of it that is broken off.
    private func keep(_ session: OpaquePointer) {
        let address = unsafe UInt(bitPattern: SSL_SESSION_dup(session))
        let before = held.withLock { held in
            let before = held
            held = address
            return before
        }
        unsafe SSL_SESSION_free(OpaquePointer(bitPattern: before))
    }

    /// Offers the session to a server.
    func use(for ssl: OpaquePointer) {
        held.withLock { held in
            guard let session = unsafe OpaquePointer(bitPattern: held),
                let copy = unsafe SSL_SESSION_dup(session)
            else { return }
            _ = unsafe SSL_set_session(ssl, copy)
            unsafe SSL_SESSION_free(copy)
        }
    }
}
