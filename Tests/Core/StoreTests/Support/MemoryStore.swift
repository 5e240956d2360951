public import Basics
public import Delivery
public import Store
import Synchronization

/// A store in memory: `MemoryState`, which the simulation uses as its disk, behind the store contract.
///
/// The contract tests compare it with RocksStore, and tests of the server use it where no disk is needed.
public final class MemoryStore: Store {
    public let partitions: Int
    private let state: Mutex<MemoryState>

    /// Creates an empty store.
    public init(partitions: Int = Limits.Partition.count) {
        self.partitions = partitions
        state = Mutex(MemoryState(partitions: partitions))
    }

    public func commit(_ batches: [WriteBatch]) throws(StoreError) -> [CommitOutcome] {
        try state.withLock { (state) throws(StoreError) in
            if let refusal = state.refusal(of: batches) { throw refusal }
            return batches.map { state.commit($0) }
        }
    }

    public func load(_ load: StoreQuery) throws(StoreError) -> StoreResult {
        try load.demandAnswerable(among: partitions)
        let answer = state.withLock { $0.load(load) }
        try load.demandAnswered(by: answer, among: partitions)
        return answer
    }

    public func senders() throws(StoreError) -> [SenderRecord] {
        let senders = state.withLock { $0.senders }
        try ListChecks.demandOrdered(senders)
        return senders
    }

    public func devices(after: DeviceID?, limit: Int) throws(StoreError) -> [DeviceRecord] {
        let devices = state.withLock { $0.devices(after: after, limit: limit) }
        try ListChecks.demandOrdered(devices, after: after, limit: limit)
        return devices
    }

    public func installations(after: [UInt8]?, limit: Int) throws(StoreError) -> [ListedInstallation] {
        let installations = state.withLock { $0.installations(after: after, limit: limit) }
        try ListChecks.demandOrdered(installations, after: after, limit: limit)
        return installations
    }

    public func groups(after: GroupName?, limit: Int) throws(StoreError) -> [GroupRecord] {
        let groups = state.withLock { $0.groups(after: after, limit: limit) }
        try ListChecks.demandOrdered(groups, after: after, limit: limit)
        return groups
    }

    public func topics(from place: SubscriberPosition?, examine: Int) throws(StoreError) -> TopicCounts {
        let page = state.withLock { $0.topics(from: place, examine: examine) }
        try ListChecks.demandCounted(page, examined: examine)
        return page
    }

    public func subscribers(from place: SubscriberPosition, limit: Int) throws(StoreError) -> [TokenName] {
        let found = state.withLock { $0.subscribers(from: place, limit: limit) }
        try ListChecks.demandOrdered(found, after: place.after, limit: limit)
        return found
    }

    public func feedback(
        of sender: SenderID, after: FeedbackPosition, limit: Int
    ) throws(StoreError) -> [APNsFeedback] {
        let entries = state.withLock { $0.feedback(of: sender, after: after, limit: limit) }
        try ListChecks.demandOrdered(entries, of: sender, after: after, limit: limit)
        return entries
    }

    public func setting(_ name: String) throws(StoreError) -> [UInt8]? {
        state.withLock { $0.settings[name] }
    }

    public func setSetting(_ name: String, _ value: [UInt8]) throws(StoreError) {
        state.withLock { $0.settings[name] = value }
    }

    public func logProgress() throws(StoreError) -> [LogProgress?] {
        state.withLock { $0.tallies.map(\.log) }
    }

    public func registryBytes() throws(StoreError) -> UInt64 {
        state.withLock { UInt64($0.registryRows * Limits.Registry.rowBytes) }
    }

    public func figures() throws(StoreError) -> StoreFigures {
        var figures = StoreFigures()
        figures.add(state.withLock { $0.tallies })
        return figures
    }

    public func census(after: DeviceID?, examine: Int) throws(StoreError) -> RegistryCensus {
        state.withLock { $0.census(after: after) }
    }

    public func audit() throws(StoreError) -> StoreAudit { state.withLock { $0.audit() } }

    public func close() throws(StoreError) {}
}

/// What stores of tests need not implement themselves.
extension Store {
    /// No syncs: a store in memory needs none.
    public var syncTimes: SyncTimes { SyncTimes() }

    /// Does nothing: in a store in memory removed rows take no space.
    public func reclaimRegistry() {}

    public func load(_ loads: [StoreQuery]) -> [Result<StoreResult, StoreError>] {
        loads.map { query in Result { () throws(StoreError) in try load(query) } }
    }
}
