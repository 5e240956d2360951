import Basics
import Testing
import Wire

@testable import ccs_bench

/// What is said of a ccsd under attack.
struct AttackTests {
    /// A row in which all went well.
    private static var good: AttackRow {
        var row = AttackRow(name: "silence", connections: 3, flooding: 3)
        row.books = AttackRow.Books(sent: 1_000, acknowledged: 1_000, delivered: 1_000)
        row.memory = AttackRow.Memory(before: 50_000, peak: 90_000, after: 50_000)
        return row
    }

    @Test("a row in which nothing was lost, everybody is served and memory is back has no fault")
    func sound() {
        #expect(Self.good.faults.isEmpty)
        #expect(AttackRow.faults(of: [Self.good, Self.good]).isEmpty)
    }

    @Test("Canary: each planted weakness is a fault", arguments: AttackPlant.allCases)
    func canary(_ plant: AttackPlant) {
        var row = Self.good
        plant.spoil(&row)
        #expect(row.faults.count == 1, "\(plant): \(row.faults)")
        #expect(!AttackRow.faults(of: [Self.good, row]).isEmpty)
    }

    @Test("everything that must not be has words of its own")
    func faults() {
        let spoilt: [(String, (inout AttackRow) -> Void)] = [
            ("ccsd has ended", { $0.isRunning = false }),
            ("messages lost", { $0.books.delivered -= 7 }), ("came twice", { $0.books.delivered += 1 }),
            ("refused", { $0.books.refused = 1 }), ("not answered", { $0.books.sent += 2 }),
            ("connections ended", { $0.books.ended = ["device: idle"] }),
            ("renegotiation", { $0.breaches = ["renegotiation was granted"] }),
            ("no good message", { $0.books = AttackRow.Books() }),
        ]
        for (words, spoil) in spoilt {
            var row = Self.good
            spoil(&row)
            #expect(row.faults.contains { $0.contains(words) }, "\(words): \(row.faults)")
        }
    }

    @Test("memory may be as much more as is said, and not one KiB more; what each leaves must not add up")
    func memory() {
        var row = Self.good
        row.memory.after = row.memory.before + row.allowedKiB(row.books.acknowledged)
        #expect(row.faults.isEmpty)
        row.memory.after += 1
        #expect(row.faults.count == 1)
        let all = AttackRow.storedKiB(.max / 2_048)
        #expect(all == Limits.storeWriteBuffersBytes / 1_024, "no more than the write buffers hold")
        let rows = (0..<5).map { at in
            var row = Self.good
            row.memory.before += at * 30_000
            row.memory.after = row.memory.before + 30_000
            return row
        }
        #expect(rows.allSatisfy { $0.faults.isEmpty })
        #expect(AttackRow.faults(of: rows).count == 1)
        #expect(!AttackRow.faults(of: []).isEmpty, "no attack at all proves nothing")
    }

    @Test("attacks have names of their own, and the calm comes first")
    func names() {
        let names = Attack.all.map(\.name)
        #expect(names.first == Attack.calm && Set(names).count == names.count && names.count > 20)
        #expect(Attack.all.dropFirst().allSatisfy { $0.script != nil || $0.deed != .none })
    }

    @Test("what ccsd did is the difference of its counts; those who found the door shut are told")
    func change() throws {
        let old = ConnectionCounts(accepted: 10, closed: ["idle": 2], refused: ["address_full": 1])
        let new = ConnectionCounts(
            try JSONValue(
                parsing: """
                    {"accepted":16,"closed":{"idle":2,"login_deadline":4,"peer_closed":1},
                    "refused":{"address_full":3,"no_descriptor":1}}
                    """))
        let words = new.words(since: old, begun: 10)
        #expect(words.map(\.word) == ["login_deadline", "address_full", "no_descriptor", "never accepted"])
        #expect(words.map(\.count) == [4, 2, 1, 2])
        #expect(ConnectionCounts(nil) == ConnectionCounts())
    }

    @Test("the table has a line for each row, and says what failed")
    func table() {
        var bad = Self.good
        AttackPlant.loss.spoil(&bad)
        let lines = AttackRow.table([Self.good, bad]).split(separator: "\n")
        #expect(lines.count == 3)
        #expect(!lines[1].contains("FAILED") && lines[2].contains("FAILED: 1 acknowledged messages lost"))
    }

    @Test("the packed bomb is a right one: only its size is against it")
    func bomb() {
        let bomb = GzipBomb.zeros(packedBytes: 65_536)
        #expect(bomb.count < 65_600)
        func words(_ limit: Int) -> String {
            do throws(RequestFault) {
                _ = try Gzip.unpacked(bomb, limit: limit)
                return "unpacked"
            } catch { return "\(error.reason)" }
        }
        #expect(words(Limits.requestBodyBytes).contains("too long when it is unpacked"))
        // With room for all of it, its checksum is what is wrong.
        #expect(words(65_536 * 8 / 13 * 258 + 1_000).contains("no gzip"))
    }

    @Test("frames made by hand are those of the protocol")
    func frames() {
        #expect(HTTP2Frames.frame(6, 1, 0x0102_0304, [7]) == [0, 0, 1, 6, 1, 1, 2, 3, 4, 7])
        #expect(HTTP2Frames.streams(2, 3) == [13, 15, 17])
    }
}
