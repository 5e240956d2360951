import Basics
import Testing

@testable import Sessions

/// A cached token names the registration that its seal names, and no other token is taken for it.
@Suite struct RecipientCacheTests {
    private let seal = TokenSeal(secret: [UInt8](repeating: 7, count: 32))

    private func token(_ device: UInt64) -> (text: [UInt8], name: RegistrationName) {
        let name = RegistrationName(device: DeviceID(device), number: RegistrationNumber(device % 3))
        return (seal.token(for: name), name)
    }

    @Test("Each token yields its own registration, whether it shares an entry with another or not")
    func tokens() {
        var random = SeededRandom(seed: 4)
        var cache = RecipientCache()
        var hits = 0
        for _ in 0..<2_000 {
            let token = token(UInt64.random(in: 0..<100, using: &random))
            if let entry = cache.entry(of: token.text.raw) {
                #expect(entry.name == token.name && entry.token == token.text)
                hits += 1
            } else {
                cache.add(token.text, token.name)
            }
        }
        #expect(hits > 500, "canary: most are found")
    }

    @Test("A token that differs in one byte from a cached one is not found")
    func forged() {
        var cache = RecipientCache()
        let token = token(5)
        cache.add(token.text, token.name)
        for at in token.text.indices {
            var other = token.text
            other[at] ^= 1
            #expect(cache.entry(of: other.raw) == nil)
        }
        #expect(cache.entry(of: token.text.raw.extracting(1..<token.text.count)) == nil)
        #expect(cache.entry(of: [UInt8]().raw) == nil)
        #expect(cache.entry(of: token.text.raw)?.name == token.name, "canary")
    }
}
