import Basics
import Testing

@testable import Crypto

/// RS256 against the example of RFC 7515 and against changed signatures.
struct RSAKeyTests {
    /// A key pair for all tests, since generating one is slow.
    private static let pair = RSAKey.make(bits: Limits.Operator.accountKeyBits)

    @Test("the public key verifies signatures of the private key, and refuses changed ones")
    func roundTrip() throws {
        let pair = try #require(Self.pair)
        #expect(pair.privateKey.revealed.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
        #expect("\(pair)".contains("BEGIN") == false, "the private key is redacted")
        let text = Array("header.claims".utf8)
        let signature = try #require(RSAKey.signature(of: text, by: pair.privateKey))
        #expect(RSAKey.verifies(signature, of: text, by: pair.publicKey))
        for at in stride(from: 0, to: signature.count, by: 17) {
            var other = signature
            other[at] ^= 1
            #expect(!RSAKey.verifies(other, of: text, by: pair.publicKey), "byte \(at) of the signature")
        }
        for at in text.indices {
            var other = text
            other[at] ^= 1
            #expect(!RSAKey.verifies(signature, of: other, by: pair.publicKey), "byte \(at) of the text")
        }
        for other in [[], Array(signature.dropLast()), signature + [0]] {
            #expect(!RSAKey.verifies(other, of: text, by: pair.publicKey))
        }
        let second = try #require(RSAKey.make(bits: Limits.Operator.accountKeyBits))
        #expect(second.publicKey != pair.publicKey)
        #expect(!RSAKey.verifies(signature, of: text, by: second.publicKey))
    }

    @Test("signing fails without a private RSA key")
    func noKey() throws {
        let pair = try #require(Self.pair)
        let whole = pair.privateKey.revealed
        for other in ["", "x", String(whole.dropLast(200)), Base64.text(pair.publicKey)] {
            #expect(RSAKey.signature(of: [1], by: Redacted(other)) == nil)
        }
    }

    @Test("only RSA keys of the right length are public keys")
    func publicKeys() throws {
        let pair = try #require(Self.pair)
        #expect(RSAKey.isPublicKey(pair.publicKey, bits: Limits.Operator.accountKeyBits))
        #expect(!RSAKey.isPublicKey(pair.publicKey, bits: 3_072))
        #expect(!RSAKey.isPublicKey(pair.publicKey + [0], bits: Limits.Operator.accountKeyBits))
        #expect(!RSAKey.isPublicKey(Array(pair.publicKey.dropLast()), bits: Limits.Operator.accountKeyBits))
        #expect(!RSAKey.isPublicKey([], bits: Limits.Operator.accountKeyBits))
        let small = try #require(RSAKey.make(bits: 1_024))
        #expect(!RSAKey.isPublicKey(small.publicKey, bits: Limits.Operator.accountKeyBits))
    }
}
