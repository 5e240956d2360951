package import Basics
import Crypto

/// The key of a service account, made where the file for it is written: its private half goes nowhere else (http 9.2).
package struct ServiceAccountKey: Sendable {
    /// PEM of PKCS #8, a secret.
    package let privateKey: Redacted<String>
    /// Base64 of the public half: what the daemon is told.
    package let publicKey: String

    /// A fresh key; nil where none can be made.
    package init?() {
        guard let pair = RSAKey.make(bits: Limits.accountKeyBits) else { return nil }
        privateKey = pair.privateKey
        publicKey = Base64.text(pair.publicKey)
    }
}
