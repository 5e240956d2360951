import APNsGateway
import Basics

/// A credential with its secret, as the gateway's thread uses it.
struct APNsMaterial: Sendable {
    /// What proves our identity to Apple.
    enum Secret: Sendable {
        /// A client certificate, its chain and its key, PEM.
        case certificate(chain: [UInt8], key: Redacted<[UInt8]>)
        /// A key that signs provider tokens, PEM.
        case key(Redacted<[UInt8]>, keyID: String, teamID: String)
    }

    var credential: APNsCredential
    var secret: Secret
}
