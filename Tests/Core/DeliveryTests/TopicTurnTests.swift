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

        init(_ store: FakeStore) {
            self.store = store
            loop = TurnLoop(reactor: 0, of: PartitionMap(partitions: store.partitions, reactors: 1)) {
                Partition(partition: $0, of: store.partitions, seed: 7, hashKey: (1, 2))
            }
            loop.accept(.senders(SenderDirectory(Harness.senders)), now: now)
        }

        func settle() {
            while turn() {}
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
                let outcome = store.apply(entry.batch)
                loop.handle(report: .committed(outcome), of: entry.partition, now: now)
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
        let (wide, names) = TopicSendTests.bench(count)
        let bench = Bench(wide.store)
        for (at, name) in names.enumerated() {
            let login = DeviceLogin(
                connection: connection(100 + UInt32(at)), device: name.device, token: token, received: [])
            bench.loop.accept(.deviceLogin(login), now: bench.now)
        }
        bench.settle()
        #expect(bench.turns.isEmpty, "canary")
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
}
