import Basics
import Testing

@testable import Sessions

/// What a connection remembers of tokens is what sealing them anew would say.
@Suite struct TokenMemoryTests {
    private let seal = TokenSeal(secret: [UInt8](repeating: 7, count: 32))

    @Test("Whatever registrations come, whether they share a place or not, each has its own token")
    func tokens() {
        var random = SeededRandom(seed: 3)
        var memory = TokenMemory()
        let kept = UInt64(Limits.AppServer.cachedTokens)
        for _ in 0..<2_000 {
            // Few places, many names for each, and the same name often.
            let device =
                UInt64.random(in: 0...3, using: &random) + kept * UInt64.random(in: 0...3, using: &random)
            let number = kept * UInt64.random(in: 0...2, using: &random)
            let name = RegistrationName(device: DeviceID(device), number: RegistrationNumber(number))
            #expect(memory.token(for: name, seal) == seal.token(for: name))
        }
    }

    @Test("A token that was just made is not made again: another seal would make another one")
    func remembered() {
        var memory = TokenMemory()
        let other = TokenSeal(secret: [UInt8](repeating: 8, count: 32))
        let name = RegistrationName(device: DeviceID(5), number: RegistrationNumber(6))
        let token = memory.token(for: name, seal)
        #expect(memory.token(for: name, other) == token, "canary: it comes from memory")
        let neighbour = RegistrationName(
            device: DeviceID(5 + UInt64(Limits.AppServer.cachedTokens)), number: RegistrationNumber(6))
        #expect(memory.token(for: neighbour, other) == other.token(for: neighbour))
        #expect(memory.token(for: name, other) == other.token(for: name), "its place was taken")
    }
}
