import Basics
import BasicsSupport
import Crypto
import Delivery
import Foundation
import Operator

@testable import Server

/// The credentials in Fixtures/apns.
enum APNsFixtures {
    static let bundle = "com.example.app"
    static let secret = [UInt8](repeating: 5, count: 32)
    /// 2027-01-15, in the life of all certificates.
    static let now: UnixMilliseconds = 1_800_000_000_000

    /// Returns the content of a file.
    static func file(_ name: String) throws -> Redacted<[UInt8]> {
        let path = "\(PackageRoot.path)/Fixtures/apns/\(name)"
        return Redacted([UInt8](try Data(contentsOf: URL(fileURLWithPath: path))))
    }

    /// Returns the command that adds a file.
    static func command(
        _ name: String, key: String? = nil, keyID: String? = nil, team: String? = nil, bundle: String? = nil,
        sender: SenderID? = nil, environment: APNsCredentialEnvironment? = nil
    ) throws -> AddAPNsCredential {
        AddAPNsCredential(
            file: try file(name), privateKey: try key.map { try file($0) }, password: Redacted("secret"),
            keyID: keyID, team: team, bundle: bundle, sender: sender, environment: environment)
    }

    /// Returns the credential of a command.
    static func credential(_ command: AddAPNsCredential) throws -> StoredAPNsCredential {
        let file = try APNsCredentialFile.read(
            command.file, privateKey: command.privateKey, password: command.password, now: now)
        return try StoredAPNsCredential(file, for: command, now: now)
    }

    /// A certificate for both environments.
    static func universal(for sender: SenderID? = nil) throws -> StoredAPNsCredential {
        try credential(command("legacy.p12", sender: sender))
    }

    static func development() throws -> StoredAPNsCredential { try credential(command("development.p12")) }

    static func production() throws -> StoredAPNsCredential {
        try credential(command("production.pem", key: "production.key"))
    }

    /// A `.p8` key, for one app or all apps of a team.
    static func key(
        _ keyID: String = "ABC123DEFG", team: String = "TEAM123456", bundle: String? = nil,
        environment: APNsCredentialEnvironment? = nil
    ) throws -> StoredAPNsCredential {
        try credential(
            command(
                "AuthKey_ABC123DEFG.p8", keyID: keyID, team: team, bundle: bundle, environment: environment))
    }
}
