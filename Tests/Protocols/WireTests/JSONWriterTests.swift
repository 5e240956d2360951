import Basics
import Testing
import Wire
import WireSupport

private func written(_ content: [UInt8], in context: JSONWriter.Context) -> String {
    var buffer = ByteBuffer()
    JSONWriter.append(string: content.raw, in: context, to: &buffer)
    return String(decoding: buffer.copied(), as: UTF8.self)
}

@Suite struct JSONWriterTests {
    @Test("characters not allowed in XML or JSON are escaped")
    func escapes() {
        let text = Array("a\"b\\c\n\r\t\u{1}<&>é\u{FFFF}😀".utf8)
        #expect(
            written(text, in: .element)
                == #""a\"b\\c\n\r\t\u0001\u003c\u0026\u003eé\uffff😀""#)
        #expect(
            written(text, in: .document) == "\"a\\\"b\\\\c\\n\\r\\t\\u0001<&>é\u{FFFF}😀\"")
    }

    @Test("bytes that are not UTF-8 become U+FFFD")
    func invalid() {
        #expect(written([0x61, 0xFF, 0x62, 0xC3], in: .element) == "\"a\u{FFFD}b\u{FFFD}\"")
        #expect(written([0xED, 0xA0, 0x80], in: .document) == "\"\u{FFFD}\u{FFFD}\u{FFFD}\"")
    }

    @Test("the reader accepts the output for any bytes", arguments: 0..<50 as Range<UInt64>)
    func anyBytes(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let content = (0..<200).map { _ in UInt8.random(in: 0...255, using: &random) }
        for context in [JSONWriter.Context.document, .element] {
            let text = Array(written(content, in: context).utf8)
            let reader = try JSONReader(text.raw)
            #expect(
                String(decoding: reader.string(reader.root), as: UTF8.self).filter { $0 != "\u{FFFD}" }
                    == String(decoding: content, as: UTF8.self).filter { $0 != "\u{FFFD}" })
            if context == .element { #expect(!text.contains { $0 < 0x20 || $0 == 0x3C || $0 == 0x26 }) }
        }
    }

    @Test("canary: without the escapes of its context a text would break the element")
    func canary() {
        #expect(written(Array("</gcm>".utf8), in: .document).contains("<"))
        #expect(!written(Array("</gcm>".utf8), in: .element).contains("<"))
    }
}

@Suite struct JSONValueTests {
    @Test("a tree is parsed and written")
    func roundTrip() throws {
        let text = #"{"a":[1,-2.5,"x\n",true,null],"b":{},"c":[]}"#
        let value = try JSONValue(parsing: text)
        #expect(value.compact == text)
        #expect(try JSONValue(parsing: value.pretty) == value)
        #expect(value["a"]?.elements?.count == 5)
        #expect(value["a"]?.elements?[0].integer == 1)
        #expect(value["a"]?.elements?[1].double == -2.5)
        #expect(value["missing"] == nil)
    }

    @Test("the last of several equal keys counts, or all are kept")
    func duplicates() throws {
        let text = #"{"a":1,"b":[{"c":4,"c":5}],"\u0061":3}"#
        #expect(try JSONValue(parsing: text).compact == #"{"a":3,"b":[{"c":5}]}"#)
        let all = try JSONValue(parsing: Array(text.utf8).raw, keepingRepeatedKeys: true)
        #expect(all.compact == #"{"a":1,"b":[{"c":4,"c":5}],"a":3}"#)
    }

    @Test("literals build the value as written")
    func literals() {
        let value: JSONValue = ["ok": true, "n": 5, "t": "x", "z": nil, "l": [1, "a"]]
        #expect(value.compact == #"{"ok":true,"n":5,"t":"x","z":null,"l":[1,"a"]}"#)
        #expect(JSONValue.number(.infinity).compact == "null")
    }

    @Test("the pretty form is indented by two spaces")
    func pretty() {
        #expect((["a": [1], "b": []] as JSONValue).pretty == "{\n  \"a\": [\n    1\n  ],\n  \"b\": []\n}")
    }

    @Test("canary: a different tree is not equal")
    func canary() throws {
        #expect(try JSONValue(parsing: "[1]") != JSONValue(parsing: "[2]"))
    }
}
