import Basics
import Testing
import Wire

@Suite struct UTF8SequenceTests {
    /// The length of the first scalar by Swift's own decoder, or 0 if it is malformed.
    private func expected(_ bytes: [UInt8]) -> Int {
        (1...4).first { String(validating: bytes.prefix($0), as: UTF8.self)?.unicodeScalars.count == 1 } ?? 0
    }

    @Test("a sequence is valid if Swift's decoder accepts it, for all first and second bytes")
    func firstAndSecondBytes() {
        for first in UInt8.min...UInt8.max {
            for second in UInt8.min...UInt8.max {
                let bytes = [first, second, 0x80, 0xBF]
                #expect(UTF8Sequence.length(in: bytes.raw, at: 0) == expected(bytes), "\(bytes)")
            }
        }
    }

    @Test("a sequence is invalid if it is truncated or a later byte does not continue it")
    func laterBytes() {
        for bytes in [[0xC3, 0xA4], [0xE2, 0x82, 0xAC], [0xF0, 0x9F, 0x98, 0x80]] as [[UInt8]] {
            #expect(UTF8Sequence.length(in: bytes.raw, at: 0) == bytes.count)
            for count in 1..<bytes.count {
                #expect(UTF8Sequence.length(in: Array(bytes.prefix(count)).raw, at: 0) == 0)
                for other in [0x00, 0x7F, 0xC0, 0xFF] as [UInt8] {
                    var changed = bytes
                    changed[count] = other
                    #expect(UTF8Sequence.length(in: changed.raw, at: 0) == 0, "\(changed)")
                }
            }
        }
    }
}
