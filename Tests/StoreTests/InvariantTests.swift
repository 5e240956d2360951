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

    private static let job = TopicJob(
        name: Samples.job(SenderID(42)), salt: 9, target: TopicTarget(Samples.topics[0]), messageID: [1],
        acceptedAt: 1, expiresAt: 2, body: [])

    private static func changed<Value>(_ value: Value, _ change: (inout Value) -> Void) -> Value {
        var value = value
        change(&value)
        return value
    }

    /// Mutations that nothing makes, by what is wrong with them.
    private static let planted: [(problem: String, mutation: Mutation)] = [
        ("a message has sequence 0", .putMessage(Samples.message(5, 0))),
        (
            "a message shares the body of another sender's job",
            .putMessage(
                changed(Samples.message(5, 1)) {
                    $0.topic = TopicReference(job: Samples.job(SenderID(7)), path: [])
                })
        ),
        (
            "a marker counts fewer than no messages",
            .putMessage(Samples.message(5, 1, kind: .discardedMarker(count: -1)))
        ),
        (
            "an ordinary message reports an expiry",
            .returnUpstream(SenderID(8), SequenceNumber(1), expiresAt: 0, report: Samples.message(5, 1))
        ),
        ("an upstream message has sequence 0", .putUpstream(Samples.upstream(8, 0), now: 0)),
        (
            "an upstream message has a negative lifetime",
            .putUpstream(changed(Samples.upstream(8, 1)) { $0.lifetimeSeconds = -1 }, now: 0)
        ),
        (
            "a message is removed at a milestone that does not end it",
            .removeMessage(DeviceID(5), SequenceNumber(1), expiresAt: 0, reason: .sent)
        ),
        (
            "a message that was accepted is removed as refused",
            .removeUpstream(SenderID(5), SequenceNumber(1), expiresAt: 0, reason: .refused)
        ),
        (
            "the digest of a device's token is cut short",
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
            "the digest of a key is cut short",
            .putSender(changed(Samples.sender(7)) { $0.keys[0].digest = SecretDigest(bytes: []) })
        ),
        (
            "the verifier of a key is cut short",
            .putSender(changed(Samples.sender(7)) { $0.keys[1].scram?.storedKey = [1] })
        ),
        (
            "the verifier of a key has no iterations",
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
            "the digest of a refresh token is cut short",
            .putInstallation(
                changed(Samples.installation(Samples.installations[0])) {
                    $0.refresh = SecretDigest(bytes: [1])
                })
        ),
        ("a device group without members", .putGroup(changed(Samples.group(1, 1)) { $0.members = [] })),
        ("a device group has too many members", .putGroup(Samples.group(1, 1, members: 21))),
        (
            "a message to topics has sequence 0",
            .putTopicJob(changed(job) { $0.name = Samples.job(SenderID(42), 0) })
        ),
        ("a message to topics expires before it came", .putTopicJob(changed(job) { $0.expiresAt = 0 })),
        ("a new message to topics is under way", .putTopicJob(changed(job) { $0.cursor.pass = 1 })),
        (
            "a message to topics is before its first pass",
            .advanceTopicJob(job.name, TopicCursor(pass: -1, after: nil, reached: 0), marked: [])
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
        for (partition, mutations, problem) in [
            (-1, [], "a batch of a partition that does not exist"),
            (store.partitions, [], "a batch of a partition that does not exist"),
            (foreign, [put(1)], "a batch puts a message of another partition"),
            (own, [put(2), put(1)], "messages of a batch are out of order"),
            (own, [put(2), put(2)], "messages of a batch are out of order"),
            (
                (ofSender + 1) % store.partitions, [up(1)],
                "a batch puts an upstream message of another partition"
            ),
            (ofSender, [up(2), up(1)], "upstream messages of a batch are out of order"),
            (foreign, [gone], "a batch removes a message of another partition"),
        ] as [(Int, [Mutation], String)] {
            let error = brokenInvariant {
                _ = try store.commit([
                    WriteBatch(batchNumber: 1, mutations: mutations, isDurable: true, partition: partition)
                ])
            }
            #expect(error?.kind == .invariant && error?.description == problem)
        }
        _ = try store.commit([
            WriteBatch(batchNumber: 1, mutations: [put(1), put(2), gone], isDurable: true, partition: own)
        ])
        #expect(try store.mailbox(5).map(\.sequence.number) == [2] && store.outbox(8).isEmpty)
    }

    @Test("A store refuses a load when its partition does not exist", arguments: Kind.allCases)
    func loads(_ kind: Kind) throws {
        let store = try open(kind).store
        for partition in [-1, store.partitions] {
            for load in [
                .expired(by: 1, limit: 1, partition: partition),
                .topicJobs(after: nil, limit: 1, partition: partition),
                .unseen(
                    before: 1, unusedBefore: 1, from: DeviceID(0), examine: 1, limit: 1, partition: partition),
                .unusedInstallations(
                    before: 1, unlinkedBefore: 1, from: [], examine: 1, limit: 1, partition: partition),
            ] as [StoreQuery] {
                let error = brokenInvariant { _ = try store.load(load) }
                #expect(error?.description == "a load of a partition that does not exist")
            }
        }
    }

    // MARK: In memory

    @Test("A commit is not acknowledged, and not written twice, when memory does not follow from the journal")
    func memory() throws {
        let directory = ScratchDirectory()
        let store = try RocksStore(path: directory.path + "/db")
        try store.apply(.putMessage(Samples.message(5, 1)), .putMessage(Samples.message(5, 2)))
        try store.young.withLock { (young) throws(StoreError) in
            try young.remove(Place(kind: .message, owner: 5, sequence: 1))
        }
        let removal = Mutation.removeMessage(
            DeviceID(5), SequenceNumber(1), expiresAt: Samples.now + Samples.day, reason: .delivered)
        let error = brokenInvariant { try store.apply(removal) }
        #expect(error?.kind == .inconsistent && error?.kind.isOfOneBatch == false)
        #expect(error?.description == "a message leaves memory that is not there")
        #expect(error?.owner == "pending/5/1")
        // Opened anew, the store shows what the journal has.
        #expect(try store.mailbox(5).map(\.sequence.number) == [2])
        try store.apply(.putMessage(Samples.message(5, 3)))
        let audit = try store.audit()
        #expect(audit.holds && audit.downstream.accepted == 3 && audit.downstream.delivered == 1)
    }

    @Test("A message that is gone from memory is not lost on its way to the engine")
    func settling() throws {
        let directory = ScratchDirectory()
        var sizes = EngineSizes()
        sizes.young = 600
        let store = try RocksStore(path: directory.path + "/db", sizes: sizes)
        try store.apply(.putMessage(Samples.message(5, 1)))
        try store.young.withLock { (young) throws(StoreError) in
            try young.remove(Place(kind: .message, owner: 5, sequence: 1))
        }
        var found: StoreError?
        for sequence in 2...20 as ClosedRange<UInt64> where found == nil {
            found = brokenInvariant { try store.apply(.putMessage(Samples.message(5, sequence))) }
        }
        #expect(found?.kind == .inconsistent)
        #expect(found?.description == "a message goes to the engine that is not in memory")
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
                "a page is out of order, or has a message twice",
                "a mailbox is out of order, or has a message twice",
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
        var young = Young(tallies: [Tally()])
        let frame: [UInt8] = [1]
        let change = YoungChange.put(
            Place(kind: .message, owner: 5, sequence: 1), record: 0..<1, .init(isCounted: true, expiresAt: 10)
        )
        try young.apply([change], of: frame.raw, counted: [])
        young.setFloor(11, of: 0)
        let error = brokenInvariant { _ = try young.ends(by: 20, of: 0, limit: 9) }
        #expect(error?.description == "a message in memory expires before the watermark")
        store.young.withLock { $0.setFloor(11, of: partition) }
        _ = brokenInvariant { _ = try store.load(.expired(by: 20, limit: 9, partition: partition)) }
        store.young.withLock { $0.setFloor(10, of: partition) }
        #expect(try store.expired(by: 20).count == 1)
    }

    // MARK: Parts

    @Test("Recent messages refuse a record behind its commit, a second put, and a count that goes back")
    func young() throws {
        var young = Young(tallies: [Tally()])
        let frame: [UInt8] = [1, 2]
        let place = Place(kind: .message, owner: 5, sequence: 1)
        func put(_ record: Range<Int>) -> YoungChange {
            .put(place, record: record, .init(isCounted: true, expiresAt: 9))
        }
        var counted = Tally()
        counted.downstream.accepted = 1
        try young.apply([put(0..<1)], of: frame.raw, counted: [(0, counted)])
        for (changes, counts, problem) in [
            ([put(1..<3)], [], "a record lies behind the end of its commit"),
            ([put(0..<2)], [], "a message is put in memory twice"),
            ([], [(0, Tally())], "a downstream count goes back"),
            ([], [(1, counted)], "a count of a partition that does not exist"),
        ] as [([YoungChange], [(partition: Int, tally: Tally)], String)] {
            let error = brokenInvariant { try young.apply(changes, of: frame.raw, counted: counts) }
            #expect(error?.description == problem)
        }
        counted = Tally()
        counted.downstream.accepted = 1
        counted.upstream.accepted = -1
        #expect(
            brokenInvariant { try counted.demandFollows(Tally(), partition: 0) }?.description
                == "an upstream count goes back")
    }

    @Test("The bytes of a commit cannot be used or released once they are given back")
    func frames() throws {
        var frames = YoungFrames()
        let bytes: [UInt8] = [1]
        let number = frames.keep(bytes.raw)
        try frames.retain(number)
        try frames.release(number)
        try frames.release(number)
        #expect(brokenInvariant { try frames.retain(number) }?.kind == .invariant)
        #expect(brokenInvariant { try frames.release(number) }?.kind == .invariant)
        #expect(brokenInvariant { try frames.release(7) }?.kind == .invariant)
        #expect(frames.count == 0)
    }

    @Test("The index refuses a second put, a commit out of order, and a commit without bytes")
    func index() throws {
        var index = YoungIndex()
        let place = Place(kind: .message, owner: 1, sequence: 1)
        let header = MessageRecord.Header(isCounted: true, expiresAt: 9)
        try index.put(place, header, commit: 1)
        #expect(brokenInvariant { try index.put(place, header, commit: 1) }?.owner == "pending/1/1")
        try index.end(1, bytes: 10)
        #expect(brokenInvariant { try index.end(1, bytes: 10) }?.description == "commits end out of order")
        #expect(brokenInvariant { try index.end(2, bytes: 0) }?.description == "a commit ends without bytes")
        let other = Place(kind: .message, owner: 1, sequence: 2)
        #expect(
            brokenInvariant { try index.put(other, header, commit: 1) }?.description
                == "a message is put by a commit that has ended")
    }

    @Test("A sweep that has not begun cannot end")
    func floor() {
        let floor = ExpiryFloor(partitions: 2)
        #expect(brokenInvariant { try floor.sweepEnds(1, first: 9) }?.owner == "partition 1")
    }

    @Test("The journal refuses a commit without entries, and a second file behind an empty one")
    func journal() throws {
        let directory = ScratchDirectory()
        var journal = try Journal(directory.path, EngineSizes(), after: 0, noteGoesOn: false)
        var writer = JournalWriter()
        writer.begin()
        let empty = brokenInvariant { _ = try journal.append(&writer) }
        #expect(empty?.description == "a commit without entries is written")
        let second = brokenInvariant { try journal.rotate() }
        #expect(second?.description == "a file of the journal without commits ends")
        let commit = journal.commit
        #expect(commit == 0)
    }

    // MARK: Recovery

    @Test("A store does not open when a partition has counted fewer than no messages")
    func recovery() throws {
        let directory = ScratchDirectory()
        let path = directory.path + "/db"
        try RocksStore(path: path).close()
        do {
            let engine = try Engine(path: path, memory: SeenMemory())
            var tally = Tally()
            tally.downstream.delivered = -1
            var record = ByteBuffer()
            tally.write(of: 3, to: &record)
            let key = MetaKey.tally(3)
            try engine.put(.meta, key.raw, record.bytes)
        }
        let error = brokenInvariant { _ = try RocksStore(path: path) }
        #expect(error?.description == "a downstream count goes back" && error?.owner == "partition 3")
    }
}
