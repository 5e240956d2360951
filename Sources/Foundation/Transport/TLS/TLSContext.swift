import COpenSSL
import Synchronization

/// Versions of TLS that may be the minimum.
public enum TLSVersion: String, Sendable, CaseIterable {
    /// TLS 1.0, with CBC ciphers and SHA-1: only for clients that support nothing newer.
    case tls10 = "1.0"
    /// TLS 1.1, as weak as 1.0.
    case tls11 = "1.1"
    /// TLS 1.2 with ECDHE and AEAD ciphers only.
    case tls12 = "1.2"
    /// TLS 1.3.
    case tls13 = "1.3"

    /// Whether RFC 8996 deprecates the version.
    public var isDeprecated: Bool { self == .tls10 || self == .tls11 }

    var number: Int {
        switch self {
        case .tls10: Int(TLS1_VERSION)
        case .tls11: Int(TLS1_1_VERSION)
        case .tls12: Int(TLS1_2_VERSION)
        case .tls13: Int(TLS1_3_VERSION)
        }
    }

    /// The ciphers offered up to TLS 1.2, best first, in OpenSSL's syntax.
    ///
    /// The old versions have no AEAD ciphers and sign handshakes with SHA-1 and MD5, which OpenSSL 3 allows on security level 0
    /// only.
    var ciphers: String {
        let modern = "ECDHE+AESGCM:ECDHE+CHACHA20"
        return isDeprecated ? modern + ":ECDHE+AES:kRSA+AES:!aNULL:!eNULL:@SECLEVEL=0" : modern
    }
}

/// TLS settings of a listener, apart from its certificate.
public struct TLSServerSettings: Sendable {
    /// The lowest version accepted.
    public var minimum = TLSVersion.tls12
    /// Application protocols in order of preference; a client that offers only others connects without one.
    public var applicationProtocols: [String] = []
    /// PEM of the authorities of which each client must show a certificate; empty: clients need none.
    public var clientAuthorities: [UInt8] = []

    /// TLS 1.2 or higher, no application protocol, clients without certificates.
    public init() {}
}

/// A certificate chain with its key and settings, in OpenSSL's form; created once, used for many handshakes.
@safe public final class TLSServerContext: @unchecked Sendable {  // SSL_CTX locks itself
    let raw: OpaquePointer
    private let protocols: ProtocolList

    /// Parses PEM: the chain starts with the server's own certificate, to which the key must belong.
    public init(chain: [UInt8], key: [UInt8], settings: TLSServerSettings) throws(TransportError) {
        guard let raw = unsafe SSL_CTX_new(TLS_server_method()) else {
            throw OpenSSLErrors.failure("make a TLS context")
        }
        unsafe self.raw = raw
        protocols = ProtocolList(settings.applicationProtocols)
        unsafe TLSContext.setCommonOptions(raw, minimum: settings.minimum)
        try unsafe TLSContext.use(chain: chain, key: key, in: raw)
        setResumption()
        if !settings.clientAuthorities.isEmpty {
            try unsafe TLSContext.requireClients(of: settings.clientAuthorities, in: raw)
        }
        guard !settings.applicationProtocols.isEmpty else { return }
        unsafe SSL_CTX_set_alpn_select_cb(
            raw,
            { _, out, length, offered, count, list in
                guard let list = unsafe list, let out = unsafe out, let length = unsafe length else {
                    return SSL_TLSEXT_ERR_NOACK
                }
                let own = unsafe Unmanaged<ProtocolList>.fromOpaque(list).takeUnretainedValue()
                var chosen: UnsafeMutablePointer<UInt8>?
                let result = unsafe SSL_select_next_proto(
                    &chosen, length, own.wire.baseAddress, UInt32(own.wire.count), offered, count)
                // An unknown offer must not fail the handshake (ccs-xmpp 1.2): it continues without one.
                guard result == OPENSSL_NPN_NEGOTIATED else { return SSL_TLSEXT_ERR_NOACK }
                unsafe out.pointee = unsafe UnsafePointer(chosen)
                return SSL_TLSEXT_ERR_OK
            }, Unmanaged.passUnretained(protocols).toOpaque())
    }

    deinit { unsafe SSL_CTX_free(raw) }

    /// Sets one ticket per handshake and no cache: a client may resume, and the server stores nothing for it.
    private func setResumption() {
        _ = unsafe SSL_CTX_set_num_tickets(raw, 1)
        _ = unsafe SSL_CTX_ctrl(raw, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
        let name = Array("ccsd".utf8)
        _ = unsafe SSL_CTX_set_session_id_context(raw, name, UInt32(name.count))
    }
}

/// The context for new handshakes of some listeners; it may be replaced at any time from any thread.
public final class TLSContextHolder: Sendable {
    private let stored: Mutex<TLSServerContext>

    public init(_ context: TLSServerContext) { stored = Mutex(context) }
    /// The context for the next handshake.
    public var current: TLSServerContext { stored.withLock { $0 } }
    /// Replaces the context; connections and handshakes in progress keep the old one.
    public func replace(with context: TLSServerContext) { stored.withLock { $0 = context } }
}

/// Settings that server and client contexts share.
enum TLSContext {
    /// Sets versions, ciphers and options of a context.
    static func setCommonOptions(_ raw: OpaquePointer, minimum: TLSVersion) {
        _ = unsafe SSL_CTX_ctrl(raw, SSL_CTRL_SET_MIN_PROTO_VERSION, minimum.number, nil)
        _ = unsafe SSL_CTX_set_cipher_list(raw, minimum.ciphers)
        _ = unsafe SSL_CTX_set_options(
            raw, UInt64(bit(30) | bit(17) | bit(22)))
        // Record buffers are allocated only while a record is in flight: 12 KiB less per idle connection. They are filled with
        // all available records, not with a head and a body of each.
        _ = unsafe SSL_CTX_ctrl(raw, SSL_CTRL_SET_READ_AHEAD, 1, nil)
        let modes = Int(SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER)
        _ = unsafe SSL_CTX_ctrl(raw, SSL_CTRL_MODE, modes, nil)
    }

    /// SSL_OP_BIT of OpenSSL, a macro: 30 no renegotiation, 17 no compression, 22 the server's cipher preference.
    private static func bit(_ number: UInt64) -> UInt64 { 1 << number }

    /// Loads a PEM chain and its key, and checks that they match.
    static func use(chain: [UInt8], key: [UInt8], in raw: OpaquePointer) throws(TransportError) {
        let certificates = try PEM.certificates(chain)
        guard let own = certificates.first else {
            throw TransportError("load the certificate", detail: "the file contains no certificate")
        }
        guard unsafe SSL_CTX_use_certificate(raw, own.raw) == 1 else {
            throw OpenSSLErrors.failure("load the certificate")
        }
        for issuer in certificates.dropFirst() {
            // SSL_CTX_add1_chain_cert is a macro.
            guard unsafe SSL_CTX_ctrl(raw, SSL_CTRL_CHAIN_CERT, 1, UnsafeMutableRawPointer(issuer.raw)) == 1
            else {
                throw OpenSSLErrors.failure("load the certificate chain")
            }
        }
        let privateKey = try PEM.privateKey(key)
        guard unsafe SSL_CTX_use_PrivateKey(raw, privateKey.raw) == 1,
            unsafe SSL_CTX_check_private_key(raw) == 1
        else {
            throw OpenSSLErrors.failure(
                "load the key", otherwise: "the key does not belong to the certificate")
        }
    }
}

/// Application protocols in the wire format of the handshake, at a stable address.
@safe private final class ProtocolList {
    let wire: UnsafeMutableBufferPointer<UInt8>

    init(_ names: [String]) {
        var bytes: [UInt8] = []
        for name in names {
            let name = Array(name.utf8.prefix(255))
            bytes.append(UInt8(name.count))
            bytes += name
        }
        unsafe wire = .allocate(capacity: bytes.count)
        _ = unsafe wire.initialize(from: bytes)
    }

    deinit { unsafe wire.deallocate() }
}
