import Basics
import CRocksDB
import Delivery
import Store

/// Changes that the engine applies together or not at all.
@safe struct EngineBatch: ~Copyable {
    private let engine: Engine
    /// The engine's handle.
    let handle: OpaquePointer

    /// An empty batch.
    init(_ engine: Engine) {
        self.engine = engine
        unsafe handle = rocksdb_writebatch_create()
    }

    deinit { unsafe rocksdb_writebatch_destroy(handle) }

    /// Whether it changes nothing.
    var isEmpty: Bool { unsafe rocksdb_writebatch_count(handle) == 0 }

    /// Bytes of its changes.
    var bytes: Int {
        var bytes = 0
        _ = unsafe rocksdb_writebatch_data(handle, &bytes)
        return bytes
    }

    /// Forgets all changes.
    func clear() { unsafe rocksdb_writebatch_clear(handle) }

    func put(_ family: Family, _ key: borrowing RawSpan, _ value: borrowing RawSpan) {
        unsafe key.withUnsafeBytes { key in
            unsafe value.withUnsafeBytes { value in
                unsafe rocksdb_writebatch_put_cf(
                    handle, engine.handle(family), key.baseAddress, key.count, value.baseAddress,
                    value.count)
            }
        }
    }

    func delete(_ family: Family, _ key: borrowing RawSpan) {
        unsafe key.withUnsafeBytes { key in
            unsafe rocksdb_writebatch_delete_cf(
                handle, engine.handle(family), key.baseAddress, key.count)
        }
    }

    /// Puts a message, by its record, and its end.
    func put(_ place: Place, _ record: borrowing RawSpan, end: UnixMilliseconds) {
        put(place.family, Key(place.owner, place.sequence).bytes, record)
        let key = Key.expiry(ExpiryKey(place, end: end), among: engine.partitions)
        put(.expiry, key.bytes, Key().bytes)
    }

    /// Removes both.
    func remove(_ place: Place, end: UnixMilliseconds) {
        delete(place.family, Key(place.owner, place.sequence).bytes)
        delete(.expiry, Key.expiry(ExpiryKey(place, end: end), among: engine.partitions).bytes)
    }
}
