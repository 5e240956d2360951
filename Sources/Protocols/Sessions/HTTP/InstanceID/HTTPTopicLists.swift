public import Basics
public import Delivery
public import Wire

/// A list that an app server asks for: of the topics of its project, or of its scheduled messages. FCM has nothing like it: these endpoints
/// are extensions (http 8.11, 8.12).
public struct TopicListQuery: Sendable, Equatable {
    /// Whose list it is.
    public var sender: SenderID
    /// The project as the path names it.
    public var project: [UInt8]
    public var subject: Subject
    /// The size of the page.
    public var limit: Int

    /// What is listed.
    public enum Subject: Sendable, Equatable {
        /// The topics after one.
        case topics(after: TopicName?)
        /// The subscribers of a topic after one.
        case subscribers(of: TopicName, after: RegistrationName?)
        /// The messages that are sent later, after one.
        case scheduled(after: ScheduledMessage?)
    }

    /// Creates a query.
    public init(sender: SenderID, project: [UInt8], _ subject: Subject, limit: Int) {
        self.sender = sender
        self.project = project
        self.subject = subject
        self.limit = limit
    }

    /// Returns the page of topics; one more than the limit was read if more follow.
    public func response(topics: [TopicName]) -> HTTPResponse {
        response("topics", topics, next: \.bytes) { topic in
            let name = Array("projects/".utf8) + project + Array("/topics/".utf8) + topic.bytes
            return ["name": text(name), "topicName": text(topic.bytes)]
        }
    }

    /// Returns the page of subscribers; one more than the limit was read if more follow.
    public func response(subscribers: [TokenName], seal: TokenSeal) -> HTTPResponse {
        response("subscribers", subscribers, next: { seal.token(for: $0) }) { name in
            ["token": text(seal.token(for: name))]
        }
    }

    /// Returns the page of scheduled messages, each with the token that it is for.
    public func response(
        scheduled: [(message: StoredMessage, token: TokenName?)], next: ScheduledMessage?, seal: TokenSeal
    ) -> HTTPResponse {
        let rows = scheduled.map { row -> JSONValue in
            let name =
                Array("projects/".utf8) + project + Array("/messages/\(row.message.persistentID.text)".utf8)
            var members: [JSONValue.Member] = [.init("name", text(name))]
            if !row.message.messageID.isEmpty {
                members.append(.init("messageId", text(row.message.messageID)))
            }
            if let token = row.token { members.append(.init("token", text(seal.token(for: token)))) }
            for (name, time) in [("sendTime", row.message.dueAt), ("expireTime", row.message.expiresAt)] {
                if let time { members.append(.init(name, .string(Timestamp.text(time)))) }
            }
            return .object(members)
        }
        return response("messages", rows, next: next.map { Array($0.pageToken(seal).utf8) })
    }

    private func response<Row>(
        _ list: String, _ rows: [Row], next: (Row) -> [UInt8], _ json: (Row) -> JSONValue
    ) -> HTTPResponse {
        let page = rows.prefix(limit)
        return response(list, page.map(json), next: rows.count > limit ? page.last.map(next) : nil)
    }

    private func response(_ list: String, _ page: [JSONValue], next: [UInt8]?) -> HTTPResponse {
        var members: [JSONValue.Member] = []
        if !page.isEmpty { members.append(.init(list, .array(page))) }
        if let next { members.append(.init("nextPageToken", text(next))) }
        var body = ByteBuffer()
        JSONValue.object(members).append(to: &body)
        return HTTPResponse(.ok, HTTPResponse.json, body.copied())
    }

    private func text(_ bytes: [UInt8]) -> JSONValue { .string(String(decoding: bytes, as: UTF8.self)) }
}

extension HTTPSession {
    /// `GET /v1/projects/P/topics`, `GET /v1/projects/P/topics/T/subscribers` and `GET /v1/projects/P/scheduledMessages`
    func listTopics(
        _ action: HTTPEndpoint.Action, _ request: HTTPRequest, _ captured: [[UInt8]],
        _ requester: Requester, _ now: Now, _ io: inout SessionIO
    ) -> Outcome {
        answerOwner(of: captured[0], request, now, &io) { (sender, io) throws(V1Error) in
            guard let query = try? FormBody(request.query.raw) else {
                throw V1Error(invalid: "query", "expected two hexadecimal digits after %")
            }
            let mark = query["pageToken"] ?? query["page_token"]
            let (subject, most) =
                action == .listScheduled
                ? try scheduleSubject(after: mark) : try listSubject(captured, after: mark)
            let list = TopicListQuery(
                sender: sender, project: captured[0], subject,
                limit: try Self.limit(query["pageSize"] ?? query["page_size"], upTo: most))
            io.hostRequests.append(HostRequest(requestID: requester.requestID, question: .topics(list)))
            return .wait(.history)
        }
    }

    private func scheduleSubject(after mark: [UInt8]?) throws(V1Error) -> (TopicListQuery.Subject, Int) {
        guard let mark, !mark.isEmpty else { return (.scheduled(after: nil), Limits.Schedule.page) }
        let text = String(decoding: mark, as: UTF8.self)
        guard let after = ScheduledMessage(pageToken: text, settings.seal) else { throw .invalidPageToken }
        return (.scheduled(after: after), Limits.Schedule.page)
    }

    /// Returns what is listed after the end of the previous page, and the largest page.
    private func listSubject(
        _ captured: [[UInt8]], after mark: [UInt8]?
    ) throws(V1Error) -> (TopicListQuery.Subject, Int) {
        let mark = mark?.isEmpty == true ? nil : mark
        guard captured.count > 1 else {
            let after = mark.flatMap { TopicName($0) }
            guard mark == nil || after != nil else { throw .invalidPageToken }
            return (.topics(after: after), Limits.Topic.topicsPerPage)
        }
        guard let topic = TopicName(captured[1]) else {
            throw V1Error(invalid: "topic", "Invalid topic name")
        }
        let after = mark.flatMap { settings.seal.name(of: $0.raw) }
        guard mark == nil || after != nil else { throw .invalidPageToken }
        return (.subscribers(of: topic, after: after), Limits.Topic.subscribersPerPage)
    }

    private static func limit(_ text: [UInt8]?, upTo most: Int) throws(V1Error) -> Int {
        guard let text else { return most }
        guard let size = Int(String(decoding: text, as: UTF8.self)), (0...most).contains(size) else {
            throw V1Error(
                invalid: "pageSize", "invalid pageSize: expected a whole number from 0 to \(most)")
        }
        // As in Google's interfaces: 0 is none given.
        return size == 0 ? most : size
    }
}

extension ScheduledMessage {
    /// Its position for app servers: the device, whose ID is half of its login, is sealed in a token.
    fileprivate func pageToken(_ seal: TokenSeal) -> String {
        let token = seal.token(for: RegistrationName(device: device, number: RegistrationNumber(1)))
        return "\(dueAt)-\(sequence.number)-\(String(decoding: token, as: UTF8.self))"
    }

    fileprivate init?(pageToken: String, _ seal: TokenSeal) {
        let parts = pageToken.split(separator: "-", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let dueAt = Int64(parts[0]), let sequence = UInt64(parts[1]),
            let name = seal.name(of: Array(parts[2].utf8).raw)
        else { return nil }
        self.init(
            dueAt: dueAt, device: name.device, sequence: SequenceNumber(sequence), sender: SenderID(0))
    }
}

extension V1Error {
    /// The error for a page token that no page has named.
    fileprivate static let invalidPageToken = V1Error(
        invalid: "pageToken", "invalid pageToken: expected the nextPageToken of the previous page")
}
