public import Basics

/// A file of the history as a search sees it: the blocks that may have a key, and the records of a block.
public struct HistorySource: Sendable {
    /// Reads `count` bytes at an offset of the file. Returns `nil` if they cannot be read.
    public typealias Read = @Sendable (_ offset: Int, _ count: Int) -> [UInt8]?

    /// What an index has for a key.
    struct Found {
        /// The numbers of the blocks, ascending.
        var blocks: [Int] = []
        /// Whether a part of the index is damaged: there may be more.
        var isDamaged = false
    }

    /// The number of the file.
    public let number: UInt64
    /// The times of the first and the last step.
    public let first: UnixMilliseconds
    public let last: UnixMilliseconds
    private let read: Read
    private let index: Index

    private enum Index: Sendable {
        case complete(SegmentFormat.Footer)
        case open(entries: [UInt64], offsets: [UInt32], end: Int)
    }

    /// Opens a complete file of `length` bytes. Returns `nil` if it is not complete, or its footer is damaged.
    public init?(number: UInt64, length: Int, read: @escaping Read) {
        let size = SegmentFormat.footerBytes
        guard length >= SegmentFormat.headerBytes + size, let bytes = read(length - size, size),
            let footer = SegmentFormat.Footer(bytes.raw, file: number, length: length)
        else { return nil }
        self.number = number
        first = footer.first
        last = footer.last
        self.read = read
        index = .complete(footer)
    }

    /// Opens the file that is being written, with all that has been appended.
    public init(_ writer: borrowing SegmentWriter, read: @escaping Read) {
        number = writer.number
        first = writer.first
        last = writer.last
        self.read = read
        index = .open(entries: writer.index.entries, offsets: writer.index.offsets, end: writer.bytes)
    }

    /// Returns the blocks that may have a key: all that have it, and rarely another one.
    func blocks(_ hash: UInt64) -> Found {
        switch index {
        case .open(let entries, _, _):
            let mark = hash >> SegmentFormat.blockBits
            var found = Found()
            for entry in entries where entry >> SegmentFormat.blockBits == mark {
                let block = Int(entry & 0xfff)
                if found.blocks.last != block { found.blocks.append(block) }
            }
            return found
        case .complete(let footer): return blocks(hash, footer)
        }
    }

    private func blocks(_ hash: UInt64, _ footer: SegmentFormat.Footer) -> Found {
        let bucket = SegmentFormat.bucket(hash, bits: footer.bucketBits)
        let before = min(bucket, 1)
        guard let directory = read(footer.directoryAt + 8 * (bucket - before), 8 * (before + 1)) else {
            return Found(isDamaged: true)
        }
        let span = directory.raw
        let start = before == 0 ? 0 : Int(UInt32(truncatingIfNeeded: span.word(at: 0)))
        let (end, sum) = (
            Int(UInt32(truncatingIfNeeded: span.word(at: 8 * before))), span.word(at: 8 * before) >> 32
        )
        guard start <= end, end <= footer.entries,
            let bytes = read(Int(footer.indexAt) + 4 * start, 4 * (end - start)),
            UInt64(HistoryHash.checksum(bytes.raw, file: number, at: Int(footer.indexAt) + 4 * start))
                == sum
        else { return Found(isDamaged: true) }
        let mark = SegmentFormat.mark(hash, bits: footer.bucketBits)
        var blocks: Set<Int> = []
        for at in stride(from: 0, to: bytes.count, by: 4) {
            let entry = bytes.raw.half(at: at)
            if entry & ~0xfff == mark { blocks.insert(Int(entry & 0xfff)) }
        }
        return Found(blocks: blocks.sorted())
    }

    /// How many blocks there are.
    var blockCount: Int {
        switch index {
        case .open(_, let offsets, _): offsets.count
        case .complete(let footer): Int(footer.blocks)
        }
    }

    /// Reads the records of a block.
    func records(_ block: Int) throws(HistoryDamage) -> [HistoryRecord] {
        let (start, end) = try place(of: block)
        guard end - start <= Limits.History.mostBlockBytes, let bytes = read(start, end - start) else {
            throw .unreadable
        }
        return try BlockReader.records(
            try SegmentFormat.payload(of: bytes.raw, file: number, at: start))
    }

    /// Returns where a block begins and ends.
    private func place(of block: Int) throws(HistoryDamage) -> (Int, Int) {
        switch index {
        case .open(_, let offsets, let end):
            guard offsets.indices.contains(block) else { throw .format }
            return (Int(offsets[block]), block + 1 < offsets.count ? Int(offsets[block + 1]) : end)
        case .complete(let footer):
            let isLast = block + 1 == Int(footer.blocks)
            guard block < Int(footer.blocks), let bytes = read(footer.offsetsAt + 4 * block, isLast ? 4 : 8)
            else { throw .format }
            let span = bytes.raw
            let start = Int(span.half(at: 0))
            let end = isLast ? Int(footer.indexAt) : Int(span.half(at: 4))
            guard start < end, end <= Int(footer.indexAt) else { throw .format }
            return (start, end)
        }
    }
}

extension RawSpan {
    /// Four bytes from an offset as a little-endian number.
    fileprivate func half(at offset: Int) -> UInt32 {
        var value: UInt32 = 0
        for at in 0..<4 { value |= UInt32(byte(at: offset + at)) << UInt32(8 * at) }
        return value
    }
}
