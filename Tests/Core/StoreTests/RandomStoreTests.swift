import Basics
import BasicsSupport
import Delivery
import Store
import StoreSupport
import Synchronization
import Testing

/// Thousands of random batches compared with the model, and stores with planted faults.
@Suite struct RandomStoreTests {
    /// `CCS_SEED` sets the first seed, `CCS_STORE_SEEDS` the number of seeds.
    private static let fresh = FreshSeeds.draw(1, number: "CCS_STORE_SEEDS")

    @Test("A store equals the model after random batches", arguments: Kind.allCases, fresh)
    func agreesWithModel(_ kind: Kind, _ seed: UInt64) throws {
        let opened = try open(kind)
        let difference = try firstDifference(opened.store, seed: seed, commits: 600)
        #expect(difference == nil)
    }

    /// A few thousand batches reach every event many times. The rarest are repeats: 26 within a day and about 60 after it.
    @Test(
        "Random batches reach every kind of event, and leave nothing when everything is removed",
        arguments: Kind.allCases)
    func reach(_ kind: Kind) throws {
        let opened = try open(kind)
        var reached = ReachTally<StoreEvent>()
        #expect(try firstDifference(opened.store, seed: 4, commits: 2_500, &reached) == nil)
        #expect(
            reached.missing(below: 50, [.upstreamForgotten: 10, .upstreamRepeated: 10]).isEmpty, "\(reached)")
        _ = try opened.store.commit([
            WriteBatch(batchNumber: 1, mutations: RandomBatches.removals(), isDurable: true)
        ])
        try expectNothingLeft(in: opened.store)
    }

    @Test(
        "Loads in one call get the same answers as single loads", arguments: Kind.allCases,
        fresh)
    func rounds(_ kind: Kind, _ seed: UInt64) throws {
        let opened = try open(kind)
        var batches = RandomBatches(seed: seed)
        var random = SeededRandom(seed: seed)
        // Adjacent owners, owners without rows between them, and the last possible ones.
        let owners = Array(RandomBatches.owners) + [0, 7, 0xFF, 0x100, .max - 1, .max]
        _ = try opened.store.commit([
            WriteBatch(
                batchNumber: 0,
                mutations: owners.map { .putDevice(Samples.device($0, seenAt: 0)) }
                    + owners.map { .putMessage(Samples.message($0, .max - 1)) }, isDurable: true)
        ])
        for round in 1...200 {
            _ = try opened.store.commit(batches.next())
            guard round % 10 == 0 else { continue }
            let loads = (0..<60).map { number -> StoreQuery in
                let device = DeviceID(owners[Int.random(in: 0..<owners.count, using: &random)])
                return number % 7 == 6
                    ? .messages(device, after: SequenceNumber(0), limit: 3) : .device(device)
            }
            let together = opened.store.load(loads).map { "\($0)" }
            let alone = loads.map { load in
                Result { () throws(StoreError) in try opened.store.load(load) }
            }.map { "\($0)" }
            #expect(together == alone, "seed \(seed), commit \(round)")
        }
    }

    @Test("Random batches find a planted fault", arguments: FaultyStore.Fault.allCases)
    func canary(_ fault: FaultyStore.Fault) throws {
        let difference = try firstDifference(FaultyStore(fault), seed: 1, commits: 1_500)
        #expect(difference != nil)
    }
}

/// A store with one planted fault.
final class FaultyStore: Store {
    enum Fault: CaseIterable {
        case dropsOneMutation
        case reordersBatch
        case repeatsOneBatch
        case forgetsDuplicates
        case losesTail
        case hidesOldest
    }

    private let base = MemoryStore()
    var partitions: Int { base.partitions }
    private let fault: Fault
    private let commits = Mutex(0)

    init(_ fault: Fault) { self.fault = fault }

    func commit(_ batches: [WriteBatch]) throws(StoreError) -> [CommitOutcome] {
        let count = commits.withLock { count in
            count += 1
            return count
        }
        guard count > 20 else { return try base.commit(batches) }
        var changed = batches
        switch fault {
        case .dropsOneMutation:
            if count % 9 == 0, !changed[0].mutations.isEmpty { changed[0].mutations.removeLast() }
        case .reordersBatch:
            changed = changed.map {
                WriteBatch(
                    batchNumber: $0.batchNumber, mutations: $0.mutations.reversed(), isDurable: $0.isDurable)
            }
        case .repeatsOneBatch:
            if count % 10 == 0 { _ = try base.commit(batches) }
        case .forgetsDuplicates:
            return try base.commit(batches).map { CommitOutcome(batchNumber: $0.batchNumber) }
        case .losesTail: if count % 40 == 0 { changed[changed.count - 1].mutations = [] }
        case .hidesOldest: break
        }
        return try base.commit(changed)
    }

    func load(_ load: StoreQuery) throws(StoreError) -> StoreResult {
        let answer = try base.load(load)
        if fault == .hidesOldest, case .expired(let entries) = answer {
            return .expired(Array(entries.dropFirst()))
        }
        return answer
    }

    func figures() throws(StoreError) -> StoreFigures { try base.figures() }
    func census(after: DeviceID?, examine: Int) throws(StoreError) -> RegistryCensus {
        try base.census(after: after, examine: examine)
    }
    func senders() throws(StoreError) -> [SenderRecord] { try base.senders() }
    func topics(from place: SubscriberPosition?, examine: Int) throws(StoreError) -> TopicCounts {
        try base.topics(from: place, examine: examine)
    }

    func subscribers(from place: SubscriberPosition, limit: Int) throws(StoreError) -> [TokenName] {
        try base.subscribers(from: place, limit: limit)
    }
    func devices(after: DeviceID?, limit: Int) throws(StoreError) -> [DeviceRecord] {
        try base.devices(after: after, limit: limit)
    }
    func groups(after: GroupName?, limit: Int) throws(StoreError) -> [GroupRecord] {
        try base.groups(after: after, limit: limit)
    }
    func installations(after: [UInt8]?, limit: Int) throws(StoreError) -> [ListedInstallation] {
        try base.installations(after: after, limit: limit)
    }
    func feedback(
        of sender: SenderID, after: FeedbackPosition, limit: Int
    ) throws(StoreError) -> [APNsFeedback] { try base.feedback(of: sender, after: after, limit: limit) }
    func setting(_ name: String) throws(StoreError) -> [UInt8]? { try base.setting(name) }
    func setSetting(_ name: String, _ value: [UInt8]) throws(StoreError) { try base.setSetting(name, value) }
    func logProgress() throws(StoreError) -> [LogProgress?] { try base.logProgress() }
    func registryBytes() throws(StoreError) -> UInt64 { try base.registryBytes() }
    func audit() throws(StoreError) -> StoreAudit { try base.audit() }
    func close() throws(StoreError) { try base.close() }
}
