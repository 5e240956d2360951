public import Delivery

/// What web push needs of a crypto library, from the host: sessions know none, and draw no randomness.
public struct WebPushFunctions: Sendable {
    /// Encrypts a text in `aesgcm` for a web app; nil where it cannot be (mcs-device 7.3).
    public var encrypt: @Sendable (WebKeys, [UInt8]) -> EncryptedPayload?
    /// Whether keys can be encrypted for: their point lies on the curve.
    public var isUsable: @Sendable (WebKeys) -> Bool
    /// Whether a signature is that of a public key over a text (ES256).
    public var verifies: @Sendable (_ signature: [UInt8], _ text: [UInt8], _ publicKey: [UInt8]) -> Bool

    /// Functions of the caller's.
    public init(
        encrypt: @escaping @Sendable (WebKeys, [UInt8]) -> EncryptedPayload?,
        isUsable: @escaping @Sendable (WebKeys) -> Bool,
        verifies: @escaping @Sendable (_ signature: [UInt8], _ text: [UInt8], _ publicKey: [UInt8]) -> Bool
    ) {
        self.encrypt = encrypt
        self.isUsable = isUsable
        self.verifies = verifies
    }

    /// Without a crypto library no keys are usable and no signature is right.
    public static let none = WebPushFunctions(
        encrypt: { _, _ in nil }, isUsable: { _ in false }, verifies: { _, _, _ in false })
}

/// A message that only a web app can read.
public struct EncryptedPayload: Sendable, Equatable {
    /// What goes into `raw_data`.
    public var records: [UInt8]
    /// The public key made for this message: what `crypto-key` tells.
    public var publicKey: [UInt8]
    /// What `encryption` tells.
    public var salt: [UInt8]

    /// A message; all parts are the caller's.
    public init(records: [UInt8], publicKey: [UInt8], salt: [UInt8]) {
        self.records = records
        self.publicKey = publicKey
        self.salt = salt
    }
}
