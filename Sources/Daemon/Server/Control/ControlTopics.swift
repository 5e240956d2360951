import Basics
import Delivery
import Operator
import Store

/// The commands for topics and for the live messages to topics.
extension ControlServer {
    /// Returns a page of the topics. Subscribers are counted in reads of a few thousand each, so that no read blocks the store.
    func listTopics(_ command: ListTopics) throws(OperatorProblem) -> ListTopics.Answer {
        let start =
            try command.after.map(start(after:)) ?? command.sender.map { SubscriberPosition(sender: $0) }
        let found = try counts(from: start) { count, before in
            before <= command.limit && (command.sender == nil || command.sender == count.sender)
        }
        let rows = found.prefix(command.limit).map { count in
            ListTopics.Row(
                sender: count.sender, topic: Self.text(count.topic.bytes), subscribers: count.subscribers)
        }
        let isLast = found.count <= command.limit
        // Subscriptions outlive their sender.
        if rows.isEmpty, command.after == nil, let sender = command.sender { try requireSender(sender) }
        return ListTopics.Answer(
            topics: rows,
            nextAfter: isLast ? nil : rows.last.map { TopicPosition(sender: $0.sender, topic: $0.topic) })
    }

    /// Returns the messages to topics that devices may still be sent, the newest first.
    func listRunningTopics(_ command: ListRunningTopics) throws(OperatorProblem) -> ListRunningTopics.Answer {
        let limit = command.limit
        var (messages, count): ([LiveTopicMessage], Int) = ([], 0)
        for answer in try ask({ $0.runningTopics(limit: limit) }) {
            messages = messages.merged(with: answer.messages, limit: limit)
            count = max(count, answer.count)
        }
        var rows: [ListRunningTopics.Row] = []
        for live in messages { rows.append(try row(live)) }
        return ListRunningTopics.Answer(messages: rows, leftOut: max(0, count - rows.count))
    }

    private func row(_ live: LiveTopicMessage) throws(OperatorProblem) -> ListRunningTopics.Row {
        let (sender, target) = (live.message.name.sender, live.message.target)
        var subscribers: Int?
        for pass in target.passes {
            // The number of a sender's app instances is unknown without reading all of them.
            guard case .topic(let place) = pass else { continue }
            subscribers = (subscribers ?? 0) + (try self.subscribers(of: sender, target.topics[place]))
        }
        let topics = target.topics.map { Self.text($0.bytes) }
        return ListRunningTopics.Row(
            sender: sender, messageID: Self.text(live.message.messageID),
            to: target.isCondition ? "condition" : "/topics/\(topics[0])", topics: topics,
            since: live.message.acceptedAt, expiresAt: live.message.expiresAt,
            reached: Int(clamping: live.reached), subscribers: subscribers)
    }

    /// Returns the number of subscribers of a topic.
    private func subscribers(of sender: SenderID, _ topic: TopicName) throws(OperatorProblem) -> Int {
        try counts(from: SubscriberPosition(sender: sender, topic: topic)) { count, _ in
            count.sender == sender && count.topic == topic
        }.first?.subscribers ?? 0
    }

    private func counts(
        from start: SubscriberPosition?, while isWanted: (TopicCount, _ before: Int) -> Bool
    ) throws(OperatorProblem) -> [TopicCount] {
        try reading { () throws(StoreError) in
            try TopicCounts.gather(from: start, while: isWanted) { (place) throws(StoreError) in
                try daemon.storage.store.topics(from: place, examine: Limits.Topic.countRows)
            }
        }
    }

    /// Returns the start of a list that continues after a topic.
    private func start(after position: TopicPosition) throws(OperatorProblem) -> SubscriberPosition {
        guard let topic = TopicName(Array(position.topic.utf8)) else {
            throw OperatorProblem(
                "invalid after: expected a topic as SENDER_ID/TOPIC",
                hint: "use next_after of the previous page")
        }
        return .behind(position.sender, topic)
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
