import Testing

@testable import Crypto

/// Records that our encryption does not produce, and the record number in the nonce.
struct RecordTests {
    let receiver: KeyPair
    let auth = [UInt8](repeating: 9, count: 16)
    let salt = [UInt8](repeating: 5, count: 16)

    init() throws {
        var random = FixedBytes()
        receiver = try #require(KeyPair { random.take($0) })
    }

    private struct NoCipher: Error {}

    private func cipher(key: [UInt8], nonce: [UInt8]) throws -> RecordCipher {
        guard let cipher = RecordCipher(key: key, nonce: nonce) else { throw NoCipher() }
        return cipher
    }

    private func sealed(_ text: [UInt8], by cipher: inout RecordCipher) throws -> [UInt8] {
        guard let record = cipher.seal(text) else { throw NoCipher() }
        return record
    }

    /// The record number is XORed into the last eight bytes of the nonce, big-endian (RFC 8188, 2.3).
    @Test func recordsAreNumberedInTheNonce() throws {
        let key = [UInt8](repeating: 3, count: 16)
        var counted = try cipher(key: key, nonce: [UInt8](repeating: 0, count: 12))
        for number in 0...258 {
            let record = try sealed([7], by: &counted)
            let nonce =
                [UInt8](repeating: 0, count: 10) + [UInt8(number >> 8), UInt8(truncatingIfNeeded: number)]
            var alone = try cipher(key: key, nonce: nonce)
            let text = alone.open(record)
            #expect(text == [7], "record \(number)")
        }
    }

    /// Returns a body of one record with the given content, delimiter and padding.
    func body(_ record: [UInt8], size: UInt8) throws -> [UInt8] {
        var random = FixedBytes(next: 40)
        let own = try #require(KeyPair { random.take($0) })
        let agreement = try #require(WebPush.Agreement(sender: own, receiver: receiver.publicKey))
        let keys = WebPush.bodyKeys(agreement, auth: auth, salt: salt)
        var cipher = try self.cipher(key: keys.content, nonce: keys.nonce)
        let records = try sealed(record, by: &cipher)
        return salt + [0, 0, 0, size, UInt8(P256.publicKeyBytes)] + own.publicKey + records
    }

    @Test func theLastRecordEndsWithTwo() throws {
        #expect(WebPush.openBody(try body([65, 2], size: 64), keys: receiver, auth: auth) == [65])
        #expect(WebPush.openBody(try body([65, 2, 0, 0], size: 64), keys: receiver, auth: auth) == [65])
        for end in [0, 1, 3, 255] as [UInt8] {
            #expect(WebPush.openBody(try body([65, end], size: 64), keys: receiver, auth: auth) == nil)
        }
    }

    @Test func aRecordAfterTheLastOneIsRefused() throws {
        let whole = try body([65, 66, 2], size: 19)
        #expect(WebPush.openBody(whole, keys: receiver, auth: auth) == [65, 66])
        #expect(WebPush.openBody(whole + [0], keys: receiver, auth: auth) == nil)
        #expect(WebPush.openBody(whole + whole.suffix(19), keys: receiver, auth: auth) == nil)
    }

    /// RFC 8188, 2.1: sizes below 18 are invalid.
    @Test func recordSizeHasRoomForAByte() throws {
        #expect(WebPush.openBody(try body([2], size: 18), keys: receiver, auth: auth) == [])
        #expect(WebPush.openBody(try body([2], size: 17), keys: receiver, auth: auth) == nil)
    }

    @Test func anUnknownMarkBeforeAnotherRecordIsRefused() throws {
        var random = FixedBytes(next: 40)
        let own = try #require(KeyPair { random.take($0) })
        let agreement = try #require(WebPush.Agreement(sender: own, receiver: receiver.publicKey))
        let keys = WebPush.bodyKeys(agreement, auth: auth, salt: salt)
        for (mark, text) in [(1, [65, 66]), (3, nil)] as [(UInt8, [UInt8]?)] {
            var cipher = try self.cipher(key: keys.content, nonce: keys.nonce)
            let first = try sealed([65, mark], by: &cipher)
            let records = first + (try sealed([66, 2], by: &cipher))
            let head = salt + [0, 0, 0, 18, UInt8(P256.publicKeyBytes)] + own.publicKey
            #expect(WebPush.openBody(head + records, keys: receiver, auth: auth) == text)
        }
    }

    /// draft-ietf-webpush-encryption-04: padding consists of zeros.
    @Test func paddingIsZero() throws {
        var random = FixedBytes(next: 40)
        let own = try #require(KeyPair { random.take($0) })
        let agreement = try #require(WebPush.Agreement(sender: own, receiver: receiver.publicKey))
        let keys = WebPush.keys(agreement, auth: auth, salt: salt)
        for (record, text) in [([0, 2, 0, 0, 65], [65]), ([0, 2, 0, 1, 65], nil)] as [([UInt8], [UInt8]?)] {
            var cipher = try self.cipher(key: keys.content, nonce: keys.nonce)
            let records = try sealed(record, by: &cipher)
            let message = WebPush.Sealed(records: records, publicKey: own.publicKey, salt: salt)
            #expect(WebPush.open(message, keys: receiver, auth: auth) == text)
        }
    }
}
