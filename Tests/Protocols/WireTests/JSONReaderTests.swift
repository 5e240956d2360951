import Basics
import Testing
import Wire

/// Returns the error for a document, or `nil` if it is valid JSON.
private func fault(_ text: [UInt8]) -> JSONError? {
    do throws(JSONError) {
        _ = try JSONReader(text.raw)
        return nil
    } catch {
        return error
    }
}

@Suite struct JSONReaderTests {
    @Test("hostile documents are refused or read as in their file names", arguments: HostileJSON.all)
    func hostile(file: HostileJSON) throws {
        let fault = fault(try file.content())
        #expect((fault != nil) == (file.outcome == "not-json"), "\(file.name): \(String(describing: fault))")
    }

    @Test("there are enough hostile documents of every outcome")
    func hostileCount() {
        #expect(HostileJSON.all.count >= 60)
        let outcomes = Set(HostileJSON.all.map(\.outcome))
        #expect(
            outcomes == ["not-json", "json", "stanza-error", "invalid-json", "bad-ack", "ack", "accepted"])
    }

    @Test("canary: valid JSON is not refused")
    func canary() {
        #expect(fault(Array("{}".utf8)) == nil)
        #expect(fault(Array("{".utf8)) == JSONError(.unexpectedEnd, at: 1))
    }

    @Test("every prefix of a document is refused without reading beyond it")
    func prefixes() {
        let text = Array(#"{"a":"\ud83d\ude00é","b":[1.5e-3,true,false,null,{"c":""}]}"#.utf8)
        #expect(fault(text) == nil)
        for length in 0..<text.count { #expect(fault(Array(text[..<length])) != nil, "prefix of \(length)") }
    }

    @Test("members are visited in order with their values")
    func members() throws {
        let text = Array(#" { "a" : "x\"}" , "b":[1,{"c":"]"}], "d":-7 ,"e":true,"f":null} "#.utf8)
        let reader = try JSONReader(text.raw)
        var cursor = reader.begin(reader.root)
        var seen: [String] = []
        var kinds: [JSONKind] = []
        while let member = reader.nextMember(&cursor) {
            let key = String(decoding: reader.string(member.key), as: UTF8.self)
            var raw = ByteBuffer()
            reader.append(compact: member.value, to: &raw)
            seen.append(key + "=" + String(decoding: raw.copied(), as: UTF8.self))
            kinds.append(reader.kind(member.value))
        }
        #expect(seen == [#"a="x\"}""#, #"b=[1,{"c":"]"}]"#, "d=-7", "e=true", "f=null"])
        #expect(kinds == [.string, .array, .number, .boolean, .null])
    }

    @Test("elements are visited in order")
    func elements() throws {
        let text = Array(#"[ [] , {} ,"a,b", 3 ]"#.utf8)
        let reader = try JSONReader(text.raw)
        var cursor = reader.begin(reader.root)
        var seen: [String] = []
        while let element = reader.nextElement(&cursor) {
            seen.append(String(decoding: [UInt8](copying: reader.raw(element)), as: UTF8.self))
        }
        #expect(seen == ["[]", "{}", #""a,b""#, "3"])
    }

    @Test(
        "strings are decoded",
        arguments: [
            (#""""#, ""), (#""abc""#, "abc"), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t"),
            (#""\u0041\u00e9\u20ac\ud83d\ude00""#, "Aé€😀"), (#""é€😀""#, "é€😀"), (#""a\u0000b""#, "a\0b"),
        ])
    func strings(text: String, expected: String) throws {
        let bytes = Array(text.utf8)
        let reader = try JSONReader(bytes.raw)
        #expect(reader.string(reader.root) == Array(expected.utf8))
        #expect(reader.holdsNUL(reader.root) == expected.utf8.contains(0))
        #expect(reader.isPlain(reader.root) == !text.contains("\\"))
    }

    @Test("an escaped backslash before u0000 is not a NUL")
    func escapedBackslash() throws {
        let bytes = Array(#""\\u0000""#.utf8)
        let reader = try JSONReader(bytes.raw)
        let holdsNUL = reader.holdsNUL(reader.root)
        let isEqual = reader.string(reader.root, equals: "\\u0000")
        #expect(!holdsNUL)
        #expect(isEqual)
    }

    @Test(
        "integers are exact",
        arguments: [
            ("0", 0), ("-0", 0), ("2419200", 2_419_200), ("-1", -1), ("9223372036854775807", Int.max),
            ("-9223372036854775808", Int.min), ("9223372036854775808", nil), ("-9223372036854775809", nil),
            ("1.0", nil), ("1e3", nil), (#""5""#, nil), ("true", nil), ("18446744073709551617", nil),
        ] as [(String, Int?)])
    func integers(text: String, expected: Int?) throws {
        let bytes = Array(text.utf8)
        let reader = try JSONReader(bytes.raw)
        #expect(reader.integer(reader.root) == expected)
    }

    @Test("a decimal integer is digits with or without a minus, within 64 bits")
    func decimal() {
        func integer(_ text: String) -> Int? { JSONReader.integer(Array(text.utf8).raw) }
        for text in [
            "", "-", "--1", "+1", "1.0", "1a", " 1", "9223372036854775808", "-9223372036854775809",
            "111111111111111111111",
        ] {
            #expect(integer(text) == nil, "\(text)")
        }
        for number in [0, 7, -7, .max, .min] { #expect(integer("\(number)") == number) }
        #expect(integer("-0") == 0 && integer("007") == 7)
    }
}
