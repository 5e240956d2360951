import Basics
import Crypto
import Testing
import Wire
import WireSupport

@testable import Client

/// The assertion of a service account for an access token (http 9.1).
struct ServiceAccountKeyTests {
    private static func decoded(_ text: [UInt8]) throws -> [UInt8] {
        let bytes = Base64.bytes(text.raw)
        return try #require(bytes)
    }

    private static func json(_ text: [UInt8]) throws -> JSONValue {
        let bytes = try decoded(text)
        return try JSONValue(parsing: String(decoding: bytes, as: UTF8.self))
    }

    @Test("an assertion has the account and its key ID, expires within an hour, and is signed by the key")
    func assertion() throws {
        let key = try #require(ServiceAccountKey())
        let now: UnixMilliseconds = 1_800_000_000_500
        let text = try #require(key.assertion(email: "a@b.example", keyID: "k1", now: now)).revealed
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { Array($0.utf8) }
        #expect(parts.count == 3)
        let header = try Self.json(parts[0])
        #expect(header == ["alg": "RS256", "typ": "JWT", "kid": "k1"])
        let claims = try Self.json(parts[1])
        #expect(claims["iss"]?.text == "a@b.example")
        #expect(claims["iat"]?.integer == 1_800_000_000 && claims["exp"]?.integer == 1_800_003_600)
        let signed = Array(text.utf8.prefix(parts[0].count + 1 + parts[1].count))
        let signature = try Self.decoded(parts[2])
        let publicKey = try Self.decoded(Array(key.publicKey.utf8))
        #expect(RSAKey.verifies(signature, of: signed, by: publicKey))
        #expect(!RSAKey.verifies(signature, of: signed + [0], by: publicKey), "canary")
    }
}
