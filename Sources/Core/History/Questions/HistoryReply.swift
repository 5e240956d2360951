public import Basics
import Delivery

/// What one node answers.
public struct HistoryReply: Sendable, Equatable {
    /// The answer by the kind of the question.
    public enum Content: Sendable, Equatable {
        case page(HistoryPage)
        case sums(HistorySums)
    }

    /// The answer.
    public var content: Content
    /// What the history covers.
    public var cover: HistoryCover

    /// Creates a reply.
    public init(_ content: Content, _ cover: HistoryCover) {
        self.content = content
        self.cover = cover
    }
}

/// Messages of one node, newest first.
public struct HistoryPage: Sendable, Equatable {
    public var messages: [HistoryMessage]
    /// The position before which the next page begins. `nil` on the last page.
    public var next: HistoryPosition?
    /// The position after which all later records are. `nil` if there is no file.
    public var latest: HistoryPosition?
    /// Whether more messages may have the ID.
    public var isCut: Bool

    /// Creates a page.
    public init(
        _ messages: [HistoryMessage] = [], next: HistoryPosition? = nil, latest: HistoryPosition? = nil,
        isCut: Bool = false
    ) {
        self.messages = messages
        self.next = next
        self.latest = latest
        self.isCut = isCut
    }
}

/// Counts of messages by day.
public struct HistorySums: Sendable, Equatable {
    /// The days with messages, newest first.
    public var days: [HistoryCounter.Day]
    /// From when on everything is counted. `nil` if nothing is.
    public var completeSince: UnixMilliseconds?
    /// How many messages ended of which the sender is not known.
    public var unattributed: Int

    /// Creates counts.
    public init(days: [HistoryCounter.Day], completeSince: UnixMilliseconds?, unattributed: Int) {
        self.days = days
        self.completeSince = completeSince
        self.unattributed = unattributed
    }

    /// Adds the counts of another node.
    mutating func add(_ other: HistorySums) {
        for day in other.days {
            if let at = days.firstIndex(where: { $0.start == day.start }) {
                days[at].counts.add(day.counts)
            } else {
                days.append(day)
            }
        }
        days.sort { $0.start > $1.start }
        completeSince = [completeSince, other.completeSince].compactMap { $0 }.max()
        unattributed += other.unattributed
    }
}

/// What a history covers.
public struct HistoryCover: Sendable, Equatable {
    /// When it begins. `nil` if it is empty.
    public var since: UnixMilliseconds?
    /// Times of which it has nothing, newest first.
    public var gaps: [HistoryGap]
    /// Parts that could not be read.
    public var damaged: Int

    /// Creates a cover.
    public init(since: UnixMilliseconds?, gaps: [HistoryGap], damaged: Int) {
        self.since = since
        self.gaps = gaps
        self.damaged = damaged
    }

    /// Adds that of another node: all have what all of them cover.
    mutating func add(_ other: HistoryCover) {
        since = [since, other.since].compactMap { $0 }.max()
        gaps = Array((gaps + other.gaps).sorted { $0.from > $1.from }.prefix(Limits.History.gapsShown))
        damaged += other.damaged
    }
}

/// What the nodes answer together.
public struct HistoryResult: Sendable, Equatable {
    /// The answer by the kind of the request.
    public enum Content: Sendable, Equatable {
        /// Messages, newest first.
        case list([HistoryRecord], next: HistoryCursor?, latest: HistoryCursor?, isCut: Bool)
        case sums(HistorySums)
    }

    /// The answer.
    public var content: Content
    /// What the histories of all nodes cover.
    public var cover: HistoryCover
    /// The nodes that have not answered.
    public var missing: [NodeNumber]

    /// Creates a result.
    public init(content: Content, cover: HistoryCover, missing: [NodeNumber]) {
        self.content = content
        self.cover = cover
        self.missing = missing
    }
}
