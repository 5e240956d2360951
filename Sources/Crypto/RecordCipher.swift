import Basics
import COpenSSL

/// AES-128-GCM over records of one message: the nonce of each is the message's with the number of the record in it.
///
/// One context serves all records of a message.
@safe struct RecordCipher: ~Copyable {
    /// Bytes that a record grows by.
    static let tagBytes = 16

    private let context: OpaquePointer
    private let key: [UInt8]
    private let nonce: [UInt8]
    private var record: UInt64 = 0

    /// Fetched once: each fetch by name takes a lock.
    nonisolated(unsafe) private static let algorithm = unsafe EVP_CIPHER_fetch(nil, "AES-128-GCM", nil)

    /// A cipher with a key of 16 bytes and a nonce of 12; nil where OpenSSL has none.
    init?(key: [UInt8], nonce: [UInt8]) {
        precondition(key.count == 16 && nonce.count == 12, "AES-128-GCM takes 16 and 12 octets")
        guard unsafe Self.algorithm != nil, let context = unsafe EVP_CIPHER_CTX_new() else { return nil }
        unsafe self.context = context
        self.key = key
        self.nonce = nonce
    }

    deinit { unsafe EVP_CIPHER_CTX_free(context) }

    /// The next record, encrypted, with its tag; nil where OpenSSL fails.
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

    /// The text of the next record; nil where it is not what was sealed with this key.
    mutating func open(_ sealed: [UInt8]) -> [UInt8]? {
        defer { ERR_clear_error() }
        guard sealed.count >= Self.tagBytes else { return nil }
        let count = sealed.count - Self.tagBytes
        var tag = Array(sealed[count...])
        // One byte more, since the text may be empty and OpenSSL wants a place all the same.
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

    /// The nonce of a record: that of the message, its last eight bytes with the number of the record in them.
    private mutating func nextNonce() -> [UInt8] {
        var octets = nonce
        for at in 0..<8 { octets[11 - at] ^= UInt8(truncatingIfNeeded: record >> UInt64(8 * at)) }
        record += 1
        return octets
    }
}
