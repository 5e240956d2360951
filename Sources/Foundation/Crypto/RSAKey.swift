public import Basics
import COpenSSL

/// The RSA keys and signatures of service accounts: RS256 of JWS (RFC 7518, 3.3; http 9.1).
public enum RSAKey {
    /// A key pair in its encodings.
    public struct Pair: Sendable {
        /// PEM of PKCS #8, a secret.
        public let privateKey: Redacted<String>
        /// DER of SubjectPublicKeyInfo.
        public let publicKey: [UInt8]
    }

    /// Generates a key pair. Returns `nil` if OpenSSL fails.
    public static func make(bits: Int) -> Pair? {
        defer { ERR_clear_error() }
        guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, "RSA", nil) else { return nil }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var made: OpaquePointer?
        guard unsafe EVP_PKEY_keygen_init(context) == 1,
            unsafe EVP_PKEY_CTX_set_rsa_keygen_bits(context, Int32(bits)) == 1,
            unsafe EVP_PKEY_keygen(context, &made) == 1, let key = unsafe made
        else { return nil }
        defer { unsafe EVP_PKEY_free(key) }
        guard let publicKey = unsafe publicBytes(key), let privateKey = unsafe privateText(key) else {
            return nil
        }
        return Pair(privateKey: privateKey, publicKey: publicKey)
    }

    /// Whether the bytes are a public key of this size.
    public static func isPublicKey(_ bytes: [UInt8], bits: Int) -> Bool {
        defer { ERR_clear_error() }
        guard let key = unsafe key(bytes) else { return false }
        defer { unsafe EVP_PKEY_free(key) }
        return unsafe EVP_PKEY_get_bits(key) == bits
    }

    /// Whether a signature (RS256) of a text is valid for a public key.
    public static func verifies(_ signature: [UInt8], of text: [UInt8], by publicKey: [UInt8]) -> Bool {
        defer { ERR_clear_error() }
        guard let key = unsafe key(publicKey) else { return false }
        defer { unsafe EVP_PKEY_free(key) }
        guard let context = unsafe EVP_MD_CTX_new() else { return false }
        defer { unsafe EVP_MD_CTX_free(context) }
        // EVP uses PKCS #1 v1.5 padding for RSA by default.
        return unsafe EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1
            && EVP_DigestVerify(context, signature, signature.count, text, text.count) == 1
    }

    /// Signs a text (RS256) with a private key as PEM. Returns `nil` if the key is invalid or OpenSSL fails.
    public static func signature(of text: [UInt8], by privateKey: Redacted<String>) -> [UInt8]? {
        defer { ERR_clear_error() }
        guard let key = unsafe key(pem: privateKey) else { return nil }
        defer { unsafe EVP_PKEY_free(key) }
        guard let context = unsafe EVP_MD_CTX_new() else { return nil }
        defer { unsafe EVP_MD_CTX_free(context) }
        var length = Int(unsafe EVP_PKEY_get_size(key))
        var signature = [UInt8](repeating: 0, count: length)
        guard unsafe EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1,
            unsafe EVP_DigestSign(context, &signature, &length, text, text.count) == 1
        else { return nil }
        return Array(signature[..<length])
    }

    /// Decodes a SubjectPublicKeyInfo of exactly these bytes. Returns `nil` for anything else, and for other key types.
    private static func key(_ bytes: [UInt8]) -> OpaquePointer? {
        unsafe bytes.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return nil }
            var at: UnsafePointer<UInt8>? = unsafe start
            guard let key = unsafe d2i_PUBKEY(nil, &at, buffer.count) else { return nil }
            guard unsafe EVP_PKEY_is_a(key, "RSA") == 1, unsafe at == start + buffer.count else {
                unsafe EVP_PKEY_free(key)
                return nil
            }
            return unsafe key
        }
    }

    /// Decodes a private key as PEM. Returns `nil` for anything else, and for other key types.
    private static func key(pem text: Redacted<String>) -> OpaquePointer? {
        let bytes = Array(text.revealed.utf8)
        return unsafe bytes.withUnsafeBytes { buffer in
            // OpenSSL borrows the memory: it must not be read after this closure.
            guard let input = unsafe BIO_new_mem_buf(buffer.baseAddress, Int32(buffer.count)) else {
                return nil
            }
            defer { unsafe BIO_free(input) }
            guard let key = unsafe PEM_read_bio_PrivateKey(input, nil, nil, nil) else { return nil }
            guard unsafe EVP_PKEY_is_a(key, "RSA") == 1 else {
                unsafe EVP_PKEY_free(key)
                return nil
            }
            return unsafe key
        }
    }

    private static func publicBytes(_ key: OpaquePointer) -> [UInt8]? {
        var encoded: UnsafeMutablePointer<UInt8>?
        let length = unsafe i2d_PUBKEY(key, &encoded)
        guard length > 0, let start = unsafe encoded else { return nil }
        defer { unsafe copenssl_free(start) }
        return unsafe Array(UnsafeBufferPointer(start: start, count: Int(length)))
    }

    private static func privateText(_ key: OpaquePointer) -> Redacted<String>? {
        guard let output = unsafe BIO_new(BIO_s_secmem()) else { return nil }
        defer { unsafe BIO_free(output) }
        guard unsafe PEM_write_bio_PKCS8PrivateKey(output, key, nil, nil, 0, nil, nil) == 1 else {
            return nil
        }
        var start: UnsafeMutablePointer<CChar>?
        let count = unsafe copenssl_memory_of(output, &start)
        guard let start = unsafe start, count > 0 else { return nil }
        let bytes = unsafe UnsafeRawBufferPointer(start: start, count: count)
        return unsafe Redacted(String(decoding: bytes, as: UTF8.self))
    }
}
