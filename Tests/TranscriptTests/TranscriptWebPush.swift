import Basics
import Crypto
import Delivery
import Sessions

/// Web push in transcripts: real encryption, with the keys and the salt of Fixtures/webpush/vectors.json for chance.
enum TranscriptWebPush {
    /// The keys of the web app.
    static let keys = WebKeys(
        publicKey: octets(
            "BCUZI_3PGkBNLlfUV_aJfJdRLKOZOVZlPeBtiAEVMef0idh2Tqe4JXmeIQBjer8BO-n8ZNMl3sU0km4BqQUSfFU="),
        auth: octets("vfScPDiCEC_AF_-2YRCMYw=="))

    static let functions = WebPushFunctions(
        encrypt: { keys, text in
            let sealed = WebPush.seal(text, publicKey: keys.publicKey, auth: keys.auth) { count in
                octets(
                    count == P256.privateKeyBytes
                        ? "dL-ff8vtq6A5LxCMWdj0o4s4OO-2SHc4AXG1RHXCreg=" : "Y0ea1poJCyWCd-yPum-ZQQ==")
            }
            return sealed.map {
                EncryptedPayload(records: $0.records, publicKey: $0.publicKey, salt: $0.salt)
            }
        },
        isUsable: { WebPush.isUsable(publicKey: $0.publicKey, auth: $0.auth) },
        verifies: { P256.verifies($0, of: $1, by: $2) })

    private static func octets(_ text: String) -> [UInt8] { Base64.bytes(Array(text.utf8).raw) ?? [] }
}
