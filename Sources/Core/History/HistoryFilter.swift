public import Basics
import Delivery

/// Which messages a list has.
public struct HistoryFilter: Sendable, Equatable {
    /// How a message is now.
    public enum State: Sendable, Equatable {
        case ended(HistoryOutcome)
        /// The history has no end of it.
        case open
    }

    /// What the messages are named by. `nil` for any.
    public var name: MessageName?
    public var sender: SenderID?
    public var device: UInt64?
    public var registration: UInt64?
    /// The times between which the first step was.
    public var since: UnixMilliseconds?
    public var until: UnixMilliseconds?
    public var state: State?

    /// Creates a filter for all messages.
    public init() {}

    /// Whether a file may have first steps within the times.
    func mayHave(_ source: HistorySource) -> Bool {
        source.last >= since ?? source.last && source.first <= until ?? source.first
    }

    /// Whether a record may be of a message that is listed, as far as it is known without the others.
    func mayHave(_ record: HistoryRecord) -> Bool {
        record.kind != .gap && sender.map { [0, $0.number].contains(record.sender) } ?? true
            && device.map { [0, $0].contains(record.device) } ?? true
    }

    /// Whether a message may begin with a record, as far as it is known without the others.
    func mayBegin(with record: HistoryRecord) -> Bool {
        guard mayHave(record), let first = record.steps.first, first.isBeginning,
            first.time >= since ?? first.time, first.time <= until ?? first.time
        else { return false }
        guard let state, let outcome = record.outcome else { return true }
        return state == .ended(outcome)
    }

    /// Whether a message with all of its steps is listed; or, with `orPart`, one whose end another node may have.
    func has(_ record: HistoryRecord, orPart: Bool = false) -> Bool {
        guard let first = record.steps.first, sender == nil || record.sender == sender?.number,
            device == nil || record.device == device,
            registration == nil || record.registration == registration,
            first.time >= since ?? first.time, first.time <= until ?? first.time
        else { return false }
        guard let state else { return true }
        guard let outcome = record.outcome else { return state == .open || orPart }
        return state == .ended(outcome)
    }
}

extension HistoryRecord {
    /// How the message ended. Returns `nil` if the record has no end.
    public var outcome: HistoryOutcome? {
        steps.lazy.reversed().compactMap { HistoryOutcome(end: $0.step) }.first
    }
}

extension HistoryRecord.Step {
    /// Whether a message may begin with it.
    fileprivate var isBeginning: Bool {
        step == .stored || step == .accepted || step == .refused || step == .duplicate
    }
}

extension HistorySearch {
    /// Returns a page of messages, newest first, and the position before which the next page begins.
    ///
    /// With `after`, each message is listed that has a record after that position. A name is searched for in the index, without pages.
    public mutating func messages(
        _ filter: HistoryFilter, before: HistoryPosition? = nil, after: HistoryPosition? = nil, limit: Int,
        isPartial: Bool = false
    ) -> (messages: [HistoryMessage], next: HistoryPosition?) {
        if let name = filter.name {
            let found = messages(name, of: filter.sender, limit: limit)
            return (found.messages.filter { filter.has($0.record) }, nil)
        }
        var found: [HistoryMessage] = []
        var next: HistoryPosition?
        var gathered = 0
        let isWhole = scan(before: before, after: after, where: filter.mayHave) { search, record, position in
            guard found.count < limit, gathered < Limits.History.gatheredMessages else { return false }
            next = position
            guard after == nil ? filter.mayBegin(with: record) : filter.mayHave(record) else { return true }
            gathered += 1
            let (message, isFirst) = search.whole(HistoryMessage(record: record, position: position))
            let isNew = after == nil ? isFirst : !found.contains { $0.position == message.position }
            if isNew, filter.has(message.record, orPart: isPartial) { found.append(message) }
            return true
        }
        return (found, isWhole ? nil : next)
    }

    /// The position after which all later records are. Returns `nil` if there is no file.
    public var latest: HistoryPosition? {
        sources.first.map { source in
            source.blockCount > 0
                ? HistoryPosition(file: source.number, block: UInt32(source.blockCount - 1), record: 0xffff)
                : HistoryPosition(file: source.number - 1, block: 0xfff, record: 0xffff)
        }
    }

    /// Calls a closure with the records of all blocks of some files, newest first, until it returns `false` or no more blocks may be read.
    /// Returns whether it has seen all.
    private mutating func scan(
        before: HistoryPosition?, after: HistoryPosition?, where isWanted: (HistorySource) -> Bool,
        _ body: (inout HistorySearch, HistoryRecord, HistoryPosition) -> Bool
    ) -> Bool {
        for source in sources where before.map({ source.number <= $0.file }) ?? true && isWanted(source) {
            if let after, source.number < after.file { return true }
            var blocks = source.blockCount
            if let before, source.number == before.file { blocks = min(blocks, Int(before.block) + 1) }
            for block in (0..<blocks).reversed() {
                if let after, source.number == after.file, block < after.block { return true }
                guard !isExhausted, visit(block, of: source, before: before, after: after, body) else {
                    return false
                }
            }
        }
        return true
    }
}
