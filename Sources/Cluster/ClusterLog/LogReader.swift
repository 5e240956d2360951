/// The rule by which every node decides which frames of a log count.
///
/// The mark of a higher epoch begins its term. A frame is valid if it belongs to the current term and its number is the next one.
/// Everything else is void. All nodes that read the same records skip the same frames.
///
/// A log that has lost records is noticed: each frame names what its owner had confirmed before, and what the term before ended with.
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
        /// The log has lost records that counted before this one: it can never be applied by this reader, which stays where it is. Another
        /// node may have them.
        case missing
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
    /// The number of the last valid frame of the term before. `nil` if this reader has not read the mark.
    private(set) var previous: UInt64?
    /// The last frame of which other frames say that it was confirmed before them.
    private var confirmed = FramePlace.start

    /// Creates a reader before the first record.
    public init() {}

    /// Creates a reader that goes on after a snapshot of everything up to a position.
    public init(term: Term, number: UInt64, position: LogPosition) {
        self.term = term
        self.number = number
        self.position = position
    }

    var progress: FramePlace { FramePlace(epoch: term?.epoch ?? Epoch(0), number: number) }

    /// Whether frames were confirmed that the log does not have where this reader has read. They may come again: a node that has them
    /// appends them.
    public var isMissingRecords: Bool { confirmed > progress }

    /// Reads the record at a position.
    public mutating func read(_ record: LogRecord, at position: LogPosition) -> Verdict {
        guard position > self.position else { return .repeated }
        guard position == self.position.next else { return .gap }
        let verdict = judge(record)
        switch verdict {
        case .missing, .unreadable, .repeated, .gap: return verdict
        case .begins(let term):
            previous = number
            self.term = term
            number = 1
        case .applies: number += 1
        case .void: if case .frame(let header) = record { note(header) }
        }
        self.position = position
        return verdict
    }

    /// A void frame may prove that others counted before it.
    private mutating func note(_ header: FrameHeader) {
        confirmed = max(confirmed, FramePlace(epoch: header.term.epoch, number: header.confirmed))
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
        header.kind == .mark ? judge(mark: header) : judge(commit: header)
    }

    private func judge(mark: FrameHeader) -> Verdict {
        let epoch = term?.epoch ?? Epoch(0)
        guard mark.term.epoch > epoch else { return .void(.lateMark) }
        // Its node had read more than this reader, or more was confirmed, which the mark voids for good.
        let isVoiding = isMissingRecords && confirmed.epoch < mark.term.epoch
        let isNext = mark.term.epoch == epoch.next && mark.previous <= number && !isVoiding
        return isNext ? .begins(mark.term) : .missing
    }

    private func judge(commit: FrameHeader) -> Verdict {
        guard let term, commit.term == term else {
            // The marks of both counted for their owners.
            guard commit.term.epoch != term?.epoch else { return .unreadable(.rival) }
            // The owner before has gone on, where the mark of this term was.
            let isVoided =
                commit.term.epoch.next == term?.epoch && previous.map { commit.confirmed > $0 } ?? false
            return isVoided ? .missing : .void(.otherTerm)
        }
        guard commit.number == number + 1 else { return .void(.notNext) }
        // Its owner has read another end of the term before.
        guard previous == nil || previous == commit.previous else { return .missing }
        return .applies(commit)
    }
}

/// Why a record stops its readers. To skip it could lose what others apply.
public enum UnreadableRecord: Hashable, Sendable {
    /// A node of this cluster has made it, and its content is impossible.
    case damaged
    /// A newer build wrote it.
    case newer(version: UInt8)
    /// Another node has owned the partition in the same epoch: the log has lost the mark of one of them.
    case rival
}
