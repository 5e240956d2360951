import Basics
import Wire

/// The requests of one connection that wait for the core or the host, by request ID.
struct HTTPAnswers {
    /// What the answer will need that the core does not say.
    enum Question {
        /// A check-in; the security token that the device gave, and how it is to be answered.
        case checkIn(given: UInt64?, CheckInForm)
        /// A registration; whether the client knows only the oldest words for an error.
        case register(isChromium: Bool)
        /// An unregistration or a subscription to a topic, and the body that says it is done.
        case unregister(done: [UInt8], isChromium: Bool)
        /// A token of a web app, and what its answer says beside it.
        case web(WebAnswer)
        /// An installation or a token of it, and what its answer says beside its record.
        case installation(InstallationAnswer)
        /// A request of a JSON interface, and the body that says it is done.
        case done([UInt8])
        /// A web push.
        case push(HTTPSession.Push)
        /// A page of the daemon.
        case page
        /// A send, or a request about many tokens; each of them has a request ID of its own.
        case gathered(any HTTPGatheredAnswer)
        /// A send to a group, and the form of its answer.
        case groupSend(HTTPSend.Form)
        /// A change of a group whose tokens are being looked at; each has a request ID of its own.
        case groupMembers(GroupCheck)
        /// A request about a token.
        case token(HTTPSession.TokenQuestion)
        /// A request about a group that the core has been asked.
        case group(HTTPSession.GroupQuestion)

        /// What waits for the word on several tokens.
        var gathering: (any HTTPGathering)? {
            switch self {
            case .gathered(let gathering): gathering
            case .groupMembers(let check): check
            default: nil
            }
        }
    }

    /// Which endpoint a request reached.
    struct Asked {
        /// Its position among `Metric.httpEndpoints`; 0 while it is none.
        var position = 0
        /// What it may answer.
        var answers: [HTTPDescription.Answer] = []

        /// None.
        init() {}

        /// This one.
        init(_ endpoint: HTTPEndpoint) {
            position = endpoint.position
            answers = endpoint.answers
        }
    }

    /// One request that waits.
    struct Open {
        /// Its number at the front.
        var exchange: UInt32
        /// What was asked.
        var question: Question
        /// Which endpoint was asked.
        var asked: Asked
        /// When it has waited too long.
        var deadline: Instant
    }

    private var open: [UInt32: Open] = [:]
    /// Request IDs with the oldest first, among them some that are answered; `oldest` is the first that may be open.
    private var order: [UInt32] = []
    private var oldest = 0
    /// Recipients of all open sends of which nothing is known yet.
    private(set) var recipients = 0

    /// Whether no request waits.
    var isEmpty: Bool { open.isEmpty }

    /// When the oldest of them has waited too long.
    var deadline: Instant {
        guard oldest < order.count, let first = open[order[oldest]] else { return .distantFuture }
        return first.deadline
    }

    /// Notes a request whose answer comes later; deadlines must not descend.
    mutating func add(_ request: Open, requestID: UInt32) {
        open[requestID] = request
        order.append(requestID)
        recipients += request.question.gathering?.pending ?? 0
    }

    /// Notes what became of one of several tokens; what was asked, once all are known.
    mutating func note(_ word: HTTPWord, request: UInt32, index: Int) -> Question? {
        guard let question = open[request]?.question, let gathering = question.gathering else { return nil }
        let before = gathering.pending
        gathering.take(word, at: index)
        recipients -= before - gathering.pending
        return gathering.pending == 0 ? question : nil
    }

    /// What a request waits for from here on, after the core has been asked something else for it.
    mutating func change(_ requestID: UInt32, to question: Question) { open[requestID]?.question = question }

    /// What was asked under a request ID; nil if it was answered or is none of ours.
    func question(of requestID: UInt32) -> Question? { open[requestID]?.question }

    /// Takes a request away that is answered now; nil for a second answer, or one that came too late.
    mutating func take(_ requestID: UInt32) -> Open? {
        guard let found = open.removeValue(forKey: requestID) else { return nil }
        while oldest < order.count, open[order[oldest]] == nil { oldest += 1 }
        if oldest * 2 > order.count {
            order.removeFirst(oldest)
            oldest = 0
        }
        return found
    }

    /// Takes all away, in the order in which they came.
    mutating func takeAll() -> [Open] {
        defer { self = HTTPAnswers() }
        return order[oldest...].compactMap { open[$0] }
    }
}
