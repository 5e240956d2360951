public import Delivery

/// Crypto functions for web push, from the host, because sessions have no crypto library and no source of randomness.
public struct WebPushFunctions: Sendable {
    /// Encrypts a text with `aesgcm` for a web app (mcs-device 7.3). Returns `nil` if that fails.
    public var encrypt: @Sendable (WebKeys, [UInt8]) -> EncryptedPayload?
    /// Returns whether bytes are an uncompressed point on the curve P-256: with any other public key nothing can be encrypted or
    /// decrypted.
    public var isPublicKey: @Sendable ([UInt8]) -> Bool
    /// Returns whether an ES256 signature over a text matches a public key.
    public var verifies: @Sendable (_ signature: [UInt8], _ text: [UInt8], _ publicKey: [UInt8]) -> Bool

    public init(
        encrypt: @escaping @Sendable (WebKeys, [UInt8]) -> EncryptedPayload?,
        isPublicKey: @escaping @Sendable ([UInt8]) -> Bool,
        verifies: @escaping @Sendable (_ signature: [UInt8], _ text: [UInt8], _ publicKey: [UInt8]) -> Bool
    ) {
        self.encrypt = encrypt
        self.isPublicKey = isPublicKey
        self.verifies = verifies
    }

    /// Rejects all keys and signatures, for use without a crypto library.
    public static let none = WebPushFunctions(
        encrypt: { _, _ in nil }, isPublicKey: { _ in false }, verifies: { _, _, _ in false })
}

/// A message that is encrypted for a web app.
public struct EncryptedPayload: Sendable, Equatable {
    /// The value of `raw_data`.
    public var records: [UInt8]
    /// The ephemeral public key, for `crypto-key`.
    public var publicKey: [UInt8]
    /// The salt, for `encryption`.
    public var salt: [UInt8]

    public init(records: [UInt8], publicKey: [UInt8], salt: [UInt8]) {
        self.records = records
        self.publicKey = publicKey
        self.salt = salt
    }
}
