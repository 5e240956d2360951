import Basics
import Wire

/// The requests of one connection that wait for the core or the host, by request ID.
struct HTTPPendingRequests {
    /// The kind of a request, with what its answer needs beside the core's reply.
    enum Question {
        /// A check-in; the security token that the device sent, and the form of the answer.
        case checkIn(given: UInt64?, CheckInForm)
        /// A registration; Chromium understands only the oldest error words.
        case register(isChromium: Bool)
        /// An unregistration or a subscription to a topic, and the body of the answer on success.
        case unregister(done: [UInt8], isChromium: Bool)
        /// A registration of a web app.
        case web(WebAnswer)
        /// An installation, or an access token for one.
        case installation(InstallationAnswer)
        /// A request of a JSON interface, and the body of the answer on success.
        case done([UInt8])
        case push(HTTPSession.Push)
        /// A page of the daemon.
        case page
        /// A question to the message history or about topics, answered in the form of HTTP v1.
        case history
        /// The cancellation of a message.
        case cancellation
        /// A request of the operator API.
        case operation
        /// A send, or a request about many tokens; each token has a request ID of its own.
        case multiToken(any HTTPMultiTokenAnswer)
        /// A send to a group, and the form of its answer.
        case groupSend(HTTPSend.Form)
        /// A change of a group whose tokens are being checked; each token has a request ID of its own.
        case groupMembers(GroupCheck)
        case token(HTTPSession.TokenQuestion)
        /// A request about a group that has been passed to the core.
        case group(HTTPSession.GroupQuestion)

        /// The request if it waits for replies about several tokens.
        var multiTokenRequest: (any HTTPMultiTokenRequest)? {
            switch self {
            case .multiToken(let multiTokenRequest): multiTokenRequest
            case .groupMembers(let check): check
            default: nil
            }
        }
    }

    /// The endpoint that a request reached.
    struct EndpointInfo {
        /// Its index in `Metric.httpEndpoints`; 0 if no endpoint was found.
        var position = 0
        /// Whether it is a preflight, whose answer no description has.
        var isPreflight = false
        /// What its answer permits web pages of other origins.
        var crossOrigin: CrossOriginGrant?
        /// `Retry-After` of its answer, in place of the usual one; `nil` without a fault on purpose.
        var retrySeconds: Int?

        init() {}

        init(_ endpoint: HTTPEndpoint, _ request: HTTPRequest, _ origins: PageOrigins) {
            position = endpoint.position
            if endpoint.isForPages { crossOrigin = origins.grant(to: request) }
        }
    }

    /// One waiting request.
    struct Open {
        /// The number of the exchange.
        var exchange: UInt32
        var question: Question
        var endpointInfo: EndpointInfo
        /// When the request was complete.
        var start: Instant
        /// When the request has waited too long.
        var deadline: Instant
    }

    private var open: [UInt32: Open] = [:]
    /// Request IDs, oldest first, including answered ones; `oldest` is the index of the first that may be open.
    private var order: [UInt32] = []
    private var oldest = 0
    /// Tokens of all open requests without a reply yet.
    private(set) var recipients = 0

    /// Whether no request waits.
    var isEmpty: Bool { open.isEmpty }

    /// The deadline of the oldest request.
    var deadline: Instant {
        guard oldest < order.count, let first = open[order[oldest]] else { return .distantFuture }
        return first.deadline
    }

    /// Adds a request whose answer comes later; deadlines must not descend, except behind one of the operator API.
    mutating func add(_ request: Open, requestID: UInt32) {
        open[requestID] = request
        order.append(requestID)
        recipients += request.question.multiTokenRequest?.pending ?? 0
    }

    /// Records the reply about one of several tokens. Returns the request once all replies are there, else `nil`.
    mutating func record(_ reply: HTTPTokenReply, request: UInt32, index: Int) -> Question? {
        guard let question = open[request]?.question, let multiTokenRequest = question.multiTokenRequest
        else { return nil }
        let before = multiTokenRequest.pending
        multiTokenRequest.recordReply(reply, at: index)
        recipients -= before - multiTokenRequest.pending
        return multiTokenRequest.pending == 0 ? question : nil
    }

    /// Gives the answer to a request this `Retry-After`.
    mutating func delayRetry(_ requestID: UInt32, _ seconds: Int) {
        open[requestID]?.endpointInfo.retrySeconds = seconds
    }

    /// Replaces the kind of a request, after a further question to the core.
    mutating func change(_ requestID: UInt32, to question: Question) { open[requestID]?.question = question }

    /// Returns the kind of a request; `nil` if it was answered or the ID is unknown.
    func question(of requestID: UInt32) -> Question? { open[requestID]?.question }

    /// Returns an open request; `nil` if it was answered or the ID is unknown.
    func open(_ requestID: UInt32) -> Open? { open[requestID] }

    /// Removes and returns a request that is answered now; `nil` if it was answered already or has timed out.
    mutating func remove(_ requestID: UInt32) -> Open? {
        guard let found = open.removeValue(forKey: requestID) else { return nil }
        while oldest < order.count, open[order[oldest]] == nil { oldest += 1 }
        if oldest * 2 > order.count {
            order.removeFirst(oldest)
            oldest = 0
        }
        return found
    }

    /// Removes and returns all requests in the order of their arrival.
    mutating func removeAll() -> [Open] {
        defer { self = HTTPPendingRequests() }
        return order[oldest...].compactMap { open[$0] }
    }
}
