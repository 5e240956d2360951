import Basics
import Testing

@testable import Sessions

/// The cached tokens equal those that sealing would make again.
@Suite struct TokenCacheTests {
    private let seal = TokenSeal(secret: [UInt8](repeating: 7, count: 32))

    @Test("Each registration has its own token, whether it shares a slot with another or not")
    func tokens() {
        var random = SeededRandom(seed: 3)
        var memory = TokenCache()
        let kept = UInt64(Limits.AppServer.cachedTokens)
        for _ in 0..<2_000 {
            // Few slots, many names for each, and repeated names.
            let device =
                UInt64.random(in: 0...3, using: &random) + kept * UInt64.random(in: 0...3, using: &random)
            let number = kept * UInt64.random(in: 0...2, using: &random)
            let name = TokenName(
                RegistrationName(device: DeviceID(device), number: RegistrationNumber(number)),
                prefix: Bool.random(using: &random) ? TokenPrefix(Array("dzxZqRrnxm4".utf8)) : nil)
            #expect(memory.token(for: name, seal) == seal.token(for: name))
        }
    }

    @Test("A cached token is not sealed again: another seal would make another one")
    func remembered() {
        var memory = TokenCache()
        let other = TokenSeal(secret: [UInt8](repeating: 8, count: 32))
        let name = TokenName(RegistrationName(device: DeviceID(5), number: RegistrationNumber(6)))
        let token = memory.token(for: name, seal)
        #expect(memory.token(for: name, other) == token, "canary: it comes from the cache")
        let neighbour = TokenName(
            RegistrationName(
                device: DeviceID(5 + UInt64(Limits.AppServer.cachedTokens)), number: RegistrationNumber(6)))
        #expect(memory.token(for: neighbour, other) == other.token(for: neighbour))
        #expect(memory.token(for: name, other) == other.token(for: name), "its slot was reused")
    }
}
