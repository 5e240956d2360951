import Basics
import Testing
import Wire

@Suite struct HTTPFormTests {
    private func form(_ text: String) throws -> FormBody { try FormBody(Array(text.utf8).raw) }

    @Test("Names and values are decoded, and the first of several equal names counts")
    func fields() throws {
        let form = try form("app=a%2Bb+c&X-subtype=wp%3A%2f%2F&app=second&&flag&empty=&=nameless&a=b=c")
        #expect(form["app"] == Array("a+b c".utf8))
        #expect(form["X-subtype"] == Array("wp://".utf8))
        #expect(form["flag"] == [])
        #expect(form["empty"] == [])
        #expect(form["a"] == Array("b=c".utf8))
        #expect(form["App"] == nil)
    }

    @Test("Of several fields with one prefix and name the first counts, in order")
    func pairs() throws {
        let pairs = try form("data.a=1&data.b=2&data.a=3&x=4&data.=5&data.%61=6").pairs(prefix: "data.")
        #expect(pairs.map { String(decoding: $0.key, as: UTF8.self) } == ["a", "b"])
        #expect(pairs.map { String(decoding: $0.value, as: UTF8.self) } == ["1", "2"])
    }

    @Test("Malformed escapes are refused", arguments: ["a=%", "a=%4", "a=%zz", "%=1", "a=b&c=%f"])
    func broken(text: String) {
        #expect(throws: FormBody.Fault.badEscape) { try form(text) }
    }

    @Test("Too many fields are refused")
    func many() {
        #expect(throws: FormBody.Fault.tooManyFields) {
            try form(String(repeating: "a=b&", count: Limits.HTTP.formFields + 1))
        }
        #expect(throws: Never.self) { try form(String(repeating: "a=b&", count: Limits.HTTP.formFields)) }
    }

    @Test("The reader decodes every byte as the writer encoded it")
    func roundTrip() throws {
        let every = (0...255).map { UInt8($0) }
        var writer = FormWriter()
        writer.add("a", every)
        writer.add("b", Array("c d".utf8))
        let read = try FormBody(writer.bytes.bytes)
        #expect(read["a"] == every)
        #expect(read["b"] == Array("c d".utf8))
    }

    @Test("A plus sign that is not decoded would be detected (canary)")
    func canary() throws {
        #expect(try form("a=b+c")["a"] != Array("b+c".utf8))
    }
}
