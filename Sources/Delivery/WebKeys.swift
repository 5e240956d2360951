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
}
