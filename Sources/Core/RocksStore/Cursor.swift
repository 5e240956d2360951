import Basics
import CRocksDB
import Glibc
import Store

/// An iterator over keys in order, within bounds. Without bounds the engine would read the tombstones after the last key.
@safe struct Cursor: ~Copyable {
    private let iterator: OpaquePointer
    private let options: OpaquePointer
    /// The bytes of the upper bound: the engine keeps a pointer to them.
    private let end: UnsafeMutableRawPointer?

    /// Creates a cursor for the rows of one owner at a time, positioned by `seek(owner:)`.
    init(owners family: OpaquePointer, database: OpaquePointer, snapshot: OpaquePointer) {
        unsafe options = Self.options()
        unsafe rocksdb_readoptions_set_snapshot(options, snapshot)
        let room = UnsafeMutableRawPointer.allocate(byteCount: Self.endBytes, alignment: 1)
        unsafe room.initializeMemory(as: UInt8.self, repeating: 0xFF, count: Self.endBytes)
        unsafe rocksdb_readoptions_set_iterate_upper_bound(options, room, Self.endBytes)
        unsafe end = room
        unsafe iterator = rocksdb_create_iterator_cf(database, options, family)
    }

    /// Ignores range deletions, which the store never writes. While it looks for them, the engine (7.8) drops the error of an
    /// unreadable file that it reaches from the one before, and continues with the rows of other files.
    private static func options() -> OpaquePointer {
        let options = unsafe rocksdb_readoptions_create()
        unsafe rocksdb_readoptions_set_ignore_range_deletions(options, 1)
        return unsafe options.unsafelyUnwrapped
    }

    /// Length of the upper bound after the last possible owner. The rows of that owner are shorter, or have a smaller byte in it.
    private static let endBytes = 17

    /// Moves to the first row of an owner and sets the bound after its last row. Only for a cursor that was created for owners.
    ///
    /// The engine reads the bound with each seek, so that it may change in between.
    func seek(owner: UInt64) {
        guard let end = unsafe end else { return }
        let next = owner == .max ? nil : owner + 1
        for at in 0..<8 {
            let byte = next.map { UInt8(truncatingIfNeeded: $0 >> UInt64(56 - 8 * at)) } ?? 0xFF
            unsafe end.storeBytes(of: byte, toByteOffset: at, as: UInt8.self)
        }
        unsafe rocksdb_readoptions_set_iterate_upper_bound(options, end, next == nil ? Self.endBytes : 8)
        seek(Key(owner))
    }

    init(
        database: OpaquePointer, family: OpaquePointer, snapshot: OpaquePointer, _ start: Key?,
        _ before: Key?
    ) {
        unsafe self.init(
            database: database, family: family, snapshot: snapshot, start.map { [UInt8](copying: $0.bytes) },
            before.map { [UInt8](copying: $0.bytes) })
    }

    init(
        database: OpaquePointer, family: OpaquePointer, snapshot: OpaquePointer, _ start: [UInt8]?,
        _ before: [UInt8]?
    ) {
        unsafe options = Self.options()
        unsafe rocksdb_readoptions_set_snapshot(options, snapshot)
        if let before {
            let bytes = before.raw
            let copy = UnsafeMutableRawPointer.allocate(byteCount: bytes.byteCount, alignment: 1)
            unsafe bytes.withUnsafeBytes {
                unsafe copy.copyMemory(from: $0.baseAddress.unsafelyUnwrapped, byteCount: $0.count)
            }
            unsafe rocksdb_readoptions_set_iterate_upper_bound(options, copy, bytes.byteCount)
            unsafe end = copy
        } else {
            unsafe end = nil
        }
        unsafe iterator = rocksdb_create_iterator_cf(database, options, family)
        if let start { seek(start.raw) } else { unsafe rocksdb_iter_seek_to_first(iterator) }
    }

    deinit {
        unsafe rocksdb_iter_destroy(iterator)
        unsafe rocksdb_readoptions_destroy(options)
        unsafe end?.deallocate()
    }

    /// Moves to a key, or to the next one after it.
    func seek(_ key: Key) { seek(key.bytes) }

    private func seek(_ key: borrowing RawSpan) {
        unsafe key.withUnsafeBytes { unsafe rocksdb_iter_seek(iterator, $0.baseAddress, $0.count) }
    }

    /// Whether the cursor is at a row.
    var isValid: Bool { unsafe rocksdb_iter_valid(iterator) != 0 }

    /// Moves to the next row.
    func next() { unsafe rocksdb_iter_next(iterator) }

    /// The key of the current row, valid until the cursor moves.
    var key: RawSpan {
        @_lifetime(borrow self)
        get {
            var length = 0
            let start = unsafe rocksdb_iter_key(iterator, &length)
            return unsafe span(start, length)
        }
    }

    /// The value of the current row, valid until the cursor moves.
    var value: RawSpan {
        @_lifetime(borrow self)
        get {
            var length = 0
            let start = unsafe rocksdb_iter_value(iterator, &length)
            return unsafe span(start, length)
        }
    }

    /// Throws if the cursor stopped because of an error.
    func finish() throws(StoreError) {
        try unsafe check("walk") { error in unsafe rocksdb_iter_get_error(iterator, error) }
    }

    @_lifetime(borrow self)
    private func span(_ start: UnsafePointer<CChar>?, _ length: Int) -> RawSpan {
        let start = unsafe UnsafeRawPointer(start) ?? UnsafeRawPointer(bitPattern: 16)
        let span = unsafe RawSpan(_unsafeStart: start.unsafelyUnwrapped, byteCount: length)
        return unsafe _overrideLifetime(span, borrowing: self)
    }
}
