import Basics
import Delivery
import Store
import StoreSupport
import Synchronization

@testable import Server

/// A store in memory whose commits wait at a gate, and fail on request.
final class GatedStore: Store {
    private struct State {
        var isOpen = true
        var waiting = 0
        var commits: [[WriteBatch]] = []
        var failures: [StoreError?] = []
        var settingFailure: StoreError?
        var isClosed = false
        var registryBytes: UInt64? = 0
        var reclaims = 0
    }
    private let base: MemoryStore
    var partitions: Int { base.partitions }
    private let state = Monitor(State())

    init(partitions: Int = Limits.Partition.count) { base = MemoryStore(partitions: partitions) }

    func shut() { state.change { $0.isOpen = false } }
    func unlock() { state.change { $0.isOpen = true } }
    /// The errors of the next commits, in order; `nil` lets one succeed.
    func failNext(_ errors: [StoreError?]) { state.change { $0.failures = errors } }
    /// Whether the next setting is not stored.
    func failNextSetting(_ error: StoreError) { state.change { $0.settingFailure = error } }
    /// The reported size of the registry; `nil` makes the measurement fail.
    func setRegistry(bytes: UInt64?) { state.change { $0.registryBytes = bytes } }
    /// The number of requests to reclaim space.
    var reclaims: Int { state.change { $0.reclaims } }
    func reclaimRegistry() { state.change { $0.reclaims += 1 } }
    /// The committed mutations, by commit.
    var commits: [[WriteBatch]] { state.change { $0.commits } }
    var isClosed: Bool { state.change { $0.isClosed } }

    /// Waits until a commit is at the gate.
    func waitForCommitAtGate() {
        while state.change({ $0.waiting == 0 }) {}
    }

    func commit(_ batches: [WriteBatch]) throws(StoreError) -> [CommitOutcome] {
        state.change { $0.waiting += 1 }
        let failure = state.wait { (state) -> Monitor<State>.Step<StoreError?> in
            guard state.isOpen else { return .wait(until: .distantFuture) }
            state.waiting -= 1
            state.commits.append(batches)
            return .done(state.failures.isEmpty ? nil : state.failures.removeFirst())
        }
        if let failure { throw failure }
        return try base.commit(batches)
    }

    func load(_ load: StoreQuery) throws(StoreError) -> StoreResult { try base.load(load) }
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
    func feedback(
        of sender: SenderID, after: FeedbackPosition, limit: Int
    ) throws(StoreError) -> [APNsFeedback] { try base.feedback(of: sender, after: after, limit: limit) }
    func groups(after: GroupName?, limit: Int) throws(StoreError) -> [GroupRecord] {
        try base.groups(after: after, limit: limit)
    }
    func installations(after: [UInt8]?, limit: Int) throws(StoreError) -> [ListedInstallation] {
        try base.installations(after: after, limit: limit)
    }
    func setting(_ name: String) throws(StoreError) -> [UInt8]? { try base.setting(name) }
    func setSetting(_ name: String, _ value: [UInt8]) throws(StoreError) {
        let failure = state.change { state in
            defer { state.settingFailure = nil }
            return state.settingFailure
        }
        if let failure { throw failure }
        try base.setSetting(name, value)
    }
    func logProgress() throws(StoreError) -> [LogProgress?] { try base.logProgress() }
    func registryBytes() throws(StoreError) -> UInt64 {
        guard let bytes = state.change({ $0.registryBytes }) else {
            throw StoreError(.inputOutput, "measure the registry")
        }
        return bytes
    }
    func audit() throws(StoreError) -> StoreAudit { try base.audit() }
    func close() throws(StoreError) { state.change { $0.isClosed = true } }
}
