public import Basics

/// The rule by which a node takes a partition, writes to its log, and confirms what it has written.
///
/// One value serves one claim: it ends when another node takes the partition (`State.lost`). Its `reader` then goes on as that of a
/// follower. The entries of a frame that is not confirmed when the claim ends may still be valid: the reader learns that.
public struct LogOwner: Sendable {
    /// The stages of a claim.
    public enum State: Hashable, Sendable {
        /// The mark is not known to be valid.
        case claiming
        /// The partition is owned.
        case owning
        /// Another node's mark began a term.
        case lost(to: Term)
        /// The log has lost records that this node has not read.
        case missing
        /// The log has lost records that this node has read.
        case shortened
        /// An operator must act.
        case halted(LogHalt)

        /// Whether the claim goes on.
        public var isActive: Bool {
            switch self {
            case .claiming, .owning: true
            case .lost, .missing, .shortened, .halted: false
            }
        }
    }

    /// A frame that may or may not be in the log.
    struct UnconfirmedFrame: Sendable {
        let header: FrameHeader
        let bytes: [UInt8]
        /// The last position that was taken when the frame was appended first: no copy of it can have this or an earlier one.
        let after: LogPosition
        /// When it was first appended: a confirmation proves that the partition was owned after that.
        let requested: Instant
        /// When it was last appended.
        var appended: Instant
        /// The position in the last answer for it.
        var stored: LogPosition?
    }

    /// A valid record that was read or confirmed.
    struct ValidRecord: Hashable, Sendable {
        let header: FrameHeader
        let position: LogPosition
    }

    /// What an owner in doubt asks the log for.
    enum Question: Hashable, Sendable {
        /// The last valid record again: the log may have lost it, and given its position to another.
        case last(ValidRecord)
        /// The record after what was read.
        case next
    }

    /// What the owner does about the frames that are not confirmed.
    enum Mode: Hashable, Sendable {
        /// It waits for the answers to them.
        case steady
        /// In doubt: it has asked the log.
        case reading(Question, since: Instant)
        /// In doubt: it will ask at this time.
        case waiting(Question, until: Instant)
        /// In doubt, without a connection to the log.
        case disconnected
    }

    /// The term that this node claims or owns.
    public let term: Term
    /// The stage of the claim.
    public internal(set) var state = State.claiming
    /// Where this node is in the log: what is confirmed or known to be void has been read.
    public internal(set) var reader: LogReader
    /// Where the own mark is. `nil` while this node does not own the partition.
    public internal(set) var mark: LogPosition?
    /// How many void records were read.
    public internal(set) var voids = 0
    let log: LogKey
    /// The version of the frames that are made from now on.
    public var version: UInt8
    var mode = Mode.steady
    /// What an owner in doubt verifies first.
    var last: ValidRecord?
    var frames: [UnconfirmedFrame] = []
    /// How often the unconfirmed frames were appended again since the last one was confirmed.
    var repetitions: Int64 = 0
    /// Since when every answer is that the log ends before what was stored.
    var shortSince: Instant?
    /// When the log was last read or confirmed while no frame was unconfirmed.
    var quietSince: Instant
    /// Whether it proves again and again that it owns the partition while it has nothing else to write. Otherwise it only reads, to learn of
    /// its successor.
    public var renews = true
    /// The latest request of a frame that is confirmed: at that time no other node had taken the partition. `nil` before the mark is valid.
    public internal(set) var provedAt: Instant?
    /// Since when the log has confirmed nothing although frames are due, or else not answered. `nil` if nothing is due.
    public internal(set) var stalledSince: Instant?

    /// Claims a partition in the epoch after the reader's, and appends the mark.
    public init(
        claim: Claim, after reader: LogReader, in log: LogKey, version: UInt8 = FrameHeader.newestVersion,
        now: Now, effects: inout [OwnerEffect]
    ) {
        term = Term(reader.term?.epoch.next ?? Epoch(1), claim)
        self.reader = reader
        self.log = log
        self.version = version
        quietSince = now.monotonic
        let mark = FrameHeader(
            version: version, term: term, number: 1, time: now.wall, confirmed: 0, previous: reader.number)
        append(mark, [UInt8]().raw, now, &effects)
    }

    /// Whether a frame can be made: the partition is owned, there is no doubt, and few enough frames are unconfirmed.
    public var canMake: Bool {
        state == .owning && mode == .steady && frames.count < Limits.ClusterLog.unconfirmedFrames
    }

    /// The frames that are not confirmed.
    public var unconfirmed: Int { frames.count }

    /// The header and the bytes of one of them.
    public func unconfirmedFrame(_ name: FrameName) -> (FrameHeader, [UInt8])? {
        index(name).map { (frames[$0].header, frames[$0].bytes) }
    }

    /// Their headers and bytes, in order.
    public var unconfirmedFrames: [(FrameHeader, [UInt8])] { frames.map { ($0.header, $0.bytes) } }

    /// Makes a frame of the entries of a commit and appends it. Returns its name. Requires `canMake`.
    public mutating func make(
        _ entries: borrowing RawSpan, now: Now, effects: inout [OwnerEffect]
    ) -> FrameName {
        precondition(canMake, "a frame is made without ownership or room")
        precondition(
            FrameHeader.length + entries.byteCount <= Limits.ClusterLog.frameBytes, "a frame is too long")
        let number = (frames.last?.header.number ?? reader.number) + 1
        let header = FrameHeader(
            version: version, term: term, number: number, time: now.wall, confirmed: reader.number,
            previous: reader.previous ?? 0)
        append(header, entries, now, &effects)
        return header.name
    }

    private mutating func append(
        _ header: FrameHeader, _ entries: borrowing RawSpan, _ now: Now, _ effects: inout [OwnerEffect]
    ) {
        frames.append(
            UnconfirmedFrame(
                header: header, bytes: header.frame(entries, in: log), after: reader.position,
                requested: now.monotonic, appended: now.monotonic))
        stalledSince = stalledSince ?? now.monotonic
        effects.append(.append(header.name))
    }

    /// Returns an unconfirmed frame, the same bytes each time. Returns `nil` if it is confirmed.
    public func frame(_ name: FrameName) -> [UInt8]? { index(name).map { frames[$0].bytes } }

    func index(_ name: FrameName) -> Int? {
        // What an earlier claim of this node has appended is none of its frames.
        guard name.claim == term.claim, let first = frames.first?.header.number, name.number >= first,
            name.number - first < UInt64(frames.count)
        else { return nil }
        return Int(name.number - first)
    }

    /// Handles an event.
    public mutating func handle(_ event: OwnerEvent, now: Now, effects: inout [OwnerEffect]) {
        guard state.isActive else { return }
        switch event {
        case .stored(let name, let position): stored(name, position, now, &effects)
        case .refused(let name): if index(name) != nil { refused(now, &effects) }
        case .record(let record, let position): read(record, position, now, &effects)
        case .end(let position): ended(position, now, &effects)
        case .removed(let first): removed(first, now, &effects)
        case .readFailed: readAgain(now)
        case .disconnected: (mode, stalledSince) = (.disconnected, nil)
        case .connected: if mode == .disconnected { verify(now, &effects) }
        case .tick: tick(now, &effects)
        }
        if !isConsistent { halt(.inconsistent(at: reader.position), &effects) }
    }

    /// When `tick` is due.
    public var nextTick: Instant {
        guard state.isActive else { return .distantFuture }
        switch mode {
        case .steady:
            guard let first = frames.first else {
                // The successor takes the partition soon.
                guard renews else {
                    return quietSince.advanced(milliseconds: Limits.ClusterLog.rereadMilliseconds)
                }
                // The owners of a node's other partitions renew at the same moments, and share its wake-ups.
                return (provedAt ?? .distantPast).advanced(milliseconds: Limits.ClusterLog.renewMilliseconds)
                    .floored(toMilliseconds: Limits.ClusterLog.renewalGridMilliseconds)
            }
            return first.appended.advanced(milliseconds: patience)
        case .reading(_, let since): return since.advanced(milliseconds: Limits.ClusterLog.answerMilliseconds)
        case .waiting(_, let until): return until
        case .disconnected: return .distantFuture
        }
    }

    private mutating func tick(_ now: Now, _ effects: inout [OwnerEffect]) {
        guard nextTick <= now.monotonic else { return }
        switch mode {
        // A frame without entries proves that this node owns the partition, or finds out that another one does.
        case .steady where frames.isEmpty && renews && state == .owning:
            _ = make([UInt8]().raw, now: now, effects: &effects)
        case .steady, .disconnected: verify(now, &effects)
        case .reading(let question, _), .waiting(let question, _): ask(question, now, &effects)
        }
    }

    /// Milliseconds that the answer to a frame may take. They double with each repetition, which fills the log.
    private var patience: Int64 {
        min(
            Limits.ClusterLog.answerMilliseconds << min(repetitions, 8),
            Limits.ClusterLog.longestAnswerMilliseconds)
    }

    /// Whether the frames follow what was read, and the partition is owned exactly while the own mark is the last one.
    private var isConsistent: Bool {
        guard state.isActive else { return true }
        let first = state == .claiming ? 1 : reader.number + 1
        let last = first + UInt64(frames.count) - 1
        let areInOrder =
            frames.isEmpty || frames.first?.header.number == first && frames.last?.header.number == last
        return areInOrder && (state == .owning) == (reader.term == term)
    }
}
