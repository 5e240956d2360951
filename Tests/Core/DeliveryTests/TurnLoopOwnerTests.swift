import Basics
import Testing

@testable import Delivery

/// Partitions that come to a node of a cluster, and leave it, at their reactor.
@Suite("partitions of a reactor in a cluster") struct TurnLoopOwnerTests {
    private final class Lease: DecisionLease, @unchecked Sendable {
        var until = Instant(nanoseconds: 1_000)
        var waits = 0
        func wait() { waits += 1 }
    }

    /// A reactor of one partition, which this node does not own yet.
    private final class Node {
        var time = Instant(nanoseconds: 0)
        private(set) var loop: TurnLoop?
        let lease = Lease()

        init() {
            loop = TurnLoop(
                reactor: 0, of: PartitionMap(partitions: 1, reactors: 2), node: 1,
                leaseTime: { [unowned self] in time }
            ) { _ in nil }
        }

        var now: Now { Now(monotonic: time, wall: 1_700_000_000_000) }

        static func make() -> Partition {
            var core = Partition(partition: 0, of: 1, seed: 7, hashKey: (1, 2))
            core.handle(
                .senders(SenderDirectory(Harness.senders)),
                now: Now(monotonic: Instant(nanoseconds: 0), wall: 1_700_000_000_000))
            core.effects = Effects()
            return core
        }

        /// Runs a turn. Returns the commands for sessions, and the effects.
        func turn(_ loop: TurnLoop) -> (words: [String], effects: TurnEffects) {
            var words: [String] = []
            var round: [(ConnectionID, SessionCommand)] = []
            while loop.next(&round, now: now) {
                words += round.map(\.1.word)
                loop.giveBack(&round, now: now)
            }
            let effects = loop.takeEffects()
            return (words, effects)
        }

        /// Takes the partition, which has asked the store for what a submission needs. Returns the loop, and the questions.
        func waitsForStore() throws -> (TurnLoop, [PartitionQuery]) {
            let loop = try #require(loop)
            loop.take(0, lease, make: Self.make)
            loop.fencePassed(0)
            loop.accept(TurnLoopOwnerTests.submitted, now: now)
            let queries = turn(loop).effects.loads
            loop.endTurn()
            return (loop, queries)
        }
    }

    private static let session = ConnectionID(node: 1, reactor: 0, slot: 1, generation: 1)
    private static let login = Event.appServerLogin(session, Harness.sender, key: Harness.key)
    private static let submitted = Event.submitted(Harness.submission(1, from: session))

    @Test("events go elsewhere until a partition is taken, and until what was passed on before has come back")
    func fences() throws {
        let node = Node()
        let loop = try #require(node.loop)
        loop.accept(Self.login, now: node.now)
        loop.take(0, node.lease, make: Node.make)
        loop.accept(Self.login, now: node.now)
        #expect(loop.elsewhere.take().events.count == 2 && loop.active.isEmpty)
        loop.acceptOwned(Self.login)
        loop.fencePassed(0)
        loop.accept(Self.submitted, now: node.now)
        #expect(node.turn(loop).words == ["login accepted"] && loop.elsewhere.isEmpty)
        #expect(loop.letOutUntil == node.lease.until)
        loop.endTurn()
        #expect(loop.letOutUntil == .distantFuture)
    }

    @Test("decisions wait while the lease is not confirmed, and what crosses holds as long as the lease")
    func lease() throws {
        let node = Node()
        let loop = try #require(node.loop)
        loop.take(0, node.lease, make: Node.make)
        loop.fencePassed(0)
        node.time = node.lease.until
        loop.accept(Self.login, now: node.now)
        #expect(node.turn(loop).words.isEmpty && node.lease.waits > 0)
        loop.endTurn()
        node.lease.until = Instant(nanoseconds: 2_000)
        #expect(node.turn(loop).words.isEmpty, "nothing has notified the reactor")
        loop.endTurn()
        loop.leaseRenewed(0)
        loop.outgoing[1].commands.append((phone, .connection(.drain)))
        #expect(node.turn(loop).words == ["login accepted"])
        #expect(loop.outgoing[1].validUntil == node.lease.until)
        #expect(loop.elsewhere.validUntil == .distantFuture, "it has nothing")
        loop.endTurn()
    }

    @Test("what goes to Apple and to webhooks carries the lease of its partition")
    func gateways() throws {
        let node = Node()
        let loop = try #require(node.loop)
        loop.take(0, node.lease, make: Node.make)
        loop.fencePassed(0)
        loop.accept(Self.login, now: node.now)
        let upstream = StoredUpstream(
            sender: Harness.sender, sequence: SequenceNumber(1),
            from: RegistrationName(device: DeviceID(5), number: RegistrationNumber(1)), category: [],
            messageID: [], expiresAt: 0, lifetimeSeconds: 0, body: [])
        let hosted = try #require(loop.all[0])
        hosted.effects.webhooks = [.deliver(Self.session, upstream), .recall(Self.session)]
        let orders = node.turn(loop).effects.webhooks
        guard orders.count == 2, case .deliver(_, _, let lease?) = orders[0], case .recall = orders[1] else {
            Issue.record("\(orders)")
            return
        }
        #expect(lease === node.lease)
        loop.endTurn()
    }

    @Test("once another node may decide, nothing but the end of its sessions is let out")
    func surrendered() throws {
        let node = Node()
        let loop = try #require(node.loop)
        loop.take(0, node.lease, make: Node.make)
        loop.fencePassed(0)
        loop.surrender(0)
        loop.accept(Self.login, now: node.now)
        #expect(node.turn(loop).words == ["close owner_changed"])
        loop.endTurn()
    }

    @Test("a partition leaves once the store has answered, and comes back with what has waited")
    func leaves() throws {
        let node = Node()
        let (loop, queries) = try node.waitsForStore()
        #expect(queries.count == 2, "the log of topic messages comes before the device")
        _ = loop.leave(0, 1)
        let before = loop.removeLeft()
        #expect(
            !before.needsTurn && before.left.isEmpty && loop.leader != nil, "the store owes it an answer")
        loop.accept(Self.submitted, now: node.now)
        #expect(loop.elsewhere.take().events.count == 1)
        // It comes back before that.
        loop.take(0, Lease(), make: Node.make)
        loop.acceptOwned(Self.submitted)
        loop.fencePassed(0)
        _ = node.turn(loop)
        loop.endTurn()
        for query in queries { loop.handle(report: .loaded(.failed(query.query)), of: 0, now: node.now) }
        #expect(node.turn(loop).words == ["nack 1 unavailable"])
        loop.endTurn()
        let departures = loop.removeLeft()
        #expect(departures.needsTurn && departures.left.isEmpty, "it is here again")
        #expect(node.turn(loop).effects.loads.count == 2, "what has waited is handled")
        loop.endTurn()
    }

    @Test("a partition leaves after a while although the store has not answered")
    func leavesLate() throws {
        let node = Node()
        let (loop, queries) = try node.waitsForStore()
        _ = loop.leave(0, 1)
        node.time = node.time.advanced(milliseconds: Limits.Cluster.leaveMilliseconds - 1)
        #expect(loop.removeLeft().left.isEmpty)
        node.time = node.time.advanced(milliseconds: 1)
        #expect(loop.removeLeft().left.map(\.number) == [1] && loop.leader != nil)
        for query in queries { loop.handle(report: .loaded(.failed(query.query)), of: 0, now: node.now) }
        _ = node.turn(loop)
        loop.endTurn()
        #expect(loop.removeLeft().left.isEmpty && loop.leader == nil, "it is reported once")
    }

    @Test(
        "topic messages that not all partitions have are no longer counted here when their partition has left"
    )
    func leavesTopics() throws {
        let node = Node()
        let loop = try #require(node.loop)
        loop.take(0, node.lease, make: Node.make)
        loop.fencePassed(0)
        let submission = TopicSubmission(
            target: TopicTarget(TopicSendTests.topics[0]),
            submission: Harness.submission(1, from: Self.session))
        loop.accept(.topicSubmitted(submission), now: node.now)
        let batches = node.turn(loop).effects.batches
        #expect(batches.count == 1)
        loop.endTurn()
        loop.handle(
            report: .committed(CommitOutcome(batchNumber: batches[0].batch.batchNumber)), of: 0, now: node.now
        )
        let open = loop.active.reduce(0) { $0 + $1.effects.topicJobsOpen }
        for hosted in loop.active { hosted.effects.topicJobsOpen = 0 }
        #expect(open == 1, "canary")
        _ = loop.leave(0, 1)
        let queries = node.turn(loop).effects.loads
        loop.endTurn()
        for query in queries { loop.handle(report: .loaded(.failed(query.query)), of: 0, now: node.now) }
        _ = node.turn(loop)
        loop.endTurn()
        var last = 0
        let departures = loop.removeLeft { last += $0.topicJobsOpen }
        #expect(loop.leader == nil && open + last == 0)
        #expect(departures.left.map(\.number) == [1])
        _ = loop.leave(0, 2)
        #expect(loop.removeLeft().left.map(\.number) == [2], "it was not here")
        #expect(loop.removeLeft().left.isEmpty)
    }

    @Test("a partition that leaves again before its place is free passes on what has waited")
    func leavesAgain() throws {
        let node = Node()
        let (loop, queries) = try node.waitsForStore()
        _ = loop.leave(0, 1)
        loop.take(0, Lease(), make: Node.make)
        loop.acceptOwned(Self.submitted)
        _ = loop.leave(0, 2)
        #expect(loop.elsewhere.take().events.count == 1)
        for query in queries { loop.handle(report: .loaded(.failed(query.query)), of: 0, now: node.now) }
        _ = node.turn(loop)
        loop.endTurn()
        #expect(loop.removeLeft().left.map(\.number) == [2], "the last request counts")
    }
}
