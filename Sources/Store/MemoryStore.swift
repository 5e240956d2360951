package import Basics
package import Delivery
import Synchronization

/// A store that forgets everything when the process ends: for tests, simulation and first trials.
package final class MemoryStore: Store {
    private let state = Mutex(MemoryState())

    /// An empty store.
    package init() {}

    package func commit(_ batches: [WriteBatch]) throws(StoreError) -> [CommitOutcome] {
        state.withLock { state in batches.map { state.commit($0) } }
    }

    package func load(_ load: Load) throws(StoreError) -> Loaded { state.withLock { $0.load(load) } }

    package func senders() throws(StoreError) -> [SenderRecord] { state.withLock { $0.senders } }

    package func devices(after: DeviceID?, limit: Int) throws(StoreError) -> [DeviceRecord] {
        state.withLock { $0.devices(after: after, limit: limit) }
    }

    package func topics(from place: TopicPlace?, examine: Int) throws(StoreError) -> TopicCounts {
        state.withLock { $0.topics(from: place, examine: examine) }
    }

    package func setting(_ name: String) throws(StoreError) -> [UInt8]? {
        state.withLock { $0.settings[name] }
    }

    package func setSetting(_ name: String, _ value: [UInt8]) throws(StoreError) {
        state.withLock { $0.settings[name] = value }
    }

    package func audit() throws(StoreError) -> StoreAudit { state.withLock { $0.audit() } }

    package func close() throws(StoreError) {}
}
