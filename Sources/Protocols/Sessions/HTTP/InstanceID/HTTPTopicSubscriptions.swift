import Basics
import Delivery
import Wire

/// Topic subscriptions as a resource of HTTP v1 (http 8.7).
extension HTTPSession {
    /// What is done with a subscription.
    public enum TopicMethod: Sendable, Equatable {
        case create, delete, get, list, patch
    }

    /// What the answer needs beside the core's reply.
    struct TopicQuestion {
        var method: TopicMethod
        /// `projects/P/registrations/R/topicSubscriptions/`, as in the request.
        var parent: [UInt8]
        /// The topic; `nil` for a list.
        var topic: TopicName?
        /// Whether a missing subscription is not an error.
        var allowsMissing: Bool
        /// The most subscriptions in a list.
        var pageSize: Int
        /// The topic after which a list continues.
        var after: TopicName?
    }

    func topicSubscription(
        _ request: HTTPRequest, _ captured: [[UInt8]], _ method: TopicMethod, _ requester: Requester,
        _ now: Now,
        _ io: inout SessionIO
    ) -> Outcome {
        do throws(V1Error) {
            let sender = try granted(captured[0], request.header("authorization"), now).sender
            let question = try Self.topicQuestion(request, captured, method)
            let action = question.action
            let target = captured[1]
            if let name = settings.seal.name(of: target.raw) {
                io.events.append(
                    .token(TokenRequest(requester: requester, name: name, sender: sender, action: action)))
            } else if let installation = Self.installation(target) {
                io.events.append(
                    .installation(
                        InstallationRequest(
                            requester: requester, installation: installation, sender: sender,
                            action: .address(action))))
            } else {
                throw V1Error(.invalidToken)
            }
            return .wait(.token(.subscription(question)))
        } catch {
            recordRefusal(error, request, now, &io)
            return .answer(error.response)
        }
    }

    private static func topicQuestion(
        _ request: HTTPRequest, _ captured: [[UInt8]], _ method: TopicMethod
    ) throws(V1Error) -> TopicQuestion {
        guard let query = try? FormBody(request.query.raw) else {
            throw V1Error(invalid: "query", "expected two hexadecimal digits after %")
        }
        var question = TopicQuestion(
            method: method,
            parent: Array("projects/".utf8) + captured[0] + Array("/registrations/".utf8) + captured[1]
                + Array("/topicSubscriptions/".utf8),
            allowsMissing: (query["allow_missing"] ?? query["allowMissing"]) == Array("true".utf8),
            pageSize: try pageSize(query["pageSize"] ?? query["page_size"]))
        guard method != .list else {
            if let mark = query["pageToken"] ?? query["page_token"], !mark.isEmpty {
                guard let after = TopicName(mark) else {
                    throw V1Error(invalid: "page_token", "Invalid page token")
                }
                question.after = after
            }
            return question
        }
        let text = method == .create ? query["topic_name"] ?? query["topicName"] ?? [] : captured[2]
        guard let topic = TopicName(path: text) ?? TopicName(text) else {
            throw V1Error(invalid: "topic_name", "Invalid topic name")
        }
        question.topic = topic
        return question
    }

    /// Parses the size of a list's page: the requested size up to the limit, or the default.
    private static func pageSize(_ text: [UInt8]?) throws(V1Error) -> Int {
        guard let text, !text.isEmpty else { return Limits.Installation.subscriptionsPerPage }
        guard let size = Int(String(decoding: text, as: UTF8.self)), size >= 0 else {
            throw V1Error(invalid: "page_size", "Invalid page size")
        }
        return size == 0
            ? Limits.Installation.subscriptionsPerPage
            : min(size, Limits.Installation.subscriptionsPerRegistration)
    }
}

extension HTTPSession.TopicQuestion {
    /// The action for the core.
    var action: TokenRequest.Action {
        guard let topic else { return .describe }
        switch method {
        case .create: return .subscribe(topic)
        case .patch: return allowsMissing ? .subscribe(topic) : .describe
        case .delete: return .unsubscribe(topic)
        case .get, .list: return .describe
        }
    }

    /// Returns the answer for the core's reply.
    func response(to report: TokenReport) -> HTTPResponse {
        guard method != .list else { return page(of: report.topics) }
        let found = report.topics.first { $0.topic == topic }
        switch method {
        case .create where report.wasThere:
            return V1Error(.conflict, "Requested entity already exists.").response
        case .delete where found != nil || allowsMissing:
            return HTTPResponse(.ok, HTTPResponse.json, Array("{}".utf8))
        default: break
        }
        // Without the detail that would mean that the token itself was deleted.
        guard let found else { return V1Error(.notFound, "Requested entity was not found.").response }
        var body = ByteBuffer()
        append(found, to: &body)
        return HTTPResponse(.ok, HTTPResponse.json, body.copied())
    }

    private func page(of topics: [Subscription]) -> HTTPResponse {
        let sorted = topics.sorted { $0.topic < $1.topic }
        let rest = after.map { after in Array(sorted.drop { $0.topic <= after }) } ?? sorted
        var body = ByteBuffer()
        body.append("{")
        if !rest.isEmpty {
            body.append("\"topicSubscriptions\":[")
            for (at, subscription) in rest.prefix(pageSize).enumerated() {
                if at > 0 { body.append(",") }
                append(subscription, to: &body)
            }
            body.append("]")
        }
        if rest.count > pageSize {
            body.append(",\"nextPageToken\":\"")
            body.append(rest[pageSize - 1].topic.bytes)
            body.append("\"")
        }
        body.append("}")
        return HTTPResponse(.ok, HTTPResponse.json, body.copied())
    }

    private func append(_ subscription: Subscription, to body: inout ByteBuffer) {
        body.append("{\"name\":")
        JSONWriter.append(string: (parent + subscription.topic.bytes).raw, to: &body)
        body.append(",\"topicName\":")
        JSONWriter.append(string: subscription.topic.bytes.raw, to: &body)
        body.append(",\"createTime\":\"")
        Timestamp.append(subscription.since, to: &body)
        body.append("\"}")
    }
}

extension V1Error {
    /// Creates the error of v1 for a refusal of a token request.
    init(_ refusal: TokenRefusal) {
        switch refusal {
        case .notRegistered: self.init(Refusal.notRegistered)
        case .senderMismatch: self = .senderMismatch
        case .tooManyTopics:
            self.init(.tooManyRequests, "The registration has too many topics.", code: .quotaExceeded)
            quotaSubject = "topics"
        case .rateExceeded:
            self.init(
                .tooManyRequests, "The project changes too many subscriptions.", code: .quotaExceeded)
            quotaSubject = "project"
            retrySeconds = Limits.Topic.changeRetrySeconds
        case .registryFull:
            self.init(.unavailable, "\(RequestFault.registryFull.reason)", code: .unavailable)
        case .unavailable: self.init(Refusal.unavailable)
        }
    }
}
