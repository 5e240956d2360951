import Basics
import Testing

@Suite struct TokenSealTests {
    static let seal = TokenSeal(secret: (0..<32).map { UInt8($0) })
    static let name = RegistrationName(device: DeviceID(0x0812_3456_789a_bcde), number: RegistrationNumber(3))

    @Test("a token starts with a letter from c to f, and never looks like an option")
    func firstLetter() {
        let seal = TokenSeal(secret: [UInt8](0..<32))
        for number in 0..<500 as Range<UInt64> {
            let name = RegistrationName(
                device: DeviceID(1 << 60 &+ number &* 7_919), number: RegistrationNumber(number))
            let token = seal.token(for: name)
            #expect(token.first.map { (UInt8(ascii: "c")...UInt8(ascii: "f")).contains($0) } == true)
            #expect(seal.name(of: token.raw) == name)
        }
    }

    @Test("a token decodes to its registration for many devices and numbers")
    func roundTrip() {
        var random = SeededRandom(seed: 2)
        var seen: Set<[UInt8]> = []
        for _ in 0..<500 {
            let name = RegistrationName(
                device: DeviceID(.random(in: 0...UInt64.max, using: &random)),
                number: RegistrationNumber(.random(in: 0...1_000, using: &random)))
            let token = Self.seal.token(for: name)
            #expect(Self.seal.name(of: token.raw) == name)
            #expect(Self.seal.token(for: name) == token)
            seen.insert(token)
        }
        #expect(seen.count == 500)
    }

    @Test("an APNs token has its own index key when app, environment or secret differ")
    func places() {
        let other = TokenSeal(secret: [UInt8](repeating: 1, count: 32))
        let pairs = [("com.a", "p_01"), ("com.a", "s_01"), ("com.ap", "_01"), ("com.b", "p_01")]
        let places = pairs.map { Self.seal.indexKey(ofBundle: Array($0.0.utf8), token: Array($0.1.utf8)) }
        #expect(Set(places).count == pairs.count)
        #expect(places.allSatisfy { $0.count == InstallationToken.idLength })
        #expect(other.indexKey(ofBundle: Array("com.a".utf8), token: Array("p_01".utf8)) != places[0])
        #expect(
            Self.seal.deviceNumber(ofIndexKey: places[0], sender: SenderID(1))
                != Self.seal.deviceNumber(ofIndexKey: places[0], sender: SenderID(2)))
        #expect(AppleToken.Digits(Array("0A1b".utf8)[...])?.bytes == Array("0a1b".utf8))
        for text in [
            "", "0a1", "p_01", "0g", String(repeating: "0", count: Limits.Registration.appleTokenDigits + 2),
        ] {
            #expect(AppleToken.Digits(Array(text.utf8)[...]) == nil, "\(text)")
        }
    }

    @Test("tokens in a text are cut, whatever stands around them, and nothing else is")
    func cut() {
        let token = String(decoding: Self.seal.token(for: Self.name), as: UTF8.self)
        let short = token.prefix(18) + "…"
        #expect(TokenSeal.cut(in: token) == short)
        #expect(TokenSeal.cut(in: "x-\(token)-1 \(token)\u{e9}") == "x-\(short) \(short)\u{e9}")
        let escaped = token.replacing(":", with: "%3A")
        #expect(TokenSeal.cut(in: escaped) == short.replacing(":", with: "%3A"))
        #expect(TokenSeal.cut(in: String(token.prefix(100))) == short, "one whose end is missing")
        for text in ["", "m-1", ":APA91b", String(repeating: ":APA91b", count: 9), String(token.prefix(49))] {
            #expect(TokenSeal.cut(in: text) == text)
        }
    }

    @Test("a token has the shape that clients expect")
    func shape() {
        let token = Self.seal.token(for: Self.name)
        #expect(token.count == TokenSeal.length)
        #expect(String(decoding: token[11..<18], as: UTF8.self) == ":APA91b")
        let isTokenByte = token.allSatisfy { byte in
            byte == 0x3A || byte == 0x2D || byte == 0x5F || (0x30...0x39).contains(byte)
                || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
        }
        #expect(isTokenByte)
        #expect(token.filter { $0 == 0x3A }.count == 1)
    }

    @Test(
        "a token is refused when a single character differs")
    func singleChanges() {
        let token = Self.seal.token(for: Self.name)
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        for at in token.indices {
            for digit in alphabet + [0x3A, 0x00, 0xFF, 0x2B] where digit != token[at] {
                var changed = token
                changed[at] = digit
                #expect(Self.seal.name(of: changed.raw) == nil, "position \(at)")
            }
        }
    }

    @Test("a token is refused when it is truncated, extended, empty or foreign")
    func others() {
        let token = Self.seal.token(for: Self.name)
        for length in 0..<token.count { #expect(Self.seal.name(of: Array(token[..<length]).raw) == nil) }
        #expect(Self.seal.name(of: (token + [0x41]).raw) == nil)
        let foreign = TokenSeal(secret: [UInt8](repeating: 7, count: 32)).token(for: Self.name)
        #expect(Self.seal.name(of: foreign.raw) == nil)
    }

    @Test("a token does not reveal the device ID")
    func isMasked() {
        let next = RegistrationName(device: DeviceID(Self.name.device.number + 1), number: Self.name.number)
        let a = Self.seal.token(for: Self.name)
        let b = Self.seal.token(for: next)
        #expect(zip(a, b).filter { $0 != $1 }.count > 60)
    }

    @Test(
        "a token that was made before tokens began with IDs names its registration, and is still made where none is given"
    )
    func earlierToken() {
        let token = Array(
            ("cx9jT9eFvuY:APA91bCU3lQ0jkwckcmF8q26FeS1IfejJeyiC88R4ibNZgupmCWrA5gvIREII_hj6F79nuBxzpPT1wxE-ZMWq15"
                + "5vm7pdTkek5rXyOQU5HEUJ9MsSWSoA-beWtIl-tSuT3oC-JuAALlA").utf8)
        #expect(Self.seal.name(of: token.raw) == Self.name)
        #expect(Self.seal.tokenName(of: token) == TokenName(Self.name))
        #expect(Self.seal.token(for: Self.name) == token)
    }

    private static let ids = ["dGFzc3dvcmQ_aGVsbG8tdw", "cRrnxm4-_09", "fFFFFFFFFFFFFFFFFFFFFF"]

    private static func name(_ id: String) throws -> TokenName {
        let prefix: TokenPrefix = try #require(TokenPrefix(Array(id.utf8)))
        return TokenName(Self.name, prefix: prefix)
    }

    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    @Test("a token begins with the ID that was given, and names the same registration", arguments: ids)
    func prefixed(id: String) throws {
        let name = try Self.name(id)
        let token = Self.seal.token(for: name)
        #expect(String(decoding: token, as: UTF8.self).hasPrefix(id + ":APA91b"))
        #expect(token.count == (id.count == 22 ? TokenSeal.longestLength : TokenSeal.length))
        #expect(token.filter { $0 == UInt8(ascii: ":") }.count == 1)
        #expect(Self.seal.name(of: token.raw) == Self.name)
        #expect(Self.seal.tokenName(of: token) == name)
        #expect(Self.seal.token(for: name) == token, "it is always the same")
    }

    @Test("a token with an ID is refused with any other character, also in the ID", arguments: ids)
    func alteredPrefix(id: String) throws {
        let name = try Self.name(id)
        let token = Self.seal.token(for: name)
        for at in token.indices {
            for digit in Self.alphabet + [0x3A, 0x00, 0xFF, 0x2B] where digit != token[at] {
                var changed = token
                changed[at] = digit
                #expect(Self.seal.name(of: changed.raw) == nil, "position \(at)")
            }
        }
        for length in 0..<token.count { #expect(Self.seal.name(of: Array(token[..<length]).raw) == nil) }
        #expect(Self.seal.name(of: (token + [0x41]).raw) == nil)
    }

    @Test("the beginning of one token is refused before the rest of another")
    func foreignPrefix() throws {
        let tokens =
            try Self.ids.map { Self.seal.token(for: try Self.name($0)) } + [Self.seal.token(for: Self.name)]
        for head in tokens {
            for tail in tokens where head != tail {
                let mixed = head.prefix { $0 != 0x3A } + tail.drop { $0 != 0x3A }
                #expect(Self.seal.name(of: Array(mixed).raw) == nil)
            }
        }
    }

    @Test("only an ID in the form of an installation ID or an instance ID begins a token")
    func otherIDs() {
        for id in [
            "", "one", "-GFzc3dvcmQ_aGVsbG8tdw", "gGFzc3dvcmQ_aGVsbG8tdw", "dGFzc3dvcmQ_aGVsbG8t:w",
            "dGFzc3dvcmQ_aGVsbG8td", "dGFzc3dvcmQ_aGVsbG8tdww", "dGFzc3dvcmQ/aGVsbG8tdw", "cRrnxm4-_0",
            "cRrnxm4-_0=",
        ] {
            #expect(TokenPrefix(Array(id.utf8)) == nil, "\(id)")
        }
    }

    @Test("canary: the comparison of names distinguishes two registrations")
    func canary() {
        let other = RegistrationName(device: Self.name.device, number: RegistrationNumber(4))
        #expect(Self.seal.name(of: Self.seal.token(for: other).raw) != Self.name)
    }
}
