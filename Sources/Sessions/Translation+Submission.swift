public import Basics
public import Delivery
public import Wire

/// To what a message of an app server goes.
public enum Addressee: Sendable, Equatable {
    /// The registration that its target names.
    case registration
    /// The members of a device group.
    case group(GroupName)
    /// The subscribers of a topic, or those that meet a condition.
    case topic(TopicTarget)
    /// The registration of a Firebase installation.
    case installation([UInt8])

    /// What the core is told.
    public func event(_ submission: consuming Submission) -> Event {
        switch self {
        case .registration: .submitted(submission)
        case .group(let group): .groupSubmitted(GroupSubmission(group: group, submission: submission))
        case .topic(let target): .topicSubmitted(TopicSubmission(target: target, submission: submission))
        case .installation(let id):
            .installation(
                InstallationRequest(
                    origin: submission.origin, installation: id, sender: submission.sender,
                    action: .send(submission)))
        }
    }
}

extension Translation {
    /// Steps 7 and 8 of ccs-xmpp 3.4, as every way of sending takes them: the fields, the payload and the seal of the token.
    ///
    /// The ticket of the origin is the caller's to set where it is drawn only for what was not refused.
    @inline(__always)
    public mutating func submission(
        of payload: borrowing AppServerPayload, messageID: [UInt8], to: inout [UInt8], sender: SenderID,
        connection: ConnectionID, seal: TokenSeal, rules: MessageRules
    ) throws(Refusal) -> (Submission, Addressee) {
        let message = try DownstreamMessage(payload, lenientLifetime: rules.lenientLifetime)
        if message.condition == nil { to = payload.reader.string(message.to) }
        let topic = try Self.topicTarget(of: message, to: to, in: payload, rules)
        try Self.checkRawData(of: message, isToTopics: topic != nil)
        let body = try body(
            of: message, in: payload, reservesGCMPrefix: rules.reservesGCMPrefix,
            limit: rules.payloadBytes(isToTopics: topic != nil))
        var addressee = Addressee.registration
        var target = topic == nil ? seal.name(of: to.raw) : nil
        if let topic {
            addressee = .topic(topic)
            // Set for each subscriber.
            target = RegistrationName.setLater
        }
        if target == nil, let group = seal.group(of: to.raw) {
            addressee = .group(group)
            // Set for each member.
            target = RegistrationName.setLater
        }
        guard let target else { throw .invalidToken }
        var submission = Submission(
            origin: Origin(connection: connection, ticket: 0), sender: sender, target: target,
            messageID: messageID, collapseKey: Self.collapseKey(of: message),
            lifetimeSeconds: message.lifetimeSeconds, priority: Self.priority(of: message),
            wantsReceipt: message.wantsReceipt,
            delaysWhileIdle: Self.delaysWhileIdle(message),
            isDryRun: message.isDryRun, restrictedPackage: message.restrictedPackage, body: body)
        submission.holdsRawData = message.rawData != nil
        return (submission, addressee)
    }
}

/// Topics and conditions (http 5.1, 5.3).
extension Translation {
    /// What a malformed name of a topic is told.
    public static let topicNameFault = "the name of a topic has 1 to 900 of a-z A-Z 0-9 - _ . ~ %"

    /// The topics that a message goes to; nil: it goes to no topic.
    @inline(__always)
    private static func topicTarget(
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
        // No token and no key of a group begins so.
        guard to.first == UInt8(ascii: "/"), isTopicPath(to) else { return nil }
        guard let topic = TopicName(path: to) else {
            throw .conflict(field: PayloadField.to.name, reason: topicNameFault)
        }
        return TopicTarget(topic)
    }

    /// Whether a target is meant to be a topic, well formed or not.
    public static func isTopicPath(_ target: [UInt8]) -> Bool { target.starts(with: "/topics/".utf8) }

    /// Those that meet a condition, which may have so many operators.
    public static func target(
        ofCondition text: [UInt8], operators: Int = Limits.conditionTests - 1
    ) throws(TopicConditionFault) -> TopicTarget {
        let condition = try TopicCondition(text, operators: operators)
        let topics = condition.topics.compactMap { TopicName($0) }
        guard topics.count == condition.topics.count,
            let target = TopicTarget(topics: topics, truth: condition.truth)
        else { throw .name }
        return target
    }
}
