import Basics
import Testing

@Suite struct InstallationTokenTests {
    private let seal = TokenSeal(secret: [UInt8](repeating: 9, count: 32))
    private let token = InstallationToken(
        purpose: .access, installation: Array("cGFzc3dvcmQ_aGVsbG8tdw".utf8), sender: SenderID(123),
        expiresAt: 1_795_156_966_123, mark: 5)

    @Test("An installation token keeps its content when it is decoded")
    func returns() {
        var refresh = token
        refresh.purpose = .refresh
        refresh.sender = nil
        refresh.expiresAt = .max
        for token in [token, refresh] {
            let text = seal.text(of: token)
            #expect(text.count == 86)
            #expect(seal.installationToken(text.raw) == token)
            var other = token
            other.mark = 6
            #expect(text != seal.text(of: other))
        }
    }

    @Test("An installation token is refused when a character, its length or the secret differs")
    func forged() {
        let text = seal.text(of: token)
        for at in text.indices {
            var bad = text
            bad[at] = bad[at] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect(seal.installationToken(bad.raw) == nil, "character \(at)")
            #expect(seal.installationToken(Array(text[..<at]).raw) == nil)
        }
        let other = TokenSeal(secret: [UInt8](repeating: 8, count: 32))
        #expect(other.installationToken(text.raw) == nil)
        #expect(seal.installationToken(text.raw) != nil, "canary: the unchanged token must decode")
    }

    @Test("An installation token is refused when it is written in the other Base64 alphabet")
    func alphabets() {
        var changed = 0
        for mark in 0..<8 as Range<UInt64> {
            var token = token
            token.mark = mark
            let text = seal.text(of: token)
            let other = text.map { byte in
                byte == UInt8(ascii: "-") ? UInt8(ascii: "+") : byte == UInt8(ascii: "_") ? 0x2F : byte
            }
            guard other != text else { continue }
            changed += 1
            #expect(seal.installationToken(other.raw) == nil && seal.installationToken(text.raw) != nil)
        }
        #expect(changed > 0)
    }

    @Test("An installation token is refused as a registration token, and the other way round")
    func apart() {
        let name = RegistrationName(device: DeviceID(5), number: RegistrationNumber(1))
        #expect(seal.installationToken(seal.token(for: name).raw) == nil)
        #expect(seal.name(of: seal.text(of: token).raw) == nil)
    }

    @Test(
        "A sender ID is parsed when it is decimal and in range, and refused otherwise",
        arguments: [
            ("1", 1), ("9223372036854775807", UInt64(Int64.max)), ("9223372036854775808", nil), ("0", nil),
            ("", nil), ("1a", nil), ("-1", nil), ("99999999999999999999999", nil), ("007", 7),
        ])
    func senders(text: String, number: UInt64?) {
        #expect(SenderID(decimal: text.utf8)?.number == number)
    }
}
