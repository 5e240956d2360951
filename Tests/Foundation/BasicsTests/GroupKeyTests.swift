import Basics
import Testing

@Suite struct GroupKeyTests {
    private static let seal = TokenSeal(secret: (0..<32).map { UInt8($0) })
    private static let group = GroupName(sender: SenderID(1_234_567_890), number: 1_795_156_966_123_456)

    @Test("A notification key contains its group and no colon, and is not a token")
    func roundTrip() {
        let key = Self.seal.groupKey(of: Self.group)
        #expect(key.count == TokenSeal.groupKeyLength)
        #expect(String(decoding: key, as: UTF8.self).hasPrefix("APA91b"))
        #expect(key.allSatisfy { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "=") })
        #expect(Self.seal.group(of: key.raw) == Self.group)
        #expect(Self.seal.name(of: key.raw) == nil)
        let token = Self.seal.token(
            for: RegistrationName(device: DeviceID(5), number: RegistrationNumber(1)))
        #expect(Self.seal.group(of: token.raw) == nil)
    }

    @Test("A notification key is refused when a character differs or another server made it")
    func forged() {
        let key = Self.seal.groupKey(of: Self.group)
        for at in key.indices {
            for other in Array("Aa0_-:".utf8) where other != key[at] {
                var forged = key
                forged[at] = other
                #expect(Self.seal.group(of: forged.raw) == nil, "at \(at)")
            }
        }
        #expect(TokenSeal(secret: [UInt8](repeating: 9, count: 32)).group(of: key.raw) == nil)
        #expect(Self.seal.group(of: Array(key.dropLast()).raw) == nil)
    }

    @Test("A notification key is refused when it is written in the other Base64 alphabet")
    func otherAlphabet() throws {
        var others = 0
        for number in 1...64 as ClosedRange<UInt64> {
            let key = Self.seal.groupKey(of: GroupName(sender: SenderID(5), number: number))
            let standard = key.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "+") : $0 }
                .map { $0 == UInt8(ascii: "_") ? UInt8(ascii: "/") : $0 }
            guard standard != key else { continue }
            others += 1
            #expect(Self.seal.group(of: standard.raw) == nil)
        }
        #expect(others > 10)
    }
}
