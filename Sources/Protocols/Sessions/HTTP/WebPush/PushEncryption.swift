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
    func pairs() -> EncodedAppData {
        var body = ByteBuffer()
        switch self {
        case .aes128gcm:
            AppData.append(key: "content-encoding", text: "aes128gcm", to: &body)
        case .aesgcm(let key, let salt):
            if let key { AppData.append(key: "crypto-key", value: key.raw, to: &body) }
            if let salt { AppData.append(key: "encryption", value: salt.raw, to: &body) }
            AppData.append(key: "content-encoding", text: "aesgcm", to: &body)
        }
        return body.copied()
    }
}

/// The parameters without which no device can decrypt a content, whatever its keys.
///
/// A device that gets one drops it silently: only here the application server can learn of its mistake.
extension PushEncryption {
    private static let saltBytes = 16
    private static let tagBytes = 16
    /// `aes128gcm`: salt, record size, length of the key ID, and the key ID, which is a public key (RFC 8188, 2.1; RFC 8291, 4).
    private static let headBytes = saltBytes + 4 + 1 + WebKeys.publicKeyBytes
    /// The record size of `aesgcm` where `rs` is absent (draft-ietf-httpbis-encryption-encoding-02, 3.1).
    private static let usualRecordBytes = 4_096
    /// The longest decimal record size, which no calculation with it can overflow.
    private static let recordDigits = 10

    /// Throws the fault of a content that no device can decrypt, with status 400. `isPublicKey` returns whether bytes are a point on
    /// the curve; it is asked last, because it is the only costly check.
    func check(_ content: [UInt8], isPublicKey: ([UInt8]) -> Bool) throws(RequestFault) {
        switch self {
        case .aes128gcm: try Self.checkBody(content, isPublicKey)
        case .aesgcm(let key, let salt): try Self.check(key, salt, content, isPublicKey)
        }
    }

    private static func checkBody(
        _ content: [UInt8], _ isPublicKey: ([UInt8]) -> Bool
    ) throws(RequestFault) {
        guard content.count >= headBytes else {
            throw RequestFault(
                .badRequest,
                "invalid body: expected the header of aes128gcm with 86 bytes (salt, record size, 65, public key)"
            )
        }
        let size = content[saltBytes..<saltBytes + 4].reduce(0) { $0 << 8 | Int($1) }
        guard size >= tagBytes + 2 else {
            throw RequestFault(.badRequest, "invalid rs in the body: expected a record size of at least 18")
        }
        guard Int(content[saltBytes + 4]) == WebKeys.publicKeyBytes else {
            throw RequestFault(
                .badRequest, "invalid keyid in the body: expected a P-256 public key of 65 bytes")
        }
        // The last record has a delimiter and a tag.
        guard isWhole(content.count - headBytes, records: size, least: tagBytes + 1) else {
            throw RequestFault(
                .badRequest,
                "invalid body: expected records of aes128gcm after the header, the last one of at least 17 bytes"
            )
        }
        guard isPublicKey(Array(content[saltBytes + 5..<headBytes])) else {
            throw RequestFault(.badRequest, "invalid keyid in the body: the point is not on the curve P-256")
        }
    }

    private static func check(
        _ key: [UInt8]?, _ salt: [UInt8]?, _ content: [UInt8], _ isPublicKey: ([UInt8]) -> Bool
    ) throws(RequestFault) {
        guard let key, let salt else {
            throw RequestFault(.badRequest, "missing Crypto-Key or Encryption: aesgcm requires both")
        }
        guard isPrintable(key), isPrintable(salt) else {
            throw RequestFault(
                .badRequest,
                "invalid Crypto-Key or Encryption: expected up to 1,024 printable ASCII characters")
        }
        guard let text = HeaderParameters.value("salt", in: salt),
            Base64.bytes(text.raw)?.count == saltBytes
        else {
            throw RequestFault(
                .badRequest, "invalid salt in Encryption: expected 16 bytes in base64url (salt=…)")
        }
        guard let size = recordBytes(HeaderParameters.value("rs", in: salt)) else {
            throw RequestFault(.badRequest, "invalid rs in Encryption: expected a whole number from 3")
        }
        guard let text = HeaderParameters.value("dh", in: key), let point = Base64.bytes(text.raw),
            point.count == WebKeys.publicKeyBytes
        else {
            throw RequestFault(
                .badRequest, "invalid dh in Crypto-Key: expected a P-256 public key of 65 bytes in base64url")
        }
        // The last record has the length of its padding and a tag.
        guard isWhole(content.count, records: size + tagBytes, least: tagBytes + 2) else {
            throw RequestFault(
                .badRequest, "invalid body: expected records of aesgcm, the last one of at least 18 bytes")
        }
        guard isPublicKey(point) else {
            throw RequestFault(.badRequest, "invalid dh in Crypto-Key: the point is not on the curve P-256")
        }
    }

    /// Returns whether bytes consist of whole records and a last one, which may be shorter.
    private static func isWhole(_ count: Int, records size: Int, least: Int) -> Bool {
        guard count > 0 else { return false }
        let last = count % size
        return last == 0 || last >= least
    }

    /// Parses the record size of `aesgcm`, which holds more than the length of the padding.
    private static func recordBytes(_ digits: [UInt8]?) -> Int? {
        guard let digits else { return usualRecordBytes }
        guard !digits.isEmpty, digits.count <= recordDigits,
            digits.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 })
        else { return nil }
        let size = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        return size > 2 ? size : nil
    }

    private static func isPrintable(_ text: [UInt8]) -> Bool {
        text.count <= Limits.WebPush.headerBytes && text.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
    }
}
