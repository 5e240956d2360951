import Basics
public import ClientProtocol
import Crypto
import Transport

/// A web app on a device: its keys, and the decryption of its messages (mcs-device 7).
public struct WebApp: Sendable {
    private let keys: KeyPair
    /// The `auth` secret of the subscription.
    public let auth: [UInt8]
    /// The `X-subtype` of the registration, which identifies the app's messages.
    public let subtype: String

    /// The `p256dh` key of the subscription: an uncompressed point.
    public var publicKey: [UInt8] { keys.publicKey }
    /// The private key, a secret.
    public var privateKey: [UInt8] { keys.privateKey }

    /// The application server key that libraries register with by default (mcs-device 5.2).
    public static let usualKey =
        "BDOU99-h67HcA6JeFXHbSNMu7e2yNNu3RzoMj8TM4W88jITfq7ZmPvIM1Iv-4_l2LxQcYwhqby2xGpWwzjfAnG4"

    /// Creates a web app with existing keys. Returns `nil` if they are invalid.
    public init?(subtype: String, privateKey: [UInt8], auth: [UInt8]) {
        guard auth.count == WebPush.authBytes, let keys = KeyPair(privateKey: privateKey) else { return nil }
        self.subtype = subtype
        self.keys = keys
        self.auth = auth
    }

    /// Creates a web app with new keys. Returns `nil` if the random bytes yield no key.
    public init?(subtype: String) {
        guard let keys = KeyPair(random: SecureRandom.bytes) else { return nil }
        self.init(
            subtype: subtype, privateKey: keys.privateKey, auth: SecureRandom.bytes(WebPush.authBytes))
    }

    /// Decrypts a message. Returns `nil` if it is not encrypted for this web app.
    public func open(_ message: DeviceMessage) -> [UInt8]? {
        if message["content-encoding"] == Array("aes128gcm".utf8) {
            return WebPush.openBody(message.rawData, keys: keys, auth: auth)
        }
        guard let key = Self.parameter("dh=", of: message["crypto-key"]),
            let salt = Self.parameter("salt=", of: message["encryption"])
        else { return nil }
        return WebPush.open(
            WebPush.Sealed(records: message.rawData, publicKey: key, salt: salt), keys: keys, auth: auth)
    }

    /// Returns the decoded value of a header parameter; parameters are separated by semicolons or commas.
    private static func parameter(_ name: StaticString, of header: [UInt8]?) -> [UInt8]? {
        let length = name.utf8CodeUnitCount
        for part in (header ?? []).split(whereSeparator: { $0 == 0x3B || $0 == 0x2C || $0 == 0x20 }) {
            let part = Array(part)
            guard part.count > length, part.raw.extracting(0..<length).equals(name) else { continue }
            return Base64.bytes(Array(part[length...]).raw)
        }
        return nil
    }
}
