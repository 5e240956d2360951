import Basics
import Testing

@Suite struct AccessTokenTests {
    private let seal = TokenSeal(secret: [UInt8](repeating: 9, count: 32))
    private let token = AccessToken(sender: SenderID(123), account: 77, expiresAt: 1_795_156_966_123)

    @Test("An access token keeps its content and has the prefix that libraries expect when it is decoded")
    func returns() {
        let text = seal.text(of: token)
        #expect(String(decoding: text, as: UTF8.self).hasPrefix("ya29."))
        #expect(seal.accessToken(text.raw) == token)
        #expect(seal.mark(ofKeyID: "a") == seal.mark(ofKeyID: "a"))
        #expect(seal.mark(ofKeyID: "a") != seal.mark(ofKeyID: "b"))
    }

    @Test("An access token is refused when a character, its length or the secret differs")
    func forged() {
        let text = seal.text(of: token)
        for at in text.indices {
            var bad = text
            bad[at] = bad[at] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect(seal.accessToken(bad.raw) == nil, "character \(at)")
            #expect(seal.accessToken(Array(text[..<at]).raw) == nil)
        }
        #expect(seal.accessToken((text + [0x41]).raw) == nil)
        let other = TokenSeal(secret: [UInt8](repeating: 8, count: 32))
        #expect(other.accessToken(text.raw) == nil)
        #expect(seal.accessToken(text.raw) != nil, "canary: the unchanged token must decode")
    }

    @Test("An access token is refused when it is written in the other Base64 alphabet")
    func alphabets() {
        var changed = 0
        for account in 0..<8 as Range<UInt64> {
            let text = seal.text(of: AccessToken(sender: SenderID(123), account: account, expiresAt: 5))
            let other = text.map { byte in
                byte == UInt8(ascii: "-") ? UInt8(ascii: "+") : byte == UInt8(ascii: "_") ? 0x2F : byte
            }
            guard other != text else { continue }
            changed += 1
            #expect(seal.accessToken(other.raw) == nil && seal.accessToken(text.raw) != nil)
        }
        #expect(changed > 0)
    }

    @Test("An access token is refused as any other kind of token, and the other way round")
    func apart() {
        let text = seal.text(of: token)
        #expect(seal.name(of: text.raw) == nil)
        #expect(seal.group(of: text.raw) == nil)
        #expect(seal.installationToken(text.raw) == nil)
        let name = RegistrationName(device: DeviceID(5), number: RegistrationNumber(1))
        #expect(seal.accessToken(seal.token(for: name).raw) == nil)
        #expect(seal.accessToken(seal.groupKey(of: GroupName(sender: SenderID(1), number: 2)).raw) == nil)
    }
}
