import Basics
import Delivery
import Wire

/// The Instance ID interface of app servers: information about tokens, and their topics (http 7).
extension HTTPSession {
    /// What a request about a token is answered with.
    enum TokenQuestion {
        /// Information about the token; with `details`, its topics too.
        case info(SenderID, details: Bool)
        /// An empty object.
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
            let query = try Self.query(of: request)
            guard let name = settings.seal.name(of: token.raw) else {
                io.refuse(.invalidToken, sender: sender, to: token, isMessage: false)
                throw HTTPRefusal(.errorObject("InvalidToken", .badRequest))
            }
            io.events.append(
                .token(TokenRequest(requester: requester, name: name, sender: sender, action: .describe)))
            return .wait(.token(.info(sender, details: query["details"] == Array("true".utf8))))
        } catch { return .answer(error.response) }
    }

    /// `POST` and `DELETE /iid/v1/TOKEN/rel/topics/NAME` (http 7.2).
    func changeSubscription(
        _ request: HTTPRequest, _ captured: [[UInt8]], isEnd: Bool, _ requester: Requester, _ now: Now,
        _ io: inout SessionIO
    ) -> Outcome {
        do throws(HTTPRefusal) {
            let sender = try sender(of: request, now)
            let token = captured[0]
            guard let name = settings.seal.name(of: token.raw) else {
                io.refuse(.invalidToken, sender: sender, to: token, isMessage: false)
                throw HTTPRefusal(.errorObject("InvalidToken", .badRequest))
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
    func changeSubscriptions(
        _ request: HTTPRequest, isEnd: Bool, _ requester: Requester, _ now: Now, _ io: inout SessionIO
    ) -> Outcome {
        do throws(HTTPRefusal) {
            let sender = try sender(of: request, now)
            let body = try Self.jsonBody(of: request)
            guard let topic = body["to"]?.text.flatMap({ TopicName(path: Array($0.utf8)) }) else {
                throw HTTPRefusal(.malformedTopic)
            }
            guard let tokens = body["registration_tokens"]?.elements, !tokens.isEmpty else {
                throw HTTPRefusal(.errorObject("MissingIIdToken", .badRequest))
            }
            guard tokens.count <= Limits.HTTP.recipientsPerRequest else {
                throw HTTPRefusal(
                    .errorObject(
                        "too many registration_tokens: expected at most \(Limits.HTTP.recipientsPerRequest)",
                        .badRequest))
            }
            let batch = TokenBatch(tokens: tokens.count)
            for (index, token) in tokens.enumerated() {
                guard let text = token.text, let name = settings.seal.name(of: Array(text.utf8).raw) else {
                    io.refuse(
                        .invalidToken, sender: sender, to: Array((token.text ?? "").utf8), isMessage: false)
                    batch.recordResult(.malformed, at: index)
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

    /// Parses the JSON body of a request whose errors are reported in `error`.
    static func jsonBody(of request: HTTPRequest) throws(HTTPRefusal) -> JSONValue {
        do throws(JSONError) { return try JSONValue(parsing: request.body.raw) } catch {
            throw HTTPRefusal(
                .errorObject(
                    "invalid JSON at byte \(error.offset): \(error.fault.rawValue)", .badRequest)
            )
        }
    }

    /// Parses the query of a request whose errors are reported in `error`.
    static func query(of request: HTTPRequest) throws(HTTPRefusal) -> FormBody {
        guard let query = try? FormBody(request.query.raw) else {
            throw HTTPRefusal(
                .errorObject("invalid query: expected two hexadecimal digits after %", .badRequest))
        }
        return query
    }

    /// Returns the answer to a request about one token.
    func response(to report: TokenReport, _ question: TokenQuestion) -> HTTPResponse {
        switch question {
        case .info(let sender, let details):
            HTTPResponse(.ok, HTTPResponse.json, report.info(sender, details: details))
        case .done: HTTPResponse(.ok, HTTPResponse.json, Array("{}".utf8))
        case .subscription(let question): question.response(to: report)
        }
    }

    /// Returns the answer to a refusal, in the error form of the interface (http 7.6, 8.5).
    func answer(refused refusal: TokenRefusal, _ question: TokenQuestion) -> HTTPResponse {
        if case .subscription = question { return V1Error(refusal).response }
        switch refusal {
        case .notRegistered:
            return .errorObject("No information found about this instance id.", .notFound)
        case .senderMismatch:
            return .errorObject(
                "The authorization does not match the authorizedEntity of the token.", .forbidden)
        case .tooManyTopics: return .errorObject("TOO_MANY_TOPICS", .badRequest)
        case .rateExceeded: return .tooManyTopicChanges
        case .registryFull: return .registryFull
        case .unavailable:
            var response = HTTPResponse.errorObject("The server is unavailable, try again.", .unavailable)
            response.extra = ("Retry-After", String(Limits.HTTP.sendRetrySeconds))
            return response
        }
    }
}

extension TokenReport {
    /// Encodes the answer of `/iid/info`; the version of an app that sent none is empty (http 7.1).
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

    /// The platform of the app, by the kind of its registration.
    private var platform: StaticString {
        switch registration.channel {
        case .apns: "IOS"
        case .webPush: "CHROME"
        case .mcs: registration.category.starts(with: "com.chrome.".utf8) ? "CHROME" : "ANDROID"
        }
    }
}

/// A subscription of many tokens to one topic, or its end, while it waits for the core's replies (http 7.3).
public final class TokenBatch: HTTPMultiTokenAnswer {
    /// The result for one token.
    enum Result {
        case done
        /// The text is not a token of this server.
        case malformed
        case refused(TokenRefusal)

        func isRefused(_ reason: TokenRefusal) -> Bool {
            if case .refused(reason) = self { true } else { false }
        }
    }

    var tokenResults: HTTPTokenResults<Result>

    init(tokens: Int) { tokenResults = HTTPTokenResults(tokens) }

    func result(of reply: HTTPTokenReply) -> Result? {
        if case .subscription(let refusal) = reply { refusal.map { .refused($0) } ?? .done } else { nil }
    }

    /// The answer, in the order of the request; tokens without a result have timed out.
    var response: HTTPResponse {
        // Nothing was changed, so the whole request may be repeated.
        if tokenResults.results.allSatisfy({ $0?.isRefused(.rateExceeded) == true }) {
            return .tooManyTopicChanges
        }
        if tokenResults.results.allSatisfy({ $0?.isRefused(.registryFull) == true }) { return .registryFull }
        var body = ByteBuffer()
        body.append("{\"results\":[")
        for (at, result) in tokenResults.results.enumerated() {
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

    /// All values of `error`, without duplicates.
    public static let words = ([.malformed, nil] + TokenRefusal.allCases.map { Result.refused($0) })
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
    /// Returns a JSON object with a text in `error`, the error form of the interfaces for groups and Instance ID.
    static func errorObject(_ error: String, _ status: HTTPStatus) -> HTTPResponse {
        var body = ByteBuffer()
        body.append("{\"error\":")
        JSONWriter.append(text: error, to: &body)
        body.append("}")
        return HTTPResponse(status, json, body.copied())
    }

    /// The answer to a sender that changes more subscriptions per second than allowed (http 5.2).
    static let tooManyTopicChanges = {
        var response = errorObject("RESOURCE_EXHAUSTED", .tooManyRequests)
        response.extra = ("Retry-After", String(Limits.Topic.changeRetrySeconds))
        return response
    }()

    /// The answer to a malformed topic name (http 5.1, 7.3).
    static let malformedTopic = errorObject("Topic name format is invalid", .badRequest)
}
