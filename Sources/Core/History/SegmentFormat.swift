import Basics

/// The layout of a history file: a header, blocks, and when it is complete the index and a footer.
///
/// The index has an entry of 32 bits for each ID, position and device of a block: 20 bits of the hash and 12 of the block's number. The first
/// bits of the hash give the bucket, which a search reads as a whole: its end and checksum are in the directory. After the directory come
/// the offsets of the blocks. All numbers are little-endian.
enum SegmentFormat {
    /// `ccshist2`; `ccshist1` had no sessions, and was never released.
    static let magic: UInt64 = 0x3274_7369_6873_6363
    /// `ccshend2`
    static let endMagic: UInt64 = 0x3264_6e65_6873_6363
    /// Bytes of the header: the magic number, the number of the file, and the time of its start.
    static let headerBytes = 24
    /// Bytes of length and checksum before a block.
    static let blockHeadBytes = 8
    static let footerBytes = 64
    /// Bits of an index entry that name the block.
    static let blockBits: UInt64 = 12

    /// What the last bytes of a complete file say.
    struct Footer: Equatable, Sendable {
        var first: Int64
        var last: Int64
        /// Where the index begins.
        var indexAt: UInt64
        var entries: UInt32
        var blocks: UInt32
        /// Bits of a hash that give its bucket.
        var bucketBits: UInt64

        var directoryAt: Int { Int(indexAt) + 4 * Int(entries) }
        var offsetsAt: Int { directoryAt + 8 << bucketBits }
        /// The bytes of the whole file.
        var end: Int { offsetsAt + 4 * Int(blocks) + SegmentFormat.footerBytes }

        func append(to out: inout ByteBuffer, file: UInt64) {
            let start = out.count
            out.append(word: SegmentFormat.endMagic)
            out.append(word: UInt64(bitPattern: first))
            out.append(word: UInt64(bitPattern: last))
            out.append(word: indexAt)
            out.append(word: UInt64(entries) | UInt64(blocks) << 32)
            out.append(word: bucketBits)
            out.append(word: 0)
            let sum = HistoryHash.checksum(
                out.bytes.extracting(start..<out.count), file: file, at: end - SegmentFormat.footerBytes)
            out.append(word: UInt64(sum))
        }

        /// Reads the footer of a file of `length` bytes. Returns `nil` if the file has none: it is not complete, or it is damaged.
        init?(_ bytes: borrowing RawSpan, file: UInt64, length: Int) {
            guard bytes.byteCount == SegmentFormat.footerBytes, bytes.word(at: 0) == SegmentFormat.endMagic,
                bytes.word(at: 48) == 0
            else { return nil }
            let at = length - SegmentFormat.footerBytes
            let sum = HistoryHash.checksum(bytes.extracting(0..<56), file: file, at: at)
            guard UInt64(sum) == bytes.word(at: 56) else { return nil }
            self.init(
                first: Int64(bitPattern: bytes.word(at: 8)), last: Int64(bitPattern: bytes.word(at: 16)),
                indexAt: bytes.word(at: 24), entries: UInt32(truncatingIfNeeded: bytes.word(at: 32)),
                blocks: UInt32(truncatingIfNeeded: bytes.word(at: 32) >> 32), bucketBits: bytes.word(at: 40))
            guard indexAt <= UInt64(length), bucketBits <= 22, end == length else { return nil }
        }

        init(first: Int64, last: Int64, indexAt: UInt64, entries: UInt32, blocks: UInt32, bucketBits: UInt64)
        {
            self.first = first
            self.last = last
            self.indexAt = indexAt
            self.entries = entries
            self.blocks = blocks
            self.bucketBits = bucketBits
        }
    }

    /// The bucket of a hash.
    @inline(__always)
    static func bucket(_ hash: UInt64, bits: UInt64) -> Int {
        bits == 0 ? 0 : Int(truncatingIfNeeded: hash >> (64 &- bits))
    }

    /// The bits of a hash that an entry of its bucket has, in their place.
    @inline(__always)
    static func mark(_ hash: UInt64, bits: UInt64) -> UInt32 {
        UInt32(truncatingIfNeeded: ((hash << bits) >> 44) << blockBits)
    }

    /// Returns the payload of a block whose head and payload are given. Throws if it is not what was written.
    @_lifetime(copy bytes)
    static func payload(of bytes: RawSpan, file: UInt64, at offset: Int) throws(HistoryDamage) -> RawSpan {
        guard bytes.byteCount >= blockHeadBytes else { throw .checksum }
        let length = Int(UInt32(truncatingIfNeeded: bytes.word(at: 0)))
        guard length > 0, length <= bytes.byteCount - blockHeadBytes else { throw .checksum }
        let payload = bytes.extracting(blockHeadBytes..<blockHeadBytes + length)
        let sum = HistoryHash.checksum(payload, file: file, at: offset)
        guard UInt64(sum) == bytes.word(at: 0) >> 32 else { throw .checksum }
        return payload
    }
}
