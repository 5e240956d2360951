/// The rule by which every node decides which frames of a log count.
///
/// The mark of a higher epoch begins its term. A frame is valid if it belongs to the current term and its number is the next one.
/// Everything else is void. All nodes that read the same records skip the same frames.
public struct LogReader: Hashable, Sendable {
    /// What a record is to all readers.
    public enum Verdict: Hashable, Sendable {
        /// A mark that begins a term.
        case begins(Term)
        /// A valid frame of the current term: apply its entries.
        case applies(FrameHeader)
        /// To be skipped.
        case void(VoidReason)
        /// It was read before.
        case repeated
        /// Records before it were not read; the reader stays where it is.
        case gap
        /// Neither valid nor void: the reader stays where it is, and an operator is needed.
        case unreadable(UnreadableRecord)
    }

    /// Why a record is void.
    public enum VoidReason: String, CaseIterable, Sendable {
        /// No frame.
        case foreign
        /// The mark of an epoch that has begun, or of an earlier one.
        case lateMark
        /// A frame of another term.
        case otherTerm
        /// A frame of the current term that is not the next one: a copy, or one whose predecessor was not stored.
        case notNext
    }

    /// The current term, or `nil` before the first mark.
    public private(set) var term: Term?
    /// The number of the last valid frame of the term; 0 before the first mark.
    public private(set) var number: UInt64 = 0
    /// The position of the last record that was read.
    public private(set) var position = LogPosition.start

    /// Creates a reader before the first record.
    public init() {}

    /// Creates a reader that goes on after a snapshot of everything up to a position.
    public init(term: Term, number: UInt64, position: LogPosition) {
        self.term = term
        self.number = number
        self.position = position
    }

    /// Reads the record at a position.
    public mutating func read(_ record: LogRecord, at position: LogPosition) -> Verdict {
        guard position > self.position else { return .repeated }
        guard position == self.position.next else { return .gap }
        let verdict = judge(record)
        if case .unreadable = verdict { return verdict }
        self.position = position
        switch verdict {
        case .begins(let term):
            self.term = term
            number = 1
        case .applies: number += 1
        case .void, .repeated, .gap, .unreadable: break
        }
        return verdict
    }

    /// Goes on after a position: nothing that counts is before it.
    mutating func skip(to position: LogPosition) { self.position = max(self.position, position) }

    private func judge(_ record: LogRecord) -> Verdict {
        switch record {
        case .foreign: .void(.foreign)
        case .damaged: .unreadable(.damaged)
        case .newer(let version): .unreadable(.newer(version: version))
        case .frame(let header): judge(header)
        }
    }

    private func judge(_ header: FrameHeader) -> Verdict {
        let isNew = term.map { header.term.epoch > $0.epoch } ?? true
        if header.kind == .mark { return isNew ? .begins(header.term) : .void(.lateMark) }
        guard header.term == term else { return .void(.otherTerm) }
        return header.number == number + 1 ? .applies(header) : .void(.notNext)
    }
}

/// Why a record stops its readers. To skip it could lose what others apply.
public enum UnreadableRecord: Hashable, Sendable {
    /// Its hash is wrong.
    case damaged
    /// A newer build wrote it.
    case newer(version: UInt8)
}
