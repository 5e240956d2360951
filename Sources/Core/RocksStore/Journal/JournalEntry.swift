import Basics
import Store

/// One effect of a commit, in the form in which the journal has it. A replay needs no further lookups.
///
/// Numbers have eight bytes, lowest byte first. The raw values, and those of `Family`, are part of the format.
enum JournalEntry {
    /// A message was put (1, 2): owner, sequence, length, record.
    case put(MessageKey, record: Range<Int>)
    /// A stored message was removed (3, 4): owner, sequence, expiry time.
    case remove(MessageKey, end: Int64)
    /// An upstream message whose repeats are suppressed was put (5): key of 24 bytes, time.
    case seen(key: Range<Int>, time: Range<Int>)
    /// A row of the engine was put (6) or removed (7): column family, length and key, length and value.
    case row(Family, key: Range<Int>, value: Range<Int>?)
    /// The new tally of a partition (8): partition, length, record.
    case tally(Int, Range<Int>)

    fileprivate enum Kind: UInt8 {
        case putMessage = 1
        case putUpstream = 2
        case removeMessage = 3
        case removeUpstream = 4
        case seen = 5
        case putRow = 6
        case removeRow = 7
        case tally = 8
    }

    /// Length of the key of a row in `seen`, and of its value.
    static let seenKey = 24
    static let seenTime = 8
}

/// Collects the entries of one commit. Its storage is reused for the next one.
struct JournalWriter: ~Copyable {
    /// The frame. `seal` fills in its header.
    private(set) var frame = ByteBuffer()

    /// Starts a frame.
    mutating func begin() {
        // One commit in a thousand is large. Its storage is not kept.
        frame.removeAll(keepingCapacity: frame.count <= Limits.Journal.segmentBytes)
        for _ in 0..<JournalFrame.head / 8 { frame.append(word: 0) }
    }

    /// Whether the frame has no entries.
    var isEmpty: Bool { frame.count <= JournalFrame.head }

    /// Adds a message. Returns the range of its record in the frame.
    @discardableResult mutating func put(_ messageKey: MessageKey, record: borrowing ByteBuffer) -> Range<Int>
    {
        frame.append(
            byte: (messageKey.kind == .upstream ? JournalEntry.Kind.putUpstream : .putMessage).rawValue)
        frame.append(word: messageKey.owner)
        frame.append(word: messageKey.sequence)
        append(sized: record.bytes)
        return frame.count - record.count..<frame.count
    }

    mutating func remove(_ messageKey: MessageKey, end: Int64) {
        frame.append(
            byte: (messageKey.kind == .upstream ? JournalEntry.Kind.removeUpstream : .removeMessage).rawValue)
        frame.append(word: messageKey.owner)
        frame.append(word: messageKey.sequence)
        frame.append(word: UInt64(bitPattern: end))
    }

    mutating func seen(_ key: borrowing RawSpan, time: borrowing RawSpan) {
        frame.append(byte: JournalEntry.Kind.seen.rawValue)
        frame.append(key)
        frame.append(time)
    }

    mutating func put(_ family: Family, _ key: borrowing RawSpan, _ value: borrowing RawSpan) {
        frame.append(byte: JournalEntry.Kind.putRow.rawValue)
        frame.append(byte: UInt8(family.rawValue))
        append(sized: key)
        append(sized: value)
    }

    mutating func put(_ family: Family, _ key: borrowing RawSpan, record: borrowing ByteBuffer) {
        put(family, key, record.bytes)
    }

    mutating func remove(_ family: Family, _ key: borrowing RawSpan) {
        frame.append(byte: JournalEntry.Kind.removeRow.rawValue)
        frame.append(byte: UInt8(family.rawValue))
        append(sized: key)
    }

    mutating func tally(_ partition: Int, _ record: borrowing ByteBuffer) {
        frame.append(byte: JournalEntry.Kind.tally.rawValue)
        frame.append(word: UInt64(partition))
        append(sized: record.bytes)
    }

    /// Fills in the header of the frame.
    mutating func seal(commit: UInt64, segment: UInt64) {
        JournalFrame.seal(&frame, commit: commit, segment: segment)
    }

    private mutating func append(sized bytes: borrowing RawSpan) {
        frame.append(word: UInt64(bytes.byteCount))
        frame.append(bytes)
    }
}

/// Reads the entries of a frame in order.
struct JournalReader {
    private var at: Int
    private let end: Int

    /// Creates a reader for the entries in a range of a file.
    init(_ entries: Range<Int>) { (at, end) = (entries.lowerBound, entries.upperBound) }

    /// Returns the next entry, or `nil` at the end. Throws if it is invalid: since the hash matches, a newer version wrote it.
    mutating func next(in file: borrowing RawSpan) throws(RecordFault) -> JournalEntry? {
        guard at < end else { return nil }
        guard let kind = JournalEntry.Kind(rawValue: file.byte(at: at)) else { throw .version }
        at += 1
        switch kind {
        case .putMessage, .putUpstream:
            let messageKey = try messageKey(kind == .putUpstream ? .upstream : .message, file)
            return .put(messageKey, record: try sized(file))
        case .removeMessage, .removeUpstream:
            let messageKey = try messageKey(kind == .removeUpstream ? .upstream : .message, file)
            return .remove(messageKey, end: Int64(bitPattern: try word(file)))
        case .seen:
            let key = try advance(by: JournalEntry.seenKey)
            return .seen(key: key, time: try advance(by: JournalEntry.seenTime))
        case .putRow, .removeRow:
            let byte = try advance(by: 1)
            guard let family = Family(rawValue: Int(file.byte(at: byte.lowerBound))) else { throw .version }
            let key = try sized(file)
            return .row(family, key: key, value: kind == .putRow ? try sized(file) : nil)
        case .tally:
            guard let partition = Int(exactly: try word(file)), partition < Limits.Partition.maximumCount
            else {
                throw .value
            }
            return .tally(partition, try sized(file))
        }
    }

    private mutating func messageKey(_ kind: ExpiryKey.Kind, _ file: borrowing RawSpan) throws(RecordFault)
        -> MessageKey
    {
        let owner = try word(file)
        return MessageKey(kind: kind, owner: owner, sequence: try word(file))
    }

    private mutating func word(_ file: borrowing RawSpan) throws(RecordFault) -> UInt64 {
        file.word(at: try advance(by: 8).lowerBound)
    }

    private mutating func sized(_ file: borrowing RawSpan) throws(RecordFault) -> Range<Int> {
        guard let count = Int(exactly: try word(file)) else { throw .value }
        return try advance(by: count)
    }

    private mutating func advance(by count: Int) throws(RecordFault) -> Range<Int> {
        guard count <= end - at else { throw .length }
        defer { at += count }
        return at..<at + count
    }
}
