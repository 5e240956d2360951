public import Basics
import COpenSSL

/// Encrypts secrets that are stored in files, with AES-256-GCM and a key derived from a secret of the server.
public struct SecretSeal: Sendable {
    /// Random bytes that the caller supplies for each sealing; they must not repeat.
    public static let nonceBytes = 12
    private static let tagBytes = 16
    private static let keyBytes = 32

    private let key: Redacted<[UInt8]>

    /// Derives the key. Different purposes have independent keys.
    public init(secret: [UInt8], purpose: String) {
        key = Redacted(
            HKDF.derive(
                salt: Array("ccsd secret seal".utf8), secret: secret, info: Array(purpose.utf8),
                count: Self.keyBytes))
    }

    /// Encrypts a secret, which can be decrypted only with the same context. Returns `nil` if OpenSSL fails.
    public func seal(_ secret: Redacted<[UInt8]>, context: [UInt8], nonce: [UInt8]) -> [UInt8]? {
        precondition(nonce.count == Self.nonceBytes, "invalid nonce: expected 12 bytes")
        defer { ERR_clear_error() }
        guard let cipher = unsafe EVP_CIPHER_CTX_new() else { return nil }
        defer { unsafe EVP_CIPHER_CTX_free(cipher) }
        let text = secret.revealed
        var sealed = [UInt8](repeating: 0, count: text.count + 1)
        var tag = [UInt8](repeating: 0, count: Self.tagBytes)
        var length: Int32 = 0
        guard unsafe EVP_EncryptInit_ex2(cipher, EVP_aes_256_gcm(), key.revealed, nonce, nil) == 1,
            unsafe EVP_EncryptUpdate(cipher, nil, &length, context, Int32(context.count)) == 1,
            unsafe EVP_EncryptUpdate(cipher, &sealed, &length, text, Int32(text.count)) == 1,
            Int(length) == text.count,
            unsafe EVP_EncryptFinal_ex(cipher, &tag, &length) == 1,
            unsafe EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_GCM_GET_TAG, Int32(Self.tagBytes), &tag) == 1
        else { return nil }
        return nonce + sealed.prefix(text.count) + tag
    }

    /// Decrypts a secret. Returns `nil` if it was changed, or sealed with another key or context.
    public func open(_ sealed: [UInt8], context: [UInt8]) -> Redacted<[UInt8]>? {
        defer { ERR_clear_error() }
        let count = sealed.count - Self.nonceBytes - Self.tagBytes
        guard count >= 0, let cipher = unsafe EVP_CIPHER_CTX_new() else { return nil }
        defer { unsafe EVP_CIPHER_CTX_free(cipher) }
        let nonce = Array(sealed.prefix(Self.nonceBytes))
        let text = Array(sealed.dropFirst(Self.nonceBytes).prefix(count))
        var tag = Array(sealed.suffix(Self.tagBytes))
        // One byte more, since OpenSSL needs a buffer even if the text is empty.
        var opened = [UInt8](repeating: 0, count: count + 1)
        var rest = [UInt8](repeating: 0, count: Self.tagBytes)
        var length: Int32 = 0
        guard unsafe EVP_DecryptInit_ex2(cipher, EVP_aes_256_gcm(), key.revealed, nonce, nil) == 1,
            unsafe EVP_DecryptUpdate(cipher, nil, &length, context, Int32(context.count)) == 1,
            unsafe EVP_DecryptUpdate(cipher, &opened, &length, text, Int32(count)) == 1,
            unsafe EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_GCM_SET_TAG, Int32(Self.tagBytes), &tag) == 1,
            unsafe EVP_DecryptFinal_ex(cipher, &rest, &length) == 1
        else { return nil }
        opened.removeLast()
        return Redacted(opened)
    }
}
