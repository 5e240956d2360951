import Basics
import Compression
import Testing
import Wire

@testable import ccs_bench

/// The verdict about a ccsd under attack.
struct AttackTests {
    /// A row without faults.
    private static var good: AttackRow {
        var row = AttackRow(name: "silence", connections: 3, flooding: 3)
        row.books = AttackRow.Books(sent: 1_000, acknowledged: 1_000, delivered: 1_000)
        row.memory = AttackRow.Memory(before: 50_000, peak: 90_000, after: 50_000)
        row.reached = [AttackReach(word: "accepted", count: 3, floor: 1)]
        return row
    }

    @Test("a row has no fault when nothing was lost, all peers are served and memory was returned")
    func sound() {
        #expect(Self.good.faults.isEmpty)
        #expect(AttackRow.faults(of: [Self.good, Self.good]).isEmpty)
    }

    @Test("Canary: a row has a fault when one is planted", arguments: AttackPlant.allCases)
    func canary(_ plant: AttackPlant) {
        var row = Self.good
        plant.spoil(&row)
        #expect(row.faults.count == 1, "\(plant): \(row.faults)")
        #expect(!AttackRow.faults(of: [Self.good, row]).isEmpty)
    }

    @Test("each fault has its own text")
    func faults() {
        let spoilt: [(String, (inout AttackRow) -> Void)] = [
            ("ccsd has ended", { $0.isRunning = false }),
            ("messages lost", { $0.books.delivered -= 7 }), ("delivered twice", { $0.books.delivered += 1 }),
            ("refused", { $0.books.refused = 1 }), ("not acknowledged", { $0.books.sent += 2 }),
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

    @Test("memory is a fault when it exceeds its limit by one KiB, or when the attacks' remainders add up")
    func memory() {
        var row = Self.good
        row.memory.after = row.memory.before + row.allowedKiB(row.books.acknowledged)
        #expect(row.faults.isEmpty)
        row.memory.after += 1
        #expect(row.faults.count == 1)
        let all = AttackRow.storedKiB(.max / 2_048)
        #expect(all == Limits.Store.writeBuffersBytes / 1_024, "at most the size of the memtables")
        let rows = (0..<5).map { at in
            var row = Self.good
            row.memory.before += at * 30_000
            row.memory.after = row.memory.before + 30_000
            return row
        }
        #expect(rows.allSatisfy { $0.faults.isEmpty })
        #expect(AttackRow.faults(of: rows).count == 1)
        #expect(!AttackRow.faults(of: []).isEmpty, "no attacks are a fault")
    }

    @Test("attacks have distinct names, and the baseline is first")
    func names() {
        let names = Attack.all.map(\.name)
        #expect(names.first == Attack.baseline && Set(names).count == names.count && names.count > 20)
        #expect(Attack.all.dropFirst().allSatisfy { $0.script != nil || $0.action != .none })
    }

    @Test("Canary: an attack is reported with the effect and its minimum when the effect did not occur")
    func reach() {
        var row = Self.good
        row.reached.append(AttackReach(word: "closed flood", count: 0, floor: 1))
        #expect(
            AttackRow.faults(of: [row])
                == ["silence: the attack reached closed flood 0 times, expected at least 1"])
        row.reached[1].count = 1
        #expect(row.faults.isEmpty)
        row.reached = []
        #expect(row.faults == ["nothing shows that the attack took place"])
    }

    @Test(
        "every attack has an effect in a second at a tenth of its scale, and every effect a distinct name"
    )
    func aims() throws {
        for attack in Attack.all.dropFirst() {
            let reached = attack.reached(AttackEvidence(), seconds: 1, scale: 10)
            #expect(!reached.isEmpty && reached.allSatisfy(\.isMissing), "\(attack.name)")
            #expect(reached.allSatisfy { $0.floor >= 1 }, "\(attack.name)")
        }
        let effects = Set(Attack.all.flatMap { $0.aims.map(\.effect) })
        #expect(Set(effects.map(\.word)).count == effects.count)
        let silence = try #require(Attack.all.first { $0.name == "silence" })
        #expect(
            silence.reached(AttackEvidence(), seconds: 60, scale: 10).contains {
                $0.word == "closed handshake_deadline"
            })
        let crowd = try #require(Attack.all.first { $0.name == "half-open" })
        #expect(
            crowd.reached(AttackEvidence(), seconds: 1, scale: 100).contains {
                $0.word == "refused reactor_full"
            })
    }

    @Test("every effect of an attack is counted when the server or the attackers report it")
    func effects() {
        var evidence = AttackEvidence(
            daemon: DaemonCounts(Self.everySample), blocks: 1, receivedBytes: 1, stillConnected: 1,
            answers: ["ack": 1, "GOAWAY": 1, "RST_STREAM": 1], renegotiationsRefused: 1)
        for attack in Attack.all {
            for aim in attack.aims {
                #expect(aim.effect.count(in: evidence) > 0, "\(attack.name): \(aim.effect.word)")
            }
        }
        evidence.daemon = evidence.daemon.since(evidence.daemon)
        #expect(AttackEffect.closed(.flood).count(in: evidence) == 0)
    }

    /// Each sample of each metric, counted once.
    private static var everySample: String {
        let metrics = Metrics(shards: 1)
        for metric in Metric.allCases {
            let counts = metric.labels.map(\.values.count) + [1, 1]
            for first in 0..<counts[0] {
                for second in 0..<counts[1] { metrics.shards[0].add(1, to: metric, first, second) }
            }
        }
        var buffer = ByteBuffer()
        metrics.render(to: &buffer)
        return String(decoding: buffer.copied(), as: UTF8.self)
    }

    @Test("the actions of ccsd are the difference of its counters, with refused and unaccepted connections")
    func change() {
        let old = DaemonCounts(
            """
            # HELP ccs_connections_closed_total Connections closed, by reason.
            ccs_connections_accepted_total{listener="device"} 10
            ccs_connections_closed_total{reason="idle"} 2
            ccs_connections_refused_total{listener="device",reason="address_full"} 1
            another_metric 5
            """)
        let new = DaemonCounts(
            """
            ccs_connections_accepted_total{listener="device"} 14
            ccs_connections_accepted_total{listener="https"} 1
            ccs_connections_accepted_total{listener="admin"} 7
            ccs_connections_closed_total{reason="idle"} 2
            ccs_connections_closed_total{reason="login_deadline"} 4
            ccs_connections_refused_total{listener="device",reason="address_full"} 2
            ccs_connections_refused_total{listener="https",reason="address_full"} 1
            ccs_connections_refused_total{listener="device",reason="no_descriptor"} 1
            """)
        let change = new.since(old)
        let words = change.words(begun: 10)
        #expect(words.map(\.word) == ["login_deadline", "address_full", "no_descriptor", "never accepted"])
        #expect(words.map(\.count) == [4, 2, 1, 2])
        #expect(change.count(.connectionsRefused, "device", "address_full") == 1)
        #expect(DaemonCounts("").words(begun: 0).isEmpty)
    }

    @Test("HTTP/2 frames are counted by type when they are split anywhere")
    func scanner() {
        let bytes =
            HTTP2Frames.frame(4, 0, 0, [0, 3, 0, 0, 0, 100])
            + HTTP2Frames.frame(0, 0, 1, [UInt8](repeating: 7, count: 300))
            + HTTP2Frames.frame(3, 0, 1, [0, 0, 0, 8])
            + HTTP2Frames.frame(7, 0, 0, [UInt8](repeating: 0, count: 8))
        for size in [1, 8, 9, 10, 100, bytes.count] {
            var scanner = HTTP2FrameScanner()
            var types: [UInt8] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                let piece = Array(bytes[start..<min(start + size, bytes.count)])
                scanner.consume(piece.raw) { types.append($0) }
            }
            #expect(types == [4, 0, 3, 7], "pieces of \(size)")
        }
    }

    @Test("the table has a line for each row, with its faults")
    func table() {
        var bad = Self.good
        AttackPlant.loss.spoil(&bad)
        let lines = AttackRow.table([Self.good, bad]).split(separator: "\n")
        #expect(lines.count == 3)
        #expect(!lines[1].contains("FAILED") && lines[2].contains("FAILED: 1 acknowledged messages lost"))
        let reached = AttackRow.reachTable([Self.good, bad]).split(separator: "\n")
        #expect(reached.count == 3 && reached[1].contains("accepted"))
    }

    @Test("the gzip bomb is refused only for its size")
    func bomb() {
        let bomb = GzipBomb.zeros(packedBytes: 65_536)
        #expect(bomb.count < 65_600)
        func failure(_ limit: Int) -> GzipFailure? {
            do throws(GzipFailure) {
                _ = try Gzip.decompressed(bomb, limit: limit)
                return nil
            } catch { return error }
        }
        #expect(failure(Limits.HTTP.requestBodyBytes) == .tooLong)
        // With enough room, only its checksum is wrong.
        #expect(failure(65_536 * 8 / 13 * 258 + 1_000) == .malformed)
    }

    @Test("handcrafted frames have the format of the protocol")
    func frames() {
        #expect(HTTP2Frames.frame(6, 1, 0x0102_0304, [7]) == [0, 0, 1, 6, 1, 1, 2, 3, 4, 7])
        #expect(HTTP2Frames.streams(2, 3) == [13, 15, 17])
    }
}
