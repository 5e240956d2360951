import Basics

/// The keys that messages to a web app are encrypted with: the subscription's public key and its secret (mcs-device 7.3).
public struct WebKeys: Sendable, Equatable {
    /// Length of an uncompressed P-256 point in bytes.
    public static let publicKeyBytes = 65
    /// Length of the secret in bytes.
    public static let authBytes = 16

    /// `p256dh`: an uncompressed P-256 point. The caller has checked that it lies on the curve.
    public let publicKey: [UInt8]
    /// `auth`: the secret that the browser shares with those that encrypt.
    public let auth: [UInt8]

    /// Creates keys. Returns `nil` if a length is wrong or the point is compressed.
    public init?(publicKey: [UInt8], auth: [UInt8]) {
        guard publicKey.count == Self.publicKeyBytes, publicKey[0] == 4, auth.count == Self.authBytes else {
            return nil
        }
        self.publicKey = publicKey
        self.auth = auth
    }

    /// Whether a text has the form of an application server's public key: an uncompressed P-256 point in Base64.
    static func isPoint(_ text: some Collection<UInt8>) -> Bool {
        let point = Base64.bytes(Array(text).raw)
        return point?.count == publicKeyBytes && point?.first == 0x04
    }

    /// Compares in constant time, since presenting the keys of a subscription proves possession of its secret.
    public static func == (a: Self, b: Self) -> Bool {
        ConstantTime.equal(a.publicKey, b.publicKey) && ConstantTime.equal(a.auth, b.auth)
    }
}
