public import Delivery
public import Store
import Synchronization

/// How much of the replicated logs is applied.
extension RocksStore {
    public func logProgress() throws(StoreError) -> [LogProgress?] {
        // The tallies count only while the engine is open: they are read again after a failure.
        try withEngine { (_) throws(StoreError) in
            recent.withLock { $0.tallies.map(\.log) }
        }
    }
}
