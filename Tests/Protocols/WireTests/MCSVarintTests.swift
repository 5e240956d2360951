import Basics
import Testing
import Wire

@Suite struct MCSVarintTests {
    @Test(
        "numbers have these encodings",
        arguments: [
            (0, "00"), (1, "01"), (127, "7F"), (128, "8001"), (300, "AC02"), (16_383, "FF7F"),
            (16_384, "808001"),
            (1 << 63, "80808080808080808001"), (.max, "FFFFFFFFFFFFFFFFFF01"),
        ] as [(UInt64, String)])
    func golden(number: UInt64, text: String) throws {
        var buffer = ByteBuffer()
        Varint.append(number, to: &buffer)
        #expect(buffer.copied() == mcsBytes(text))
        #expect(Varint.size(number) == buffer.count)
        #expect(try mcsVarint(buffer.copied()) == (number, buffer.count))
    }

    @Test("random numbers are decoded as encoded, and refused when truncated")
    func random() throws {
        var random = SeededRandom(seed: 1)
        for _ in 0..<2_000 {
            let number = random.next() >> UInt64.random(in: 0..<64, using: &random)
            var buffer = ByteBuffer()
            Varint.append(number, to: &buffer)
            #expect(try mcsVarint(buffer.copied()) == (number, Varint.size(number)))
            #expect(throws: MCSError.truncated) { try mcsVarint(Array(buffer.copied().dropLast())) }
        }
    }

    @Test("longer encodings are read, more than 64 bits are not")
    func bounds() throws {
        #expect(try mcsVarint(mcsBytes("8000")) == (0, 2))
        for text in ["FFFFFFFFFFFFFFFFFF02", "FFFFFFFFFFFFFFFFFFFF01", "80808080808080808080"] {
            #expect(throws: MCSError.varintOverflow) { try mcsVarint(mcsBytes(text)) }
        }
    }

    @Test("canary: another number has other bytes")
    func canary() {
        var buffer = ByteBuffer()
        Varint.append(301, to: &buffer)
        #expect(buffer.copied() != mcsBytes("AC02"))
    }
}
