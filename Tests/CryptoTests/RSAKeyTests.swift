import Basics
import COpenSSL
import Testing

@testable import Crypto

/// RS256, against the example of RFC 7515 and against what is changed.
struct RSAKeyTests {
    /// A key pair for all tests: making one takes a while.
    private static let pair = RSAKey.make(bits: Limits.accountKeyBits)

    /// Signs as an SDK does, with the private half as it stands in a key file.
    static func sign(_ text: [UInt8], with privateKey: String) -> [UInt8]? {
        let octets = Array(privateKey.utf8)
        guard let input = unsafe BIO_new_mem_buf(octets, Int32(octets.count)) else { return nil }
        defer { unsafe BIO_free(input) }
        guard let key = unsafe PEM_read_bio_PrivateKey(input, nil, nil, nil),
            let context = unsafe EVP_MD_CTX_new()
        else { return nil }
        defer {
            unsafe EVP_PKEY_free(key)
            unsafe EVP_MD_CTX_free(context)
        }
        var length = 512
        var signature = [UInt8](repeating: 0, count: length)
        guard unsafe EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1,
            unsafe EVP_DigestSign(context, &signature, &length, text, text.count) == 1
        else { return nil }
        return Array(signature[..<length])
    }

    @Test("what the private half signs, the public half knows; whatever is changed is noticed")
    func roundTrip() throws {
        let pair = try #require(Self.pair)
        #expect(pair.privateKey.revealed.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
        #expect("\(pair)".contains("BEGIN") == false, "the private half never shows")
        let text = Array("header.claims".utf8)
        let signature = try #require(Self.sign(text, with: pair.privateKey.revealed))
        #expect(RSAKey.verifies(signature, of: text, by: pair.publicKey))
        for at in stride(from: 0, to: signature.count, by: 17) {
            var other = signature
            other[at] ^= 1
            #expect(!RSAKey.verifies(other, of: text, by: pair.publicKey), "octet \(at) of the signature")
        }
        for at in text.indices {
            var other = text
            other[at] ^= 1
            #expect(!RSAKey.verifies(signature, of: other, by: pair.publicKey), "octet \(at) of the text")
        }
        for other in [[], Array(signature.dropLast()), signature + [0]] {
            #expect(!RSAKey.verifies(other, of: text, by: pair.publicKey))
        }
        let second = try #require(RSAKey.make(bits: Limits.accountKeyBits))
        #expect(second.publicKey != pair.publicKey)
        #expect(!RSAKey.verifies(signature, of: text, by: second.publicKey))
    }

    @Test("only RSA keys of the right length are public keys")
    func publicKeys() throws {
        let pair = try #require(Self.pair)
        #expect(RSAKey.isPublicKey(pair.publicKey, bits: Limits.accountKeyBits))
        #expect(!RSAKey.isPublicKey(pair.publicKey, bits: 3_072))
        #expect(!RSAKey.isPublicKey(pair.publicKey + [0], bits: Limits.accountKeyBits))
        #expect(!RSAKey.isPublicKey(Array(pair.publicKey.dropLast()), bits: Limits.accountKeyBits))
        #expect(!RSAKey.isPublicKey([], bits: Limits.accountKeyBits))
        let small = try #require(RSAKey.make(bits: 1_024))
        #expect(!RSAKey.isPublicKey(small.publicKey, bits: Limits.accountKeyBits))
    }
}
