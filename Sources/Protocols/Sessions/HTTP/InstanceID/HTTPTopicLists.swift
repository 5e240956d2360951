public import Basics
public import Delivery
public import Wire

/// What an app server asks about the topics of its project. FCM has nothing like it: these endpoints are extensions (http 8.11).
public struct TopicListQuery: Sendable, Equatable {
    /// Whose topics are listed.
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

    private func response<Row>(
        _ list: String, _ rows: [Row], next: (Row) -> [UInt8], _ json: (Row) -> JSONValue
    ) -> HTTPResponse {
        var members: [JSONValue.Member] = []
        let page = rows.prefix(limit)
        if !page.isEmpty { members.append(.init(list, .array(page.map(json)))) }
        if rows.count > limit, let last = page.last {
            members.append(.init("nextPageToken", text(next(last))))
        }
        var body = ByteBuffer()
        JSONValue.object(members).append(to: &body)
        return HTTPResponse(.ok, HTTPResponse.json, body.copied())
    }

    private func text(_ bytes: [UInt8]) -> JSONValue { .string(String(decoding: bytes, as: UTF8.self)) }
}

extension HTTPSession {
    /// `GET /v1/projects/P/topics` and `GET /v1/projects/P/topics/T/subscribers`
    func listTopics(
        _ request: HTTPRequest, _ captured: [[UInt8]], _ requester: Requester, _ now: Now,
        _ io: inout SessionIO
    ) -> Outcome {
        answerOwner(of: captured[0], request, now, &io) { (sender, io) throws(V1Error) in
            guard let query = try? FormBody(request.query.raw) else {
                throw V1Error(invalid: "query", "expected two hexadecimal digits after %")
            }
            let (subject, most) = try listSubject(captured, after: query["pageToken"] ?? query["page_token"])
            let list = TopicListQuery(
                sender: sender, project: captured[0], subject,
                limit: try Self.limit(query["pageSize"] ?? query["page_size"], upTo: most))
            io.hostRequests.append(HostRequest(requestID: requester.requestID, question: .topics(list)))
            return .wait(.history)
        }
    }

    /// Returns what is listed after the end of the previous page, and the largest page.
    private func listSubject(
        _ captured: [[UInt8]], after mark: [UInt8]?
    ) throws(V1Error) -> (TopicListQuery.Subject, Int) {
        let mark = mark?.isEmpty == true ? nil : mark
        let fault = V1Error(
            invalid: "pageToken", "invalid pageToken: expected the nextPageToken of the previous page")
        guard captured.count > 1 else {
            let after = mark.flatMap { TopicName($0) }
            guard mark == nil || after != nil else { throw fault }
            return (.topics(after: after), Limits.Topic.topicsPerPage)
        }
        guard let topic = TopicName(captured[1]) else {
            throw V1Error(invalid: "topic", "Invalid topic name")
        }
        let after = mark.flatMap { settings.seal.name(of: $0.raw) }
        guard mark == nil || after != nil else { throw fault }
        return (.subscribers(of: topic, after: after), Limits.Topic.subscribersPerPage)
    }

    private static func limit(_ text: [UInt8]?, upTo most: Int) throws(V1Error) -> Int {
        guard let text else { return most }
        guard let size = Int(String(decoding: text, as: UTF8.self)), (1...most).contains(size) else {
            throw V1Error(
                invalid: "pageSize", "invalid pageSize: expected a whole number from 1 to \(most)")
        }
        return size
    }
}
