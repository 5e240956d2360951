import Basics
public import ClientProtocol
import Crypto
import Transport

/// A web app on a device: its keys, and what it reads with them (mcs-device 7).
public struct WebApp: Sendable {
    private let keys: KeyPair
    /// `auth` of its subscription.
    public let auth: [UInt8]
    /// `X-subtype` of its registration, by which its messages are known.
    public let subtype: String

    /// `p256dh` of its subscription: a point that is not compressed.
    public var publicKey: [UInt8] { keys.publicKey }
    /// The number that belongs to it, a secret.
    public var privateKey: [UInt8] { keys.privateKey }

    /// The application server's key that libraries register with when they have none of their own (mcs-device 5.2).
    public static let usualKey =
        "BDOU99-h67HcA6JeFXHbSNMu7e2yNNu3RzoMj8TM4W88jITfq7ZmPvIM1Iv-4_l2LxQcYwhqby2xGpWwzjfAnG4"

    /// A known web app; nil where the keys are none.
    public init?(subtype: String, privateKey: [UInt8], auth: [UInt8]) {
        guard auth.count == WebPush.authBytes, let keys = KeyPair(privateKey: privateKey) else { return nil }
        self.subtype = subtype
        self.keys = keys
        self.auth = auth
    }

    /// A new web app with fresh keys; nil where the kernel gives no randomness.
    public init?(subtype: String) {
        guard let keys = KeyPair(random: SecureRandom.bytes) else { return nil }
        self.init(
            subtype: subtype, privateKey: keys.privateKey, auth: SecureRandom.bytes(WebPush.authBytes))
    }

    /// What a message says to this web app; nil where it is not encrypted for it.
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

    /// The bytes of one of the parameters of a header, which stand between semicolons or commas.
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
