import Basics
import Delivery
import Wire

/// A request to send to one or many, while the core has not told of all of them (http 2.3, 2.6).
final class HTTPSend: HTTPGatheredAnswer {
    /// How the answer is told.
    enum Form {
        /// `multicast_id` and `results`.
        case json(multicastID: Int64)
        /// `id=` or `Error=`.
        case text
        /// `name`, or an error of v1; `isDryRun`: the message was only looked at (http 8.1).
        case v1(project: String, isDryRun: Bool)
        /// A part with the answer of v1 for each message (http 8.8).
        case batch([BatchedMessage])
        /// `message_id`, a number, or `error`: of a topic or condition.
        case topicJSON(dryRunID: Int64)
        /// `id=` with a number, or `Error=`: of a topic.
        case topicText(dryRunID: Int64)
    }

    private let form: Form
    /// What a recipient is told that would be sent to: a payload that is too large is told only to those (http 2.8).
    private let payloadRefusal: Refusal?
    var gathered: HTTPGathered<LegacyReply.Result>

    /// A send to so many, of none of which anything is known.
    init(_ form: Form, recipients: Int, payloadRefusal: Refusal? = nil) {
        self.form = form
        self.payloadRefusal = payloadRefusal
        gathered = HTTPGathered(recipients)
    }

    /// The answer; of whom nothing is known, it is said to be worth another try.
    var response: HTTPResponse {
        let results = gathered.results.map { told($0 ?? .refused(.unavailable)) }
        switch form {
        case .json(let id):
            return HTTPResponse(.ok, HTTPResponse.json, LegacyReply.json(results, multicastID: id))
        case .topicJSON(let id):
            return HTTPResponse(.ok, HTTPResponse.json, LegacyReply.topicJSON(results[0], dryRunID: id))
        case .text, .topicText:
            // Being unavailable is told by the status in this form, never by a word (http 2.6).
            switch results[0] {
            case .refused(.unavailable), .refused(.senderRateExceeded), .refused(.draining):
                return .plain(RequestFault(.unavailable, "The server cannot take it now, try again."))
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

    private func told(_ result: LegacyReply.Result) -> LegacyReply.Result {
        if case .sent = result, let payloadRefusal { .refused(payloadRefusal) } else { result }
    }

    private func text(_ result: LegacyReply.Result) -> [UInt8] {
        if case .topicText(let id) = form { return LegacyReply.topicText(result, dryRunID: id) }
        return LegacyReply.text(result)
    }
}
