import Basics
import Delivery
import Wire

/// How the content of a web push is encrypted, as the headers of its request say (RFC 8291;
/// draft-ietf-webpush-encryption-04, 3).
///
/// The headers stand on the request of a web push, and on a legacy send whose JSON carries the content in `raw_data`, as
/// pywebpush writes it (http 1.2). The device needs them as pairs (mcs-device 5.7).
enum PushEncryption: Equatable {
    /// All that the device needs is in the content.
    case aes128gcm
    /// `Crypto-Key` and `Encryption` beside the content; `nil` for a header that is absent.
    case aesgcm(key: [UInt8]?, salt: [UInt8]?)

    /// Reads the headers; `nil` if `Content-Encoding` names no encryption of web push.
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

    /// The pairs, named by the headers in lower case.
    ///
    /// Throws `Refusal.conflict` for a header that is not printable ASCII of at most `Limits.WebPush.headerBytes`.
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
                reason: "Crypto-Key and Encryption have up to \(Limits.WebPush.headerBytes) printable bytes")
        }
    }
}
