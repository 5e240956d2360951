import Basics
import COpenSSL

/// AES-128-GCM over the records of one message; each nonce is the message's nonce XORed with the record number.
///
/// One context serves all records of a message.
@safe struct RecordCipher: ~Copyable {
    /// The length of the tag that encryption appends to a record.
    static let tagBytes = 16

    private let context: OpaquePointer
    private let key: [UInt8]
    private let nonce: [UInt8]
    private var record: UInt64 = 0

    /// Fetched once, since each fetch by name takes a lock.
    nonisolated(unsafe) private static let algorithm = unsafe EVP_CIPHER_fetch(nil, "AES-128-GCM", nil)

    /// Creates a cipher with a key of 16 bytes and a nonce of 12. Returns `nil` if OpenSSL fails.
    init?(key: [UInt8], nonce: [UInt8]) {
        precondition(key.count == 16 && nonce.count == 12, "invalid key or nonce: expected 16 and 12 bytes")
        guard unsafe Self.algorithm != nil, let context = unsafe EVP_CIPHER_CTX_new() else { return nil }
        unsafe self.context = context
        self.key = key
        self.nonce = nonce
    }

    deinit { unsafe EVP_CIPHER_CTX_free(context) }

    /// Encrypts the next record and appends its tag. Returns `nil` if OpenSSL fails.
    mutating func seal(_ text: [UInt8]) -> [UInt8]? {
        var sealed = [UInt8](repeating: 0, count: text.count + Self.tagBytes)
        var length: Int32 = 0
        var rest: Int32 = 0
        let isDone = unsafe sealed.withUnsafeMutableBufferPointer { room in
            guard let start = room.baseAddress else { return false }
            return unsafe EVP_EncryptInit_ex2(context, Self.algorithm, key, nextNonce(), nil) == 1
                && EVP_EncryptUpdate(context, start, &length, text, Int32(text.count)) == 1
                && EVP_EncryptFinal_ex(context, start + Int(length), &rest) == 1
                && EVP_CIPHER_CTX_ctrl(
                    context, EVP_CTRL_GCM_GET_TAG, Int32(Self.tagBytes), start + text.count) == 1
        }
        return isDone && Int(length + rest) == text.count ? sealed : nil
    }

    /// Decrypts the next record. Returns `nil` if its tag is not valid for this key.
    mutating func open(_ sealed: [UInt8]) -> [UInt8]? {
        defer { ERR_clear_error() }
        guard sealed.count >= Self.tagBytes else { return nil }
        let count = sealed.count - Self.tagBytes
        var tag = Array(sealed[count...])
        // One byte more, since OpenSSL needs a buffer even if the text is empty.
        var text = [UInt8](repeating: 0, count: count + 1)
        var length: Int32 = 0
        var rest: Int32 = 0
        let isDone = unsafe text.withUnsafeMutableBufferPointer { room in
            guard let start = room.baseAddress else { return false }
            return unsafe EVP_DecryptInit_ex2(context, Self.algorithm, key, nextNonce(), nil) == 1
                && EVP_DecryptUpdate(context, start, &length, sealed, Int32(count)) == 1
                && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_TAG, Int32(Self.tagBytes), &tag) == 1
                && EVP_DecryptFinal_ex(context, start + Int(length), &rest) == 1
        }
        guard isDone, Int(length + rest) == count else { return nil }
        text.removeLast()
        return text
    }

    /// Returns the nonce of the next record: the message's nonce, its last eight bytes XORed with the record number.
    private mutating func nextNonce() -> [UInt8] {
        var bytes = nonce
        for at in 0..<8 { bytes[11 - at] ^= UInt8(truncatingIfNeeded: record >> UInt64(8 * at)) }
        record += 1
        return bytes
    }
}
