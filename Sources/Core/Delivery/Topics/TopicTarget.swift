import Basics

/// The recipients of a topic message: the app instances whose topics meet a condition. A single topic is the simplest condition
/// (http 5.3).
public struct TopicTarget: Sendable, Equatable {
    /// The distinct topics in the condition, 1 … `Limits.Topic.conditionTests`.
    public let topics: [TopicName]
    /// The truth table of the condition: bit n is its value for the set of topics whose indices are the one bits of n.
    public let truth: UInt32
    /// Whether it was written as a condition.
    public let isCondition: Bool
    /// The passes that together find every app instance for which the condition can hold.
    ///
    /// They are the smallest set of topics of which every satisfying set contains one: `a` alone for `a && (b || c)`. A condition
    /// that the empty set satisfies also holds for app instances that no topic leads to, so it needs a pass through all of them.
    public let passes: [Pass]

    /// Creates a target of all subscribers of a topic.
    public init(_ topic: TopicName) {
        topics = [topic]
        truth = 0xAAAA_AAAA
        isCondition = false
        passes = [.topic(0)]
    }

    /// Creates a target from a condition. Returns `nil` if it has no topics, or more than fit into the truth table.
    public init?(topics: [TopicName], truth: UInt32) {
        guard (1...Limits.Topic.conditionTests).contains(topics.count) else { return nil }
        self.topics = topics
        self.truth = truth
        isCondition = true
        passes = Self.passes(through: topics, where: truth)
    }

    /// `from` of the frame: the topic; empty for a condition, whose messages name the sender.
    public var path: [UInt8] { isCondition ? [] : Array("/topics/".utf8) + topics[0].bytes }

    /// The recipients in the message history: `/topics/a`, or `condition on a, b`.
    public var words: String {
        let names = topics.map { String(decoding: $0.bytes, as: UTF8.self) }.joined(separator: ", ")
        return isCondition ? "condition on \(names)" : "/topics/\(names)"
    }

    /// One pass through the possible recipients.
    public enum Pass: Sendable, Equatable {
        /// The subscribers of the topic with this index.
        case topic(Int)
        /// All app instances of the sender.
        case everyone
    }

    private static func passes(through topics: [TopicName], where truth: UInt32) -> [Pass] {
        if truth & 1 == 1 { return [.everyone] }
        let sets = (1..<UInt32(1) << UInt32(topics.count)).filter { truth >> $0 & 1 == 1 }
        let choices = (0..<UInt32(1) << UInt32(topics.count)).filter { choice in
            sets.allSatisfy { $0 & choice != 0 }
        }
        let fewest = choices.min { ($0.nonzeroBitCount, $0) < ($1.nonzeroBitCount, $1) } ?? 0
        return topics.indices.filter { fewest >> UInt32($0) & 1 == 1 }.map { .topic($0) }
    }

    /// Returns whether an app instance with such topics is sent the message.
    public func holds(_ has: (TopicName) -> Bool) -> Bool {
        var set: UInt32 = 0
        for (index, topic) in topics.enumerated() where has(topic) { set |= 1 << UInt32(index) }
        return truth >> set & 1 == 1
    }
}
