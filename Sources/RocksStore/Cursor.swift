import Basics
import CRocksDB
import Glibc
import Store

/// Walks over keys in order, within bounds: without them the engine would plod through what was deleted behind.
@safe struct Cursor: ~Copyable {
    private let iterator: OpaquePointer
    private let options: OpaquePointer
    /// The engine keeps only a pointer to the end, so its bytes live here.
    private let end: UnsafeMutableRawPointer?

    /// Walks over the rows of one owner after the other, each found by `seek(owner:)`.
    init(owners family: OpaquePointer, database: OpaquePointer, snapshot: OpaquePointer) {
        unsafe options = Self.options()
        unsafe rocksdb_readoptions_set_snapshot(options, snapshot)
        let room = UnsafeMutableRawPointer.allocate(byteCount: Self.endBytes, alignment: 1)
        unsafe room.initializeMemory(as: UInt8.self, repeating: 0xFF, count: Self.endBytes)
        unsafe rocksdb_readoptions_set_iterate_upper_bound(options, room, Self.endBytes)
        unsafe end = room
        unsafe iterator = rocksdb_create_iterator_cf(database, options, family)
    }

    /// We never remove ranges. Looking for such marks, the engine (7.8) loses the error of a file that it cannot read where it comes
    /// to it from the one before, and goes on with the rows of other files.
    private static func options() -> OpaquePointer {
        let options = unsafe rocksdb_readoptions_create()
        unsafe rocksdb_readoptions_set_ignore_range_deletions(options, 1)
        return unsafe options.unsafelyUnwrapped
    }

    /// Bytes of the end behind the last owner there can be, whose rows are shorter or hold a smaller byte among these.
    private static let endBytes = 17

    /// Goes to the first row of an owner, and ends behind the last one; of cursors made for owners only.
    ///
    /// The engine looks at the end anew with each seek, so that it may be moved in between.
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

    /// Goes to a key, or the next after it.
    func seek(_ key: Key) { seek(key.bytes) }

    private func seek(_ key: borrowing RawSpan) {
        unsafe key.withUnsafeBytes { unsafe rocksdb_iter_seek(iterator, $0.baseAddress, $0.count) }
    }

    /// Whether it stands on a pair.
    var isValid: Bool { unsafe rocksdb_iter_valid(iterator) != 0 }

    /// Goes to the next pair.
    func next() { unsafe rocksdb_iter_next(iterator) }

    /// The key it stands on; valid until it moves.
    var key: RawSpan {
        @_lifetime(borrow self)
        get {
            var length = 0
            let start = unsafe rocksdb_iter_key(iterator, &length)
            return unsafe span(start, length)
        }
    }

    /// The value it stands on; valid until it moves.
    var value: RawSpan {
        @_lifetime(borrow self)
        get {
            var length = 0
            let start = unsafe rocksdb_iter_value(iterator, &length)
            return unsafe span(start, length)
        }
    }

    /// Throws what stopped it, if it was not the end.
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
