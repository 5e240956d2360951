import Basics
import Delivery

/// The index of a file that is being written. Its storage is handed on to the next file: fresh memory costs a page fault every 4 KiB.
public struct SegmentIndex: Sendable {
    /// The offsets of the blocks.
    private(set) var offsets: [UInt32] = []
    /// Of each index entry 52 bits of the hash, and the block.
    private(set) var entries: [UInt64] = []
    /// The entries in the order of their buckets, as they are written.
    private var marks: [UInt32] = []

    /// Creates an index without storage.
    public init() {}

    /// Empties the index and keeps its storage.
    mutating func removeAll() {
        offsets.removeAll(keepingCapacity: true)
        entries.removeAll(keepingCapacity: true)
    }

    /// Ends the block whose entries were added, which begins at an offset of the file.
    mutating func endBlock(at offset: Int) { offsets.append(UInt32(offset)) }

    /// Adds what the record of a message is found by in the current block; `newDevice` is 0 if the block has the device already.
    @inline(__always)
    mutating func add(id: UInt64?, _ kind: HistoryStep.Kind, _ sequence: UInt64, newDevice: UInt64) {
        if kind == .gap { return add(HistoryHash.gap) }
        if let id { add(id) }
        if sequence != 0 { add(HistoryHash.sequence(sequence)) }
        if newDevice != 0 { add(HistoryHash.device(newDevice)) }
    }

    @inline(__always)
    private mutating func add(_ hash: UInt64) {
        entries.append(
            (hash >> SegmentFormat.blockBits) << SegmentFormat.blockBits
                | UInt64(truncatingIfNeeded: offsets.count))
    }

    /// Sorts the entries into buckets, and appends them, the directory of the buckets and the offsets of the blocks to what is to be written
    /// at an offset of the file. Returns the bits of a hash that give its bucket.
    mutating func complete(_ out: inout ByteBuffer, file: UInt64, at offset: Int) -> UInt64 {
        var bits: UInt64 = 0
        while entries.count >> bits > Limits.History.entriesPerBucket { bits += 1 }
        let ends = sort(bits)
        let start = out.count
        for at in entries.indices { out.append(half: marks[at]) }
        var from = 0
        for end in ends {
            let sum = HistoryHash.checksum(
                out.bytes.extracting(start + from..<start + 4 * end), file: file, at: offset + from)
            out.append(word: UInt64(end) | UInt64(sum) << 32)
            from = 4 * end
        }
        for block in offsets { out.append(half: block) }
        return bits
    }

    /// Puts the entries into the order of their buckets. Returns where each bucket ends.
    private mutating func sort(_ bits: UInt64) -> [Int] {
        var ends = [Int](repeating: 0, count: 1 << bits)
        for entry in entries { ends[SegmentFormat.bucket(entry, bits: bits)] += 1 }
        var sum = 0
        for bucket in ends.indices {
            let count = ends[bucket]
            ends[bucket] = sum
            sum += count
        }
        if marks.count < entries.count { marks = [UInt32](repeating: 0, count: entries.count) }
        for entry in entries {
            let bucket = SegmentFormat.bucket(entry, bits: bits)
            marks[ends[bucket]] =
                SegmentFormat.mark(entry, bits: bits) | UInt32(truncatingIfNeeded: entry & 0xfff)
            ends[bucket] += 1
        }
        return ends
    }
}

extension ByteBuffer {
    /// Appends a number as four bytes, little-endian.
    fileprivate mutating func append(half: UInt32) {
        for shift in [0, 8, 16, 24] as [UInt32] { append(byte: UInt8(truncatingIfNeeded: half >> shift)) }
    }
}
