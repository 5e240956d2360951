import Basics
import Testing

@Suite struct BufferTests {
    @Test("a buffer contains the appended bytes with each append method")
    func appends() {
        var buffer = ByteBuffer()
        let isEmpty = buffer.isEmpty && buffer.bytes.byteCount == 0
        #expect(isEmpty)
        buffer.append("ab")
        buffer.append([0x63])
        buffer.append(byte: 0x64)
        buffer.append(text: "é")
        buffer.append(decimal: -120)
        buffer.append(decimal: UInt64.max)
        buffer.append(decimal: Int64.min)
        buffer.append([UInt8](repeating: 0x78, count: 3).raw)
        buffer.append(upTo: 10) { room in
            room[0] = 0x7A
            return 1
        }
        let expected = "abcdé-12018446744073709551615-9223372036854775808xxxz"
        let found = buffer.copied()
        #expect(found == Array(expected.utf8))

    }

    @Test("a buffer behaves like an array when operations are random")
    func model() {
        var random = SeededRandom(seed: 3)
        var buffer = ByteBuffer()
        var model: [UInt8] = []
        for step in 0..<5_000 {
            switch UInt8.random(in: 0..<7, using: &random) {
            case 0...2:
                let bytes = [UInt8](repeating: UInt8(step & 255), count: .random(in: 0...300, using: &random))
                buffer.append(bytes)
                model += bytes
            case 3:
                let count = Int.random(in: 0...400, using: &random)
                buffer.removeFirst(count)
                model.removeFirst(min(count, model.count))
            case 4:
                let length = Int.random(in: 0...2_000, using: &random)
                buffer.truncate(to: length)
                model = Array(model.prefix(length))
            case 5 where !model.isEmpty:
                let at = Int.random(in: model.indices, using: &random)
                buffer.set(7, at: at)
                model[at] = 7
            case 6 where step % 5 == 0:
                buffer.removeAll(keepingCapacity: step % 2 == 0)
                model = []
            default: break
            }
            let count = buffer.count
            #expect(count == model.count)
        }
        let found = buffer.copied()
        #expect(found == model)
    }

    @Test("spans read bytes, words and literals")
    func spans() {
        let bytes: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8, 9]
        #expect(bytes.raw.byte(at: 8) == 9)
        #expect(bytes.raw.word(at: 0) == 0x0807_0605_0403_0201)
        #expect(bytes.raw.word(at: 1) == 0x0908_0706_0504_0302)
        func matches(_ text: String, _ literal: StaticString) -> Bool { Array(text.utf8).raw.equals(literal) }
        #expect(matches("abc", "abc"))
        #expect(!matches("abc", "abd"))
        #expect(!matches("abc", "ab"))
        #expect(matches("", ""))
    }

    @Test("an outbox records where records end, and drops empty ones")
    func outbox() {
        var out = Outbox()
        out.endRecord()
        let ends = out.recordEnds
        let isEmpty = out.isEmpty
        #expect(ends == [] && isEmpty)
        out.bytes.append("one")
        out.endRecord()
        out.endRecord()
        out.bytes.append("three")
        out.endRecord()
        out.bytes.append("open")
        let two = out.recordEnds
        #expect(two == [3, 8])
        out.removeAll()
        let isEmptyAgain = out.isEmpty && out.recordEnds == []
        #expect(isEmptyAgain)
    }

    @Test("canary: the model detects a byte that is off by one")
    func canary() {
        var buffer = ByteBuffer()
        buffer.append([1, 2, 3])
        buffer.set(9, at: 1)
        let found = buffer.copied()
        #expect(found != [1, 2, 3])
    }
}
