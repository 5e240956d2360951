import Basics
import CryptoSupport
import Testing

@testable import Crypto

/// Both encodings against published vectors, in both directions, and against invalid input.
struct WebPushTests {
    let receiver: KeyPair
    let auth = [UInt8](repeating: 9, count: 16)

    init() throws {
        var random = FixedBytes()
        receiver = try #require(KeyPair { random.take($0) })
    }

    /// Encrypts with a key and salt that differ for each `start`.
    func seal(_ text: [UInt8], start: UInt8 = 77) throws -> WebPush.Sealed {
        var random = FixedBytes(next: start)
        return try #require(
            WebPush.seal(text, publicKey: receiver.publicKey, auth: auth) { random.take($0) })
    }

    func sealBody(_ text: [UInt8], recordSize: Int = 4_096) throws -> [UInt8] {
        var random = FixedBytes(next: 78)
        return try #require(
            WebPush.sealBody(
                text, publicKey: receiver.publicKey, auth: auth, random: { random.take($0) },
                recordSize: recordSize))
    }

    @Test func aesgcmMatchesTheVector() throws {
        let vector = try Vectors().group("aesgcm")
        var random = FixedBytes(given: [try vector.bytes("as_private"), try vector.bytes("salt")])
        let sealed = try #require(
            WebPush.seal(
                Array(try vector.text("plaintext").utf8), publicKey: try vector.bytes("ua_public"),
                auth: try vector.bytes("auth")
            ) { random.take($0) })
        #expect(sealed.publicKey == (try vector.bytes("as_public")))
        #expect(sealed.salt == (try vector.bytes("salt")))
        #expect(sealed.records == (try vector.hex("raw_data")))
        let pair = try #require(KeyPair(privateKey: try vector.bytes("ua_private")))
        #expect(pair.publicKey == (try vector.bytes("ua_public")))
        #expect(pair.secret(with: sealed.publicKey) == (try vector.hex("ecdh")))
        let opened = WebPush.open(sealed, keys: pair, auth: try vector.bytes("auth"))
        #expect(opened == Array(try vector.text("plaintext").utf8))
    }

    @Test func aes128gcmMatchesTheRFC() throws {
        let vector = try Vectors().group("aes128gcm")
        var random = FixedBytes(given: [try vector.bytes("as_private"), try vector.bytes("salt")])
        let body = try #require(
            WebPush.sealBody(
                Array(try vector.text("plaintext").utf8), publicKey: try vector.bytes("ua_public"),
                auth: try vector.bytes("auth"), random: { random.take($0) }))
        #expect(body == (try vector.bytes("body")))
        let pair = try #require(KeyPair(privateKey: try vector.bytes("ua_private")))
        #expect(pair.publicKey == (try vector.bytes("ua_public")))
        let opened = WebPush.openBody(body, keys: pair, auth: try vector.bytes("auth"))
        #expect(opened == Array(try vector.text("plaintext").utf8))
    }

    @Test(arguments: [0, 1, 15, 16, 17, 4_093, 4_094, 4_095, 8_187, 8_188, 8_189, 20_000])
    func allLengthsAreDecrypted(_ length: Int) throws {
        let text = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ length) }
        let sealed = try seal(text)
        // Two bytes and the tag for each record, and the last record shorter than a full one.
        #expect(sealed.records.count == length + (length / 4_094 + 1) * 18)
        #expect(WebPush.open(sealed, keys: receiver, auth: auth) == text)
        #expect(WebPush.openBody(try sealBody(text), keys: receiver, auth: auth) == text)
        #expect(WebPush.openBody(try sealBody(text, recordSize: 64), keys: receiver, auth: auth) == text)
    }

    /// Canary: a decryption without a check of tag, salt or key passes the vectors and fails here.
    @Test func eachFlippedBitIsDetected() throws {
        let sealed = try seal(Array("only for you".utf8))
        for at in sealed.records.indices {
            var other = sealed
            other.records[at] ^= 1 << UInt8(at % 8)
            #expect(WebPush.open(other, keys: receiver, auth: auth) == nil, "byte \(at) of the records")
        }
        for at in sealed.salt.indices {
            var other = sealed
            other.salt[at] ^= 1
            #expect(WebPush.open(other, keys: receiver, auth: auth) == nil, "byte \(at) of the salt")
        }
        for at in sealed.publicKey.indices {
            var other = sealed
            other.publicKey[at] ^= 1
            #expect(WebPush.open(other, keys: receiver, auth: auth) == nil, "byte \(at) of the key")
        }
        for at in auth.indices {
            var other = auth
            other[at] ^= 0x80
            #expect(WebPush.open(sealed, keys: receiver, auth: other) == nil, "byte \(at) of auth")
        }
        let body = try sealBody(Array("only for you".utf8))
        // Bytes 16 to 19 are the record size; a larger one has no effect on a single record.
        for at in body.indices where !(16..<20).contains(at) {
            var other = body
            other[at] ^= 1 << UInt8(at % 8)
            #expect(WebPush.openBody(other, keys: receiver, auth: auth) == nil, "byte \(at) of the body")
        }
        #expect(WebPush.open(sealed, keys: receiver, auth: auth) == Array("only for you".utf8))
    }

    @Test func truncatedMessagesAreRefused() throws {
        let text = [UInt8](repeating: 65, count: 100)
        let body = try sealBody(text, recordSize: 64)
        for count in 0..<body.count {
            #expect(WebPush.openBody(Array(body.prefix(count)), keys: receiver, auth: auth) == nil)
        }
        #expect(WebPush.openBody(body + [0], keys: receiver, auth: auth) == nil)
        // HMAC pads keys by zeros, so a secret with trailing zeros is the same key.
        #expect(WebPush.openBody(body, keys: receiver, auth: auth + [0]) == nil)
        // Exactly one full record, followed by an empty last one.
        let sealed = try seal([UInt8](repeating: 66, count: 4_094))
        for count in [0, 1, 15, 16, 17, 4_111, 4_112, sealed.records.count - 1] {
            var cut = sealed
            cut.records = Array(sealed.records.prefix(count))
            #expect(WebPush.open(cut, keys: receiver, auth: auth) == nil, "\(count) bytes")
        }
    }

    @Test func reorderedRecordsAreRefused() throws {
        var sealed = try seal([UInt8](repeating: 67, count: 9_000))
        let (first, second) = (Array(sealed.records[..<4_112]), Array(sealed.records[4_112..<8_224]))
        sealed.records = second + first + sealed.records[8_224...]
        #expect(WebPush.open(sealed, keys: receiver, auth: auth) == nil)
    }

    @Test func invalidKeysAreRefused() throws {
        let good = receiver.publicKey
        #expect(P256.isPublicKey(good))
        var offCurve = good
        offCurve[64] ^= 1
        let compressed = [2 | good[64] & 1] + good[1...32]
        let hybrid = [6 | good[64] & 1] + good[1...]
        let tooLarge = [4] + [UInt8](repeating: 255, count: 64)
        let origin = [4] + [UInt8](repeating: 0, count: 64)
        for bad in [
            [], [0], offCurve, compressed, hybrid, tooLarge, origin, Array(good.dropLast()), good + [0],
        ] {
            #expect(!P256.isPublicKey(bad), "\(bad)")
            var random = FixedBytes()
            #expect(WebPush.seal([1], publicKey: bad, auth: auth) { random.take($0) } == nil)
            #expect(WebPush.sealBody([1], publicKey: bad, auth: auth, random: { random.take($0) }) == nil)
            #expect(receiver.secret(with: bad) == nil)
        }
        for length in [0, 15, 17] {
            var random = FixedBytes()
            let other = [UInt8](repeating: 1, count: length)
            #expect(WebPush.seal([1], publicKey: good, auth: other) { random.take($0) } == nil)
        }
    }

    @Test func invalidPrivateKeysAreRefused() {
        // The order of the curve and its neighbours (FIPS 186-4, D.1.2.3).
        var order: [UInt8] = [
            0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
            0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
        ]
        #expect(KeyPair(privateKey: order) == nil)
        #expect(KeyPair(privateKey: [UInt8](repeating: 255, count: 32)) == nil)
        #expect(KeyPair(privateKey: [UInt8](repeating: 0, count: 32)) == nil)
        #expect(KeyPair(privateKey: [1]) == nil)
        order[31] -= 1
        #expect(KeyPair(privateKey: order) != nil)
        // A broken random source ends the search, not the server.
        #expect(KeyPair { _ in [UInt8](repeating: 0, count: 32) } == nil)
        var draws = 0
        #expect(
            KeyPair { count in
                draws += 1
                return [UInt8](repeating: draws == 1 ? 0 : 1, count: count)
            } != nil)
        #expect(draws == 2)
    }

    @Test func messagesWithEqualTextDiffer() throws {
        #expect(try seal([1], start: 1).records != seal([1], start: 2).records)
    }
}
