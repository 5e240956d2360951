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
    private(set) var index: SegmentIndex
    private var block = BlockWriter()
    private var chains = StepChains()

    /// Starts a file; `header` is what it begins with. Its index takes over the storage of another one.
    public init(
        number: UInt64, at time: UnixMilliseconds, reusing storage: consuming SegmentIndex = SegmentIndex(),
        header out: inout ByteBuffer
    ) {
        self.number = number
        index = storage
        index.removeAll()
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
        index = SegmentIndex()
        first = UnixMilliseconds(bitPattern: file.word(at: 16))
        last = first
        bytes = SegmentFormat.headerBytes
        while index.offsets.count < Limits.History.blocksPerFile, take(file) {}
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
            index.add(id: id, record.kind, record.sequence, newDevice: isNew ? record.device : 0)
        }
        index.endBlock(at: bytes)
        bytes += SegmentFormat.blockHeadBytes + payload.byteCount
        return true
    }

    /// Whether the next file must be started.
    public var isFull: Bool {
        bytes >= Limits.History.fileBytes
            || index.offsets.count + Limits.History.mergedSteps / 32 >= Limits.History.blocksPerFile
    }

    /// Whether the file has no blocks.
    public var isEmpty: Bool { index.offsets.isEmpty }

    /// Encodes up to `Limits.History.mergedSteps` steps of a batch, and appends their blocks to what is to be written. Steps of one message
    /// are merged into one record. Returns whether steps are left; they may go into the next file.
    public mutating func append(
        _ batch: borrowing HistoryBatch, from progress: inout BatchProgress, to out: inout ByteBuffer
    ) -> Bool {
        let end = min(progress.steps + Limits.History.mergedSteps, batch.steps.count)
        let all = batch.steps.span
        let steps = all.extracting(progress.steps..<end)
        let text = batch.text.raw
        progress.text = chains.chain(steps, text: progress.text)
        progress.steps = end
        for at in steps.indices where chains.isFirst(at) { append(steps, at, text, &out) }
        endBlock(&out)
        return end < all.count
    }

    private mutating func append(
        _ steps: borrowing Span<HistoryStep>, _ first: Int, _ text: borrowing RawSpan,
        _ out: inout ByteBuffer
    ) {
        note(steps[first].time)
        let (kind, sequence, device) = (steps[first].kind, steps[first].sequence, steps[first].device)
        var next = first
        while next >= 0 {
            if block.isEmpty { block.begin() }
            let (indexed, rest) = block.append(steps, next, chains, text)
            index.add(id: indexed.id, kind, sequence, newDevice: indexed.isNewDevice ? device : 0)
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
        index.endBlock(at: bytes)
        bytes += SegmentFormat.blockHeadBytes + length
        block.begin()
    }

    @inline(__always)
    private mutating func note(_ time: UnixMilliseconds) {
        if isEmpty, block.isEmpty { first = time }
        if time < first { first = time }
        if time > last { last = time }
    }

    /// Completes the file: appends its index and its footer to what is to be written. Returns the index, for the next file.
    @discardableResult
    public mutating func complete(_ out: inout ByteBuffer) -> SegmentIndex {
        let bits = index.complete(&out, file: number, at: bytes)
        let footer = SegmentFormat.Footer(
            first: first, last: last, indexAt: UInt64(bytes), entries: UInt32(index.entries.count),
            blocks: UInt32(index.offsets.count), bucketBits: bits)
        footer.append(to: &out, file: number)
        bytes = footer.end
        var ended = SegmentIndex()
        swap(&ended, &index)
        return ended
    }
}

/// How much of a batch has been encoded.
public struct BatchProgress: Sendable {
    var steps = 0
    var text = 0

    /// Starts at the beginning.
    public init() {}
}
