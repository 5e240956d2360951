import Basics
import Delivery
import Store
import Wire

/// Topics with their subscribers, and messages to them that are under way.
extension ControlServer {
    /// A page of the topics. Subscribers are counted in reads of some thousand each, so that none holds the store up.
    func listTopics(_ request: Request) throws(Problem) -> JSONValue {
        let limit = try integer("limit", in: request, default: 100, range: 1...Limits.listedRows)
        let sender = try optionalSender(request)
        let start = try place(request) ?? sender.map { TopicPlace(sender: $0) }
        let found = try counts(from: start) { count, before in
            before <= limit && (sender == nil || sender == count.sender)
        }
        let page = found.prefix(limit)
        var members: [JSONValue.Member] = [
            .init(
                "topics",
                .array(
                    page.map { count in
                        .object([
                            .init("sender_id", .string(String(count.sender.number))),
                            .init("topic", .string(Self.text(count.topic.octets))),
                            .init("subscribers", .integer(count.subscribers)),
                        ])
                    }))
        ]
        if found.count > limit, let last = page.last {
            members.append(
                .init("next_after", .string("\(last.sender.number)/\(Self.text(last.topic.octets))")))
        }
        return .object(members)
    }

    /// The messages to topics that are under way, the oldest of each sender first.
    func listRunningTopics(_ request: Request) throws(Problem) -> JSONValue {
        let limit = try integer("limit", in: request, default: 20, range: 1...Limits.listedRows)
        let answers = try ask { $0.runningTopics(limit: limit) }
        let jobs = answers.flatMap(\.jobs).sorted { $0.name < $1.name }.prefix(limit)
        var rows: [JSONValue] = []
        for job in jobs { rows.append(try row(job)) }
        return .object([
            .init("messages", .array(rows)),
            .init("left_out", .integer(answers.reduce(0) { $0 + $1.count } - rows.count)),
        ])
    }

    private func row(_ job: TopicJob) throws(Problem) -> JSONValue {
        var total: Int?
        var done = 0
        let passes = job.target.passes
        for (number, pass) in passes.enumerated() {
            // Nothing tells how many app instances a sender has without reading all there are.
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
        let topics = job.target.topics.map { Self.text($0.octets) }
        return .object([
            .init("sender_id", .string(String(job.name.sender.number))),
            .init("message_id", .string(Self.text(job.messageID))),
            .init("to", .string(job.target.isCondition ? "condition" : "/topics/\(topics[0])")),
            .init("topics", .array(topics.map { .string($0) })),
            .init("since", .string(Timestamp.text(job.acceptedAt))),
            .init("expires_at", .string(Timestamp.text(job.expiresAt))),
            .init("sent", .integer(Int(clamping: job.cursor.reached))),
            .init("done", total == nil ? .null : .integer(max(0, done))),
            .init("total", total.map { .integer($0) } ?? .null),
        ])
    }

    /// How many subscribe to a topic, behind one of them or at all.
    private func subscribers(
        of sender: SenderID, _ topic: TopicName, after: RegistrationName?
    ) throws(Problem) -> Int {
        try counts(from: TopicPlace(sender: sender, topic: topic, after: after)) { count, _ in
            count.sender == sender && count.topic == topic
        }.first?.subscribers ?? 0
    }

    private func counts(
        from start: TopicPlace?, while isWanted: (TopicCount, _ before: Int) -> Bool
    ) throws(Problem) -> [TopicCount] {
        try reading { () throws(StoreError) in
            try TopicCounts.gather(from: start, while: isWanted) { (place) throws(StoreError) in
                try daemon.store.topics(from: place, examine: Limits.topicCountRows)
            }
        }
    }

    /// `SENDER_ID/TOPIC`: behind that topic.
    private func place(_ request: Request) throws(Problem) -> TopicPlace? {
        guard let text = request.arguments["after"]?.text else { return nil }
        let parts = text.split(separator: "/", maxSplits: 1)
        guard parts.count == 2, let sender = SenderID(decimal: Array(parts[0].utf8)),
            let topic = TopicName(Array(parts[1].utf8))
        else {
            throw Problem(text: "after is SENDER_ID/TOPIC", hint: "ccsctl topics list says what comes next")
        }
        return .behind(sender, topic)
    }

    private static func text(_ octets: [UInt8]) -> String { String(decoding: octets, as: UTF8.self) }
}
