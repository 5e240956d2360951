import Basics
import Testing

@testable import Delivery

/// The turns of reactors: which way events and commands go, and what a turn leaves to its shell.
@Suite("turns of a reactor") struct TurnLoopTests {
    /// Reactors with a store. Commands for sessions are recorded.
    private final class Bench {
        var loops: [TurnLoop] = []
        var store = FakeStore()
        var now = Now(monotonic: Instant(nanoseconds: 0), wall: 1_700_000_000_000)
        var commands: [(reactor: Int, id: ConnectionID, word: String)] = []

        init(partitions: Int, reactors: Int, _ settings: DeliverySettings = DeliverySettings()) {
            store = Harness.withDevice().store
            store.partitions = partitions
            let map = PartitionMap(partitions: partitions, reactors: reactors)
            loops = (0..<reactors).map { index in
                TurnLoop(reactor: index, of: map) {
                    Partition(partition: $0, of: partitions, seed: 7, hashKey: (1, 2), settings: settings)
                }
            }
            for loop in loops { loop.accept(.senders(SenderDirectory(Harness.senders)), now: now) }
        }

        /// Runs a turn of a reactor, and the batches and queries of it. Returns whether it had an effect.
        @discardableResult func turn(_ loop: TurnLoop) -> Bool {
            var isQuiet = true
            var round: [(ConnectionID, SessionCommand)] = []
            while loop.next(&round, now: now) {
                isQuiet = false
                var commands = CommandRound(&round)
                while let id = loop.nextSession(&commands), let command = commands.take(for: id) {
                    self.commands.append((loop.index, id, command.word))
                }
                round = commands.storage()
                loop.giveBack(&round, now: now)
            }
            let effects = loop.takeEffects()
            loop.endTurn()
            for peer in loop.outgoing.indices {
                let crossing = loop.outgoing[peer].take()
                isQuiet = isQuiet && crossing.isEmpty
                for event in crossing.events { loops[peer].accept(event, now: now) }
                for (id, command) in crossing.commands { commands.append((peer, id, command.word)) }
            }
            for entry in effects.batches {
                let outcome = store.apply(entry.batch)
                loop.handle(report: .committed(outcome), of: entry.partition, now: now)
            }
            for entry in effects.loads {
                loop.handle(report: .loaded(store.answer(entry.query)), of: entry.partition, now: now)
            }
            return !isQuiet || !effects.batches.isEmpty || !effects.loads.isEmpty
        }

        func settle() {
            var hadEffect = true
            while hadEffect { hadEffect = loops.map { turn($0) }.contains(true) }
        }

        /// The reactor that has the partition of a key.
        func loop(of key: PartitionKey) -> TurnLoop {
            loops[loops[0].map.reactor(of: key.partition(of: loops[0].map.partitions))]
        }
    }

    @Test("messages in both directions are the same on any number of reactors", arguments: [1, 2, 4, 6])
    func anyReactors(_ reactors: Int) {
        let bench = Bench(partitions: 4, reactors: reactors)
        let login = DeviceLogin(connection: phone, device: device, token: token, received: [])
        for event: Event in [
            .appServerLogin(appServer, Harness.sender, key: Harness.key),
            .appServerBound(appServer, Harness.sender), .deviceLogin(login),
            .submitted(Harness.submission(1)), .upstreamReceived(Harness.upstream(1)),
        ] { bench.loops[0].accept(event, now: bench.now) }
        bench.settle()
        let expected = [
            "ack 1", "deliver m1", "device login accepted", "login accepted", "stored 1", "upstream u1",
        ]
        #expect(bench.commands.map(\.word).filter { $0 != "report when writable" }.sorted() == expected)
        #expect(bench.commands.allSatisfy { $0.reactor == 0 }, "the reactor of their connections")
    }

    @Test("what partitions of one reactor ask each other is handled in one turn, and crosses to another one")
    func crossing() {
        let upstream = Event.upstreamReceived(Harness.upstream(1))
        for reactors in [1, 4] {
            let bench = Bench(partitions: 4, reactors: reactors)
            let (own, other) = (bench.loop(of: .device(device)), bench.loop(of: .sender(Harness.sender)))
            own.accept(
                .deviceLogin(DeviceLogin(connection: phone, device: device, token: token, received: [])),
                now: bench.now)
            bench.settle()
            own.accept(upstream, now: bench.now)
            var round: [(ConnectionID, SessionCommand)] = []
            while own.next(&round, now: bench.now) { own.giveBack(&round, now: bench.now) }
            #expect(own.outgoing[other.index].events.count == (own === other ? 0 : 1))
            #expect(own.takeEffects().batches.count == (own === other ? 1 : 0), "the sender's")
        }
    }

    @Test("commands for sessions of other reactors and nodes cross, in order")
    func remoteSessions() {
        let loop = TurnLoop(reactor: 1, of: PartitionMap(partitions: 1, reactors: 2), node: 3) { _ in nil }
        let ids = [(3, 0), (3, 1), (4, 1), (3, 0)].map { node, reactor in
            ConnectionID(node: node, reactor: reactor, slot: 1, generation: 1)
        }
        var commands = ids.enumerated().map { at, id in
            (id, SessionCommand.appServer(.release(SequenceNumber(UInt64(at)))))
        }
        var round = CommandRound(&commands)
        #expect(loop.nextSession(&round) == ids[1])
        #expect(round.take(for: ids[1])?.word == "release 1")
        #expect(loop.nextSession(&round) == nil)
        #expect(loop.outgoing[0].commands.map(\.1.word) == ["release 0", "release 3"])
        #expect(loop.elsewhere.commands.map(\.1.word) == ["release 2"] && loop.outgoing[1].isEmpty)
        commands = round.storage()
    }

    @Test("commands of the shell itself are performed in the same turn")
    func answers() {
        let bench = Bench(partitions: 1, reactors: 1)
        bench.loops[0].answer(.connection(.drain), to: phone)
        bench.settle()
        #expect(bench.commands.map(\.word) == ["drain"])
    }

    @Test("who waits for a batch that is refused for a broken invariant is answered in the same turn")
    func refusedBatch() {
        var settings = DeliverySettings()
        settings.trapsAtFailedInvariants = false
        let bench = Bench(partitions: 1, reactors: 1, settings)
        bench.loops[0].accept(.submitted(Harness.submission(1)), now: bench.now)
        bench.settle()
        bench.commands = []
        // An answer for which nothing has asked.
        bench.loops[0].handle(report: .loaded(.unseen([], next: nil)), of: 0, now: bench.now)
        bench.loops[0].accept(.submitted(Harness.submission(2)), now: bench.now)
        bench.turn(bench.loops[0])
        #expect(bench.commands.map(\.word) == ["nack 2 unavailable"])
    }

    @Test("each partition ticks once in as many calls as there are parts", arguments: [1, 2, 5])
    func ticks(_ partitions: Int) {
        let bench = Bench(partitions: partitions, reactors: 1)
        bench.settle()
        var ticked: [Int] = []
        bench.loops[0].witness = { _, hosted, _ in ticked.append(hosted.number) }
        var milliseconds: Int64 = 0
        for _ in 0..<min(Limits.Partition.tickParts, partitions) {
            milliseconds += bench.loops[0].tick(now: bench.now)
        }
        #expect(ticked.sorted() == Array(0..<partitions) && bench.loops[0].tickPart == 0)
        #expect(milliseconds == Limits.Partition.tickMilliseconds)
    }

    @Test("a device confirms the clock for all partitions once per turn")
    func confirmsClock() {
        let bench = Bench(partitions: 2, reactors: 1)
        let loop = bench.loops[0]
        loop.witness = { _, hosted, _ in hosted.effects.confirmsClock = true }
        loop.accept(.tick, now: bench.now)
        let effects = loop.takeEffects()
        #expect(effects.confirmsClock)
        loop.endTurn()
        let later = loop.takeEffects()
        #expect(!later.confirmsClock)
    }
}
