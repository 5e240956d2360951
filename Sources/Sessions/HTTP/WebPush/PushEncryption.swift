import Basics
import Delivery
import Wire

/// The encryption of a web push, from the headers of its request (RFC 8291; draft-ietf-webpush-encryption-04, 3).
///
/// The headers come with a web push, and with a legacy send whose JSON has the content in `raw_data`, as pywebpush writes it
/// (http 1.2). The device needs them as pairs (mcs-device 5.7).
enum PushEncryption: Equatable {
    /// The content includes all parameters.
    case aes128gcm
    /// `Crypto-Key` and `Encryption` beside the content; `nil` for a header that is absent.
    case aesgcm(key: [UInt8]?, salt: [UInt8]?)

    /// Reads the headers; `nil` if `Content-Encoding` is not an encryption of web push.
    init?(_ request: HTTPRequest) {
        guard let coding = request.header("content-encoding") else { return nil }
        if ASCII.equals(coding.raw, ignoringCase: "aes128gcm") {
            self = .aes128gcm
        } else if ASCII.equals(coding.raw, ignoringCase: "aesgcm") {
            self = .aesgcm(key: request.header("crypto-key"), salt: request.header("encryption"))
        } else {
            return nil
        }
    }

    /// Encodes the headers as pairs, with the header names in lower case as keys.
    ///
    /// Throws `Refusal.conflict` for a header that is not printable ASCII of up to `Limits.WebPush.headerBytes`.
    func pairs() throws(Refusal) -> EncodedAppData {
        var body = ByteBuffer()
        switch self {
        case .aes128gcm:
            AppData.append(key: "content-encoding", text: "aes128gcm", to: &body)
        case .aesgcm(let key, let salt):
            try Self.check(key)
            try Self.check(salt)
            if let key { AppData.append(key: "crypto-key", value: key.raw, to: &body) }
            if let salt { AppData.append(key: "encryption", value: salt.raw, to: &body) }
            AppData.append(key: "content-encoding", text: "aesgcm", to: &body)
        }
        return body.copied()
    }

    private static func check(_ text: [UInt8]?) throws(Refusal) {
        guard let text else { return }
        guard text.count <= Limits.WebPush.headerBytes, text.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else {
            throw .conflict(
                field: PayloadField.rawData.name,
                reason:
                    "expected Crypto-Key and Encryption of up to \(Limits.WebPush.headerBytes) printable ASCII characters"
            )
        }
    }
}
