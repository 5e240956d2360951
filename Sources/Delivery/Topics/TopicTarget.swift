import Basics

/// To which app instances a message to topics goes: those whose topics meet a condition, of which a single topic is the
/// simplest (http 5.3).
public struct TopicTarget: Sendable, Equatable {
    /// The topics that it names, each once, 1 … `Limits.Topic.conditionTests`.
    public let topics: [TopicName]
    /// Bit n says whether it holds for the set whose members are the topics at the places of the ones in n.
    public let truth: UInt32
    /// Whether it was written as a condition.
    public let isCondition: Bool
    /// What is gone through to meet every app instance that it can hold for.
    ///
    /// Of the topics the fewest are taken of which each set that it holds for has one: for `a && (b || c)` that is `a` alone.
    /// What the empty set satisfies holds for app instances that no topic leads to. Found once: each recipient asks for it.
    public let passes: [Pass]

    /// All subscribers of a topic.
    public init(_ topic: TopicName) {
        topics = [topic]
        truth = 0xAAAA_AAAA
        isCondition = false
        passes = [.topic(0)]
    }

    /// Those that meet a condition; nil for more topics than fit its table, or none.
    public init?(topics: [TopicName], truth: UInt32) {
        guard (1...Limits.Topic.conditionTests).contains(topics.count) else { return nil }
        self.topics = topics
        self.truth = truth
        isCondition = true
        passes = Self.passes(through: topics, where: truth)
    }

    /// `from` of the frame: the topic; empty for a condition, whose messages come from the sender.
    public var path: [UInt8] { isCondition ? [] : Array("/topics/".utf8) + topics[0].octets }

    /// One way through the candidates.
    public enum Pass: Sendable, Equatable {
        /// The subscribers of the topic at this place.
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

    /// Whether an app instance with such topics is to be sent the message on this pass: it is meant, and no pass before
    /// has met it.
    public func reaches(on pass: Int, _ has: (TopicName) -> Bool) -> Bool {
        var set: UInt32 = 0
        for (place, topic) in topics.enumerated() where has(topic) { set |= 1 << UInt32(place) }
        guard truth >> set & 1 == 1 else { return false }
        guard pass < passes.count else { return false }
        for earlier in passes[..<pass] {
            if case .topic(let place) = earlier, set >> UInt32(place) & 1 == 1 { return false }
        }
        if case .topic(let place) = passes[pass] { return set >> UInt32(place) & 1 == 1 }
        return true
    }
}
