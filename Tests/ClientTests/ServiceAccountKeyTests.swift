import Basics
import Crypto
import Testing
import Wire

@testable import Client

/// What a service account signs to get an access token (http 9.1).
struct ServiceAccountKeyTests {
    @Test("an assertion names the account and its key, ends within the hour, and is signed by the key")
    func assertion() throws {
        let key = try #require(ServiceAccountKey())
        let now: UnixMilliseconds = 1_800_000_000_500
        let text = try #require(key.assertion(email: "a@b.example", keyID: "k1", now: now)).revealed
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { Array($0.utf8) }
        #expect(parts.count == 3)
        let header = try JSONValue(parsing: #require(Base64.bytes(parts[0].raw)).raw)
        #expect(header == ["alg": "RS256", "typ": "JWT", "kid": "k1"])
        let claims = try JSONValue(parsing: #require(Base64.bytes(parts[1].raw)).raw)
        #expect(claims["iss"]?.text == "a@b.example")
        #expect(claims["iat"]?.integer == 1_800_000_000 && claims["exp"]?.integer == 1_800_003_600)
        let signed = Array(text.utf8.prefix(parts[0].count + 1 + parts[1].count))
        let signature = try #require(Base64.bytes(parts[2].raw))
        let publicKey = try #require(Base64.bytes(Array(key.publicKey.utf8).raw))
        #expect(RSAKey.verifies(signature, of: signed, by: publicKey))
        #expect(!RSAKey.verifies(signature, of: signed + [0], by: publicKey), "canary")
    }
}
