import Basics
import Delivery
import Store

/// Brings what the journal has into the engine, all of it or nothing, and onto the disk.
struct Replay: ~Copyable {
    private let engine: Engine
    private let batch: EngineBatch
    /// Messages that were put and not removed: the file and the place of their record in it.
    private var live: [Place: (segment: Int, record: Range<Int>)] = [:]
    /// What the partitions counted last in the file that is read.
    private var tallies: [Int: Range<Int>] = [:]
    private var highest: UInt64

    /// The engine knows how high the sequences are that it has.
    init(_ engine: Engine, highest: UInt64) {
        self.engine = engine
        self.highest = highest
        batch = EngineBatch(engine)
    }

    /// Does again what the commits of a journal did; the highest sequence that the engine then has.
    mutating func run(_ scan: JournalScan) throws(StoreError) -> UInt64 {
        let before = highest
        for (number, segment) in scan.segments.enumerated() {
            try demand(
                zip(segment.frames, segment.frames.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound }
                    && segment.frames.last?.upperBound ?? 0 <= segment.bytes.count,
                "the commits of a file of the journal overlap")
            tallies = [:]
            do throws(RecordFault) {
                for frame in segment.frames { try read(frame, number, segment.bytes) }
            } catch { throw StoreError(.corrupt, "journal: \(error.rawValue)") }
            for (partition, record) in tallies {
                let key = MetaKey.tally(partition)
                batch.put(.meta, key.raw, segment.bytes.raw.extracting(record))
            }
        }
        for (place, at) in live { try put(place, scan.segments[at.segment].bytes, at.record) }
        try demand(highest >= before, "the highest sequence goes back")
        engine.note(settled: scan.commit, highest: highest, in: batch)
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
        case .put(let place, let record): live[place] = (segment, record)
        case .remove(let place, let end):
            if live.removeValue(forKey: place) == nil { batch.remove(place, end: end) }
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

    private mutating func put(_ place: Place, _ file: [UInt8], _ range: Range<Int>) throws(StoreError) {
        let record = file.raw.extracting(range)
        do throws(RecordFault) {
            batch.put(place, record, end: try place.header(record).expiresAt)
        } catch { throw StoreError(.corrupt, "journal: \(error.rawValue)") }
        highest = max(highest, place.sequence)
    }
}
