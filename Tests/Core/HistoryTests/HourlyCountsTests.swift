import Basics
import Delivery
import History
import Testing

/// Counts of messages by outcome and hour, which are kept longer than the history.
@Suite struct HourlyCountsTests {
    private typealias World = HistoryWorld
    private static let day: Int64 = 86_400_000
    /// The beginning of a day.
    private static let start: Int64 = 1_700_006_400_000 - 1_700_006_400_000 % day

    private func sums(_ hours: HourlyCounts, from start: UnixMilliseconds = 0) -> HistorySums? {
        guard case .sums(let sums) = hours.reply(from: start).content else { return nil }
        return sums
    }

    private func step(
        _ step: TraceRecord.Step, _ sequence: UInt64, after milliseconds: Int64 = 0,
        kind: HistoryStep.Kind = .downstream, detail: String = ""
    ) -> World.Given {
        var given = World.step(
            step, device: World.device(Int(sequence)), sequence: sequence, at: Self.start + milliseconds,
            detail: detail)
        given.step.kind = kind
        return given
    }

    private func batch(_ given: [World.Given]) -> HistoryBatch {
        var batch = HistoryBatch()
        for item in given { batch.append(item.step, id: Array(item.id.utf8), detail: item.detail) }
        return batch
    }

    @Test("an acceptance and an end count in the hour in which they happened, and days are their sums")
    func hours() {
        var hours = HourlyCounts(since: Self.start)
        let hour = HourlyCounts.hour
        hours.add(batch([step(.stored, 1), step(.sent, 1), step(.stored, 2, after: hour - 1)]))
        hours.add(batch([step(.delivered, 1, after: hour), step(.stored, 3, after: 25 * hour)]))
        hours.add(batch([step(.expired, 2, after: 25 * hour)]))
        let all = sums(hours)
        #expect(all?.days.map { ($0.start - Self.start) / hour } == [25, 1, 0])
        #expect(all?.days.map { $0.counts[.accepted] } == [1, 0, 2])
        #expect(all?.byDay.map { $0.start - Self.start } == [Self.day, 0])
        #expect(all?.byDay.map { $0.counts[.accepted] } == [1, 2])
        #expect(all?.byDay.map { $0.counts[.delivered] + $0.counts[.expired] } == [1, 1])
        #expect(sums(hours, from: Self.start + hour)?.days.count == 2)
        #expect(sums(hours, from: Self.start + 2 * hour - 1)?.days.count == 2, "the hour as a whole")
        #expect(all?.completeSince == Self.start)
    }

    @Test("what is no message to a device does not count, and a refused message ends once")
    func kinds() {
        var hours = HourlyCounts(since: 0)
        // Another message of the device that has one refused.
        var other = step(.removed, 11)
        other.step.device = World.device(10)
        hours.add(
            batch([
                step(.accepted, 1, detail: "dry_run"), step(.accepted, 2, detail: "now_or_never"),
                step(.stored, 3, detail: "deleted_messages"), step(.delivered, 3, detail: "deleted_messages"),
                step(.stored, 4, kind: .upstream), step(.delivered, 4, kind: .upstream),
                step(.stored, 5, kind: .receipt), step(.stored, 6, kind: .topic),
                step(.refused, 7, kind: .topic, detail: "topic_rate_exceeded"),
                step(.accepted, 0, kind: .group),
                step(.refused, 0, detail: "not_registered"), step(.refused, 0, detail: "not_registered"),
                step(.stored, 8), step(.refused, 8, detail: "BadDeviceToken"), step(.removed, 8),
                step(.stored, 9), step(.removed, 9),
                step(.refused, 10), other,
            ]))
        let counts = sums(hours)?.days.first?.counts
        #expect(counts?[.accepted] == 3 && counts?[.refused] == 4 && counts?[.removed] == 3)
        #expect(counts?[.delivered] == 0)
    }

    @Test("random steps count as in the history of all messages")
    func asTotals() {
        var random = SystemRandomNumberGenerator()
        let world = World()
        let ends: [TraceRecord.Step] = [.delivered, .forwarded, .replaced, .expired, .discarded, .removed]
        for number in 1...300 as ClosedRange<UInt64> {
            let at = Int64.random(in: 0..<5 * Self.day, using: &random)
            var steps = [step(.stored, number, after: at)]
            if let end = ends.randomElement(using: &random), Bool.random(using: &random) {
                steps.append(step(end, number, after: at + Int64.random(in: 0..<Self.day, using: &random)))
            }
            world.write(steps)
        }
        var counter = HistoryCounter()
        let isDone = counter.count(world.sources(), upTo: 10_000)
        #expect(isDone)
        #expect(sums(world.hours)?.byDay == counter.days(of: nil, from: 0))
    }

    @Test(
        "only the latest hours are kept, also if the clock was ahead, and the answer names since when all is counted"
    )
    func ring() {
        var hours = HourlyCounts(since: Self.start)
        hours.add(batch([step(.stored, 1, after: 1_000 * Self.day)]))
        for hour in 0..<Int64(Limits.History.countedHours + 10) {
            hours.add(batch([step(.stored, 2, after: hour * HourlyCounts.hour)]))
        }
        #expect(sums(hours)?.days.count == Limits.History.countedHours)
        #expect(sums(hours)?.completeSince == Self.start + 11 * HourlyCounts.hour)
        #expect(hours.bytes.count == HourlyCounts.mostBytes)
        // Too old: as if it were not there.
        let before = hours
        hours.add(batch([step(.stored, 3)]))
        #expect(hours == before)
    }

    @Test("bytes are read as they were written, and damaged, cut and longer ones are refused")
    func bytes() {
        var hours = HourlyCounts(since: Self.start)
        #expect(HourlyCounts(hours.bytes.raw) == hours)
        hours.add(batch([step(.stored, 1), step(.delivered, 1, after: Self.day)]))
        let bytes = hours.bytes
        #expect(HourlyCounts(bytes.raw) == hours)
        for at in bytes.indices {
            var damaged = bytes
            damaged[at] ^= 1 << UInt8(at % 8)
            #expect(HourlyCounts(damaged.raw) == nil, "byte \(at)")
            #expect(HourlyCounts(Array(bytes.prefix(at)).raw) == nil, "\(at) bytes")
        }
        #expect(HourlyCounts((bytes + [0]).raw) == nil)
        #expect(HourlyCounts([UInt8](repeating: 0, count: 24).raw) == nil)
    }
}
