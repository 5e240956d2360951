import Basics
import Delivery
import Wire

/// What the core says of one of several tokens.
enum HTTPWord {
    /// What became of a message to it.
    case message(LegacyReply.Result)
    /// What became of its subscription; nil: what was wanted.
    case subscription(TokenRefusal?)
}

/// A request that waits for the core's word on each of several tokens, which have tickets of their own.
protocol HTTPGathering: AnyObject {
    /// Tokens of which the core has not told.
    var pending: Int { get }
    /// Notes the word on one; the first counts.
    func take(_ word: HTTPWord, at index: Int)
}

/// One that waits for what became of messages.
protocol HTTPRecipients: HTTPGathering {
    /// Notes what became of one; the first word counts.
    func note(_ result: LegacyReply.Result, at index: Int)
}

extension HTTPRecipients {
    func take(_ word: HTTPWord, at index: Int) {
        if case .message(let result) = word { note(result, at: index) }
    }
}

/// A request to send to one or many, while the core has not told of all of them (http 2.3, 2.6).
final class HTTPSend: HTTPRecipients {
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
    private var results: [LegacyReply.Result?]
    private(set) var pending: Int

    /// A send to so many, of none of which anything is known.
    init(_ form: Form, recipients: Int, payloadRefusal: Refusal? = nil) {
        self.form = form
        self.payloadRefusal = payloadRefusal
        results = Array(repeating: nil, count: recipients)
        pending = recipients
    }

    func note(_ result: LegacyReply.Result, at index: Int) {
        guard index < results.count, results[index] == nil else { return }
        if case .sent = result, let payloadRefusal {
            results[index] = .refused(payloadRefusal)
        } else {
            results[index] = result
        }
        pending -= 1
    }

    /// The answer; of whom nothing is known, it is said to be worth another try.
    var response: HTTPResponse {
        let results = results.map { $0 ?? .refused(.unavailable) }
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

    private func text(_ result: LegacyReply.Result) -> [UInt8] {
        if case .topicText(let id) = form { return LegacyReply.topicText(result, dryRunID: id) }
        return LegacyReply.text(result)
    }
}

/// The tickets of the recipients of one request: apart from those of requests, and each finds its request and its place.
enum RecipientTicket {
    private static let mark: UInt32 = 1 << 31
    private static let indexBits: UInt32 = 10

    /// Requests are numbered from 1 up to this, then again from 1.
    static let highestRequest: UInt32 = 1 << (31 - indexBits) - 1

    /// The ticket of a recipient; `Limits.recipientsPerRequest` fits into the bits of the index.
    static func make(request: UInt32, index: Int) -> UInt32 {
        mark | request << indexBits | UInt32(index)
    }

    /// The request and the place that a ticket stands for; nil for the ticket of a request.
    static func parts(_ ticket: UInt32) -> (request: UInt32, index: Int)? {
        guard ticket & mark != 0 else { return nil }
        return ((ticket & ~mark) >> indexBits, Int(ticket & (1 << indexBits - 1)))
    }
}
