import Basics
import Testing

struct AppleTokenTests {
    private static let longest = String(repeating: "a", count: Limits.Registration.appleTokenDigits)

    @Test(
        "an Apple token has its environment and an even number of hexadecimal digits within the limit",
        arguments: ["p_00", "s_00ff", "p_\(longest)"])
    func valid(text: String) throws {
        let token = try #require(AppleToken(Array(text.utf8)))
        #expect(token.stored == Array(text.utf8) && AppleToken.isValid(token.stored))
        #expect(token.isSandbox == text.hasPrefix("s_"))
    }

    @Test("digits are stored in lower case")
    func lowercase() {
        #expect(AppleToken(Array("s_00FfA9".utf8))?.stored == Array("s_00ffa9".utf8))
    }

    @Test(
        "any other text is no Apple token",
        arguments: [
            "", "p", "p_", "s_", "p_0", "p_abc", "x_00", "P_00", "00ff", "p_a b", "p_00 ", "p_0x", "p_\u{E9}",
            "p_%2e%2e", "p_00?x=1", "p_../../4/broadcasts/apps/other", "p_00\u{0}", "p_p_00",
            "p_\u{FF10}\u{FF10}", "p_\(longest)aa",
        ])
    func invalid(text: String) {
        #expect(AppleToken(Array(text.utf8)) == nil && !AppleToken.isValid(Array(text.utf8)))
    }

    @Test("what follows the prefix of a stored token is shown, and a token without a prefix loses nothing")
    func shown() {
        #expect(Array(AppleToken.shownDigits(ofStored: Array("p_a b".utf8))) == Array("a b".utf8))
        #expect(Array(AppleToken.shownDigits(ofStored: Array("00ff".utf8))) == Array("00ff".utf8))
    }
}
