public import Basics

/// The header of a frame: 64 bytes before the entries.
///
/// | bytes | content |
/// |---|---|
/// | 0–7 | tag of all that follows (`LogKey`) |
/// | 8–15 | magic, version and kind |
/// | 16–23 | epoch |
/// | 24–31 | number within the epoch |
/// | 32–39 | claim |
/// | 40–47 | wall clock of the owner in milliseconds since 1970, for people |
/// | 48–55 | `confirmed` |
/// | 56–63 | `previous` |
///
/// All numbers are little-endian.
public struct FrameHeader: Hashable, Sendable {
    /// What a frame is.
    public enum Kind: UInt8, Sendable {
        /// The first frame of a term; it has no entries.
        case mark = 1
        /// The entries of a commit.
        case commit = 2
    }

    /// Length of the header in bytes.
    public static let length = 64
    /// The newest version that this build reads and writes. Which one is written, the membership decides: one that all nodes read.
    public static let newestVersion: UInt8 = 1
    /// "CCSF" and two zero bytes, above version and kind.
    private static let magic: UInt64 = 0x0000_4653_4343_0000

    /// The version of the entries.
    public let version: UInt8
    /// The term of its owner.
    public let term: Term
    /// The number within the term; the mark has 1.
    public let number: UInt64
    /// The owner's wall clock when it made the frame.
    public let time: UnixMilliseconds
    /// The number of the last frame of the term that was confirmed when this one was made; 0 for a mark. A log that has this frame and not
    /// that one before it has lost it.
    public let confirmed: UInt64
    /// The number of the last valid frame of the term before. For a mark, of those that its node had read: there may be more.
    public let previous: UInt64

    /// Creates a header.
    public init(
        version: UInt8 = newestVersion, term: Term, number: UInt64, time: UnixMilliseconds,
        confirmed: UInt64, previous: UInt64
    ) {
        self.version = version
        self.term = term
        self.number = number
        self.time = time
        self.confirmed = confirmed
        self.previous = previous
    }

    /// The name of the frame.
    public var name: FrameName { FrameName(claim: term.claim, number: number) }

    /// What the frame is.
    public var kind: Kind { number == 1 ? .mark : .commit }

    /// Returns a frame: the header, and then the entries.
    public func frame(_ entries: borrowing RawSpan, in log: LogKey) -> [UInt8] {
        var buffer = ByteBuffer()
        buffer.append(word: 0)
        buffer.append(word: Self.magic | UInt64(version) << 8 | UInt64(kind.rawValue))
        buffer.append(word: term.epoch.number)
        buffer.append(word: number)
        buffer.append(word: term.claim.number)
        buffer.append(word: UInt64(bitPattern: time))
        buffer.append(word: confirmed)
        buffer.append(word: previous)
        buffer.append(entries)
        buffer.set(word: log.tag(buffer.bytes.extracting(8..<buffer.count)), at: 0)
        return buffer.copied()
    }

    /// Reads a record of a log; frames of versions up to `newest` can be read.
    public static func read(
        _ record: borrowing RawSpan, in log: LogKey, upTo newest: UInt8 = newestVersion
    ) -> LogRecord {
        guard record.byteCount >= length, record.word(at: 8) & ~0xffff == magic else { return .foreign }
        // One comparison of two words takes the same time for all tags.
        guard record.word(at: 0) == log.tag(record.extracting(8..<record.byteCount)) else { return .foreign }
        let version = record.byte(at: 9)
        guard version > 0, version <= newest else { return .newer(version: version) }
        let header = FrameHeader(
            version: version, term: Term(Epoch(record.word(at: 16)), Claim(record.word(at: 32))),
            number: record.word(at: 24), time: Int64(bitPattern: record.word(at: 40)),
            confirmed: record.word(at: 48), previous: record.word(at: 56))
        let isWhole = header.kind == .commit || record.byteCount == length
        let epochs = Epoch(1)...Epoch.highest
        // Only a mark is made before anything of its term is confirmed.
        let isInOrder = header.confirmed < header.number && (header.confirmed == 0) == (header.kind == .mark)
        guard header.number > 0, epochs.contains(header.term.epoch), isWhole, isInOrder,
            header.kind.rawValue == record.byte(at: 8)
        else { return .damaged }
        return .frame(header)
    }
}

/// A record of a log, as it was read.
public enum LogRecord: Hashable, Sendable {
    /// A frame of this log.
    case frame(FrameHeader)
    /// No frame of this log: a stranger wrote it, it belongs to another log, or a server of the log has damaged it. A damaged frame is
    /// noticed at the next one, which has another number than the one that is expected then.
    case foreign
    /// A frame that a node of this cluster has made, and that none should make.
    case damaged
    /// A frame of a version that this build cannot read.
    case newer(version: UInt8)
}
