public import Basics
public import Delivery

/// What is asked of the history of one node.
public enum HistoryQuestion: Sendable, Equatable {
    case list(HistoryList)
    /// What the node has of these messages, in any order.
    case parts([HistoryPart])
    /// Counts by outcome and day, of one sender or of all.
    case totals(of: SenderID?, from: UnixMilliseconds)
    /// Counts by outcome and hour, of all senders.
    case hours(from: UnixMilliseconds)
}

/// A page of messages, newest first.
public struct HistoryList: Sendable, Equatable {
    public var filter: HistoryFilter
    /// The position before which the page begins. `nil` for the newest messages.
    public var before: HistoryPosition?
    /// The position after which a message must have a step. `nil` for any.
    public var after: HistoryPosition?
    public var limit: Int
    /// How many blocks may be read.
    public var blocks: Int
    /// Whether other nodes may have steps of the messages: then one is listed, whatever its outcome, of which this node has no end.
    public var isPartial = false

    /// Creates a list of the newest messages.
    public init(_ filter: HistoryFilter, limit: Int, blocks: Int = Limits.History.examinedBlocks) {
        self.filter = filter
        self.limit = limit
        self.blocks = blocks
    }
}

/// A message of which steps are looked for.
public struct HistoryPart: Sendable, Hashable {
    public var kind: HistoryStep.Kind
    /// Whose mailbox the position is in.
    public var owner: UInt64
    public var sequence: UInt64
    /// The account; 0 if unknown.
    public var sender: UInt64

    /// Creates a part.
    public init(kind: HistoryStep.Kind, owner: UInt64, sequence: UInt64, sender: UInt64) {
        self.kind = kind
        self.owner = owner
        self.sequence = sequence
        self.sender = sender
    }

    /// Returns `nil` for a message without a position, which has one record only.
    init?(_ record: HistoryRecord) {
        guard record.sequence != 0 else { return nil }
        self.init(
            kind: record.kind, owner: record.owner, sequence: record.sequence, sender: record.sender)
    }

    /// Whether a record is of the message: positions come again after the clock was set back.
    func isPart(_ record: HistoryRecord) -> Bool {
        record.sequence == sequence && record.kind == kind && record.owner == owner
            && (record.sender == 0 || sender == 0 || record.sender == sender)
    }
}

extension HistorySearch {
    /// Answers a question for a list.
    public mutating func reply(to list: HistoryList) -> HistoryReply {
        let page = page(list)
        return HistoryReply(.page(page), cover())
    }

    /// Answers with what the files have of messages.
    public mutating func reply(to parts: [HistoryPart]) -> HistoryReply {
        let found = parts.compactMap { message($0) }
        return HistoryReply(.page(HistoryPage(found, isCut: isExhausted)), cover())
    }

    /// What the files cover, and `blocks` more of them that are damaged.
    mutating func cover(damaged blocks: Int = 0) -> HistoryCover {
        let gaps = gaps()
        return HistoryCover(since: start, gaps: gaps, damaged: damaged + blocks)
    }

    private mutating func page(_ list: HistoryList) -> HistoryPage {
        var page = HistoryPage(latest: latest)
        let filter = list.filter
        if let name = filter.name {
            let found = messages(name, of: filter.sender, limit: list.limit)
            page.messages = found.messages.filter { filter.has($0.record, orPart: list.isPartial) }
            page.isCut = found.isCut
        } else if let device = filter.device, list.after == nil {
            (page.messages, page.next) = messages(
                device: device, registration: filter.registration, before: list.before, limit: list.limit)
        } else {
            (page.messages, page.next) = messages(
                filter, before: list.before, after: list.after, limit: list.limit,
                isPartial: list.isPartial)
        }
        return page
    }
}

extension HistoryCounter {
    /// Answers with counts of what was counted so far.
    public func reply(of sender: SenderID?, from start: UnixMilliseconds, _ sources: [HistorySource])
        -> HistoryReply
    {
        var search = HistorySearch(sources)
        let sums = HistorySums(
            days: days(of: sender, from: start), completeSince: completeSince(sources),
            unattributed: unattributed(from: start), topics: topics(of: sender, from: start))
        return HistoryReply(.sums(sums), search.cover(damaged: damaged))
    }
}
