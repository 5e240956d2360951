public import Basics

/// The rule by which a node appends again what a log has lost.
///
/// It has read records that the log does not have any more: their positions are free, and will be given to others. It appends the same
/// records in the same order, so that those who have not read them do so now; for all others they are void. No record may come to an
/// earlier position than it had, since a node reads no position twice: void records fill the places of those that do not count. Something
/// new may be written only behind every position that any node has read.
///
/// A repair that was not necessary does no harm: everything that it appends is void.
public struct LogRepair: Sendable {
    /// The stages of a repair.
    public enum State: Hashable, Sendable {
        case underWay
        /// The log has everything again, and ends after every position that any node has read.
        case done
        /// The log has lost more than this node keeps: another node may keep it.
        case unable
        /// Another node has begun a term before this position, without all that this node has read: its log goes on without that.
        case overruled(at: LogPosition)
        /// An operator must act.
        case failed(LogHalt)
    }

    private enum Mode: Hashable {
        case reading(since: Instant)
        case waiting(until: Instant)
        case disconnected
    }

    /// The stage.
    public private(set) var state = State.underWay
    /// How many records were appended.
    public private(set) var appended = 0
    private let log: LogKey
    private let kept: KeptRecords
    /// The records that must be there, at their positions or later: what is kept, and then what this node has appended as the owner and is
    /// not confirmed.
    private let records: [KeptRecord]
    /// How far this node has read the log, and a reader that begins before what is kept.
    private let own: LogPosition
    private var behind: LogReader
    /// The highest position that any node has reported, and how long the log is to be: reports are some moments old.
    private let reported: LogPosition
    private let highest: LogPosition
    private var mode = Mode.disconnected
    /// How often in a row the log ended before what is kept, and how often records were appended since one was read.
    private var shortEnds = 0
    private var repetitions: Int64 = 0

    /// Begins with reading what the log has. `unconfirmed` are frames that this node has appended as the owner.
    public init(
        _ kept: KeptRecords, unconfirmed: [(FrameHeader, [UInt8])], read: LogPosition, highest: LogPosition,
        in log: LogKey, isConnected: Bool, now: Now, effects: inout [RepairEffect]
    ) {
        self.log = log
        self.kept = kept
        own = read
        behind = kept.before
        reported = max(highest, read)
        let highest = LogPosition(reported.number + Limits.ClusterLog.repairSlack)
        self.highest = highest
        records = kept.records + unconfirmed.map { KeptRecord($0.0, $0.1, at: highest.next) }
        if isConnected { ask(now, &effects) }
    }

    /// Handles an event.
    public mutating func handle(_ event: RepairEvent, now: Now, effects: inout [RepairEffect]) {
        guard state == .underWay else { return }
        switch event {
        case .record(let record, let position): read(record, position, now, &effects)
        case .end(let position): ended(position, now, &effects)
        case .removed(let first): removed(first, now, &effects)
        case .readFailed: wait(Limits.ClusterLog.rereadMilliseconds, now)
        case .disconnected: mode = .disconnected
        case .connected: if mode == .disconnected { ask(now, &effects) }
        case .tick: if nextTick <= now.monotonic { ask(now, &effects) }
        }
    }

    /// When `tick` is due.
    public var nextTick: Instant {
        guard state == .underWay else { return .distantFuture }
        return switch mode {
        case .reading(let since): since.advanced(milliseconds: Limits.ClusterLog.answerMilliseconds)
        case .waiting(let until): until
        case .disconnected: .distantFuture
        }
    }

    private mutating func ask(_ now: Now, _ effects: inout [RepairEffect]) {
        mode = .reading(since: now.monotonic)
        effects.append(.read(behind.position.next))
    }

    private mutating func wait(_ milliseconds: Int64, _ now: Now) {
        guard mode != .disconnected else { return }
        mode = .waiting(until: now.monotonic.advanced(milliseconds: milliseconds))
    }

    // MARK: Reading

    private mutating func read(
        _ record: LogRecord, _ position: LogPosition, _ now: Now, _ effects: inout [RepairEffect]
    ) {
        guard position == behind.position.next else { return }
        let isWhole = !kept.records.contains { $0.isAfter(behind) }
        shortEnds = 0
        repetitions = 0
        let verdict = readAgain(record, position)
        switch verdict {
        case .begins(let term):
            let isKnown = records.contains { $0.header.term == term }
            guard isKnown || isWhole && position > reported else {
                return state = .overruled(at: position)
            }
            // Another node owns the partition, after everything: the rest is its concern.
            if !isKnown { return state = .done }
        case .missing: return state = .overruled(at: position)
        case .unreadable(let problem): return fail(.unreadable(problem, at: position))
        case .repeated, .gap: return fail(.inconsistent(at: position))
        case .applies, .void: break
        }
        if mode != .disconnected { ask(now, &effects) }
    }

    /// Reads a record, which may be one of those that must be there.
    private mutating func readAgain(_ record: LogRecord, _ position: LogPosition) -> LogReader.Verdict {
        let before = behind
        let verdict = behind.read(record, at: position)
        guard case .frame(let header) = record,
            let known = records.first(where: { $0.isAfter(before) && $0.header == header })
        else { return verdict }
        switch verdict {
        case .begins, .applies, .missing: break
        case .void, .repeated, .gap, .unreadable: return verdict
        }
        let isNext = records.first { $0.isAfter(before) }?.header == header
        if isNext, known.position > position {
            // Who has read further than this would not see it.
            behind = before
            behind.skip(to: position)
        } else if verdict == .missing {
            // It came before what was lost: who has not read that copies a store, and all others go on after it.
            behind = LogReader(term: header.term, number: header.number, position: position)
        } else {
            return verdict
        }
        return .void(.notNext)
    }

    /// The log begins after what is to be read: nothing before that is lost.
    private mutating func removed(
        _ first: LogPosition, _ now: Now, _ effects: inout [RepairEffect]
    ) {
        let last = LogPosition(max(1, first.number) - 1)
        // It went on without this node.
        guard last <= own else { return state = .done }
        guard last > behind.position, let reader = kept.reader(at: last) else {
            return wait(Limits.ClusterLog.rereadMilliseconds, now)
        }
        behind = reader
        ask(now, &effects)
    }

    // MARK: Appending

    /// The log ends here.
    private mutating func ended(
        _ position: LogPosition, _ now: Now, _ effects: inout [RepairEffect]
    ) {
        guard case .reading = mode else { return }
        guard position >= behind.position else {
            // An answer that is out of date, or more is lost than is kept.
            shortEnds += 1
            guard shortEnds < Limits.ClusterLog.shortEnds else { return state = .unable }
            return wait(Limits.ClusterLog.answerMilliseconds, now)
        }
        guard !isOverruled else { return state = .overruled(at: position) }
        let missing = missing(from: position)
        if missing.isEmpty { state = .done } else { append(missing, now, &effects) }
    }

    /// Whether the owner before has gone on where the mark was that is to be appended next: it would void what that one has confirmed.
    private var isOverruled: Bool {
        guard let index = records.firstIndex(where: { $0.isAfter(behind) }),
            records[index].header.kind == .mark
        else { return false }
        let read = index > 0 ? records[index - 1].reader : kept.before
        return behind.progress > read.progress
    }

    /// The records that are to follow a position, up to the next mark.
    private func missing(from end: LogPosition) -> [[UInt8]] {
        var missing: [[UInt8]] = []
        var hasFrame = false
        func fill(upTo last: UInt64) {
            while end.number + UInt64(missing.count) < last, missing.count < Limits.ClusterLog.repairedRecords
            {
                missing.append(Self.filler)
            }
        }
        for record in records where record.isAfter(behind) {
            // Before the last frame of the term before, it would void that.
            if record.header.kind == .mark, hasFrame { return missing }
            hasFrame = true
            fill(upTo: record.position.number - 1)
            guard missing.count < Limits.ClusterLog.repairedRecords else { return missing }
            missing.append(record.bytes)
        }
        fill(upTo: highest.number)
        return missing
    }

    private mutating func append(_ missing: [[UInt8]], _ now: Now, _ effects: inout [RepairEffect]) {
        for bytes in missing { effects.append(.append(bytes)) }
        appended += missing.count
        wait(
            min(
                Limits.ClusterLog.answerMilliseconds << min(repetitions, 8),
                Limits.ClusterLog.longestAnswerMilliseconds), now)
        repetitions += 1
    }

    private mutating func fail(_ reason: LogHalt) { state = .failed(reason) }

    /// A record that every reader skips.
    static let filler = Array("CCS void".utf8)
}

/// What the shell reports to a `LogRepair`.
public enum RepairEvent: Hashable, Sendable {
    /// A record that was read from the leader of the log.
    case record(LogRecord, at: LogPosition)
    /// The leader has no record after this position.
    case end(LogPosition)
    /// The first record of the log has this position.
    case removed(first: LogPosition)
    /// A read has failed.
    case readFailed
    /// The connection to the log is lost, or there is one again.
    case disconnected
    case connected
    /// Time has passed.
    case tick
}

/// What a `LogRepair` wants the shell to do, in this order.
public enum RepairEffect: Hashable, Sendable {
    /// Append these bytes to the log. The answer is not needed.
    case append([UInt8])
    /// Read the record at a position from the leader of the log.
    case read(LogPosition)
}
