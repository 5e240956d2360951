import Basics
import Testing
import Wire

@Suite struct MCSFrameReaderTests {
    static let stream: [UInt8] = [41] + MCSSamples.all.flatMap(mcsWritten)

    @Test("frames are the same for two cuts at any offsets")
    func everySplit() throws {
        let whole = try mcsFrames(of: Self.stream)
        #expect(whole.map(\.tag) == MCSSamples.all.map { mcsWritten($0)[0] })
        for cut in 0...Self.stream.count {
            let cutOnce = try mcsFrames(of: Self.stream, cutAt: [cut])
            #expect(cutOnce.elementsEqual(whole) { $0 == $1 })
            let second = min(Self.stream.count, cut + cut % 5)
            let cutTwice = try mcsFrames(of: Self.stream, cutAt: [cut, second])
            #expect(cutTwice.elementsEqual(whole) { $0 == $1 })
        }
    }

    @Test("frames are the same for random cuts", arguments: 0..<50 as Range<UInt64>)
    func randomSplits(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var messages: [MCS.Message] = []
        for _ in 0..<20 {
            messages.append(MCSSamples.all.randomElement(using: &random) ?? .close(MCS.Close()))
        }
        let stream: [UInt8] = [41] + messages.flatMap(mcsWritten)
        let cuts = (0..<Int.random(in: 0...60, using: &random))
            .map { _ in Int.random(in: 0...stream.count, using: &random) }.sorted()
        let read = try mcsFrames(of: stream, cutAt: cuts).map {
            try MCS.Message(tag: $0.tag, decoding: $0.message.raw)
        }
        #expect(read == messages)
    }

    @Test("version bytes before a frame are skipped", arguments: [38, 39, 40, 41] as [UInt8])
    func repeatedVersion(version: UInt8) throws {
        let stream: [UInt8] = [version, 0, 0, version, version, 1, 2, 0x10, 5, version, 4, 0]
        for cut in 0...stream.count {
            #expect(try mcsFrames(of: stream, cutAt: [cut]).map(\.tag) == [0, 1, 4])
        }
    }

    @Test("an invalid version, an invalid tag and a frame over the limit are errors")
    func errors() {
        #expect(throws: MCSError.unsupportedVersion(37)) { try mcsFrames(of: [37]) }
        #expect(throws: MCSError.unsupportedVersion(0)) { try mcsFrames(of: [0, 0]) }
        #expect(throws: MCSError.unsupportedVersion(0x16)) { try mcsFrames(of: [0x16, 3, 1]) }
        #expect(throws: MCSError.invalidTag(16)) { try mcsFrames(of: [41, 16]) }
        #expect(throws: MCSError.invalidTag(42)) { try mcsFrames(of: [41, 0, 0, 42]) }
        #expect(throws: MCSError.tooLarge(101)) { try mcsFrames(of: [41, 8, 101], limit: 100) }
        #expect(throws: MCSError.varintOverflow) { try mcsFrames(of: [41, 8] + mcsBytes("8080808080")) }
    }

    @Test("a small size encoded in two bytes is read, as one client writes it")
    func longSize() throws {
        #expect(try mcsFrames(of: [41, 0, 0x82, 0x00, 0x08, 0x01]).first?.message == [8, 1])
    }

    @Test("frames with unknown tags are visited, to be skipped")
    func unknownTag() throws {
        #expect(try mcsFrames(of: [41, 13, 1, 255, 4, 0]).map(\.tag) == [13, 4])
        #expect(try mcsFirstMessage(of: [13, 1, 255]) == nil)
    }

    @Test("only an incomplete frame is buffered, and an idle reader holds nothing")
    func held() throws {
        var reader = MCS.FrameReader()
        let first = [41] + mcsWritten(.dataMessage(MCSSamples.message)) + [8, 5, 1]
        try reader.read(first.raw) { _, _ in true }
        let heldBytes = reader.heldBytes
        #expect(heldBytes == 3)
        let second: [UInt8] = [1, 1, 1, 1, 0, 0]
        try reader.read(second.raw) { _, _ in true }
        let (left, version) = (reader.heldBytes, reader.peerVersion)
        #expect(left == 0)
        #expect(version == 41)
    }

    @Test("a visitor that returns false is not called again")
    func stops() throws {
        var reader = MCS.FrameReader()
        var count = 0
        let stream: [UInt8] = [41, 0, 0, 0, 0]
        let taken = try reader.read(stream.raw) { _, _ in
            count += 1
            return false
        }
        #expect(count == 1)
        #expect(taken == 3)
    }

    @Test("canary: a lost byte is detected")
    func canary() throws {
        let whole = try mcsFrames(of: Self.stream)
        var damaged = Self.stream
        damaged.remove(at: 4)
        let read = try? mcsFrames(of: damaged)
        #expect(read?.elementsEqual(whole) { $0 == $1 } != true)
    }
}
