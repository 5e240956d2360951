public import Basics
public import Delivery
import Synchronization

/// The model of the store: what every store must do, without a disk.
///
/// No program opens it. It stands here since it is `MemoryState`, which the simulation's disk keeps, behind the contract: the
/// tests of the contract compare it with RocksStore, and tests of the server use it where no disk is needed.
public final class MemoryStore: Store {
    public let partitions: Int
    private let state: Mutex<MemoryState>

    /// An empty store.
    public init(partitions: Int = Limits.Partition.count) {
        self.partitions = partitions
        state = Mutex(MemoryState(partitions: partitions))
    }

    public func commit(_ batches: [WriteBatch]) throws(StoreError) -> [CommitOutcome] {
        try state.withLock { (state) throws(StoreError) in
            if let collision = state.collision(in: batches) { throw collision }
            return batches.map { state.commit($0) }
        }
    }

    public func load(_ load: Load) throws(StoreError) -> Loaded { state.withLock { $0.load(load) } }

    public func senders() throws(StoreError) -> [SenderRecord] { state.withLock { $0.senders } }

    public func devices(after: DeviceID?, limit: Int) throws(StoreError) -> [DeviceRecord] {
        state.withLock { $0.devices(after: after, limit: limit) }
    }

    public func installations(after: [UInt8]?, limit: Int) throws(StoreError) -> [ListedInstallation] {
        state.withLock { $0.installations(after: after, limit: limit) }
    }

    public func topics(from place: TopicPlace?, examine: Int) throws(StoreError) -> TopicCounts {
        state.withLock { $0.topics(from: place, examine: examine) }
    }

    public func setting(_ name: String) throws(StoreError) -> [UInt8]? {
        state.withLock { $0.settings[name] }
    }

    public func setSetting(_ name: String, _ value: [UInt8]) throws(StoreError) {
        state.withLock { $0.settings[name] = value }
    }

    public func registryBytes() throws(StoreError) -> UInt64 {
        state.withLock { UInt64($0.registryRows * Limits.Registry.rowBytes) }
    }

    public func audit() throws(StoreError) -> StoreAudit { state.withLock { $0.audit() } }

    public func close() throws(StoreError) {}
}
