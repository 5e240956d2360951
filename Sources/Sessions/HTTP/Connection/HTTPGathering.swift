import Basics
import Delivery
import Wire

/// What the core says of one of several tokens.
enum HTTPWord {
    /// What became of a message to it.
    case message(LegacyReply.Result)
    /// What became of its subscription; nil: what was wanted.
    case subscription(TokenRefusal?)
    /// Its registration.
    case registration(RegistrationName)
    /// Why it could not be registered.
    case registrationRefused(RegistrationRefusal)
}

/// What is known of each of several tokens; the first word on each counts.
struct HTTPGathered<Result> {
    /// In the order of the request; nil: nothing is known yet.
    private(set) var results: [Result?]
    /// Of how many nothing is known.
    private(set) var pending: Int

    /// Of so many nothing is known.
    init(_ count: Int) {
        results = Array(repeating: nil, count: count)
        pending = count
    }

    /// Notes what became of one.
    mutating func note(_ result: Result, at index: Int) {
        guard index < results.count, results[index] == nil else { return }
        results[index] = result
        pending -= 1
    }
}

/// A request that waits for the core's word on each of several tokens, which have request IDs of their own.
protocol HTTPGathering: AnyObject {
    associatedtype Result
    /// What is known of each.
    var gathered: HTTPGathered<Result> { get set }
    /// What a word means to such a request; nil: it is none for it.
    func result(of word: HTTPWord) -> Result?
}

extension HTTPGathering {
    /// Tokens of which the core has not told.
    var pending: Int { gathered.pending }

    /// Notes what became of one, without the core.
    func note(_ result: Result, at index: Int) { gathered.note(result, at: index) }

    /// Notes the word on one.
    func take(_ word: HTTPWord, at index: Int) {
        if let result = result(of: word) { note(result, at: index) }
    }
}

extension HTTPGathering where Result == LegacyReply.Result {
    func result(of word: HTTPWord) -> LegacyReply.Result? {
        if case .message(let result) = word { result } else { nil }
    }
}

/// One that is answered as soon as all is known, or when the time is over.
protocol HTTPGatheredAnswer: HTTPGathering {
    /// The answer; what is not known by then is told as such.
    var response: HTTPResponse { get }
}

extension HTTPGatheredAnswer {
    /// What a request comes to that has asked the core all it asks.
    var outcome: HTTPSession.Outcome { pending == 0 ? .answer(response) : .wait(.gathered(self)) }
}

/// The request IDs of the recipients of one request: apart from those of requests, and each finds its request and its place.
enum RecipientRequestID {
    private static let mark: UInt32 = 1 << 31
    private static let indexBits: UInt32 = 10

    /// Requests are numbered from 1 up to this, then again from 1.
    static let highestRequest: UInt32 = 1 << (31 - indexBits) - 1

    /// The request ID of a recipient; `Limits.HTTP.recipientsPerRequest` fits into the bits of the index.
    static func make(request: UInt32, index: Int) -> UInt32 {
        mark | request << indexBits | UInt32(index)
    }

    /// The request and the place that a request ID stands for; nil for the request ID of a request.
    static func parts(_ requestID: UInt32) -> (request: UInt32, index: Int)? {
        guard requestID & mark != 0 else { return nil }
        return ((requestID & ~mark) >> indexBits, Int(requestID & (1 << indexBits - 1)))
    }
}
