import COpenSSL

/// An OpenSSL certificate.
@safe final class Certificate {
    let raw: OpaquePointer

    /// Takes over one reference.
    init(owning raw: OpaquePointer) { unsafe self.raw = raw }

    deinit { unsafe X509_free(raw) }
}

/// An OpenSSL private key.
@safe final class PrivateKey {
    let raw: OpaquePointer

    /// Takes over one reference.
    init(owning raw: OpaquePointer) { unsafe self.raw = raw }

    deinit { unsafe EVP_PKEY_free(raw) }
}

/// A memory buffer that OpenSSL reads or writes like a file.
@safe final class MemoryBIO {
    let raw: OpaquePointer

    /// Creates an empty buffer for writing.
    init() throws(TransportError) {
        guard let raw = unsafe BIO_new(BIO_s_mem()) else { throw OpenSSLErrors.failure("allocate memory") }
        unsafe self.raw = raw
    }

    /// Creates a filled buffer for reading.
    convenience init(_ bytes: [UInt8]) throws(TransportError) {
        try self.init()
        guard unsafe bytes.isEmpty || BIO_write(raw, bytes, Int32(clamping: bytes.count)) == bytes.count
        else {
            throw OpenSSLErrors.failure("allocate memory")
        }
    }

    deinit { unsafe BIO_free(raw) }

    /// The bytes that OpenSSL has written.
    var bytes: [UInt8] {
        var start: UnsafeMutablePointer<CChar>?
        let count = unsafe copenssl_memory_of(raw, &start)
        guard let start = unsafe start, count > 0 else { return [] }
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }
}

/// Parses certificates and keys in PEM.
enum PEM {
    /// Returns all certificates of a text, in order. Throws if one of them cannot be parsed.
    static func certificates(_ text: [UInt8]) throws(TransportError) -> [Certificate] {
        let input = try MemoryBIO(text)
        var found: [Certificate] = []
        while let raw = unsafe PEM_read_bio_X509(input.raw, nil, nil, nil) {
            found.append(unsafe Certificate(owning: raw))
        }
        // OpenSSL reports the end of the text as "no start line"; any other error is a damaged certificate.
        let last = ERR_peek_last_error()
        let isEnd = ERR_GET_REASON(last) == PEM_R_NO_START_LINE
        let words = OpenSSLErrors.drain()
        guard isEnd else { throw TransportError("read the certificate", detail: words) }
        return found
    }

    /// Returns the private key of a text. Throws if it is encrypted, since no one can enter its password.
    static func privateKey(_ text: [UInt8]) throws(TransportError) -> PrivateKey {
        let input = try MemoryBIO(text)
        guard let raw = unsafe PEM_read_bio_PrivateKey(input.raw, nil, { _, _, _, _ in -1 }, nil) else {
            throw OpenSSLErrors.failure("read the key", otherwise: "the file contains no key")
        }
        return unsafe PrivateKey(owning: raw)
    }
}
