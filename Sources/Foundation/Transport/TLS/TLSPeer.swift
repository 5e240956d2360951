import COpenSSL
import Glibc

/// Certificates of peers, on both sides of a connection.
extension TLSContext {
    /// Makes a server refuse clients without a certificate of these authorities (PEM).
    static func requireClients(of authorities: [UInt8], in raw: OpaquePointer) throws(TransportError) {
        let certificates = try PEM.certificates(authorities)
        guard !certificates.isEmpty else {
            throw TransportError(
                "read the authorities of clients", detail: "the file contains no certificate")
        }
        let store = unsafe SSL_CTX_get_cert_store(raw)
        for certificate in certificates {
            guard unsafe X509_STORE_add_cert(store, certificate.raw) == 1,
                unsafe SSL_CTX_add_client_CA(raw, certificate.raw) == 1
            else { throw OpenSSLErrors.failure("use the authorities of clients") }
        }
        unsafe SSL_CTX_set_verify(raw, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
        // A resumed session would be that of a certificate which was checked earlier.
        _ = unsafe SSL_CTX_set_num_tickets(raw, 0)
        _ = unsafe SSL_CTX_set_options(raw, UInt64(1) << 14)
    }
}

extension TLSSession {
    /// The DNS name in the peer's certificate that ends with a suffix after one label. Returns `nil` if there is none.
    func peerName(under suffix: String) -> String? {
        guard let ssl = unsafe ssl, unsafe SSL_is_init_finished(ssl) == 1,
            let raw = unsafe SSL_get1_peer_certificate(ssl)
        else { return nil }
        defer { unsafe X509_free(raw) }
        let flags =
            X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_SINGLE_LABEL_SUBDOMAINS
            | X509_CHECK_FLAG_NO_WILDCARDS
        var name: UnsafeMutablePointer<CChar>?
        // A name that starts with a dot matches each subdomain.
        guard
            unsafe X509_check_host(raw, suffix, suffix.utf8.count, UInt32(flags), &name) == 1,
            let name = unsafe name
        else { return nil }
        defer { unsafe copenssl_free(name) }
        return unsafe String(cString: name)
    }
}
