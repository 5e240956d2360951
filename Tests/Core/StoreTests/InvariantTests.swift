import Basics
import BasicsSupport
import Delivery
import Store
import Synchronization
import Testing

@testable import RocksStore

/// What a release build does where a batch, an answer or what is in memory breaks an invariant.
@Suite struct InvariantTests {
    #if DEBUG
        @Test("A broken invariant ends the process in debug builds") func debug() {
            #expect(StoreInvariants.trapsWhenBroken)
        }
    #endif

    // MARK: Batches

    private static func entry(_ change: (inout TopicEntry) -> Void) -> Mutation {
        let entry = TopicEntry(sequence: SequenceNumber(9), message: Samples.topicMessage())
        return .putTopicEntry(changed(entry, change), partition: 0)
    }

    private static func changed<Value>(_ value: Value, _ change: (inout Value) -> Void) -> Value {
        var value = value
        change(&value)
        return value
    }

    /// Mutations that nothing makes, by what is wrong with them.
    private static let planted: [(problem: String, mutation: Mutation)] = [
        ("a message has sequence 0", .putMessage(Samples.message(5, 0))),
        (
            "a message shares the pairs of another sender, or of none",
            .putMessage(
                changed(Samples.message(5, 1)) {
                    $0.shared = SharedReference(.topic(Samples.topicName(7)), path: [])
                })
        ),
        (
            "a message shares the pairs of another sender, or of none",
            .putMessage(Samples.copy(of: Samples.requestBody(0), 5, 1))
        ),
        ("shared pairs have sequence 0", .putSharedBody(Samples.requestBody(0), partition: 0, expiresAt: 5)),
        (
            "a marker has a negative count",
            .putMessage(Samples.message(5, 1, kind: .discardedMarker(count: -1)))
        ),
        (
            "the report of an expiry names no message, or has pairs",
            .putMessage(Samples.message(5, 1, kind: .sendError(of: SequenceNumber(0)), body: []))
        ),
        ("an upstream message has sequence 0", .putUpstream(Samples.upstream(8, 0), now: 0)),
        (
            "an upstream message has a negative lifetime",
            .putUpstream(changed(Samples.upstream(8, 1)) { $0.lifetimeSeconds = -1 }, now: 0)
        ),
        (
            "a message is removed with a milestone that is not terminal",
            .removeMessage(DeviceID(5), SequenceNumber(1), expiresAt: 0, reason: .sent)
        ),
        (
            "a message that was accepted is removed as refused",
            .removeUpstream(SenderID(5), SequenceNumber(1), expiresAt: 0, reason: .refused)
        ),
        (
            "the digest of a device token has the wrong length",
            .putDevice(changed(Samples.device(5)) { $0.token = SecretDigest(bytes: [1]) })
        ),
        (
            "a registration names too many senders",
            .putRegistration(
                changed(Samples.registration(5, 1)) {
                    $0.otherSenders = Array(
                        repeating: SenderID(1), count: Limits.Registration.sendersPerRegistration + 1)
                })
        ),
        (
            "a registration has an empty scope",
            .putRegistration(changed(Samples.registration(5, 1)) { $0.scope = .only([]) })
        ),
        (
            "the digest of a key has the wrong length",
            .putSender(changed(Samples.sender(7)) { $0.keys[0].digest = SecretDigest(bytes: []) })
        ),
        (
            "the SCRAM verifier of a key has the wrong length",
            .putSender(changed(Samples.sender(7)) { $0.keys[1].scram?.storedKey = [1] })
        ),
        (
            "the SCRAM verifier of a key has no iterations",
            .putSender(changed(Samples.sender(7)) { $0.keys[1].scram?.iterations = 0 })
        ),
        (
            "an installation ID has the wrong length",
            .putInstallation(Samples.installation(Samples.installations[0] + [65]))
        ),
        (
            "an installation ID has the wrong length",
            .linkInstallation([65], Samples.registration(5, 1).name)
        ),
        (
            "the digest of a refresh token has the wrong length",
            .putInstallation(
                changed(Samples.installation(Samples.installations[0])) {
                    $0.refresh = SecretDigest(bytes: [1])
                })
        ),
        ("a device group has too many members", .putGroup(Samples.group(1, 1, members: 21))),
        (
            "a topic message has sequence 0", .putTopicMessage(Samples.topicMessage(42, 0))
        ),
        (
            "a topic message expires before it was accepted",
            .putTopicMessage(Samples.topicMessage(lifetime: -1))
        ),
        ("a topic message has sequence 0", entry { $0.message = Samples.topicMessage(42, 0) }),
        ("an entry of a topic log has place 0", entry { $0.sequence = SequenceNumber(0) }),
        (
            "an entry of a topic log has discarded fewer than no messages",
            entry { $0.kind = .discarded(count: -1, through: SequenceNumber(1)) }
        ),
        ("a new entry of a topic log has progress", entry { $0.progress.isOffered = true }),
        (
            "the mark of a topic log has an invalid source",
            .putTopicMark(TopicMark(source: 16, through: SequenceNumber(1)), partition: 0)
        ),
        (
            "the mark of a topic log has an invalid source",
            .putTopicMark(TopicMark(source: -1, through: SequenceNumber(1)), partition: 0)
        ),
        (
            "a batch changes a row that another partition owns",
            .removeTopicEntry(SequenceNumber(1), partition: 16)
        ),
        (
            "a batch changes a row that another partition owns",
            .removeSharedBody(.topic(Samples.topicName()), partition: -1, expiresAt: 0)
        ),
    ]

    @Test("A store refuses the whole commit when a mutation breaks an invariant", arguments: Kind.allCases)
    func mutations(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        let first = Samples.message(5, 1)
        try store.apply(.putMessage(first))
        for (problem, mutation) in Self.planted {
            let error = brokenInvariant {
                _ = try store.commit([
                    Samples.batch(.putMessage(Samples.message(5, 2)), batchNumber: 1),
                    Samples.batch(.putDevice(Samples.device(6)), mutation, batchNumber: 2),
                ])
            }
            #expect(
                error?.kind == .invariant && error?.kind.isOfOneBatch == true && error?.description == problem
            )
        }
        #expect(try store.mailbox(5) == [first] && store.state(6)?.record == nil)
        #expect(try store.senders().isEmpty)
        try store.apply(.putMessage(Samples.message(5, 3)))
        let audit = try store.audit()
        #expect(audit.holds && audit.downstream.accepted == 2)
    }

    @Test("The model applies nothing of a batch when a mutation breaks an invariant")
    func model() throws {
        var state = MemoryState()
        for (_, mutation) in Self.planted {
            let outcome = released {
                state.commit(Samples.batch(.putMessage(Samples.message(5, 2)), mutation, batchNumber: 7))
            }
            #expect(outcome == CommitOutcome(batchNumber: 7, hasFailed: true))
        }
        #expect(state.audit() == StoreAudit())
    }

    /// What a partition changes of topic messages, with a device of its own.
    private static func ofPartition(_ partition: Int) -> [Mutation] {
        let entry = TopicEntry(sequence: SequenceNumber(9), message: Samples.topicMessage())
        let subscription = Samples.subscription(5, 1)
        return [
            .putTopicEntry(entry, partition: partition),
            .putTopicProgress(entry.sequence, TopicProgress(reached: 1), partition: partition),
            .removeTopicEntry(entry.sequence, partition: partition),
            .putTopicMark(TopicMark(source: 0, through: entry.sequence), partition: partition),
            .removeSharedBody(
                .topic(entry.message.name), partition: partition, expiresAt: entry.message.bodyEndsAt),
            .putSharedBody(Samples.requestBody(), partition: partition, expiresAt: 5),
            .putTopicPosition(DeviceID(5), entry.sequence), .listForGateway(subscription),
            .unlistForGateway(subscription),
        ]
    }

    @Test("A store refuses a partition's batch with foreign or unordered messages", arguments: Kind.allCases)
    func partitions(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        let own = PartitionKey.device(DeviceID(5)).partition(of: store.partitions)
        let foreign = (own + 1) % store.partitions
        let ofSender = PartitionKey.sender(SenderID(8)).partition(of: store.partitions)
        let up = { (sequence: UInt64) in Mutation.putUpstream(Samples.upstream(8, sequence), now: 0) }
        let put = { (sequence: UInt64) in Mutation.putMessage(Samples.message(5, sequence)) }
        let gone = Mutation.removeMessage(DeviceID(5), SequenceNumber(1), expiresAt: 0, reason: .expired)
        let cases: [(Int, [Mutation], String)] = [
            (-1, [], "a batch has an invalid partition"),
            (store.partitions, [], "a batch has an invalid partition"),
            (foreign, [put(1)], "a batch puts a message that another partition owns"),
            (own, [put(2), put(1)], "the messages of a batch are unordered"),
            (own, [put(2), put(2)], "the messages of a batch are unordered"),
            (
                (ofSender + 1) % store.partitions, [up(1)],
                "a batch puts an upstream message that another partition owns"
            ),
            (ofSender, [up(2), up(1)], "the upstream messages of a batch are unordered"),
            (foreign, [gone], "a batch removes a message that another partition owns"),
            (
                foreign, [.putDevice(Samples.device(5))],
                "a batch changes a row that another partition owns"
            ),
            (
                (ofSender + 1) % store.partitions, [.removeSender(SenderID(8))],
                "a batch changes a row that another partition owns"
            ),
            (
                (ofSender + 1) % store.partitions, [.putTopicMessage(Samples.topicMessage(8))],
                "a batch changes a row that another partition owns"
            ),
        ]
        let ofLog = Self.ofPartition(own).map {
            (foreign, [$0], "a batch changes a row that another partition owns")
        }
        for (partition, mutations, problem) in cases + ofLog {
            let error = brokenInvariant {
                _ = try store.commit([
                    WriteBatch(batchNumber: 1, mutations: mutations, isDurable: true, partition: partition)
                ])
            }
            #expect(error?.kind == .invariant && error?.description == problem)
        }
        _ = try store.commit([
            WriteBatch(
                batchNumber: 1, mutations: [put(1), put(2), gone] + Self.ofPartition(own), isDurable: true,
                partition: own)
        ])
        #expect(try store.mailbox(5).map(\.sequence.number) == [2] && store.outbox(8).isEmpty)
    }

    @Test("A store refuses a load when its partition does not exist", arguments: Kind.allCases)
    func loads(_ kind: Kind) throws {
        let store = try open(kind).store
        for partition in [-1, store.partitions] {
            for load in [
                .expired(by: 1, limit: 1, partition: partition),
                .topicMessages(after: nil, limit: 1, partition: partition),
                .topicEntries(after: SequenceNumber(0), limit: 1, partition: partition),
                .topicDevices(SenderID(42), of: nil, after: nil, limit: 1, partition: partition),
                .unseen(
                    before: 1, unusedBefore: 1, from: DeviceID(0), examine: 1, limit: 1, partition: partition),
                .unusedInstallations(
                    before: 1, unlinkedBefore: 1, from: [], examine: 1, limit: 1, partition: partition),
            ] as [StoreQuery] {
                let error = brokenInvariant { _ = try store.load(load) }
                #expect(error?.description == "a load has an invalid partition")
            }
        }
    }

    // MARK: In memory

    @Test("A commit is not acknowledged, and not written twice, when memory does not follow from the journal")
    func memory() throws {
        let directory = ScratchDirectory()
        let store = try RocksStore(path: directory.path + "/db")
        try store.apply(.putMessage(Samples.message(5, 1)), .putMessage(Samples.message(5, 2)))
        try store.recent.withLock { (recent) throws(StoreError) in
            try recent.remove(MessageKey(kind: .message, owner: 5, sequence: 1))
        }
        let removal = Mutation.removeMessage(
            DeviceID(5), SequenceNumber(1), expiresAt: Samples.now + Samples.day, reason: .delivered)
        let error = brokenInvariant { try store.apply(removal) }
        #expect(error?.kind == .inconsistent && error?.kind.isOfOneBatch == false)
        #expect(error?.description == "a message that leaves memory is not in memory")
        #expect(error?.owner == "pending/5/1")
        // Opened anew, the store shows what the journal has.
        #expect(try store.mailbox(5).map(\.sequence.number) == [2])
        try store.apply(.putMessage(Samples.message(5, 3)))
        let audit = try store.audit()
        #expect(audit.holds && audit.downstream.accepted == 3 && audit.downstream.delivered == 1)
    }

    @Test("A message that is gone from memory is not lost on its way to the engine")
    func moving() throws {
        let directory = ScratchDirectory()
        var sizes = EngineSizes()
        sizes.recent = 600
        let store = try RocksStore(path: directory.path + "/db", sizes: sizes)
        try store.apply(.putMessage(Samples.message(5, 1)))
        try store.recent.withLock { (recent) throws(StoreError) in
            try recent.remove(MessageKey(kind: .message, owner: 5, sequence: 1))
        }
        var found: StoreError?
        for sequence in 2...20 as ClosedRange<UInt64> where found == nil {
            found = brokenInvariant { try store.apply(.putMessage(Samples.message(5, sequence))) }
        }
        #expect(found?.kind == .inconsistent)
        #expect(found?.description == "a message that moves to the engine is not in memory")
        #expect(try store.mailbox(5).map(\.sequence.number).first == 1)
        #expect(try store.audit().holds)
    }

    @Test("A load fails alone when a message is both in memory and in the engine")
    func answer() throws {
        let directory = ScratchDirectory()
        let store = try RocksStore(path: directory.path + "/db")
        try store.apply(.putMessage(Samples.message(5, 1)), .putMessage(Samples.message(6, 2)))
        try store.withEngine { (engine) throws(StoreError) in
            var record = ByteBuffer()
            MessageRecord.write(Samples.message(5, 1), to: &record)
            try engine.put(.pending, Key(5, 1).bytes, record.bytes)
        }
        let results = released {
            store.load([
                .messages(DeviceID(5), after: SequenceNumber(0), limit: 9), .device(DeviceID(5)),
                .messages(DeviceID(6), after: SequenceNumber(0), limit: 9),
            ])
        }
        for (result, problem) in zip(
            results,
            [
                "a page of messages is unordered or has a duplicate",
                "a mailbox is unordered or has a duplicate",
            ])
        {
            let error = #expect(throws: StoreError.self) { try result.get() }
            #expect(error?.kind == .invariant && error?.description == problem && error?.owner == "device 5")
        }
        guard case .messages(_, let page, isLast: true) = try results[2].get() else {
            Issue.record("the other mailbox is not answered")
            return
        }
        #expect(page.map(\.sequence.number) == [2])
    }

    @Test("A sweep fails when a message in memory expires before the watermark, and the next one starts over")
    func sweep() throws {
        let directory = ScratchDirectory()
        let store = try RocksStore(path: directory.path + "/db")
        let partition = PartitionKey.device(DeviceID(5)).partition(of: store.partitions)
        try store.apply(.putMessage(Samples.message(5, 1, ends: 10)))
        var recent = RecentMessages(tallies: [Tally()])
        let frame: [UInt8] = [1]
        let change = RecentChange.put(
            MessageKey(kind: .message, owner: 5, sequence: 1), record: 0..<1,
            .init(isCounted: true, expiresAt: 10)
        )
        try recent.apply([change], of: frame.raw, counted: [])
        recent.parts[0].watermark = 11
        let error = brokenInvariant { _ = try recent.ends(by: 20, of: 0, limit: 9) }
        #expect(error?.description == "a message in memory expires before the watermark")
        store.recent.withLock { $0.parts[partition].watermark = 11 }
        _ = brokenInvariant { _ = try store.load(.expired(by: 20, limit: 9, partition: partition)) }
        store.recent.withLock { $0.parts[partition].watermark = 10 }
        #expect(try store.expired(by: 20).count == 1)
    }

    // MARK: Recovery

    @Test("A store does not open when a partition has counted fewer than no messages")
    func recovery() throws {
        let directory = ScratchDirectory()
        let path = directory.path + "/db"
        try RocksStore(path: path).close()
        do {
            let engine = try Engine(path: path, memory: SeenFilter())
            var tally = Tally()
            tally.downstream.delivered = -1
            var record = ByteBuffer()
            tally.write(of: 3, to: &record)
            let key = MetaKey.tally(3)
            try engine.put(.meta, key.raw, record.bytes)
        }
        let error = brokenInvariant { _ = try RocksStore(path: path) }
        #expect(error?.description == "a downstream count decreases" && error?.owner == "partition 3")
    }
}
