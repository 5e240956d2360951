import Basics
import Delivery
import Wire

/// The core's reply about one of several tokens.
enum HTTPTokenReply {
    /// The result of a message to the token.
    case message(LegacyReply.Result)
    /// The result of a change of a subscription; `nil`: success.
    case subscription(TokenRefusal?)
    case registration(TokenName)
    case registrationRefused(RegistrationRefusal)
}

/// The results for several tokens; the first result of each counts.
struct HTTPTokenResults<Result> {
    /// In the order of the request; `nil` if not known yet.
    private(set) var results: [Result?]
    /// The number of tokens without a result.
    private(set) var pending: Int

    init(_ count: Int) {
        results = Array(repeating: nil, count: count)
        pending = count
    }

    /// Records the result for one token.
    mutating func recordResult(_ result: Result, at index: Int) {
        guard index < results.count, results[index] == nil else { return }
        results[index] = result
        pending -= 1
    }
}

/// A request about several tokens that waits for the core's reply about each, under request IDs of their own.
protocol HTTPMultiTokenRequest: AnyObject {
    associatedtype Result
    var tokenResults: HTTPTokenResults<Result> { get set }
    /// Returns the result that a reply stands for; `nil` if it is not a reply to such a request.
    func result(of reply: HTTPTokenReply) -> Result?
}

extension HTTPMultiTokenRequest {
    /// The number of tokens without a result.
    var pending: Int { tokenResults.pending }

    /// Records the result for one token.
    func recordResult(_ result: Result, at index: Int) { tokenResults.recordResult(result, at: index) }

    /// Records the core's reply about one token.
    func recordReply(_ reply: HTTPTokenReply, at index: Int) {
        if let result = result(of: reply) { recordResult(result, at: index) }
    }
}

extension HTTPMultiTokenRequest where Result == LegacyReply.Result {
    func result(of reply: HTTPTokenReply) -> LegacyReply.Result? {
        if case .message(let result) = reply { result } else { nil }
    }
}

/// A request about several tokens that is answered once all results are known, or at its deadline.
protocol HTTPMultiTokenAnswer: HTTPMultiTokenRequest {
    /// The answer; tokens without a result are reported as timed out or unavailable.
    var response: HTTPResponse { get }
}

extension HTTPMultiTokenAnswer {
    /// The answer if all results are known already, else the wait for the core.
    var outcome: HTTPSession.Outcome { pending == 0 ? .answer(response) : .wait(.multiToken(self)) }
}

/// Request IDs for the recipients of one request: distinct from those of requests, they encode the request and the index.
enum RecipientRequestID {
    private static let mark: UInt32 = 1 << 31
    private static let indexBits: UInt32 = 10

    /// Requests are numbered from 1 to this, then again from 1.
    static let highestRequest: UInt32 = 1 << (31 - indexBits) - 1

    /// Encodes a recipient; `Limits.HTTP.recipientsPerRequest` fits into the bits of the index.
    static func make(request: UInt32, index: Int) -> UInt32 {
        mark | request << indexBits | UInt32(index)
    }

    /// Decodes the request and the index; `nil` for the ID of a whole request.
    static func parts(_ requestID: UInt32) -> (request: UInt32, index: Int)? {
        guard requestID & mark != 0 else { return nil }
        return ((requestID & ~mark) >> indexBits, Int(requestID & (1 << indexBits - 1)))
    }
}
