import ClientProtocol
import Delivery
import Wire

/// Substitutes for the cryptographic functions of SCRAM.
extension SimulatedHost {
    /// Substitute for SHA-256 and HMAC.
    static let scram = SCRAM.Functions(
        hash: { digest($0).bytes }, authenticate: { key, text in digest(key + [0] + text).bytes })

    /// The functions of an app server.
    static let scramClient = SCRAMClient.Functions(
        digests: scram, stretch: { password, salt, _ in salted(password, salt) })

    /// Substitute for PBKDF2.
    private static func salted(_ password: [UInt8], _ salt: [UInt8]) -> [UInt8] {
        digest(salt + [1] + password).bytes
    }

    /// The channel binding data of every connection.
    static let binding: [UInt8] = Array("exported".utf8)

    /// The verifier that the server stores for a password.
    static func verifier(_ password: [UInt8]) -> SCRAMVerifier {
        let salt = Array(digest(password).bytes.prefix(16))
        let keys = scram.keys(saltedPassword: salted(password, salt))
        return SCRAMVerifier(storedKey: keys.stored, serverKey: keys.server, salt: salt, iterations: 4_096)
    }
}
