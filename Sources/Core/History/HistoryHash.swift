import Basics

/// Hashes for the index, and checksums against damage. Each step is reversible, so a change within eight bytes always changes the result.
enum HistoryHash {
    private static let first: UInt64 = 0x9e37_79b9_7f4a_7c15
    private static let second: UInt64 = 0xd6e8_feb8_6659_fd93

    /// Returns the hash of bytes.
    static func of(_ bytes: borrowing RawSpan, seed: UInt64) -> UInt64 {
        let count = bytes.byteCount
        var hash = seed ^ UInt64(truncatingIfNeeded: count) &* second
        var at = 0
        while count &- at >= 8 {
            hash = (hash ^ bytes.word(at: at)) &* first
            hash ^= hash >> 32
            at &+= 8
        }
        var last: UInt64 = 0
        var shift: UInt64 = 0
        while at < count {
            last |= UInt64(bytes.byte(at: at)) << shift
            shift &+= 8
            at &+= 1
        }
        return mix(hash ^ last)
    }

    /// Returns the hash of a number.
    @inline(__always)
    static func mix(_ number: UInt64) -> UInt64 {
        var hash = (number ^ number >> 32) &* first
        hash = (hash ^ hash >> 29) &* second
        return hash ^ hash >> 32
    }

    /// Returns the checksum of bytes at an offset of a file.
    static func checksum(_ bytes: borrowing RawSpan, file: UInt64, at offset: Int) -> UInt32 {
        UInt32(
            truncatingIfNeeded: of(bytes, seed: mix(file &<< 32 &+ UInt64(truncatingIfNeeded: offset))) >> 32)
    }

    // MARK: Keys

    /// What the index finds the records of gaps by.
    static let gap = mix(0x6761_70)

    /// What the index finds a message's ID by.
    @inline(__always)
    static func id(_ bytes: borrowing RawSpan) -> UInt64 { of(bytes, seed: 1) }

    /// What the index finds the position in a mailbox by.
    @inline(__always)
    static func sequence(_ number: UInt64) -> UInt64 { mix(number ^ 0x7365_7175) }

    /// What the index finds a device by.
    @inline(__always)
    static func device(_ number: UInt64) -> UInt64 { mix(number ^ 0x6465_7669_6365) }
}
