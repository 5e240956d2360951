import Basics
import Delivery
import History
import Testing

/// The bytes of history files: what is merged, what a crash leaves, and damage.
@Suite struct HistoryFileTests {
    private typealias World = HistoryWorld

    private func small() -> HistoryWorld {
        let world = HistoryWorld()
        for number in 1...40 as ClosedRange<UInt64> {
            world.write([
                World.step(.stored, device: number % 5 + 1, sequence: number, id: "message-\(number)"),
                World.step(.sent, device: number % 5 + 1, sequence: number),
                World.step(.delivered, device: number % 5 + 1, sequence: number, detail: "by hand"),
            ])
        }
        return world
    }

    @Test func stepsOfOneMessageTakeOneRecord() throws {
        let world = small()
        var search = world.search()
        let found = search.messages(MessageName(Array("message-7".utf8)), limit: 5)
        #expect(found.messages.map(\.record.steps.count) == [3])
        #expect(found.messages.first?.record.salt == 99)
        #expect(!found.isCut)
        let size = world.files[1]?.count ?? 0
        world.write([World.step(.stored, sequence: 100, id: "message-100"), World.step(.sent, sequence: 100)])
        #expect(try #require(world.files[1]?.count) - size < 64)
    }

    @Test func aPersistentIDFindsTheMessageOfItsSaltAlone() {
        var search = small().search()
        let id = PersistentID(sequence: SequenceNumber(7), salt: 99)
        func found(_ text: String) -> [[UInt8]] {
            search.messages(MessageName(Array(text.utf8)), limit: 5).messages.map(\.record.id)
        }
        #expect(found(id.text) == [Array("message-7".utf8)])
        #expect(found("projects/p/messages/\(id.text)") == [Array("message-7".utf8)])
        #expect(found(PersistentID(sequence: SequenceNumber(7), salt: 98).text).isEmpty)
        #expect(found("7").isEmpty, "numbers name messages to topics alone")
    }

    @Test("messages of one device keep their own salts, also when a process began anew between them")
    func salts() {
        let world = HistoryWorld()
        let salts: [UInt32] = [99, 99, 5, 99, 5, 5]
        world.write(
            salts.enumerated().map { number, salt in
                var given = World.step(.stored, sequence: UInt64(number) + 1, id: "m\(number)")
                given.step.salt = salt
                return given
            })
        #expect(
            salts.indices.map { world.search().finding("m\($0)").map(\.record.salt) } == salts.map { [$0] })
    }

    @Test("a step with an ID and details has both as they were")
    func texts() {
        let world = HistoryWorld()
        world.write([World.step(.refused, sequence: 0, id: "an-id", detail: "other words")])
        #expect(world.search().finding("an-id").map(World.expected) == world.expected(id: "an-id"))
    }

    @Test func aSearchStopsAtItsLimit() {
        let world = HistoryWorld()
        for number in 1...5 as ClosedRange<UInt64> {
            world.write([World.step(.stored, sequence: number, id: "same")])
        }
        var search = world.search()
        let found = search.messages(MessageName(Array("same".utf8)), limit: 3)
        #expect(found.messages.map(\.record.sequence) == [5, 4, 3])
        #expect(found.isCut)
        #expect(!search.messages(MessageName(Array("same".utf8)), limit: 5).isCut)
    }

    @Test func longTextsAreCut() {
        let world = HistoryWorld()
        let long = String(repeating: "x", count: 300)
        world.write([World.step(.refused, sequence: 0, id: long, detail: long)])
        let found = world.search().finding(long)
        #expect(found.map(\.record.id.count) == [255])
        #expect(found.first?.record.steps.first?.detail.utf8.count == 255)
    }

    @Test func idsComeBackAsTheyWere() throws {
        let long = String(repeating: "y", count: 255)
        let ids = [
            "0f8fad5b-d9cd-469f-a165-70867728950e", "0F8FAD5B-D9CD-469F-A165-70867728950E",
            "0f8fad5b-d9cd-469f-a165-70867728950g", "0f8fad5b-d9cd-469f-a165x70867728950e",
            "ffffffff-ffff-ffff-ffff-ffffffffffff", "0f8fad5b-d9cd-469f-a165-70867728950", "a", "ab", "a",
            long, long,
            String(repeating: "y", count: 254),
        ]
        let world = HistoryWorld()
        world.write(
            ids.enumerated().map { World.step(.stored, sequence: UInt64($0.offset) + 1, id: $0.element) })
        for id in ids { #expect(world.search().finding(id).count == ids.count { $0 == id }) }
        let before = world.files[1]?.count ?? 0
        let uuids = (0..<500).map { "0f8fad5b-d9cd-469f-a165-7086772\(String(10_000 + $0 * 17))" }
        world.write(
            uuids.enumerated().map {
                World.step(
                    .stored, device: HistoryWorld.device($0.offset), sequence: UInt64($0.offset) + 90,
                    id: $0.element)
            })
        #expect((try #require(world.files[1]?.count) - before) / uuids.count < 40)
    }

    @Test func aMessageOfManyStepsTakesSeveralRecords() {
        let world = HistoryWorld()
        var steps = [World.step(.stored, sequence: 5, id: "often")]
        for number in 0..<90 {
            steps.append(World.step(.deferred, sequence: 5, at: 1_700_000_000_000 + Int64(number)))
        }
        world.write(steps)
        #expect(world.search().finding("often").first?.record.steps.count == 91)
    }

    @Test func gapsAreNamed() {
        let world = HistoryWorld()
        world.write([
            .init(step: HistoryStep(.gap, .disconnected, sequence: 1, at: 1_000), id: "", detail: ""),
            .init(step: HistoryStep(.gap, .connected, sequence: 1, at: 5_000), id: "", detail: ""),
        ])
        var search = world.search()
        #expect(search.gaps().map(\.from) == [1_000])
        #expect(search.gaps().map(\.to) == [5_000])
    }

    // MARK: What is left of a file

    @Test func aFileThatWasNotCompletedIsTakenUpToItsLastBlock() throws {
        let bytes = try #require(small().files[1])
        for cut in stride(from: bytes.count, to: 0, by: -97) {
            let file = Array(bytes.prefix(cut))
            guard var writer = SegmentWriter(number: 1, reading: file.raw) else {
                #expect(cut < 24)
                continue
            }
            let end = writer.bytes
            #expect(end <= cut)
            let left = Array(bytes.prefix(end))
            let search = HistorySearch([HistorySource(writer) { World.read(left, $0, $1) }])
            let count = (1...40).count { !search.finding("message-\($0)").isEmpty }
            #expect(count == 40 || cut < bytes.count)
            var out = ByteBuffer()
            writer.complete(&out)
            let again = HistorySearch([World.source(1, left + out.copied())].compactMap { $0 })
            #expect((1...40).count { !again.finding("message-\($0)").isEmpty } == count)
        }
    }

    @Test func aFileOfAnotherNumberIsNotTakenUp() throws {
        let bytes = try #require(small().files[1])
        let isTaken = SegmentWriter(number: 2, reading: bytes.raw) != nil
        #expect(!isTaken)
    }

    @Test func noDamagedByteChangesAnAnswer() throws {
        let world = small()
        world.roll()
        let bytes = try #require(world.files[1])
        for at in bytes.indices {
            for bit in [0x01, 0x80] as [UInt8] {
                var damaged = bytes
                damaged[at] ^= bit
                guard let source = World.source(1, damaged) else { continue }
                var search = HistorySearch([source])
                for number in [3, 17, 40] {
                    let found = search.messages(MessageName(Array("message-\(number)".utf8)), limit: 5)
                        .messages
                    let isWhole = found.map(World.expected) == world.expected(id: "message-\(number)")
                    #expect(isWhole || search.damaged > 0, "byte \(at)")
                    #expect(
                        found.isEmpty || found.allSatisfy { $0.record.id == Array("message-\(number)".utf8) })
                }
                let page = search.messages(device: 3, registration: nil, before: nil, limit: 100)
                #expect(page.messages.count == 8 || search.damaged > 0, "byte \(at)")
            }
        }
    }

    @Test func bytesThatAreNoBlockNeverTrap() throws {
        let world = small()
        world.roll()
        let bytes = try #require(world.files[1])
        var random = SeededRandom(seed: 7)
        for length in 0..<200 {
            let noise = (0..<length).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            #expect(World.source(1, noise) == nil)
            #expect(World.source(1, Array(bytes.prefix(length))) == nil)
        }
    }

    @Test("canary: an undamaged file reports no damage") func anUndamagedFileReportsNoDamage() throws {
        let world = small()
        world.roll()
        let bytes = try #require(world.files[1])
        var search = HistorySearch([try #require(World.source(1, bytes))])
        #expect(search.messages(MessageName(Array("message-3".utf8)), limit: 5).messages.count == 1)
        #expect(search.damaged == 0)
        #expect(search.start == 1_700_000_000_000)
    }
}
