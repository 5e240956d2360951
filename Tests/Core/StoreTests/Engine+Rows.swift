import Basics
import CRocksDB
import Store

@testable import RocksStore

extension Engine {
    /// Writes one row durably.
    func put(
        _ family: Family, _ key: borrowing RawSpan, _ value: borrowing RawSpan
    ) throws(StoreError) {
        let batch = EngineBatch(self)
        batch.put(family, key, value)
        try write(batch)
        try flush(waits: true)
    }

    /// Compacts a column family and waits for it.
    func compact(_ family: Family) { rocksdb_compact_range_cf(database, handle(family), nil, 0, nil, 0) }
}

extension RocksStore {
    /// Compacts the column family `seen` and returns the number of rows left.
    func compactedSeen() throws(StoreError) -> Int {
        try withEngine { (engine) throws(StoreError) -> Int in
            engine.compact(.seen)
            let rows = engine.snapshot().cursor(.seen)
            var count = 0
            while rows.isValid {
                count += 1
                rows.next()
            }
            return count
        }
    }
}
