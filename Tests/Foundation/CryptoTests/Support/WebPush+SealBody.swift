public import Basics
import COpenSSL
public import Crypto

/// `aes128gcm` as application servers and browsers' push services write it (RFC 8188, RFC 8291): ccsd only decrypts it.
///
/// It shares no code with the decryption but the key agreement, so that a mistake in one of them shows.
extension WebPush {
    /// Encrypts a text for a web app. Returns `nil` if its keys are invalid.
    ///
    /// `random` returns random bytes: first for the message's key pair, then for the salt.
    public static func sealBody(
        _ text: [UInt8], publicKey: [UInt8], auth: [UInt8], random: (_ count: Int) -> [UInt8],
        recordSize: Int = Limits.Registration.webPushRecordBytes
    ) -> [UInt8]? {
        let room = recordSize - tagBytes - 1
        guard auth.count == authBytes, room > 0, let own = KeyPair(random: random),
            let secret = own.secret(with: publicKey)
        else { return nil }
        let salt = random(saltBytes)
        let material = derive(
            salt: auth, secret: secret, info: Array("WebPush: info\0".utf8) + publicKey + own.publicKey)
        let key = derive(salt: salt, secret: material, info: Array("Content-Encoding: aes128gcm\0".utf8))
        let nonce = derive(salt: salt, secret: material, info: Array("Content-Encoding: nonce\0".utf8))
        var body = salt
        for shift in [24, 16, 8, 0] { body.append(UInt8(truncatingIfNeeded: recordSize >> shift)) }
        body.append(UInt8(own.publicKey.count))
        body += own.publicKey
        var at = 0
        var record: UInt64 = 0
        repeat {
            let end = min(at + room, text.count)
            let delimiter: UInt8 = end == text.count ? 2 : 1
            // The nonce of a record is that of the message, with the record's number XORed into its end.
            let number = [0, 0, 0, 0] + (0..<8).map { UInt8(truncatingIfNeeded: record >> (56 - 8 * $0)) }
            let sealed = encrypt(
                text[at..<end] + [delimiter], key: Array(key.prefix(16)), nonce: zip(nonce, number).map(^))
            guard let sealed else { return nil }
            body += sealed
            at = end
            record += 1
        } while at < text.count
        return body
    }

    private static let tagBytes = 16

    /// HKDF with SHA-256, for 32 bytes.
    private static func derive(salt: [UInt8], secret: [UInt8], info: [UInt8]) -> [UInt8] {
        mac(mac(salt, secret), info + [1])
    }

    private static func mac(_ key: [UInt8], _ text: [UInt8]) -> [UInt8] {
        var mac = [UInt8](repeating: 0, count: 32)
        _ = HMAC(EVP_sha256(), key, Int32(key.count), text, text.count, &mac, nil)
        return mac
    }

    private static func encrypt(_ text: [UInt8], key: [UInt8], nonce: [UInt8]) -> [UInt8]? {
        guard let context = EVP_CIPHER_CTX_new() else { return nil }
        defer { EVP_CIPHER_CTX_free(context) }
        var sealed = [UInt8](repeating: 0, count: text.count)
        var tag = [UInt8](repeating: 0, count: tagBytes)
        var count: Int32 = 0
        var rest: Int32 = 0
        guard EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), nil, key, nonce) == 1,
            EVP_EncryptUpdate(context, &sealed, &count, text, Int32(text.count)) == 1,
            EVP_EncryptFinal_ex(context, &tag, &rest) == 1, count == text.count, rest == 0,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, Int32(tagBytes), &tag) == 1
        else { return nil }
        return sealed + tag
    }
}
