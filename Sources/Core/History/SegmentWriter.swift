public import Basics
public import Delivery

/// The file that is being written: encodes steps into blocks and gathers the index, which it writes when the file is complete.
///
/// It has no file: what is to be appended is returned as bytes.
public struct SegmentWriter: ~Copyable {
    /// The number of the file.
    public let number: UInt64
    /// The bytes of the file so far.
    public private(set) var bytes = 0
    /// The times of the first and the last step; the start of the file if it has none.
    public private(set) var first: UnixMilliseconds
    public private(set) var last: UnixMilliseconds
    /// The offsets of the blocks.
    private(set) var offsets: [UInt32] = []
    /// Of each index entry 52 bits of the hash, and the block.
    private(set) var entries: [UInt64] = []
    private var block = BlockWriter()
    private var chains = StepChains()

    /// Starts a file; `header` is what it begins with. It has room for `indexed` index entries, best for the number that the last file had.
    public init(
        number: UInt64, at time: UnixMilliseconds, indexed: Int = 0, header out: inout ByteBuffer
    ) {
        self.number = number
        entries.reserveCapacity(indexed + indexed / 16)
        first = time
        last = time
        out.append(word: SegmentFormat.magic)
        out.append(word: number)
        out.append(word: UInt64(bitPattern: time))
        bytes = SegmentFormat.headerBytes
    }

    /// Takes up a file that was not completed. What follows the last undamaged block is left out: `bytes` is where the file ends. Returns
    /// `nil` if it has no header.
    public init?(number: UInt64, reading file: borrowing RawSpan) {
        guard file.byteCount >= SegmentFormat.headerBytes, file.word(at: 0) == SegmentFormat.magic,
            file.word(at: 8) == number
        else { return nil }
        self.number = number
        first = UnixMilliseconds(bitPattern: file.word(at: 16))
        last = first
        bytes = SegmentFormat.headerBytes
        while offsets.count < Limits.History.blocksPerFile, take(file) {}
    }

    /// Takes the block at the end of what was read. Returns whether there is one.
    private mutating func take(_ file: borrowing RawSpan) -> Bool {
        let rest = file.extracting(bytes..<file.byteCount)
        guard let payload = try? SegmentFormat.payload(of: rest, file: number, at: bytes),
            let records = try? BlockReader.records(payload)
        else { return false }
        var devices: Set<UInt64> = []
        for record in records {
            for step in record.steps { note(step.time) }
            let isNew = record.device != 0 && devices.insert(record.device).inserted
            let id = record.id.isEmpty ? nil : HistoryHash.id(record.id.raw)
            index(id: id, record.kind, record.sequence, isNew ? record.device : 0)
        }
        offsets.append(UInt32(bytes))
        bytes += SegmentFormat.blockHeadBytes + payload.byteCount
        return true
    }

    /// Whether the next file must be started.
    public var isFull: Bool {
        bytes >= Limits.History.fileBytes
            || offsets.count + Limits.History.mergedSteps / 32 >= Limits.History.blocksPerFile
    }

    /// The number of its index entries so far.
    public var indexed: Int { entries.count }

    /// Whether the file has no blocks.
    public var isEmpty: Bool { offsets.isEmpty }

    // MARK: Blocks

    /// Encodes up to `Limits.History.mergedSteps` steps of a batch, and appends their blocks to what is to be written. Steps of one message
    /// are merged into one record. Returns whether steps are left; they may go into the next file.
    public mutating func append(
        _ batch: borrowing HistoryBatch, from progress: inout BatchProgress, to out: inout ByteBuffer
    ) -> Bool {
        let end = min(progress.steps + Limits.History.mergedSteps, batch.steps.count)
        let steps = batch.steps[progress.steps..<end]
        let text = batch.text.raw
        progress.text = chains.chain(steps, text: progress.text)
        progress.steps = end
        for at in 0..<steps.count where chains.isFirst(at) { append(steps, at, text, &out) }
        endBlock(&out)
        return end < batch.steps.count
    }

    private mutating func append(
        _ steps: borrowing ArraySlice<HistoryStep>, _ first: Int, _ text: borrowing RawSpan,
        _ out: inout ByteBuffer
    ) {
        let step = steps[steps.startIndex &+ first]
        note(step.time)
        var next = first
        while next >= 0 {
            if block.isEmpty { block.begin() }
            let (indexed, rest) = block.append(steps, next, chains, text)
            index(id: indexed.id, step.kind, step.sequence, indexed.isNewDevice ? step.device : 0)
            next = rest
            if block.payload.count >= Limits.History.blockBytes { endBlock(&out) }
        }
    }

    private mutating func endBlock(_ out: inout ByteBuffer) {
        guard !block.isEmpty else { return }
        let length = block.payload.count
        let sum = HistoryHash.checksum(block.payload.bytes, file: number, at: bytes)
        out.append(word: UInt64(length) | UInt64(sum) << 32)
        out.append(block.payload.bytes)
        offsets.append(UInt32(bytes))
        bytes += SegmentFormat.blockHeadBytes + length
        block.begin()
    }

    @inline(__always)
    private mutating func note(_ time: UnixMilliseconds) {
        if offsets.isEmpty, block.isEmpty { first = time }
        if time < first { first = time }
        if time > last { last = time }
    }

    // MARK: Index

    @inline(__always)
    private mutating func index(
        id: UInt64?, _ kind: HistoryStep.Kind, _ sequence: UInt64, _ newDevice: UInt64
    ) {
        if kind == .gap { return entry(HistoryHash.gap) }
        if let id { entry(id) }
        if sequence != 0 { entry(HistoryHash.sequence(sequence)) }
        if newDevice != 0 { entry(HistoryHash.device(newDevice)) }
    }

    @inline(__always)
    private mutating func entry(_ hash: UInt64) {
        entries.append(
            (hash >> SegmentFormat.blockBits) << SegmentFormat.blockBits
                | UInt64(truncatingIfNeeded: offsets.count))
    }

    /// Completes the file: appends its index and its footer to what is to be written.
    public mutating func complete(_ out: inout ByteBuffer) {
        var bits: UInt64 = 0
        while entries.count >> bits > Limits.History.entriesPerBucket { bits += 1 }
        let footer = SegmentFormat.Footer(
            first: first, last: last, indexAt: UInt64(bytes), entries: UInt32(entries.count),
            blocks: UInt32(offsets.count), bucketBits: bits)
        let buckets = sorted(bits)
        let indexAt = out.count
        for mark in buckets.marks { out.append(half: mark) }
        var start = 0
        for end in buckets.ends {
            let at = 4 * start
            let sum = HistoryHash.checksum(
                out.bytes.extracting(indexAt + at..<indexAt + 4 * end), file: number, at: bytes + at)
            out.append(word: UInt64(end) | UInt64(sum) << 32)
            start = end
        }
        for offset in offsets { out.append(half: offset) }
        footer.append(to: &out, file: number)
        bytes = footer.end
    }

    /// Returns the entries in the order of their buckets, and where each bucket ends.
    private func sorted(_ bits: UInt64) -> (marks: [UInt32], ends: [Int]) {
        var ends = [Int](repeating: 0, count: 1 << bits)
        for entry in entries { ends[SegmentFormat.bucket(entry, bits: bits)] += 1 }
        var sum = 0
        for bucket in ends.indices {
            let count = ends[bucket]
            ends[bucket] = sum
            sum += count
        }
        var marks = [UInt32](repeating: 0, count: entries.count)
        for entry in entries {
            let bucket = SegmentFormat.bucket(entry, bits: bits)
            marks[ends[bucket]] =
                SegmentFormat.mark(entry, bits: bits) | UInt32(truncatingIfNeeded: entry & 0xfff)
            ends[bucket] += 1
        }
        return (marks, ends)
    }
}

/// How much of a batch has been encoded.
public struct BatchProgress: Sendable {
    var steps = 0
    var text = 0

    /// Starts at the beginning.
    public init() {}
}

extension ByteBuffer {
    /// Appends a number as four bytes, little-endian.
    fileprivate mutating func append(half: UInt32) {
        for shift in [0, 8, 16, 24] as [UInt32] { append(byte: UInt8(truncatingIfNeeded: half >> shift)) }
    }
}
