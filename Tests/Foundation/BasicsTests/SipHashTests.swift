import Basics
import COpenSSL
import Testing

@Suite struct SipHashTests {
    /// SIPHASH of OpenSSL: an independent implementation.
    static func reference(_ key: [UInt8], _ message: [UInt8], size: Int) -> [UInt8] {
        guard let mac = EVP_MAC_fetch(nil, "SIPHASH", nil) else { return [] }
        defer { EVP_MAC_free(mac) }
        guard let context = EVP_MAC_CTX_new(mac) else { return [] }
        defer { EVP_MAC_CTX_free(context) }
        var wanted = size
        var output = [UInt8](repeating: 0, count: size)
        var written = 0
        // A parameter keeps the pointer to its name.
        let isInitialized = "size".withCString { name in
            withUnsafeMutablePointer(to: &wanted) { pointer in
                var parameters = [OSSL_PARAM_construct_size_t(name, pointer), OSSL_PARAM_construct_end()]
                return EVP_MAC_init(context, key, key.count, &parameters)
            }
        }
        guard isInitialized == 1, EVP_MAC_update(context, message, message.count) == 1,
            EVP_MAC_final(context, &output, &written, output.count) == 1, written == size
        else { return [] }
        return output
    }

    static func bytes(_ words: UInt64...) -> [UInt8] {
        words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * UInt64($0))) } }
    }

    static let key: [UInt8] = (0..<16).map { UInt8($0) }
    static var hash: SipHash { SipHash(key: (key.raw.word(at: 0), key.raw.word(at: 8))) }

    @Test("SipHash agrees with OpenSSL for 64 and 128 bits when lengths are 0 to 200 and keys random")
    func agrees() {
        var random = SeededRandom(seed: 1)
        for length in 0...200 {
            let key = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
            let message = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
            let hash = SipHash(key: (key.raw.word(at: 0), key.raw.word(at: 8)))
            #expect(Self.bytes(hash.hash(message.raw)) == Self.reference(key, message, size: 8))
            let wide = hash.hash128(message.raw)
            #expect(Self.bytes(wide.0, wide.1) == Self.reference(key, message, size: 16))
        }
    }

    @Test("SipHash agrees with the test vector of the paper")
    func paper() {
        let message = (0..<15).map { UInt8($0) }
        #expect(Self.hash.hash(message.raw) == 0xa129_ca61_49be_45e5)
    }

    @Test("SipHash of a number equals that of its eight bytes")
    func numbers() {
        for number in [0, 1, 0xdead_beef, UInt64.max] {
            #expect(Self.hash.hash(number) == Self.hash.hash(Self.bytes(number).raw))
        }
    }

    @Test("canary: SipHash differs from OpenSSL when the key differs")
    func canary() {
        let other = SipHash(key: (1, 2))
        let message: [UInt8] = [1, 2, 3]
        #expect(Self.bytes(other.hash(message.raw)) != Self.reference(Self.key, message, size: 8))
    }
}
