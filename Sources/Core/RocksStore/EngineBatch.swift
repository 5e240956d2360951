import Basics
import CRocksDB
import Delivery
import Store

/// Writes that the engine applies atomically.
@safe struct EngineBatch: ~Copyable {
    private let engine: Engine
    /// The handle of the C object.
    let handle: OpaquePointer

    /// Creates an empty batch.
    init(_ engine: Engine) {
        self.engine = engine
        unsafe handle = rocksdb_writebatch_create()
    }

    deinit { unsafe rocksdb_writebatch_destroy(handle) }

    /// Whether the batch has no writes.
    var isEmpty: Bool { unsafe rocksdb_writebatch_count(handle) == 0 }

    /// Size of the batch in bytes.
    var bytes: Int {
        var bytes = 0
        _ = unsafe rocksdb_writebatch_data(handle, &bytes)
        return bytes
    }

    /// Removes all writes.
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

    /// Puts the record of a message and its expiry entry.
    func put(_ messageKey: MessageKey, _ record: borrowing RawSpan, end: UnixMilliseconds) {
        put(messageKey.family, Key(messageKey.owner, messageKey.sequence).bytes, record)
        put(.expiry, expiryKey(messageKey, end).bytes, Key().bytes)
    }

    /// Removes a message and its expiry entry.
    func remove(_ messageKey: MessageKey, end: UnixMilliseconds) {
        delete(messageKey.family, Key(messageKey.owner, messageKey.sequence).bytes)
        delete(.expiry, expiryKey(messageKey, end).bytes)
    }

    private func expiryKey(_ messageKey: MessageKey, _ end: UnixMilliseconds) -> Key {
        Key.expiry(
            ExpiryKey(messageKey, end: end), of: messageKey.partition(of: engine.partitions))
    }
}
