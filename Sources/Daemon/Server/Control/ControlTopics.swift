import Basics
import Delivery
import Operator
import Store

/// The commands for topics and for messages to topics that are being sent.
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
        return ListTopics.Answer(
            topics: rows,
            nextAfter: isLast ? nil : rows.last.map { TopicPosition(sender: $0.sender, topic: $0.topic) })
    }

    /// Returns the messages to topics that are being sent, the oldest of each sender first.
    func listRunningTopics(_ command: ListRunningTopics) throws(OperatorProblem) -> ListRunningTopics.Answer {
        let limit = command.limit
        let answers = try ask { $0.runningTopics(limit: limit) }
        let jobs = answers.flatMap(\.jobs).sorted { $0.name < $1.name }.prefix(limit)
        var rows: [ListRunningTopics.Row] = []
        for job in jobs { rows.append(try row(job)) }
        return ListRunningTopics.Answer(
            messages: rows, leftOut: answers.reduce(0) { $0 + $1.count } - rows.count)
    }

    private func row(_ job: TopicJob) throws(OperatorProblem) -> ListRunningTopics.Row {
        var total: Int?
        var done = 0
        let passes = job.target.passes
        for (number, pass) in passes.enumerated() {
            // The number of a sender's app instances is unknown without reading all of them.
            guard case .topic(let place) = pass else { continue }
            let topic = job.target.topics[place]
            let all = try subscribers(of: job.name.sender, topic, after: nil)
            total = (total ?? 0) + all
            if number < job.cursor.pass {
                done += all
            } else if number == job.cursor.pass, let after = job.cursor.after {
                done += all - (try subscribers(of: job.name.sender, topic, after: after))
            }
        }
        let topics = job.target.topics.map { Self.text($0.bytes) }
        return ListRunningTopics.Row(
            sender: job.name.sender, messageID: Self.text(job.messageID),
            to: job.target.isCondition ? "condition" : "/topics/\(topics[0])", topics: topics,
            since: job.acceptedAt, expiresAt: job.expiresAt, sent: Int(clamping: job.cursor.reached),
            done: total == nil ? nil : max(0, done), total: total)
    }

    /// Returns the number of subscribers of a topic, either all or those after a given one.
    private func subscribers(
        of sender: SenderID, _ topic: TopicName, after: RegistrationName?
    ) throws(OperatorProblem) -> Int {
        try counts(from: SubscriberPosition(sender: sender, topic: topic, after: after)) { count, _ in
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
