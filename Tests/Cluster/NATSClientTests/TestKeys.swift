import Basics
import Crypto
import Foundation
import Wire

@testable import NATSClient

/// A key of NATS with its seed, as `nk -gen` makes it.
struct TestKey {
    enum Kind: UInt8 {
        case operatorKey = 0x70
        case account = 0x00
        case user = 0xA0
    }

    let seed: [UInt8]
    let publicKey: String
    private let key: Ed25519Key

    init?(_ kind: Kind, _ secret: UInt8) {
        let bytes = [UInt8](repeating: secret, count: Ed25519Key.seedBytes)
        guard let key = Ed25519Key(seed: bytes) else { return nil }
        self.key = key
        let prefix = [UInt8(18 << 3) | kind.rawValue >> 5, (kind.rawValue & 31) << 3]
        seed = Array(Self.text(prefix + bytes).utf8)
        publicKey = Self.text([kind.rawValue] + key.publicKey)
    }

    private static func text(_ bytes: [UInt8]) -> String {
        let sum = CRC16.checksum(bytes[...])
        return Base32.text(bytes + [UInt8(truncatingIfNeeded: sum), UInt8(sum >> 8)])
    }

    /// A JWT of NATS about another key, signed by this one.
    func token(about subject: String, name: String, _ claims: JSONValue) -> String {
        func encoded(_ value: JSONValue) -> String {
            Base64.text(Array(value.compact.utf8), urlSafe: true, padded: false)
        }
        let head = encoded(.object([.init("typ", "JWT"), .init("alg", "ed25519-nkey")]))
        let body = encoded(
            .object([
                .init("jti", .string(name)), .init("iat", .integer(Int(Date().timeIntervalSince1970) - 60)),
                .init("iss", .string(publicKey)), .init("name", .string(name)),
                .init("sub", .string(subject)), .init("nats", claims),
            ]))
        let signature = key.signature(of: Array("\(head).\(body)".utf8))
        return "\(head).\(body).\(Base64.text(signature, urlSafe: true, padded: false))"
    }
}

/// An operator with one account and one user, as `nsc` makes them.
struct TestOperator {
    let account: TestKey
    let user: TestKey
    /// The configuration of a server that trusts the operator.
    let configuration: String
    /// The user's JWT.
    let token: String

    init?() {
        guard let operatorKey = TestKey(.operatorKey, 1), let account = TestKey(.account, 2),
            let user = TestKey(.user, 3)
        else { return nil }
        self.account = account
        self.user = user
        let own = operatorKey.token(
            about: operatorKey.publicKey, name: "operator", ["type": "operator", "version": 2])
        let unlimited: JSONValue = [
            "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true,
            "conn": -1, "leaf": -1,
        ]
        let issued = operatorKey.token(
            about: account.publicKey, name: "account",
            ["type": "account", "version": 2, "limits": unlimited])
        token = account.token(
            about: user.publicKey, name: "user",
            ["type": "user", "version": 2, "subs": -1, "data": -1, "payload": -1])
        configuration = """
            operator: "\(own)"
            resolver: MEMORY
            resolver_preload: { \(account.publicKey): "\(issued)" }
            """
    }

    /// A credentials file with this seed.
    func file(seed: [UInt8]) -> [UInt8] {
        let lines = [
            "-----BEGIN NATS USER JWT-----", token, "------END NATS USER JWT------", "",
            "************************* IMPORTANT *************************", "",
            "-----BEGIN USER NKEY SEED-----", String(decoding: seed, as: UTF8.self),
            "------END USER NKEY SEED------", "",
        ]
        return Array(lines.joined(separator: "\n").utf8)
    }
}
