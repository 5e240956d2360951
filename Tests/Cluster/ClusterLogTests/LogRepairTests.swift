import Basics
import ClusterLog
import ClusterLogSupport
import Testing

/// Repairs of a log that has lost records, step by step.
@Suite("repairs of a log") struct LogRepairTests {
    private static let key = LogKey(cluster: 1, partition: 2)
    private static let now = Now(monotonic: Instant(nanoseconds: 1_000_000_000), wall: 5)

    private func record(_ epoch: UInt64, _ number: UInt64, _ position: UInt64) -> KeptRecord {
        let header = FrameHeader(term: Term(Epoch(epoch), Claim(epoch)), number: number, time: 7)
        let entries = number == 1 ? [] : [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 8)
        return KeptRecord(header, header.frame(with: entries, in: Self.key), at: LogPosition(position))
    }

    /// A log, and a repair of it by a node that has read `kept`.
    private final class Bench {
        var log: [[UInt8]]
        /// How many of the first records are purged.
        var purged = 0
        var repair: LogRepair
        private var effects: [RepairEffect] = []
        private var now = LogRepairTests.now

        init(
            _ log: [[UInt8]], kept: [KeptRecord], after reader: LogReader = LogReader(),
            unconfirmed: [KeptRecord] = [], highest: UInt64 = 0
        ) {
            self.log = log
            var records = KeptRecords(after: reader)
            for record in kept { records.add(record) }
            repair = LogRepair(
                records, unconfirmed: unconfirmed.map { ($0.header, $0.bytes) },
                read: kept.last?.position ?? .start, highest: LogPosition(highest), in: LogRepairTests.key,
                isConnected: true, now: now, effects: &effects)
        }

        /// Runs it to its end.
        func run() -> LogRepair.State {
            for _ in 0..<20_000 where repair.state == .underWay {
                let made = effects
                effects = []
                for effect in made {
                    switch effect {
                    case .append(let bytes): log.append(bytes)
                    case .read(let position): handle(answer(position))
                    }
                }
                guard effects.isEmpty, repair.state == .underWay else { continue }
                now.monotonic = max(now.monotonic, repair.nextTick)
                handle(.tick)
            }
            return repair.state
        }

        private func handle(_ event: RepairEvent) { repair.handle(event, now: now, effects: &effects) }

        private func answer(_ position: LogPosition) -> RepairEvent {
            if position.number <= purged { return .removed(first: LogPosition(UInt64(purged) + 1)) }
            guard position.number <= log.count else { return .end(LogPosition(UInt64(log.count))) }
            return .record(
                FrameHeader.read(bytes: log[Int(position.number) - 1], in: LogRepairTests.key), at: position)
        }

        /// What a reader applies that goes on after a position.
        func applied(from reader: LogReader) -> [UInt64] {
            var reader = reader
            var applied: [UInt64] = []
            for at in Int(reader.position.number)..<log.count {
                let record = FrameHeader.read(bytes: log[at], in: LogRepairTests.key)
                if case .applies(let header) = reader.read(record, at: LogPosition(UInt64(at) + 1)) {
                    applied.append(header.number)
                }
            }
            return applied
        }
    }

    private var whole: [KeptRecord] { (1...6).map { record(1, $0, $0) } }

    private func reader(_ number: UInt64, at position: UInt64) -> LogReader {
        LogReader(term: Term(Epoch(1), Claim(1)), number: number, position: LogPosition(position))
    }

    @Test(
        "a log that has lost its end gets the same records again, and every reader goes on", arguments: 0...6)
    func lostEnd(left: Int) {
        let bench = Bench(whole.prefix(left).map(\.bytes), kept: whole)
        #expect(bench.run() == .done)
        #expect(bench.applied(from: LogReader()) == [2, 3, 4, 5, 6])
        for position in 1...6 as ClosedRange<UInt64> {
            #expect(bench.applied(from: reader(position, at: position)) == Array(position + 1..<7))
        }
        #expect(bench.log.count >= 6 + Int(Limits.ClusterLog.repairSlack))
    }

    @Test("a record never comes to an earlier position than it had")
    func positions() {
        // Void records were lost as well: who has read them would miss what comes in their places.
        let kept = [record(1, 1, 1), record(1, 2, 2), record(1, 3, 9)]
        let bench = Bench(kept.prefix(2).map(\.bytes), kept: kept)
        #expect(bench.run() == .done)
        for position in 2...8 as ClosedRange<UInt64> {
            #expect(bench.applied(from: reader(2, at: position)) == [3], "after \(position)")
        }
    }

    @Test("what the owner has appended comes after everything that any node has read")
    func unconfirmed() {
        let bench = Bench(
            whole.prefix(3).map(\.bytes) + [record(1, 7, 0).bytes], kept: whole,
            unconfirmed: [record(1, 7, 0), record(1, 8, 0)], highest: 20)
        #expect(bench.run() == .done)
        #expect(bench.applied(from: LogReader()) == [2, 3, 4, 5, 6, 7, 8])
        #expect(bench.applied(from: reader(6, at: 20)) == [7, 8])
    }

    @Test("a repair without need appends nothing that counts")
    func needless() {
        let bench = Bench(whole.map(\.bytes), kept: whole)
        #expect(bench.run() == .done)
        #expect(bench.applied(from: LogReader()) == [2, 3, 4, 5, 6])
        #expect(bench.applied(from: reader(6, at: 6)).isEmpty)
    }

    @Test("records that were purged meanwhile are not missing")
    func purged() {
        let bench = Bench(whole.prefix(5).map(\.bytes), kept: whole)
        bench.purged = 4
        #expect(bench.run() == .done)
        #expect(bench.applied(from: reader(4, at: 4)) == [5, 6])
    }

    @Test("more lost than is kept, and a term that began before the log was whole, end a repair")
    func failures() {
        let short = Bench([], kept: Array(whole.suffix(3)), after: reader(3, at: 3))
        #expect(short.run() == .unable)
        let taken = Bench(whole.prefix(3).map(\.bytes) + [record(2, 1, 0).bytes], kept: whole)
        #expect(taken.run() == .overruled(at: LogPosition(4)))
    }

    /// A repair that a test answers step by step.
    private func steps(
        _ kept: [KeptRecord], after reader: LogReader = LogReader(), highest: UInt64 = 0
    ) -> (repair: LogRepair, effects: [RepairEffect]) {
        var records = KeptRecords(after: reader)
        for record in kept { records.add(record) }
        var effects: [RepairEffect] = []
        let repair = LogRepair(
            records, unconfirmed: [], read: kept.last?.position ?? .start, highest: LogPosition(highest),
            in: Self.key, isConnected: true, now: Self.now, effects: &effects)
        return (repair, effects)
    }

    @Test("a log that takes nothing is asked with longer and longer waits, until it has taken something")
    func backoff() {
        var (repair, effects) = steps(whole)
        var now = Self.now
        var waits: [Int64] = []
        func end(_ position: UInt64) {
            effects = []
            repair.handle(.end(LogPosition(position)), now: now, effects: &effects)
            #expect(effects.count <= Limits.ClusterLog.repairedRecords && !effects.isEmpty)
            waits.append(repair.nextTick.milliseconds(since: now.monotonic))
            now.monotonic = repair.nextTick
            effects = []
            repair.handle(.tick, now: now, effects: &effects)
        }
        for _ in 1...6 { end(0) }
        #expect(waits == [500, 1_000, 2_000, 4_000, 4_000, 4_000] && effects == [.read(LogPosition(1))])
        let first = FrameHeader.read(bytes: whole[0].bytes, in: Self.key)
        repair.handle(.record(first, at: LogPosition(1)), now: now, effects: &effects)
        end(1)
        #expect(waits.last == 500)
    }

    @Test("ends before what is kept are counted anew after each record, since a replica may be behind")
    func shortEnds() {
        var (repair, effects) = steps(Array(whole.suffix(3)), after: reader(3, at: 3))
        var now = Self.now
        func end() {
            repair.handle(.end(LogPosition(2)), now: now, effects: &effects)
            guard repair.state == .underWay else { return }
            now.monotonic = repair.nextTick
            repair.handle(.tick, now: now, effects: &effects)
        }
        for _ in 1..<Limits.ClusterLog.shortEnds { end() }
        let record = FrameHeader.read(bytes: whole[3].bytes, in: Self.key)
        repair.handle(.record(record, at: LogPosition(4)), now: now, effects: &effects)
        for _ in 1..<Limits.ClusterLog.shortEnds { end() }
        #expect(repair.state == .underWay)
        end()
        #expect(repair.state == .unable)
    }

    @Test("what is appended at once is bounded", arguments: [0, 1])
    func appendedAtOnce(gap: UInt64) {
        let kept = (1...400 as ClosedRange<UInt64>).map { record(1, $0, $0 + $0 * gap) }
        var (repair, effects) = steps(kept, highest: 5_000)
        effects = []
        repair.handle(.end(.start), now: Self.now, effects: &effects)
        #expect(effects.count == Limits.ClusterLog.repairedRecords)
        #expect(repair.appended == Limits.ClusterLog.repairedRecords)
    }

    @Test("what is kept is bounded, and the oldest goes first")
    func bounded() {
        var kept = KeptRecords()
        for number in 1...UInt64(3 * Limits.ClusterLog.keptRecords) { kept.add(record(1, number, number)) }
        #expect(kept.records.count == Limits.ClusterLog.keptRecords)
        #expect(kept.records.last?.header.number == UInt64(3 * Limits.ClusterLog.keptRecords))
    }
}
