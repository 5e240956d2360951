import Basics
import COpenSSL
import Glibc

/// One TLS connection of OpenSSL over the staging memory of its reactor; empty for plain connections.
@safe struct TLSSession: ~Copyable {
    /// The result of a step.
    enum Step: Equatable {
        /// Done; contains the number of bytes of a read.
        case done(Int)
        /// More bytes must arrive from the peer first.
        case wantsMore
        /// The peer has closed its direction properly.
        case ended
        /// The connection failed; contains OpenSSL's error text.
        case failed(String)
    }

    let ssl: OpaquePointer?

    /// A session without TLS.
    static var plain: TLSSession { unsafe TLSSession(nil) }

    private init(_ ssl: OpaquePointer?) { unsafe self.ssl = unsafe ssl }

    deinit { unsafe SSL_free(ssl) }

    /// Creates the server side of a handshake.
    static func accepting(_ context: TLSServerContext, _ staging: TLSStaging) -> TLSSession? {
        guard let ssl = unsafe make(context.raw, staging) else { return nil }
        unsafe SSL_set_accept_state(ssl)
        return unsafe TLSSession(ssl)
    }

    /// Creates the client side of a handshake; the certificate is verified for `serverName` or the IP address.
    static func connecting(
        _ settings: TLSClientSettings, _ staging: TLSStaging, serverName: String?, address: SocketAddress
    ) -> TLSSession? {
        guard let ssl = unsafe make(settings.raw, staging) else { return nil }
        unsafe SSL_set_connect_state(ssl)
        unsafe settings.resume(ssl)
        let session = unsafe TLSSession(ssl)
        if let serverName, SocketAddress(literal: serverName, port: 0) == nil {
            _ = unsafe copenssl_set_host_name(ssl, serverName)
            guard unsafe !settings.verifies || SSL_set1_host(ssl, serverName) == 1 else { return nil }
        } else if settings.verifies {
            let parameters = unsafe SSL_get0_param(ssl)
            guard unsafe X509_VERIFY_PARAM_set1_ip_asc(parameters, serverName ?? address.host) == 1 else {
                _ = OpenSSLErrors.drain()
                return nil
            }
        }
        return session
    }

    private static func make(_ context: OpaquePointer, _ staging: TLSStaging) -> OpaquePointer? {
        guard let ssl = unsafe SSL_new(context) else { return nil }
        guard let bio = unsafe staging.makeBIO() else {
            unsafe SSL_free(ssl)
            return nil
        }
        unsafe SSL_set_bio(ssl, bio, bio)
        return unsafe ssl
    }

    /// Whether there is no TLS.
    var isPlain: Bool { unsafe ssl == nil }

    /// Continues the handshake.
    borrowing func handshake() -> Step {
        let result = unsafe SSL_do_handshake(ssl)
        return result == 1 ? .done(0) : step(result)
    }

    /// Keeps OpenSSL from freeing and allocating its buffers for each record, until `endBatch`.
    @inline(__always)
    borrowing func beginBatch() {
        _ = unsafe SSL_ctrl(ssl, SSL_CTRL_CLEAR_MODE, Int(SSL_MODE_RELEASE_BUFFERS), nil)
    }

    /// Frees empty buffers.
    @inline(__always)
    borrowing func endBatch() {
        _ = unsafe SSL_ctrl(ssl, SSL_CTRL_MODE, Int(SSL_MODE_RELEASE_BUFFERS), nil)
        _ = unsafe SSL_free_buffers(ssl)
    }

    /// Lets the next encrypted record free the buffer.
    @inline(__always)
    borrowing func endBatchAfterNext() {
        _ = unsafe SSL_ctrl(ssl, SSL_CTRL_MODE, Int(SSL_MODE_RELEASE_BUFFERS), nil)
    }

    /// Whether OpenSSL has bytes that are not decrypted yet.
    @inline(__always)
    var hasBufferedBytes: Bool { unsafe SSL_has_pending(ssl) == 1 }

    /// Decrypts the next record of the staging memory, or the first part of it, after the first `offset` bytes of `plain`.
    @inline(__always)
    borrowing func read(_ staging: TLSStaging, at offset: Int) -> Step {
        let room = unsafe staging.plain.baseAddress.map { unsafe $0 + offset }
        let count = unsafe SSL_read(ssl, room, Int32(TLSStaging.plainBytes - offset))
        return count > 0 ? .done(Int(count)) : step(count)
    }

    /// Encrypts bytes as one record (several beyond 16 KiB) into the staging memory. Returns false if TLS has ended.
    @inline(__always)
    borrowing func seal(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard unsafe SSL_write(ssl, bytes.baseAddress, Int32(clamping: bytes.count)) == bytes.count else {
            _ = OpenSSLErrors.drain()
            return false
        }
        return true
    }

    /// Writes the close of the outbound direction into the staging memory.
    borrowing func sealEnd() {
        if unsafe SSL_shutdown(ssl) < 0 { _ = OpenSSLErrors.drain() }
    }

    private borrowing func step(_ result: Int32) -> Step {
        switch unsafe SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ: return .wantsMore
        case SSL_ERROR_ZERO_RETURN: return .ended
        default:
            let verdict = unsafe SSL_get_verify_result(ssl)
            var words = OpenSSLErrors.drain()
            if verdict != Int(X509_V_OK), let reason = unsafe X509_verify_cert_error_string(verdict) {
                words += unsafe ": " + String(cString: reason)
            }
            return .failed(words.isEmpty ? "TLS ended" : words)
        }
    }

    /// The TLS version, such as `TLSv1.3`; `nil` without TLS.
    var version: String? {
        guard let ssl = unsafe ssl, let name = unsafe SSL_get_version(ssl) else { return nil }
        return unsafe String(cString: name)
    }

    /// The `tls-exporter` channel binding (RFC 9266): `nil` without TLS, before the handshake is done, and on TLS 1.2 without
    /// the extended master secret, where two channels could have the same value.
    var channelBinding: [UInt8]? {
        guard let ssl = unsafe ssl, unsafe SSL_is_init_finished(ssl) == 1,
            unsafe SSL_version(ssl) >= TLS1_3_VERSION || copenssl_has_extended_master_secret(ssl) == 1
        else { return nil }
        var value = [UInt8](repeating: 0, count: Limits.Login.channelBindingBytes)
        let label = "EXPORTER-Channel-Binding"
        guard
            unsafe SSL_export_keying_material(
                ssl, &value, value.count, label, label.utf8.count, nil, 0, 1) == 1
        else {
            _ = OpenSSLErrors.drain()
            return nil
        }
        return value
    }

    /// The application protocol agreed on in the handshake; `nil` if there is none.
    var applicationProtocol: String? {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        guard let ssl = unsafe ssl else { return nil }
        unsafe SSL_get0_alpn_selected(ssl, &name, &count)
        guard let name = unsafe name else { return nil }
        let bytes = unsafe UnsafeBufferPointer(start: name, count: Int(count))
        return unsafe String(decoding: bytes, as: UTF8.self)
    }

    /// Whether the handshake resumed an earlier session.
    var isResumed: Bool { unsafe ssl != nil && SSL_session_reused(ssl) == 1 }
}
