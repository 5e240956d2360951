import Basics

/// What the messages to a web app are encrypted with: the subscription's public key and its secret (mcs-device 7.3).
public struct WebKeys: Sendable, Equatable {
    /// Octets of a P-256 point that is not compressed.
    public static let publicKeyBytes = 65
    /// Octets of the secret.
    public static let authBytes = 16

    /// `p256dh`: a P-256 point, not compressed. That it lies on the curve is looked at before it comes here.
    public let publicKey: [UInt8]
    /// `auth`: the secret that the browser shares with those who encrypt.
    public let auth: [UInt8]

    /// Keys of the right form; nil for any other length, or a point of another form.
    public init?(publicKey: [UInt8], auth: [UInt8]) {
        guard publicKey.count == Self.publicKeyBytes, publicKey[0] == 4, auth.count == Self.authBytes else {
            return nil
        }
        self.publicKey = publicKey
        self.auth = auth
    }

    /// Whether a text can be the public key of an application server: an uncompressed point of P-256 in Base64.
    static func isPoint(_ text: some Collection<UInt8>) -> Bool {
        let point = Base64.bytes(Array(text).raw)
        return point?.count == publicKeyBytes && point?.first == 0x04
    }

    /// In constant time: who shows the keys of a subscription proves to know its secret.
    public static func == (a: Self, b: Self) -> Bool {
        ConstantTime.equal(a.publicKey, b.publicKey) && ConstantTime.equal(a.auth, b.auth)
    }
}
