import Basics
import BasicsSupport
import Crypto
import Delivery
import Sessions
import Wire

/// Web push in transcripts: real encryption, with fixed keys and salt from Fixtures/webpush/vectors.json.
enum TranscriptWebPush {
    /// The keys of the web app.
    static let keys = WebKeys(
        publicKey: bytes(
            "BCUZI_3PGkBNLlfUV_aJfJdRLKOZOVZlPeBtiAEVMef0idh2Tqe4JXmeIQBjer8BO-n8ZNMl3sU0km4BqQUSfFU="),
        auth: bytes("vfScPDiCEC_AF_-2YRCMYw=="))

    static let functions = WebPushFunctions(
        encrypt: { keys, text in
            let sealed = WebPush.seal(text, publicKey: keys.publicKey, auth: keys.auth) { count in
                bytes(
                    count == P256.privateKeyBytes
                        ? "dL-ff8vtq6A5LxCMWdj0o4s4OO-2SHc4AXG1RHXCreg=" : "Y0ea1poJCyWCd-yPum-ZQQ==")
            }
            return sealed.map {
                EncryptedPayload(records: $0.records, publicKey: $0.publicKey, salt: $0.salt)
            }
        },
        isPublicKey: { P256.isPublicKey($0) },
        verifies: { P256.verifies($0, of: $1, by: $2) })

    /// Values for transcripts: the key of an application server and tokens that it has signed, the last two invalid.
    static let values = [
        "VAPID_KEY":
            "BPFJB2JMZS140FCsEPC3FKPV2qAMeUiFJVYu3my5S2uHcD8x_uSzoiLFMCwTlLRbZ7ilF9lJgsf91zoPmdqWqgM",
        "VAPID":
            "eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL2ZjbS5nb29nbGVhcGlzLmNvbSIsImV4cCI6MTQzMDMyMTAyMSwic3ViIjoibWFpbHRvOnB1c2hAZXhhbXBsZS5vcmcifQ.KXDKcmYINq8RdQkOavcKS9_KjJa5MMlFPtVyzJKvRNk01eFK3X57KupS1nu4W98SXIbXnJKeWX7eX0gkv-zC6Q",
        "VAPID_EXPIRED":
            "eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL2ZjbS5nb29nbGVhcGlzLmNvbSIsImV4cCI6MTQzMDI3NzgyMCwic3ViIjoibWFpbHRvOnB1c2hAZXhhbXBsZS5vcmcifQ.uZttb-zfRuvjm-8dW-Vwl7EKXJUNbiRhtqg46BqLupju16HzDCCsoZsXDPS4Y0nazlWHOkIqoFiFP4-IJDGhcw",
        "VAPID_ELSEWHERE":
            "eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL3VwZGF0ZXMucHVzaC5zZXJ2aWNlcy5tb3ppbGxhLmNvbSIsImV4cCI6MTQzMDMyMTAyMSwic3ViIjoibWFpbHRvOnB1c2hAZXhhbXBsZS5vcmcifQ.Sp1uMjE_Lp7W1quV2QQngVefGvzG6id5EdaDu3gXdvNUELluC3BFq950UEgXHMcpQ3LmSGF2v07ZDgmS-JHWXg",
    ]

    /// Returns a submission of a web push.
    static func shown(_ push: Submission) -> String {
        guard case .webPush(let key) = push.entitlement else { return "\(push)" }
        let content = push.content
        return "push #\(push.requester.requestID) registration=\(push.target.number.number) "
            + "key=\(Base64.text(key, urlSafe: true, padded: false)) ttl=\(content.lifetimeSeconds)"
            + (content.priority == .high ? " high" : "")
            + (content.collapseKey.map { " topic=" + String(decoding: $0, as: UTF8.self) } ?? "")
            + " " + DeviceMessages.pairs(content.body).shown + " raw=" + rawDataShown(content.body)
    }

    /// Returns the bytes after the pairs of a body, in hexadecimal.
    static func rawDataShown(_ body: EncodedAppData) -> String {
        var message = ByteBuffer()
        message.appendField(MCS.DataMessage.Field.category, text: "")
        message.append(body)
        return Hex.text((try? MCS.DataMessage(decoding: message.bytes))?.rawData ?? [])
    }

    /// Decodes the bytes of a web push, given in hexadecimal, to follow the pairs.
    static func rawData(_ digits: [UInt8]?) -> [UInt8] {
        guard let digits, let bytes = Hex.bytes(String(decoding: digits, as: UTF8.self)) else { return [] }
        var field = ByteBuffer()
        field.appendField(MCS.DataMessage.Field.rawData, bytes: bytes)
        return field.copied()
    }

    /// Returns the refusal with a word.
    static func refusal(_ word: String) -> Refusal? {
        [
            .invalidToken, .notRegistered, .senderMismatch, .deviceRateExceeded, .unavailable,
        ].first { $0.word == word }
    }

    private static func bytes(_ text: String) -> [UInt8] { Base64.bytes(Array(text.utf8).raw) ?? [] }
}
