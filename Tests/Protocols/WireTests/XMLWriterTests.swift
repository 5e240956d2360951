import Basics
import Testing
import Wire

@Suite struct XMLWriterTests {
    private func text(_ bytes: [UInt8]) -> String {
        var buffer = ByteBuffer()
        buffer.appendText(bytes.raw)
        return String(decoding: buffer.copied(), as: UTF8.self)
    }

    private func attribute(_ bytes: [UInt8]) -> String {
        var buffer = ByteBuffer()
        buffer.appendAttribute(bytes.raw)
        return String(decoding: buffer.copied(), as: UTF8.self)
    }

    @Test func `markup is escaped at each position in eight bytes`() {
        for padding in 0..<20 {
            let (before, after) = (
                String(repeating: "a", count: padding), String(repeating: "b", count: 20 - padding)
            )
            let input = Array(text: before + "<>&\"'\t\n\r" + after)
            #expect(text(input) == before + "&lt;&gt;&amp;\"'\t\n&#13;" + after)
            #expect(attribute(input) == before + "&lt;&gt;&amp;&quot;&apos;&#9;&#10;&#13;" + after)
        }
    }

    @Test("characters forbidden in XML become U+FFFD", arguments: 0..<0x20 as Range<UInt8>)
    func controls(byte: UInt8) {
        guard ![9, 10, 13].contains(byte) else { return }
        #expect(text([0x61, byte, 0x62]) == "a\u{FFFD}b")
        #expect(attribute(Array(text: "12345678") + [byte]) == "12345678\u{FFFD}")
    }

    @Test func `non-ASCII characters are unchanged, bytes that are not UTF-8 are replaced`() {
        #expect(text(Array(text: "äöü€😀\u{85}\u{7F}")) == "äöü€😀\u{85}\u{7F}")
        #expect(text(Array(text: "a\u{FFFE}b\u{FFFF}c")) == "a\u{FFFD}b\u{FFFD}c")
        #expect(text([0xE4, 0x62]) == "\u{FFFD}b")
        #expect(text([0xED, 0xA0, 0x80]) == "\u{FFFD}\u{FFFD}\u{FFFD}")
        #expect(text([0xF0, 0x9F]) == "\u{FFFD}\u{FFFD}")
        #expect(text([]).isEmpty)
    }

    @Test("escaped text is parsed as the same text", arguments: 0..<20 as Range<UInt64>)
    func roundTrip(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for _ in 0..<100 {
            let input = (0..<Int.random(in: 0...60, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            let xml = "<a b=\"\(attribute(input))\" c='\(attribute(input))'>\(text(input))</a>"
            let root = try #require(LibXML2Oracle.root(of: Array(text: xml)))
            #expect(root.text == root["b"] && root.text == root["c"])
            let ours = try element(xml)
            #expect(ours.text == root.text && ours["b"] == root["b"])
        }
    }

    @Test func `a missing escape would be detected by parsing`() {
        #expect(LibXML2Oracle.root(of: Array(text: "<a>&</a>")) == nil)
        #expect(LibXML2Oracle.root(of: Array(text: "<a>\u{1}</a>")) == nil)
    }
}
