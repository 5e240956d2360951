import Basics
import Crypto
import Delivery
import Sessions
import Transport

extension WebPushFunctions {
    /// The functions of OpenSSL, with random keys and salts from the kernel.
    static let host = WebPushFunctions(
        encrypt: { keys, text in
            let sealed = WebPush.seal(
                text, publicKey: keys.publicKey, auth: keys.auth, random: SecureRandom.bytes)
            return sealed.map {
                EncryptedPayload(records: $0.records, publicKey: $0.publicKey, salt: $0.salt)
            }
        },
        isPublicKey: { P256.isPublicKey($0) },
        verifies: { P256.verifies($0, of: $1, by: $2) })
}
