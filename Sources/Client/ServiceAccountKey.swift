public import Basics
import Crypto
import Wire

/// The key of a service account, made where the file for it is written: its private half goes nowhere else (http 9.2).
public struct ServiceAccountKey: Sendable {
    /// PEM of PKCS #8, a secret.
    public let privateKey: Redacted<String>
    /// Base64 of the public half: what the daemon is told.
    public let publicKey: String

    /// A fresh key; nil where none can be made.
    public init?() {
        guard let pair = RSAKey.make(bits: Limits.Operator.accountKeyBits) else { return nil }
        privateKey = pair.privateKey
        publicKey = Base64.text(pair.publicKey)
    }

    /// What is exchanged for an access token: a JWT that the account signs, good for an hour (RFC 7523; http 9.1). `now` is in
    /// milliseconds since 1970; nil where OpenSSL cannot sign.
    public func assertion(email: String, keyID: String, now: UnixMilliseconds) -> Redacted<String>? {
        let seconds = Int(now / 1_000)
        let header = JSONValue.object([
            .init("alg", "RS256"), .init("typ", "JWT"), .init("kid", .string(keyID)),
        ])
        let claims = JSONValue.object([
            .init("iss", .string(email)), .init("aud", "https://oauth2.googleapis.com/token"),
            .init("iat", .integer(seconds)), .init("exp", .integer(seconds + Limits.HTTP.accessTokenSeconds)),
            .init("scope", "https://www.googleapis.com/auth/firebase.messaging"),
        ])
        let text = Self.base64(Array(header.compact.utf8)) + "." + Self.base64(Array(claims.compact.utf8))
        guard let signature = RSAKey.signature(of: Array(text.utf8), by: privateKey) else { return nil }
        return Redacted(text + "." + Self.base64(signature))
    }

    private static func base64(_ octets: [UInt8]) -> String {
        Base64.text(octets, urlSafe: true, padded: false)
    }
}
