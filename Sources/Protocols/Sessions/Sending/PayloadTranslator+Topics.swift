public import Basics
public import Delivery
public import Wire

/// Topics and conditions (http 5.1, 5.3).
extension PayloadTranslator {
    /// The error text for a malformed topic name.
    public static let topicNameFault = "the name of a topic has 1 to 900 of a-z A-Z 0-9 - _ . ~ %"

    /// Returns the topics that a message is sent to, or `nil` if its target is not a topic or condition.
    @inline(__always)
    static func topicTarget(
        of message: DownstreamMessage, to: [UInt8], in payload: borrowing AppServerPayload,
        _ rules: MessageRules
    ) throws(Refusal) -> TopicTarget? {
        if let condition = message.condition {
            do throws(TopicConditionFault) {
                return try target(
                    ofCondition: payload.reader.string(condition), operators: rules.conditionOperators)
            } catch {
                throw .conflict(field: PayloadField.condition.name, reason: error.rawValue)
            }
        }
        // No token and no notification key starts with a slash.
        guard to.first == UInt8(ascii: "/"), isTopicPath(to) else { return nil }
        guard let topic = TopicName(path: to) else {
            throw .conflict(field: PayloadField.to.name, reason: topicNameFault)
        }
        return TopicTarget(topic)
    }

    /// Returns whether a target is meant to be a topic, well-formed or not.
    public static func isTopicPath(_ target: [UInt8]) -> Bool { target.starts(with: "/topics/".utf8) }

    /// Parses a condition with up to `operators` operators.
    public static func target(
        ofCondition text: [UInt8], operators: Int = Limits.Topic.conditionTests - 1
    ) throws(TopicConditionFault) -> TopicTarget {
        let condition = try TopicCondition(text, operators: operators)
        let topics = condition.topics.compactMap { TopicName($0) }
        guard topics.count == condition.topics.count,
            let target = TopicTarget(topics: topics, truth: condition.truth)
        else { throw .name }
        return target
    }
}
