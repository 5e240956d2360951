import Basics
import Delivery
import Testing

@testable import History

/// Records that no writer makes, in blocks whose checksum is right: a disk that was written to by others.
@Suite struct HostileBlockTests {
    /// A block, and what makes the same bytes a good one.
    struct Case: CustomTestStringConvertible, Sendable {
        var name: String
        var bad: [UInt8]
        var good: [UInt8]

        init(_ name: String, _ bad: [UInt8], good: [UInt8]) {
            (self.name, self.bad, self.good) = (name, bad, good)
        }

        var testDescription: String { name }
    }

    /// The eight bytes of a device.
    private static func word(_ number: UInt8) -> [UInt8] { [number] + [UInt8](repeating: 0, count: 7) }

    private static func place(_ number: UInt64) -> UInt8 { UInt8(RecentValues.place(of: number)) }

    /// 2 to the power of 32, and the number before.
    private static let (beyond, last): ([UInt8], [UInt8]) =
        ([0x80, 0x80, 0x80, 0x80, 0x10], [0xff, 0xff, 0xff, 0xff, 0x0f])

    /// A record of one step without anything else: no values, one step, no position; `accepted`, no time.
    private static let plain: [UInt8] = [0, 1, 0, 0, 0]
    private static let device: [UInt8] = [0x10, 1, 0] + word(1) + [0, 0]
    private static let salt: [UInt8] = [0, 0x41, 0, 5, 0, 0]
    private static let longID: [UInt8] = [0, 0x81, 0, 0, 200] + [UInt8](repeating: 97, count: 200) + [0, 0]
    private static let session: [UInt8] = [0, 1, 0, 0x82, 0, 4, 9]

    static let heads = [
        Case("no step", [0, 0, 0, 0, 0], good: plain),
        Case("a kind that does not exist", [6, 1, 0, 0, 0], good: [5, 1, 0, 0, 0]),
        Case("an expected device", [0x18, 1, 0, 0, 0], good: plain),
        Case("an expected sender", [0x60, 1, 0, 0, 0], good: plain),
        Case("a device of 0", [0x10, 1, 0] + word(0) + [0, 0], good: device),
        Case(
            "a device in full that is a recent one", device + device,
            good: device + [0x08, 1, 0, place(1), 0, 0]),
        Case("a recent device that there is not", [0x08, 1, 0, place(1), 0, 0], good: device),
        Case(
            "a registration without a device", [0x80, 1, 0, 5, 0, 0],
            good: [0x90, 1, 0] + word(1) + [5, 0, 0]),
        Case(
            "a registration that the device has", [0x90, 1, 0] + word(1) + [1, 0, 0],
            good: [0x90, 1, 0] + word(1) + [2, 0, 0]),
        Case("a sender of 0", [0x40, 1, 0, 0, 0, 0], good: [0x40, 1, 0, 7, 0, 0]),
        Case("an expected salt that there is not", [0, 0x61, 0, 0, 0], good: salt + [0, 0x61, 0, 0, 0]),
        Case(
            "a recent salt that is expected", salt + [0, 0x21, 0, place(5), 0, 0],
            good: salt + [0, 0x41, 0, 6, 0, 0, 0, 0x21, 0, place(5), 0, 0]),
        Case(
            "a salt of 33 bits", [0, 0x41, 0] + beyond + [0, 0], good: [0, 0x41, 0] + last + [0, 0]),
        Case(
            "a position of 65 bits", [0, 1] + [UInt8](repeating: 0xff, count: 9) + [2, 0, 0],
            good: [0, 1] + [UInt8](repeating: 0xff, count: 9) + [1, 0, 0]),
    ]

    static let texts = [
        Case(
            "an ID that begins like none before", [0, 0x81, 0, 1, 1, 97, 0, 0],
            good: [0, 0x81, 0, 0, 1, 97, 0, 0]),
        Case("an ID beyond the block", [0, 0x81, 0, 0, 4, 97, 0, 0], good: [0, 0x81, 0, 0, 1, 97, 0, 0]),
        Case("an empty ID", [0, 0x81, 0, 0, 0, 0, 0], good: [0, 0x81, 0, 0, 1, 97, 0, 0]),
        Case(
            "an ID of 256 bytes",
            longID + [0, 0x81, 0, 200, 56] + [UInt8](repeating: 98, count: 56) + [0, 0],
            good: longID + [0, 0x81, 0, 200, 55] + [UInt8](repeating: 98, count: 55) + [0, 0]),
        Case("a packed ID without an ID", [0, 0x11, 0, 0, 0], good: plain),
        Case(
            "half of a packed ID", [0, 0x91, 0] + word(1) + [0, 0],
            good: [0, 0x91, 0] + word(1) + word(2) + [0, 0]),
        Case("a step that does not exist", [0, 1, 0, 23, 0], good: [0, 1, 0, 22, 0]),
        Case("usual details of 0", [0, 1, 0, 0x20, 0, 0], good: [0, 1, 0, 0x20, 0, 1]),
        Case("usual details that do not exist", [0, 1, 0, 0x20, 0, 8], good: [0, 1, 0, 0x20, 0, 7]),
        Case("details without text", [0, 1, 0, 0x40, 0, 0], good: [0, 1, 0, 0x40, 0, 1, 97]),
        Case("details beyond the block", [0, 1, 0, 0x40, 0, 2, 97], good: [0, 1, 0, 0x40, 0, 1, 97]),
        Case("details of both forms", [0, 1, 0, 0x60, 0, 1, 1, 97], good: [0, 1, 0, 0x40, 0, 1, 97]),
    ]

    static let sessions = [
        Case(
            "an expected session that there is not", [0, 1, 0, 0x82, 0, 0],
            good: session + [0, 1, 0, 0x82, 0, 0]),
        Case("a session that is expected", session + session, good: session + [0, 1, 0, 0x82, 0, 4, 8]),
        Case(
            "a long form of a session that has a short one", [0, 1, 0, 0x82, 0, 255, 14, 15, 9],
            good: [0, 1, 0, 0x82, 0, 255, 15, 15, 9]),
        Case(
            "a form that does not exist", [0, 1, 0, 0x82, 0, 241, 9], good: [0, 1, 0, 0x82, 0, 240, 9]),
        Case(
            "a node of 17 bits", [0, 1, 0, 0x82, 0, 255, 0x80, 0x80, 4, 3, 9],
            good: [0, 1, 0, 0x82, 0, 255, 0xff, 0xff, 3, 3, 9]),
        Case(
            "a login of 33 bits", [0, 1, 0, 0x82, 0, 4] + beyond, good: [0, 1, 0, 0x82, 0, 4] + last),
    ]

    @Test("a block with what no writer makes is refused as a whole", arguments: heads + texts + sessions)
    func refused(_ given: Case) throws {
        #expect(throws: HistoryDamage.format) { try BlockReader.records(given.bad.raw) }
        #expect(try !BlockReader.records(given.good.raw).isEmpty, "canary")
    }

    @Test("a block that ends within a record is refused, and no bytes trap")
    func noise() throws {
        let whole = try #require(Self.texts.first { $0.name == "half of a packed ID" }).good + Self.session
        var ends: [Int] = []
        for end in 1..<whole.count {
            if (try? BlockReader.records(Array(whole.prefix(end)).raw)) != nil { ends.append(end) }
        }
        #expect(ends == [whole.count - Self.session.count], "the end of the first record alone")
        var random = SeededRandom(seed: .random(in: 0...UInt64.max))
        let blocks = (Self.heads + Self.texts + Self.sessions).map(\.good)
        for _ in 0..<20_000 {
            var block = blocks[Int(random.next() % UInt64(blocks.count))]
            for _ in 0...random.next() % 3 {
                block[Int(random.next() % UInt64(block.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            _ = try? BlockReader.records(block.raw)
        }
    }

    @Test("no bit of a footer may be another one, and a footer that names more than its file has is refused")
    func footers() throws {
        let world = HistoryWorld()
        world.write([HistoryWorld.step(.stored, sequence: 1, id: "a")])
        world.roll()
        let file = try #require(world.files[1])
        #expect(HistoryWorld.source(1, file) != nil, "canary")
        for at in file.count - SegmentFormat.footerBytes..<file.count {
            for bit in 0..<8 {
                var damaged = file
                damaged[at] ^= 1 << bit
                #expect(HistoryWorld.source(1, damaged) == nil, "byte \(at), bit \(bit)")
            }
        }
        let start = file.count - SegmentFormat.footerBytes
        let words = (0..<7).map { file.raw.word(at: start + 8 * $0) }
        /// The file with other entries and blocks, and with the checksum that goes with them.
        func forged(_ counts: UInt64) -> [UInt8] {
            var footer = ByteBuffer()
            for (at, word) in words.enumerated() { footer.append(word: at == 4 ? counts : word) }
            let sum = HistoryHash.checksum(footer.bytes, file: 1, at: start)
            footer.append(word: UInt64(sum))
            return Array(file.prefix(start)) + footer.copied()
        }
        #expect(forged(words[4]) == file, "canary")
        #expect(HistoryWorld.source(1, forged(words[4] + 1)) == nil)
        #expect(HistoryWorld.source(1, forged(words[4] + 1 << 32)) == nil)
    }
}
