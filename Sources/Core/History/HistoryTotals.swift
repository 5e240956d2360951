import Basics
import Delivery

/// What messages to devices are counted by.
public enum HistoryOutcome: Int, Sendable, CaseIterable {
    case accepted, delivered, forwarded, replaced, expired, discarded, removed, refused

    /// The outcome that a step ends a message with. Returns `nil` if it does not end it.
    init?(end step: TraceRecord.Step) {
        switch step {
        case .delivered: self = .delivered
        case .forwarded: self = .forwarded
        case .replaced: self = .replaced
        case .expired: self = .expired
        case .discarded: self = .discarded
        case .removed, .cancelled: self = .removed
        case .refused: self = .refused
        case .accepted, .stored, .sent, .acknowledged, .received, .duplicate, .deferred, .connected,
            .disconnected, .idle, .active, .loginRefused, .forgotten, .scheduled, .released:
            return nil
        }
    }
}

/// How many messages were accepted on a day, and how many ended in each way.
public struct OutcomeCounts: Sendable, Equatable {
    private var counts = InlineArray<8, Int>(repeating: 0)

    /// Creates counts of 0.
    public init() {}

    /// The count of an outcome.
    public subscript(_ outcome: HistoryOutcome) -> Int {
        get { counts[outcome.rawValue] }
        set { counts[outcome.rawValue] = newValue }
    }

    /// Adds other counts.
    public mutating func add(_ other: OutcomeCounts) {
        for at in counts.indices { counts[at] &+= other.counts[at] }
    }

    public static func == (left: OutcomeCounts, right: OutcomeCounts) -> Bool {
        left.counts.indices.allSatisfy { left.counts[$0] == right.counts[$0] }
    }
}

/// The recipients of messages to a topic, or that meet a condition.
public struct CountedTopic: Sendable, Hashable {
    public var sender: UInt64
    /// `/topics/a`, or `condition on a, b`, as far as it is recorded.
    public var target: [UInt8]

    /// Creates a topic of a sender.
    public init(sender: UInt64, target: [UInt8]) {
        self.sender = sender
        self.target = target
    }
}

/// How many messages were sent to a topic, and how many app instances those have reached of which the time is over.
struct TopicCounts: Sendable, Equatable {
    var messages = 0
    var reached = 0

    mutating func add(_ other: TopicCounts) {
        messages += other.messages
        reached += other.reached
    }
}

/// Counts by sender and day in UTC: each step counts on the day on which it happened.
struct HistoryTotals: Sendable, Equatable {
    struct Key: Hashable {
        /// 0 if unknown.
        var sender: UInt64
        /// Days since 1970.
        var day: Int
    }

    /// What the counts of a topic are found by.
    struct TopicKey: Hashable {
        var topic: CountedTopic
        /// Days since 1970.
        var day: Int
    }

    private(set) var counts: [Key: OutcomeCounts] = [:]
    private(set) var topics: [TopicKey: TopicCounts] = [:]

    /// How many counts there are.
    var entries: Int { counts.count + topics.count }

    /// Adds a message of a sender: at most once as accepted, and once by its end, the last one that the record has.
    mutating func add(_ record: HistoryRecord, of sender: UInt64) {
        if record.kind == .topic { addTopic(record) }
        if let accepted = record.accepted { add(.accepted, sender, accepted.time) }
        if let (outcome, time) = record.end { add(outcome, sender, time) }
    }

    /// Adds a message to a topic when it is accepted, and what it has reached when no more devices get it.
    private mutating func addTopic(_ record: HistoryRecord) {
        for step in record.steps where step.step != .refused && !step.detail.isEmpty {
            let reach = TopicReach.read(step.detail)
            let topic = CountedTopic(
                sender: record.sender, target: Array((reach?.target ?? step.detail[...]).utf8))
            topics[TopicKey(topic: topic, day: Self.day(of: step.time)), default: TopicCounts()].add(
                TopicCounts(messages: reach == nil ? 1 : 0, reached: reach?.reached ?? 0))
        }
    }

    private mutating func add(_ outcome: HistoryOutcome, _ sender: UInt64, _ time: UnixMilliseconds) {
        counts[Key(sender: sender, day: Self.day(of: time)), default: OutcomeCounts()][outcome] += 1
    }

    /// The day of a time, in days since 1970.
    static func day(of time: UnixMilliseconds) -> Int {
        Int(time >= 0 ? time / 86_400_000 : -((86_399_999 - time) / 86_400_000))
    }
}

extension HistoryRecord {
    /// The step with which a message to a device was accepted. A dry run and what the server itself sends are none.
    fileprivate var accepted: Step? {
        guard kind == .downstream else { return nil }
        return steps.first {
            switch $0.step {
            case .stored: !Self.isNotice($0)
            case .accepted: $0.detail != "dry_run"
            default: false
            }
        }
    }

    /// How a message to a device ended, and when; or that one to a topic or a group was refused.
    var end: (outcome: HistoryOutcome, time: UnixMilliseconds)? {
        guard kind == .downstream || kind == .topic || kind == .group else { return nil }
        for step in steps.reversed() {
            guard let outcome = HistoryOutcome(end: step.step), !Self.isNotice(step) else { continue }
            return kind == .downstream || outcome == .refused ? (outcome, step.time) : nil
        }
        return nil
    }

    private static func isNotice(_ step: Step) -> Bool {
        step.detail == "deleted_messages" || step.detail == "send_error"
    }
}
