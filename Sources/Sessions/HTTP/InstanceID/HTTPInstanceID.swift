import Basics
import Delivery
import Wire

/// The Instance ID interface of app servers: what is known of a token, and its topics (http 7).
extension HTTPSession {
    /// What a request about a token is answered with, beside what the core says.
    enum TokenQuestion {
        /// What is known of it; `details`: its topics too.
        case info(SenderID, details: Bool)
        /// That it is done.
        case done
        /// A subscription in the form of v1.
        case subscription(TopicQuestion)
    }

    /// `GET /iid/info/TOKEN` (http 7.1).
    func tokenInfo(
        _ request: HTTPRequest, token: [UInt8], _ requester: Requester, _ now: Now, _ io: inout SessionIO
    ) -> Outcome {
        do throws(HTTPRefusal) {
            let sender = try sender(of: request, now)
            guard let query = try? FormBody(request.query.raw) else {
                throw HTTPRefusal(.told("the query is none: % must be followed by two digits", .badRequest))
            }
            guard let name = settings.seal.name(of: token.raw) else {
                io.refuse(.invalidToken, sender: sender, to: token)
                throw HTTPRefusal(.told("InvalidToken", .badRequest))
            }
            io.events.append(
                .token(TokenRequest(requester: requester, name: name, sender: sender, action: .describe)))
            return .wait(.token(.info(sender, details: query["details"] == Array("true".utf8))))
        } catch { return .answer(error.response) }
    }

    /// `POST` and `DELETE /iid/v1/TOKEN/rel/topics/NAME` (http 7.2).
    func relate(
        _ request: HTTPRequest, _ captured: [[UInt8]], isEnd: Bool, _ requester: Requester, _ now: Now,
        _ io: inout SessionIO
    ) -> Outcome {
        do throws(HTTPRefusal) {
            let sender = try sender(of: request, now)
            let token = captured[0]
            guard let name = settings.seal.name(of: token.raw) else {
                io.refuse(.invalidToken, sender: sender, to: token)
                throw HTTPRefusal(.told("InvalidToken", .badRequest))
            }
            guard let topic = TopicName(captured[1]) else { throw HTTPRefusal(.malformedTopic) }
            io.events.append(
                .token(
                    TokenRequest(
                        requester: requester, name: name, sender: sender,
                        action: isEnd ? .unsubscribe(topic) : .subscribe(topic))))
            return .wait(.token(.done))
        } catch { return .answer(error.response) }
    }

    /// `POST /iid/v1:batchAdd` and `:batchRemove` (http 7.3).
    func relateMany(
        _ request: HTTPRequest, isEnd: Bool, _ requester: Requester, _ now: Now, _ io: inout SessionIO
    ) -> Outcome {
        do throws(HTTPRefusal) {
            let sender = try sender(of: request, now)
            let body = try Self.noteBody(of: request)
            guard let topic = body["to"]?.text.flatMap({ TopicName(path: Array($0.utf8)) }) else {
                throw HTTPRefusal(.malformedTopic)
            }
            guard let tokens = body["registration_tokens"]?.elements, !tokens.isEmpty else {
                throw HTTPRefusal(.told("MissingIIdToken", .badRequest))
            }
            guard tokens.count <= Limits.HTTP.recipientsPerRequest else {
                throw HTTPRefusal(
                    .told(
                        "registration_tokens: at most \(Limits.HTTP.recipientsPerRequest) tokens are taken",
                        .badRequest))
            }
            let batch = TokenBatch(tokens: tokens.count)
            for (index, token) in tokens.enumerated() {
                guard let text = token.text, let name = settings.seal.name(of: Array(text.utf8).raw) else {
                    io.refuse(.invalidToken, sender: sender, to: Array((token.text ?? "").utf8))
                    batch.note(.malformed, at: index)
                    continue
                }
                let requestID = RecipientRequestID.make(request: requester.requestID, index: index)
                io.events.append(
                    .token(
                        TokenRequest(
                            requester: Requester(connection: connection, requestID: requestID), name: name,
                            sender: sender, action: isEnd ? .unsubscribe(topic) : .subscribe(topic))))
            }
            return batch.outcome
        } catch { return .answer(error.response) }
    }

    /// The JSON of a request whose errors are told in `error`.
    static func noteBody(of request: HTTPRequest) throws(HTTPRefusal) -> JSONValue {
        do throws(JSONError) { return try JSONValue(parsing: request.body.raw) } catch {
            throw HTTPRefusal(
                .told(
                    "the body is no JSON: \(error.fault.rawValue) at position \(error.offset)", .badRequest)
            )
        }
    }

    /// The answer to a request about one token.
    func response(to report: TokenReport, _ question: TokenQuestion) -> HTTPResponse {
        switch question {
        case .info(let sender, let details):
            HTTPResponse(.ok, HTTPResponse.json, report.info(sender, details: details))
        case .done: HTTPResponse(.ok, HTTPResponse.json, Array("{}".utf8))
        case .subscription(let question): question.response(to: report)
        }
    }

    /// A refusal in the words of the interface that was asked (http 7.6, 8.5).
    func answer(refused refusal: TokenRefusal, _ question: TokenQuestion) -> HTTPResponse {
        if case .subscription = question { return V1Error(refusal).response }
        switch refusal {
        case .notRegistered:
            return .told("No information found about this instance id.", .notFound)
        case .senderMismatch:
            return .told("The authorization does not match the authorizedEntity of the token.", .forbidden)
        case .tooManyTopics: return .told("TOO_MANY_TOPICS", .badRequest)
        case .rateExceeded: return .tooManyTopicChanges
        case .registryFull: return .registryFull
        case .unavailable:
            var response = HTTPResponse.told("The server cannot tell now, try again.", .unavailable)
            response.extra = ("Retry-After", String(Limits.HTTP.sendRetrySeconds))
            return response
        }
    }
}

extension TokenReport {
    /// The members of `/iid/info`; the version of an app that told none is empty (http 7.1).
    func info(_ sender: SenderID, details: Bool) -> [UInt8] {
        var body = ByteBuffer()
        body.append("{\"application\":")
        JSONWriter.append(string: registration.category.raw, to: &body)
        body.append(",\"applicationVersion\":")
        JSONWriter.append(string: registration.appVersion.raw, to: &body)
        body.append(",\"authorizedEntity\":\"")
        body.append(text: String(sender.number))
        body.append("\",\"platform\":\"")
        body.append(platform)
        body.append("\"")
        if details, !topics.isEmpty {
            body.append(",\"rel\":{\"topics\":{")
            for (at, subscription) in topics.sorted(by: { $0.topic < $1.topic }).enumerated() {
                if at > 0 { body.append(",") }
                JSONWriter.append(string: subscription.topic.bytes.raw, to: &body)
                body.append(":{\"addDate\":\"")
                body.append(text: String(Timestamp.text(subscription.since).prefix(10)))
                body.append("\"}")
            }
            body.append("}}")
        }
        body.append("}")
        return body.copied()
    }

    /// Where the app runs, by how it registered.
    private var platform: StaticString {
        switch registration.channel {
        case .apns: "IOS"
        case .webPush: "CHROME"
        case .mcs: registration.category.starts(with: "com.chrome.".utf8) ? "CHROME" : "ANDROID"
        }
    }
}

/// A change of one topic for many tokens, while the core has not told of all of them (http 7.3).
final class TokenBatch: HTTPGatheredAnswer {
    /// What became of one token.
    enum Result {
        case done
        /// It is no token.
        case malformed
        case refused(TokenRefusal)

        /// Whether it was refused for this.
        func isRefused(_ reason: TokenRefusal) -> Bool {
            if case .refused(reason) = self { true } else { false }
        }
    }

    var gathered: HTTPGathered<Result>

    /// A change of so many, of none of which anything is known.
    init(tokens: Int) { gathered = HTTPGathered(tokens) }

    func result(of word: HTTPWord) -> Result? {
        if case .subscription(let refusal) = word { refusal.map { .refused($0) } ?? .done } else { nil }
    }

    /// The answer, in the order of the request; of whom nothing is known, the time is over.
    var response: HTTPResponse {
        // Nothing was done: the whole request may be repeated.
        if gathered.results.allSatisfy({ $0?.isRefused(.rateExceeded) == true }) {
            return .tooManyTopicChanges
        }
        if gathered.results.allSatisfy({ $0?.isRefused(.registryFull) == true }) { return .registryFull }
        var body = ByteBuffer()
        body.append("{\"results\":[")
        for (at, result) in gathered.results.enumerated() {
            if at > 0 { body.append(",") }
            guard let word = Self.word(for: result) else {
                body.append("{}")
                continue
            }
            body.append("{\"error\":\"")
            body.append(word)
            body.append("\"}")
        }
        body.append("]}")
        return HTTPResponse(.ok, HTTPResponse.json, body.copied())
    }

    /// All words of `error`, each once.
    static let words = ([.malformed, nil] + TokenRefusal.allCases.map { Result.refused($0) })
        .compactMap { word(for: $0) }.map { "\($0)" }
        .reduce(into: [String]()) { words, word in if !words.contains(word) { words.append(word) } }

    private static func word(for result: Result?) -> StaticString? {
        switch result {
        case .done: nil
        case .malformed: "INVALID_ARGUMENT"
        case .refused(.notRegistered): "NOT_FOUND"
        case .refused(.senderMismatch): "PERMISSION_DENIED"
        case .refused(.tooManyTopics): "TOO_MANY_TOPICS"
        case .refused(.rateExceeded), .refused(.registryFull): "RESOURCE_EXHAUSTED"
        case .refused(.unavailable): "INTERNAL"
        case nil: "DEADLINE_EXCEEDED"
        }
    }
}

extension HTTPResponse {
    /// An object whose `error` is a text, as the interfaces of groups and of Instance ID tell what is wrong.
    static func told(_ error: String, _ status: HTTPStatus) -> HTTPResponse {
        var body = ByteBuffer()
        body.append("{\"error\":")
        JSONWriter.append(text: error, to: &body)
        body.append("}")
        return HTTPResponse(status, json, body.copied())
    }

    /// More subscriptions in a second than a sender may change (http 5.2).
    static let tooManyTopicChanges = {
        var response = told("RESOURCE_EXHAUSTED", .tooManyRequests)
        response.extra = ("Retry-After", String(Limits.Topic.changeRetrySeconds))
        return response
    }()

    /// A name that is none of a topic (http 5.1, 7.3).
    static let malformedTopic = told("Topic name format is invalid", .badRequest)
}
