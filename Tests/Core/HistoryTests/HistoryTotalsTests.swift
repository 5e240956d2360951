import Basics
import Delivery
import Testing

@testable import History

/// Counts of messages by outcome and day.
@Suite struct HistoryTotalsTests {
    private typealias World = HistoryWorld
    private static let day: Int64 = 86_400_000
    /// Noon of a day.
    private static let noon: Int64 = 1_700_006_400_000 - 1_700_006_400_000 % day + day / 2

    private func step(
        _ step: TraceRecord.Step, _ sequence: UInt64, sender: UInt64 = 7, after milliseconds: Int64 = 0,
        kind: HistoryStep.Kind = .downstream, detail: String = ""
    ) -> World.Given {
        var given = World.step(
            step, device: HistoryWorld.device(Int(sequence)), sequence: sequence,
            at: Self.noon + milliseconds, detail: detail)
        given.step.kind = kind
        given.step.sender = sender
        return given
    }

    private func counts(
        _ world: World, of sender: UInt64? = 7, from start: UnixMilliseconds = 0
    ) -> [[HistoryOutcome: Int]] {
        var counter = HistoryCounter()
        counter.countAll(world.sources(), upTo: 1_000_000)
        return counter.days(of: sender.map { SenderID($0) }, from: start).map(Self.plain)
    }

    private static func plain(_ day: HistoryCounter.Day) -> [HistoryOutcome: Int] {
        Dictionary(
            uniqueKeysWithValues: HistoryOutcome.allCases.filter { day.counts[$0] > 0 }.map {
                ($0, day.counts[$0])
            })
    }

    @Test func eachAcceptanceAndEachEndCountsOnItsDay() {
        let world = World()
        world.write([step(.stored, 1), step(.sent, 1), step(.delivered, 1)])
        world.write([step(.stored, 2), step(.stored, 3), step(.stored, 4), step(.stored, 5)])
        world.write([
            step(.replaced, 2, after: Self.day), step(.expired, 3, after: Self.day),
            step(.discarded, 4, after: Self.day), step(.removed, 5, after: Self.day),
        ])
        world.write([step(.stored, 6, sender: 8), step(.forwarded, 6, sender: 8)])
        let second: [HistoryOutcome: Int] = [.replaced: 1, .expired: 1, .discarded: 1, .removed: 1]
        #expect(counts(world) == [second, [.accepted: 5, .delivered: 1]])
        #expect(counts(world, of: 8) == [[.accepted: 1, .forwarded: 1]])
        #expect(counts(world, of: 9).isEmpty)
        #expect(counts(world, of: nil).last == [.accepted: 6, .delivered: 1, .forwarded: 1])
        #expect(counts(world, from: Self.noon + Self.day) == [second])
    }

    @Test func whatIsNoMessageToADeviceDoesNotCount() {
        let world = World()
        world.write([
            step(.accepted, 1, detail: "dry_run"), step(.accepted, 2, detail: "now_or_never"),
            step(.stored, 3, detail: "deleted_messages"), step(.delivered, 3, detail: "deleted_messages"),
            step(.stored, 4, kind: .upstream), step(.delivered, 4, kind: .upstream),
            step(.stored, 5, kind: .receipt), step(.stored, 6, kind: .topic),
            step(.refused, 7, kind: .topic, detail: "topic_rate_exceeded"),
            step(.accepted, 0, kind: .group), step(.refused, 0, detail: "not_registered"),
            // A message that Apple refuses leaves the mailbox as well.
            step(.stored, 8), step(.refused, 8, detail: "BadDeviceToken"), step(.removed, 8),
        ])
        #expect(counts(world) == [[.accepted: 2, .refused: 2, .removed: 1]])
    }

    @Test func anEndWithoutASenderIsThatOfTheMessage() {
        let world = World()
        world.write([step(.stored, 1), step(.stored, 2, sender: 8)])
        world.roll()
        world.write([
            step(.expired, 1, sender: 0), step(.expired, 2, sender: 0), step(.expired, 3, sender: 0),
        ])
        #expect(counts(world) == [[.accepted: 1, .expired: 1]])
        var counter = HistoryCounter()
        counter.countAll(world.sources(), upTo: 100)
        #expect(counter.unattributed(from: 0) == 1)
        #expect(counter.unattributed(from: Self.noon + 2 * Self.day) == 0)
    }

    @Test("messages to topics count by topic, with what those have reached whose time is over")
    func topics() {
        let world = World()
        world.write([
            step(.stored, 1, kind: .topic, detail: "/topics/a"),
            step(.stored, 2, kind: .topic, detail: "/topics/b"),
            step(.stored, 3, kind: .topic, detail: "condition on a, b"),
            step(.accepted, 4, sender: 8, kind: .topic, detail: "/topics/a"),
            step(.refused, 0, kind: .topic, detail: "topic_rate_exceeded"),
            step(.accepted, 0, kind: .group, detail: "success 1, failure 0"),
        ])
        world.write([
            step(.expired, 1, after: Self.day, kind: .topic, detail: "reached 5, /topics/a"),
            step(.replaced, 1, after: Self.day, kind: .topic, detail: "reached 2, /topics/a"),
            step(.expired, 3, kind: .topic, detail: "reached 9, condition on a, b"),
        ])
        var counter = HistoryCounter()
        counter.countAll(world.sources(), upTo: 100)
        func sums(_ sender: UInt64?, from start: UnixMilliseconds = 0) -> [String] {
            counter.topics(of: sender.map { SenderID($0) }, from: start).map {
                "\(String(decoding: $0.topic.target, as: UTF8.self)) \($0.messages) \($0.reached)"
            }
        }
        #expect(sums(7) == ["condition on a, b 1 9", "/topics/a 1 7", "/topics/b 1 0"])
        #expect(sums(8) == ["/topics/a 1 0"] && sums(9).isEmpty && sums(nil).count == 4)
        #expect(sums(nil, from: Self.noon + Self.day) == ["/topics/a 0 7"])
        #expect(
            counter.days(of: SenderID(7), from: 0).map(Self.plain) == [[.refused: 1]],
            "not as messages to devices")
        var sum = HistorySums(
            days: [], completeSince: nil, unattributed: 0, topics: counter.topics(of: nil, from: 0))
        sum.add(sum)
        #expect(sum.topics.first?.reached == 18 && sum.topics.count == 4, "of two nodes")
    }

    @Test func aCountGoesOnWhereItWas() throws {
        let world = World()
        for number in 1...40 as ClosedRange<UInt64> {
            world.write([step(.stored, number, after: Int64(number))])
            if number % 10 == 0 { world.roll() }
        }
        var counter = HistoryCounter()
        #expect(counter.completeSince(world.sources()) == nil)
        var rounds = 0
        while !counter.count(world.sources(), upTo: 7) {
            rounds += 1
            let sum = counter.days(of: nil, from: 0).reduce(0) { $0 + $1.counts[.accepted] }
            #expect(sum == 7 * rounds)
            // The newest file comes first, and has no blocks.
            let complete = (40 - sum + 9) / 10 * 10
            if complete < 40 {
                #expect(counter.completeSince(world.sources()) == Self.noon + Int64(complete) + 1)
            }
        }
        #expect(rounds == 5)
        #expect(counter.completeSince(world.sources()) == Self.noon + 1)
        #expect(counter.days(of: nil, from: 0).map { $0.counts[.accepted] } == [40])
        // What comes later is added, once; a file that is gone does not count.
        world.write([step(.stored, 41)])
        counter.countAll(world.sources(), upTo: 1)
        #expect(counter.days(of: nil, from: 0).map { $0.counts[.accepted] } == [41])
        world.files[1] = nil
        counter.countAll(world.sources(), upTo: 1)
        #expect(counter.days(of: nil, from: 0).map { $0.counts[.accepted] } == [31])
        #expect(counter.damaged == 0)
    }

    @Test("canary: a damaged block is named, and does not count") func aDamagedBlockIsNamed() throws {
        let world = World()
        world.write([step(.stored, 1)])
        world.write([step(.stored, 2)])
        world.roll()
        world.files[1]?[40] ^= 1
        var counter = HistoryCounter()
        counter.countAll(world.sources(), upTo: 9)
        #expect(counter.damaged == 1)
        #expect(counter.days(of: nil, from: 0).map { $0.counts[.accepted] } == [1])
    }
}

extension HistoryCounter {
    /// Counts all blocks.
    fileprivate mutating func countAll(_ sources: [HistorySource], upTo limit: Int) {
        let isDone = count(sources, upTo: limit)
        #expect(isDone)
    }
}
