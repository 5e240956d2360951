import Basics
import Testing

@Suite("Base32") struct Base32Tests {
    @Test("the examples of RFC 4648 are encoded and decoded")
    func examples() {
        let examples = [
            ("", ""), ("f", "MY"), ("fo", "MZXQ"), ("foo", "MZXW6"), ("foob", "MZXW6YQ"),
            ("fooba", "MZXW6YTB"), ("foobar", "MZXW6YTBOI"),
        ]
        for (plain, encoded) in examples {
            #expect(Base32.text(Array(plain.utf8)) == encoded)
            #expect(Base32.bytes(Array(encoded.utf8)) == Array(plain.utf8))
        }
        for length in 0...40 {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 * 37 + length) }
            #expect(Base32.bytes(Array(Base32.text(bytes).utf8)) == bytes)
        }
    }

    @Test("other digits, padding, and bits or digits that add nothing are refused")
    func refused() {
        for text in ["my", "M1", "M8", "MY======", "M", "MZX", "MZXW6Y", "MZ", "MZXR", "M Y", "M\u{e9}"] {
            #expect(Base32.bytes(Array(text.utf8)) == nil, "\(text)")
        }
    }
}
