import Basics
import COpenSSL

/// An OpenSSL certificate.
@safe final class CertificateObject {
    let raw: OpaquePointer

    /// Takes over one reference.
    init(owning raw: OpaquePointer) { unsafe self.raw = raw }

    deinit { unsafe X509_free(raw) }

    /// The certificate in DER. Returns `nil` if OpenSSL fails.
    var der: [UInt8]? {
        var encoded: UnsafeMutablePointer<UInt8>?
        let length = unsafe i2d_X509(raw, &encoded)
        guard length > 0, let start = unsafe encoded else { return nil }
        defer { unsafe copenssl_free(start) }
        return unsafe Array(UnsafeBufferPointer(start: start, count: Int(length)))
    }

    /// The certificate in PEM. Returns `nil` if OpenSSL fails.
    var pem: [UInt8]? { unsafe MemoryOutput.bytes { output in unsafe PEM_write_bio_X509(output, raw) == 1 } }

    /// Decodes a certificate in DER. Returns `nil` for anything else.
    static func decode(der bytes: [UInt8]) -> CertificateObject? {
        defer { ERR_clear_error() }
        return unsafe bytes.withUnsafeBufferPointer { buffer in
            var at = buffer.baseAddress
            guard let raw = unsafe d2i_X509(nil, &at, buffer.count) else { return nil }
            return unsafe CertificateObject(owning: raw)
        }
    }

    /// Decodes all certificates of a PEM text, in order; a damaged one ends the list.
    static func decode(pem text: [UInt8]) -> [CertificateObject] {
        defer { ERR_clear_error() }
        return unsafe MemoryInput.reading(text) { input in
            var found: [CertificateObject] = []
            while let raw = unsafe PEM_read_bio_X509(input, nil, { _, _, _, _ in -1 }, nil) {
                found.append(unsafe CertificateObject(owning: raw))
            }
            return found
        } ?? []
    }
}

/// An OpenSSL private key.
@safe final class PrivateKeyObject {
    let raw: OpaquePointer

    /// Takes over one reference.
    init(owning raw: OpaquePointer) { unsafe self.raw = raw }

    deinit { unsafe EVP_PKEY_free(raw) }

    /// The key in PEM of PKCS #8, not encrypted. Returns `nil` if OpenSSL fails.
    var pem: Redacted<[UInt8]>? {
        unsafe MemoryOutput.secretBytes { output in
            unsafe PEM_write_bio_PKCS8PrivateKey(output, raw, nil, nil, 0, nil, nil) == 1
        }
    }

    /// The public half in DER (SubjectPublicKeyInfo). Returns `nil` if OpenSSL fails.
    var publicKey: [UInt8]? {
        var encoded: UnsafeMutablePointer<UInt8>?
        let length = unsafe i2d_PUBKEY(raw, &encoded)
        guard length > 0, let start = unsafe encoded else { return nil }
        defer { unsafe copenssl_free(start) }
        return unsafe Array(UnsafeBufferPointer(start: start, count: Int(length)))
    }

    /// The kind of key for error texts: `RSA`, `EC secp384r1`.
    var kind: String {
        let name = unsafe EVP_PKEY_get0_type_name(raw).map { unsafe String(cString: $0) } ?? "unknown"
        guard name == "EC" else { return name }
        return "EC \(group)"
    }

    /// Whether the key is on the curve of ES256.
    var isP256: Bool { unsafe EVP_PKEY_is_a(raw, "EC") == 1 && group == "prime256v1" }

    private var group: String {
        var name = [CChar](repeating: 0, count: 64)
        var length = 0
        guard unsafe EVP_PKEY_get_group_name(raw, &name, name.count, &length) == 1 else { return "" }
        return String(decoding: name.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Whether the key belongs to a certificate.
    func belongs(to certificate: CertificateObject) -> Bool {
        defer { ERR_clear_error() }
        return unsafe X509_check_private_key(certificate.raw, raw) == 1
    }

    /// Decodes the first private key of a PEM text. Returns `nil` if there is none, or if the password is wrong.
    static func decode(pem text: [UInt8], password: Redacted<String>? = nil) -> PrivateKeyObject? {
        defer { ERR_clear_error() }
        return unsafe MemoryInput.reading(text) { input in
            guard let password else {
                // Without this callback OpenSSL would ask on the terminal.
                let raw = unsafe PEM_read_bio_PrivateKey_ex(
                    input, nil, { _, _, _, _ in -1 }, nil, LegacyAlgorithms.context, nil)
                return unsafe raw.map { unsafe PrivateKeyObject(owning: $0) }
            }
            var word = Array(password.revealed.utf8CString)
            // OpenSSL's own callback uses the argument as the password.
            let raw = unsafe PEM_read_bio_PrivateKey_ex(input, nil, nil, &word, LegacyAlgorithms.context, nil)
            for at in word.indices { word[at] = 0 }
            return unsafe raw.map { unsafe PrivateKeyObject(owning: $0) }
        } ?? nil
    }
}

/// The algorithms of OpenSSL including those that it has retired, such as RC2, apart from those of the rest of the process.
///
/// Keychain Access encrypts archives with RC2-40 (apns 1.5); TLS must not get it back for that.
enum LegacyAlgorithms {
    /// The library context, which lives as long as the process.
    nonisolated(unsafe) static let context: OpaquePointer? = {
        guard let context = unsafe OSSL_LIB_CTX_new() else { return nil }
        unsafe OSSL_PROVIDER_load(context, "default")
        // It may not be installed; then an archive that needs it is refused as unsupported.
        unsafe OSSL_PROVIDER_load(context, "legacy")
        ERR_clear_error()
        return unsafe context
    }()
}

/// A memory buffer that OpenSSL reads like a file.
enum MemoryInput {
    /// Calls `body` with the buffer, which is valid only during the call. Returns `nil` if there is no memory.
    static func reading<Value>(_ bytes: [UInt8], _ body: (OpaquePointer) -> Value) -> Value? {
        unsafe bytes.withUnsafeBytes { buffer in
            guard let input = unsafe BIO_new_mem_buf(buffer.baseAddress, Int32(clamping: buffer.count)) else {
                return nil
            }
            defer { unsafe BIO_free(input) }
            return unsafe body(input)
        }
    }
}

/// A memory buffer that OpenSSL writes like a file.
enum MemoryOutput {
    /// Returns what `body` has written. Returns `nil` if it fails.
    static func bytes(_ body: (OpaquePointer) -> Bool) -> [UInt8]? {
        unsafe written(BIO_s_mem(), body)
    }

    /// The same in memory that OpenSSL overwrites afterwards.
    static func secretBytes(_ body: (OpaquePointer) -> Bool) -> Redacted<[UInt8]>? {
        unsafe written(BIO_s_secmem(), body).map { Redacted($0) }
    }

    private static func written(_ method: OpaquePointer?, _ body: (OpaquePointer) -> Bool) -> [UInt8]? {
        defer { ERR_clear_error() }
        guard let output = unsafe BIO_new(method) else { return nil }
        defer { unsafe BIO_free(output) }
        guard unsafe body(output) else { return nil }
        var start: UnsafeMutablePointer<CChar>?
        let count = unsafe copenssl_memory_of(output, &start)
        guard let start = unsafe start, count > 0 else { return nil }
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }
}
