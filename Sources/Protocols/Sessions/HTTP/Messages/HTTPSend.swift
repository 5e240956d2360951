import Basics
import Delivery
import Wire

/// A send request while it waits for the core's replies about its recipients (http 2.3, 2.6).
final class HTTPSend: HTTPMultiTokenAnswer {
    /// The form of the answer.
    enum Form {
        /// `multicast_id` and `results`.
        case json(multicastID: Int64)
        /// `id=` or `Error=`.
        case text
        /// `name`, or an error of v1; `isDryRun`: the message was only validated (http 8.1).
        case v1(project: String, isDryRun: Bool)
        /// One part with an answer of v1 per message (http 8.8).
        case batch([BatchedMessage])
        /// For a topic or condition: `message_id` with a number, or `error`.
        case topicJSON(dryRunID: Int64)
        /// For a topic: `id=` with a number, or `Error=`.
        case topicText(dryRunID: Int64)
    }

    private let form: Form
    /// The refusal of a payload that is too large; reported only for recipients that are valid otherwise (http 2.8).
    private let payloadRefusal: Refusal?
    var tokenResults: HTTPTokenResults<LegacyReply.Result>

    init(_ form: Form, recipients: Int, payloadRefusal: Refusal? = nil) {
        self.form = form
        self.payloadRefusal = payloadRefusal
        tokenResults = HTTPTokenResults(recipients)
    }

    /// The answer; recipients without a result are reported as unavailable, so that the client retries.
    var response: HTTPResponse {
        let results = tokenResults.results.map { applyingPayloadRefusal($0 ?? .refused(.unavailable)) }
        switch form {
        case .json(let id):
            return HTTPResponse(.ok, HTTPResponse.json, LegacyReply.json(results, multicastID: id))
        case .topicJSON(let id):
            return HTTPResponse(.ok, HTTPResponse.json, LegacyReply.topicJSON(results[0], dryRunID: id))
        case .text, .topicText:
            // In this form, unavailability is reported by the status, never by an error word (http 2.6).
            switch results[0] {
            case .refused(.storeDamaged):
                return .plain(RequestFault(.unavailable, "The store of this server is damaged, try again."))
            case .refused(.unavailable), .refused(.senderRateExceeded), .refused(.draining):
                return .plain(RequestFault(.unavailable, "The server is unavailable, try again."))
            case .refused(.internalError):
                return .plain(RequestFault(.internalError, "Internal error, try again."))
            default: return HTTPResponse(.ok, HTTPResponse.text, text(results[0]))
            }
        case .v1(let project, let isDryRun):
            return V1Reply.response(to: results[0], project: project, isDryRun: isDryRun)
        case .batch(let messages):
            return BatchReply.response(
                zip(messages, results).map { ($0.contentID, $0.response(to: $1)) })
        }
    }

    private func applyingPayloadRefusal(_ result: LegacyReply.Result) -> LegacyReply.Result {
        if case .sent = result, let payloadRefusal { .refused(payloadRefusal) } else { result }
    }

    private func text(_ result: LegacyReply.Result) -> [UInt8] {
        if case .topicText(let id) = form { return LegacyReply.topicText(result, dryRunID: id) }
        return LegacyReply.text(result)
    }
}
