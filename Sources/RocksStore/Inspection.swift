import CRocksDB
import Store

// Doors for tests, which cannot make a disk fail or wait for a compaction.
extension RocksStore {
    /// The next commit finds what it would find after a failed write.
    func pretendWriteFailed() { breakWriter() }

    /// Compacts the family `seen` and counts what is left.
    func compactedSeen() -> Int {
        let count = try? withEngine { (engine) throws(StoreError) -> Int in
            engine.compact(.seen)
            let rows = engine.snapshot().cursor(.seen)
            var count = 0
            while rows.isValid {
                count += 1
                rows.next()
            }
            return count
        }
        return count ?? -1
    }
}
