import Basics
import Testing

@testable import Crypto

/// ES256 against the examples of RFC 7515 and RFC 8292.
struct SignatureTests {
    @Test func signaturesOfTheRFCsVerify() throws {
        for vector in try Vectors().signatures() {
            let text = Array(try vector.text("text").utf8)
            let (key, signature) = (try vector.bytes("public"), try vector.bytes("signature"))
            let source = try vector.text("source")
            #expect(P256.verifies(signature, of: text, by: key), "\(source)")
        }
    }

    @Test func changedInputIsRefused() throws {
        let all = try Vectors().signatures()
        let vector = try #require(all.last)
        let text = Array(try vector.text("text").utf8)
        let (key, signature) = (try vector.bytes("public"), try vector.bytes("signature"))
        for at in signature.indices {
            var other = signature
            other[at] ^= 1
            #expect(!P256.verifies(other, of: text, by: key), "byte \(at) of the signature")
        }
        for at in text.indices {
            var other = text
            other[at] ^= 1
            #expect(!P256.verifies(signature, of: other, by: key), "byte \(at) of the text")
        }
        #expect(!P256.verifies(signature, of: text, by: try all[0].bytes("public")))
    }

    @Test func signaturesOfAnotherLengthAreRefused() throws {
        let vector = try #require(try Vectors().signatures().last)
        let text = Array(try vector.text("text").utf8)
        let (key, signature) = (try vector.bytes("public"), try vector.bytes("signature"))
        for other in [[], Array(signature.dropLast()), signature + [0], [UInt8](repeating: 0, count: 64)] {
            #expect(!P256.verifies(other, of: text, by: key))
        }
        #expect(!P256.verifies(signature, of: text, by: Array(key.dropLast())))
        #expect(!P256.verifies(signature, of: [], by: key))
    }
}
