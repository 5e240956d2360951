import COpenSSL
import Glibc

/// How we speak TLS to a server; made once, used for many connections.
@safe package final class TLSClientSettings: @unchecked Sendable {  // SSL_CTX locks itself
    /// Whose certificates are trusted.
    package enum Trust: Sendable {
        /// Authorities in a PEM file.
        case file(String)
        /// The system's authorities.
        case system
        /// Anyone: for tests and loopback tools.
        case anyone
    }

    let raw: OpaquePointer
    let verifies: Bool

    /// Settings for connections as a client.
    package init(trust: Trust, applicationProtocols: [String] = []) throws(TransportError) {
        guard let raw = unsafe SSL_CTX_new(TLS_client_method()) else {
            throw OpenSSLErrors.failure("make a TLS context")
        }
        unsafe self.raw = raw
        if case .anyone = trust { verifies = false } else { verifies = true }
        unsafe TLSContext.setCommonOptions(raw, minimum: .tls12)
        _ = unsafe SSL_CTX_ctrl(raw, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
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
}
