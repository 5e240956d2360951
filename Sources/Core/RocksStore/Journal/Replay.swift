import Basics
import Delivery
import Store

/// Applies the commits of the journal to the engine, atomically, and flushes them to the disk.
struct Replay: ~Copyable {
    private let engine: Engine
    private let batch: EngineBatch
    /// Messages that were put and not removed: the file and the range of the record in it.
    private var live: [MessageKey: (segment: Int, record: Range<Int>)] = [:]
    /// The last tallies in the current file.
    private var tallies: [Int: Range<Int>] = [:]
    private var highest: UInt64

    /// Creates a replay. `highest` is the highest sequence in the engine.
    init(_ engine: Engine, highest: UInt64) {
        self.engine = engine
        self.highest = highest
        batch = EngineBatch(engine)
    }

    /// Applies the commits of a journal. Returns the highest sequence in the engine afterwards.
    mutating func run(_ scan: JournalScan) throws(StoreError) -> UInt64 {
        let before = highest
        for (number, segment) in scan.segments.enumerated() {
            try demand(
                zip(segment.frames, segment.frames.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound }
                    && segment.frames.last?.upperBound ?? 0 <= segment.bytes.count,
                "the frames of a journal file overlap")
            tallies = [:]
            do throws(RecordFault) {
                for frame in segment.frames { try read(frame, number, segment.bytes) }
            } catch { throw StoreError(.corrupt, "journal: \(error.rawValue)") }
            for (partition, record) in tallies {
                let key = MetaKey.tally(partition)
                batch.put(.meta, key.raw, segment.bytes.raw.extracting(record))
            }
        }
        for (messageKey, at) in live { try put(messageKey, scan.segments[at.segment].bytes, at.record) }
        try demand(highest >= before, "the highest sequence decreases")
        engine.recordApplied(scan.commit, highest: highest, in: batch)
        let (format, now) = (MetaKey.format, [UInt8]("\(MetaKey.formatNow)".utf8))
        batch.put(.meta, format.raw, now.raw)
        let (partitions, count) = (MetaKey.partitions, [UInt8]("\(engine.partitions)".utf8))
        batch.put(.meta, partitions.raw, count.raw)
        try engine.write(batch)
        try engine.flush(waits: true)
        return highest
    }

    private mutating func read(
        _ frame: Range<Int>, _ segment: Int, _ file: [UInt8]
    ) throws(RecordFault) {
        var entries = JournalReader(frame)
        while let entry = try entries.next(in: file.raw) { add(entry, segment, file.raw) }
    }

    private mutating func add(_ entry: JournalEntry, _ segment: Int, _ file: borrowing RawSpan) {
        switch entry {
        case .put(let messageKey, let record): live[messageKey] = (segment, record)
        case .remove(let messageKey, let end):
            if live.removeValue(forKey: messageKey) == nil { batch.remove(messageKey, end: end) }
        case .seen(let key, let time): batch.put(.seen, file.extracting(key), file.extracting(time))
        case .row(let family, let key, let value):
            if let value {
                batch.put(family, file.extracting(key), file.extracting(value))
            } else {
                batch.delete(family, file.extracting(key))
            }
        case .tally(let partition, let record): tallies[partition] = record
        }
    }

    private mutating func put(_ messageKey: MessageKey, _ file: [UInt8], _ range: Range<Int>)
        throws(StoreError)
    {
        let record = file.raw.extracting(range)
        do throws(RecordFault) {
            batch.put(messageKey, record, end: try messageKey.header(record).expiresAt)
        } catch { throw StoreError(.corrupt, "journal: \(error.rawValue)") }
        highest = max(highest, messageKey.sequence)
    }
}
