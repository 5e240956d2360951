import Glibc

/// A growable byte buffer with a single owner.
///
/// It is the one buffer of the hot path: readers borrow it as a `RawSpan`, writers append to it. Emptying it frees its storage,
/// so an idle connection uses no memory for buffers.
@safe public struct ByteBuffer: ~Copyable {
    private var base: UnsafeMutableRawPointer?
    /// Number of bytes in the buffer.
    public private(set) var count = 0
    private var capacity = 0

    /// Creates an empty buffer without allocating.
    public init() { unsafe base = nil }

    deinit { unsafe free(base) }

    /// Whether the buffer is empty.
    public var isEmpty: Bool { count == 0 }

    /// The content, borrowed.
    public var bytes: RawSpan {
        @_lifetime(borrow self)
        get {
            let start = unsafe UnsafeRawPointer(base) ?? UnsafeRawPointer(bitPattern: 16)
            let span = unsafe RawSpan(
                _unsafeStart: start.unsafelyUnwrapped, byteCount: count)
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }

    /// A copy of the content.
    public func copied() -> [UInt8] { [UInt8](copying: bytes) }

    /// Appends borrowed bytes.
    @inline(__always)
    public mutating func append(_ bytes: borrowing RawSpan) {
        unsafe bytes.withUnsafeBytes { unsafe append(unsafe $0) }
    }

    /// Appends an array.
    @inline(__always)
    public mutating func append(_ bytes: [UInt8]) {
        unsafe bytes.withUnsafeBytes { unsafe append(unsafe $0) }
    }

    /// Appends the UTF-8 of a literal; no allocation.
    @inline(__always)
    public mutating func append(_ literal: StaticString) {
        unsafe append(
            UnsafeRawBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    /// Appends one byte.
    @inline(__always)
    public mutating func append(byte: UInt8) {
        if count == capacity { grow(to: count &+ 1) }
        unsafe base.unsafelyUnwrapped.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count &+= 1
    }

    /// Appends the UTF-8 of a string.
    public mutating func append(text: String) {
        var text = text
        text.withUTF8 { utf8 in unsafe append(UnsafeRawBufferPointer(utf8)) }
    }

    /// Appends a number as eight bytes, little-endian; `RawSpan.word(at:)` reads them.
    @inline(__always)
    public mutating func append(word: UInt64) {
        if count &+ 8 > capacity { grow(to: count &+ 8) }
        unsafe base.unsafelyUnwrapped.storeBytes(of: word.littleEndian, toByteOffset: count, as: UInt64.self)
        count &+= 8
    }

    /// Appends a number in decimal; not generic, for the hot path.
    public mutating func append(decimal value: Int64) {
        if value < 0 { append(byte: UInt8(ascii: "-")) }
        append(decimal: value.magnitude)
    }

    /// Appends a number in decimal; not generic, for the hot path.
    public mutating func append(decimal value: Int) { append(decimal: Int64(value)) }

    /// Appends a number in decimal; not generic, for the hot path.
    public mutating func append(decimal value: UInt64) {
        var rest = value
        var digits: (UInt64, UInt64, UInt64) = (0, 0, 0)
        unsafe withUnsafeMutableBytes(of: &digits) { room in
            var at = room.count
            repeat {
                at -= 1
                unsafe room[at] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            unsafe append(UnsafeRawBufferPointer(rebasing: room[at...]))
        }
    }

    /// Appends bytes that a C library owns.
    @inline(__always)
    public mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, bytes.count > 0 else { return }
        if count &+ bytes.count > capacity { grow(to: count &+ bytes.count) }
        unsafe memcpy(base.unsafelyUnwrapped + count, source, bytes.count)
        count &+= bytes.count
    }

    /// Reserves `room` bytes, lets `fill` write there, and keeps as many bytes as `fill` returns.
    @inline(__always)
    public mutating func append(
        upTo room: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Int
    ) {
        if count &+ room > capacity { grow(to: count &+ room) }
        let start = unsafe base.unsafelyUnwrapped + count
        let filled = unsafe fill(UnsafeMutableRawBufferPointer(start: start, count: room))
        precondition(filled >= 0 && filled <= room, "more bytes were written than reserved")
        count &+= filled
    }

    /// Overwrites one byte of the content.
    public mutating func set(_ byte: UInt8, at offset: Int) {
        precondition(offset >= 0 && offset < count, "offset outside the buffer")
        unsafe base.unsafelyUnwrapped.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
    }

    /// Overwrites eight bytes of the content, in the format of `append(word:)`.
    public mutating func set(word: UInt64, at offset: Int) {
        precondition(offset >= 0 && offset <= count &- 8, "offset outside the buffer")
        unsafe base.unsafelyUnwrapped.storeBytes(of: word.littleEndian, toByteOffset: offset, as: UInt64.self)
    }

    /// Replaces `from` bytes at an offset by `to` bytes of undefined content, and moves the bytes that follow.
    public mutating func resizeGap(at offset: Int, from: Int, to: Int) {
        precondition(offset >= 0 && from >= 0 && to >= 0 && offset + from <= count, "gap outside the buffer")
        let length = count - from + to
        if length > capacity { grow(to: length) }
        guard let base = unsafe base else { return }
        unsafe memmove(base + offset + to, base + offset + from, count - offset - from)
        count = length
    }

    /// Removes the first `n` bytes, or all bytes if there are fewer.
    public mutating func removeFirst(_ n: Int) {
        guard n < count else { return removeAll() }
        unsafe memmove(base.unsafelyUnwrapped, base.unsafelyUnwrapped + n, count - n)
        count -= n
    }

    /// Removes the bytes after the first `length`.
    public mutating func truncate(to length: Int) { count = min(count, max(0, length)) }

    /// Empties the buffer, and frees its storage unless `keepingCapacity`.
    public mutating func removeAll(keepingCapacity: Bool = false) {
        count = 0
        guard !keepingCapacity else { return }
        unsafe free(base)
        unsafe base = nil
        capacity = 0
    }

    @inline(never)
    private mutating func grow(to needed: Int) {
        var size = max(capacity, 512)
        while size < needed { size &*= 2 }
        guard let grown = unsafe realloc(base, size) else { fatalError("out of memory") }
        unsafe base = grown
        capacity = size
    }
}

extension [UInt8] {
    /// The content, borrowed.
    @inline(__always)
    public var raw: RawSpan {
        @_lifetime(borrow self)
        get {
            let bytes = unsafe span.bytes
            return unsafe _overrideLifetime(bytes, borrowing: self)
        }
    }

    /// Copies borrowed bytes.
    @inline(__always)
    public init(copying bytes: borrowing RawSpan) {
        self = unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) }
    }
}

extension StaticString {
    /// The byte at an offset of the UTF-8; traps outside the literal.
    @inline(__always)
    public func byte(at offset: Int) -> UInt8 {
        precondition(offset >= 0 && offset < utf8CodeUnitCount, "offset outside the literal")
        return unsafe utf8Start[offset]
    }
}

extension RawSpan {
    /// The byte at an offset; traps outside the span.
    @inlinable @inline(__always)
    public func byte(at offset: Int) -> UInt8 {
        precondition(offset >= 0 && offset < byteCount, "offset outside the span")
        return unsafe unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
    }

    /// Eight bytes from an offset as a little-endian number; traps if fewer are left.
    @inlinable @inline(__always)
    public func word(at offset: Int) -> UInt64 {
        precondition(offset >= 0 && offset <= byteCount &- 8, "word outside the span")
        return UInt64(
            littleEndian: unsafe unsafeLoadUnaligned(
                fromUncheckedByteOffset: offset, as: UInt64.self))
    }

    /// Whether both spans contain the same bytes.
    @inline(__always)
    public func equals(_ other: RawSpan) -> Bool {
        guard byteCount == other.byteCount else { return false }
        return unsafe withUnsafeBytes { mine in
            unsafe other.withUnsafeBytes { theirs in
                unsafe mine.isEmpty
                    || memcmp(
                        mine.baseAddress.unsafelyUnwrapped, theirs.baseAddress.unsafelyUnwrapped, mine.count)
                        == 0
            }
        }
    }

    /// Whether the span contains exactly the UTF-8 of a literal.
    @inline(__always)
    public func equals(_ literal: StaticString) -> Bool {
        guard byteCount == literal.utf8CodeUnitCount else { return false }
        return unsafe withUnsafeBytes { bytes in
            unsafe bytes.isEmpty
                || memcmp(bytes.baseAddress.unsafelyUnwrapped, literal.utf8Start, bytes.count) == 0
        }
    }
}
