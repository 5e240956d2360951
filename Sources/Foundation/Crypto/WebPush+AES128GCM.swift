import Basics

/// `aes128gcm` (RFC 8188, RFC 8291; mcs-device 7.4): the body contains all parameters.
extension WebPush {
    /// The delimiter of a record that is followed by another one.
    private static let moreFollows: UInt8 = 1
    /// The delimiter of the last record.
    private static let isLast: UInt8 = 2
    /// The length of the header: salt, record size, key length and key.
    private static let headBytes = saltBytes + 4 + 1 + P256.publicKeyBytes

    /// Decrypts a body. Returns `nil` if it is not for these keys, or is incomplete.
    public static func openBody(_ body: [UInt8], keys pair: KeyPair, auth: [UInt8]) -> [UInt8]? {
        guard auth.count == authBytes, body.count > headBytes, body.count <= Limits.MCS.frameBytes,
            Int(body[saltBytes + 4]) == P256.publicKeyBytes
        else { return nil }
        let salt = Array(body[..<saltBytes])
        let size = body[saltBytes..<saltBytes + 4].reduce(0) { $0 << 8 | Int($1) }
        // RFC 8188, 2: a record has at least one byte besides the delimiter and the tag.
        guard size >= RecordCipher.tagBytes + 2,
            let agreement = Agreement(receiver: pair, sender: Array(body[saltBytes + 5..<headBytes]))
        else { return nil }
        let keys = bodyKeys(agreement, auth: auth, salt: salt)
        guard var cipher = RecordCipher(key: keys.content, nonce: keys.nonce) else { return nil }
        var text: [UInt8] = []
        var at = headBytes
        while at < body.count {
            let end = min(at + size, body.count)
            guard let record = cipher.open(Array(body[at..<end])),
                // Zero padding follows the delimiter.
                let mark = record.lastIndex(where: { $0 != 0 })
            else { return nil }
            text += record[..<mark]
            at = end
            if record[mark] == isLast { return at == body.count ? text : nil }
            guard record[mark] == moreFollows else { return nil }
        }
        return nil
    }

    static func bodyKeys(_ agreement: Agreement, auth: [UInt8], salt: [UInt8]) -> MessageKeys {
        let secret = HKDF.derive(
            salt: auth, secret: agreement.secret,
            info: Array("WebPush: info\0".utf8) + agreement.receiver + agreement.sender, count: 32)
        return MessageKeys(
            content: HKDF.derive(
                salt: salt, secret: secret, info: Array("Content-Encoding: aes128gcm\0".utf8), count: 16),
            nonce: HKDF.derive(
                salt: salt, secret: secret, info: Array("Content-Encoding: nonce\0".utf8), count: 12))
    }
}
