import Basics
import Testing

@testable import Delivery

/// The turns in which the partitions of a reactor send topic messages to connected devices.
@Suite struct TopicTurnTests {
    private final class Bench {
        let loop: TurnLoop
        var store: FakeStore
        let now = Now(monotonic: Instant(nanoseconds: 0), wall: 1_700_000_000_000)
        var reached: [DeviceID] = []
        /// For each turn, how many mailboxes of each partition topic messages have entered.
        var turns: [[Int: Int]] = []
        /// Whether the store does not answer the batches with topic messages, and those that wait for it.
        var isHolding = false
        var held: [PartitionBatch] = []

        init(_ store: FakeStore) {
            self.store = store
            loop = TurnLoop(reactor: 0, of: PartitionMap(partitions: store.partitions, reactors: 1)) {
                Partition(partition: $0, of: store.partitions, seed: 7, hashKey: (1, 2))
            }
            loop.accept(.senders(SenderDirectory(Harness.senders)), now: now)
        }

        /// Three partitions with connected devices, which have nothing to do.
        static func connected(_ count: Int) -> (Bench, [RegistrationName]) {
            let (wide, names) = TopicSendTests.bench(count)
            let bench = Bench(wide.store)
            for (at, name) in names.enumerated() {
                let login = DeviceLogin(
                    connection: connection(100 + UInt32(at)), device: name.device, token: token, received: [])
                bench.loop.accept(.deviceLogin(login), now: bench.now)
            }
            bench.settle()
            #expect(bench.turns.isEmpty, "canary")
            return (bench, names)
        }

        func settle() {
            while turn() {}
        }

        private func report(_ entry: PartitionBatch, hasFailed: Bool = false) {
            let outcome = hasFailed ? .failed(entry.batch.batchNumber) : store.apply(entry.batch)
            loop.handle(report: .committed(outcome), of: entry.partition, now: now)
        }

        /// The store answers what it has not answered.
        func release(hasFailed: Bool = false) {
            isHolding = false
            for entry in held { report(entry, hasFailed: hasFailed) }
            held = []
            settle()
        }

        /// The number of messages that are counted as on their way to connected devices.
        var open: Int {
            var sum = 0
            for case let hosted? in loop.all { sum += hosted.effects.topicJobsOpen }
            return sum
        }

        private func turn() -> Bool {
            var round: [(ConnectionID, SessionCommand)] = []
            var isQuiet = true
            while loop.next(&round, now: now) {
                isQuiet = false
                reached += round.compactMap { $1.delivery?.message.device }
                loop.giveBack(&round, now: now)
            }
            let effects = loop.takeEffects()
            loop.endTurn()
            var entered: [Int: Int] = [:]
            for entry in effects.batches {
                let puts = entry.batch.mutations.count { if case .putMessage = $0 { true } else { false } }
                if puts > 0 { entered[entry.partition] = puts }
                if puts > 0, isHolding { held.append(entry) } else { report(entry) }
            }
            for entry in effects.loads {
                loop.handle(report: .loaded(store.answer(entry.query)), of: entry.partition, now: now)
            }
            if !entered.isEmpty { turns.append(entered) }
            return !isQuiet || !effects.batches.isEmpty || !effects.loads.isEmpty
        }
    }

    @Test(
        "two partitions at a time send a topic message, in whole batches, and each connected device gets it once"
    )
    func turns() {
        let count = 150
        let (bench, names) = Bench.connected(count)
        bench.loop.accept(TopicLogTests.message(1), now: bench.now)
        bench.settle()
        #expect(bench.reached.count == count && Set(bench.reached) == Set(names.map(\.device)))
        let whole = Limits.Topic.devicesPerBatch / TopicTurns.partitionsAtOnce
        #expect(bench.turns.allSatisfy { $0.count <= TopicTurns.partitionsAtOnce })
        for partition in 0..<3 {
            let batches = bench.turns.compactMap { $0[partition] }
            #expect(batches.dropLast().allSatisfy { $0 == whole } && batches.last ?? 0 <= whole)
            #expect(!batches.isEmpty, "canary")
        }
        #expect(!bench.loop.all.contains { $0?.core.isTopicDue == true })
    }
    /// Has two partitions store topic messages, which the store does not answer. Returns the third one.
    private static func hold(_ bench: Bench) -> Int? {
        bench.isHolding = true
        bench.loop.accept(TopicLogTests.message(1), now: bench.now)
        bench.settle()
        #expect(bench.held.count == 2 && bench.open == 3)
        return (0..<3).first { number in !bench.held.contains { $0.partition == number } }
    }

    private static func reached(_ bench: Bench, of names: [RegistrationName], except partition: Int?) -> Bool
    {
        let wanted = names.map(\.device).filter { PartitionKey.device($0).partition(of: 3) != partition }
        return Set(bench.reached) == Set(wanted) && bench.reached.count == wanted.count
    }

    @Test("a partition that leaves while its messages are stored gives up its turn")
    func leftStoring() throws {
        let (bench, _) = Bench.connected(60)
        let third = try #require(Self.hold(bench))
        _ = bench.loop.leave(bench.held[0].partition, 1)
        bench.settle()
        #expect(bench.held.map(\.partition).last == third && bench.held.count == 3)
    }

    @Test("a partition that leaves while it waits for its turn has none, and is not counted")
    func leftWaiting() throws {
        let (bench, names) = Bench.connected(60)
        let third = try #require(Self.hold(bench))
        _ = bench.loop.leave(third, 1)
        bench.settle()
        var open = 0
        _ = bench.loop.removeLeft { open += $0.topicJobsOpen }
        #expect(open == 0 && bench.loop.all[third] == nil)
        bench.release()
        #expect(Self.reached(bench, of: names, except: third) && bench.open == 0)
    }

    @Test("partitions whose batches fail have further turns, until each device has the message")
    func failed() throws {
        let (bench, names) = Bench.connected(150)
        _ = try #require(Self.hold(bench))
        bench.release(hasFailed: true)
        #expect(Self.reached(bench, of: names, except: nil) && bench.open == 0)
    }
}
