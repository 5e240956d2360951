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
    /// The topics that have reached most, those first.
    public var topics: [TopicSum]

    /// Creates counts.
    public init(
        days: [HistoryCounter.Day], completeSince: UnixMilliseconds?, unattributed: Int,
        topics: [TopicSum] = []
    ) {
        self.days = days
        self.completeSince = completeSince
        self.unattributed = unattributed
        self.topics = topics
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
        for sum in other.topics {
            if let at = topics.firstIndex(where: { $0.topic == sum.topic }) {
                topics[at].messages += sum.messages
                topics[at].reached += sum.reached
            } else {
                topics.append(sum)
            }
        }
        topics = topics.most
    }
}

/// The messages to a topic.
public struct TopicSum: Sendable, Equatable {
    public var topic: CountedTopic
    /// How many were sent.
    public var messages: Int
    /// How many app instances those have reached of which the time is over.
    public var reached: Int

    /// Creates the sum of a topic.
    public init(_ topic: CountedTopic, messages: Int, reached: Int) {
        self.topic = topic
        self.messages = messages
        self.reached = reached
    }
}

extension [TopicSum] {
    /// Those that have reached most: up to `Limits.History.countedTopics`.
    var most: [TopicSum] {
        let sorted = sorted {
            ($0.reached, $0.messages, $1.topic.sender) > ($1.reached, $1.messages, $0.topic.sender)
        }
        return Array(sorted.prefix(Limits.History.countedTopics))
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
