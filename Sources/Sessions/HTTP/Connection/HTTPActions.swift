import Basics
import Delivery
import Wire

extension HTTPSession {
    /// What a request leads to.
    enum Outcome {
        case answer(HTTPResponse)
        case wait(HTTPAnswers.Question)
    }

    /// Finds what a request asks for, and begins it; the endpoint is put into `asked`.
    func outcome(
        of request: HTTPRequest, _ requester: Requester, asked: inout HTTPAnswers.Asked, _ now: Now,
        _ io: inout SessionIO
    ) -> Outcome {
        if request.isServerWide { return .answer(HTTPEndpoint.allMethods(of: endpoints)) }
        guard let path = HTTPPath(request.path) else {
            return .answer(
                .plain(RequestFault(.badRequest, "A % in the path is not followed by two digits.")))
        }
        let found = path.found(in: endpoints)
        guard let first = found.first else {
            return .answer(.plain(RequestFault(.notFound, "There is nothing at this path.")))
        }
        var errors = first.endpoint.errors
        asked = HTTPAnswers.Asked(first.endpoint)
        do throws(RequestFault) {
            guard let (endpoint, captured) = found.first(where: { $0.endpoint.takes(request.method) }) else {
                throw RequestFault(.methodNotAllowed, "The path does not take this method.")
            }
            errors = endpoint.errors
            asked = HTTPAnswers.Asked(endpoint)
            if endpoint.needsBody, !request.delimitsBody {
                throw RequestFault(.lengthRequired, "The request has no body.")
            }
            // What a web push is coded with is for the web app to undo.
            let plain = endpoint.action == .push ? request : try request.decompressed()
            return try begin(endpoint.action, plain, captured, requester, now, &io)
        } catch {
            var response = Self.response(to: error, errors)
            if error.status == .methodNotAllowed {
                response.extra = ("Allow", HTTPEndpoint.allow(found.map(\.endpoint)))
            }
            if error.status == .unsupportedMediaType {
                response.extra = ("Accept-Encoding", "gzip, identity")
            }
            return .answer(response)
        }
    }

    /// A fault in the words of an endpoint.
    private static func response(to fault: RequestFault, _ form: HTTPEndpoint.ErrorForm) -> HTTPResponse {
        switch form {
        case .text: .plain(fault)
        case .json: .rpc(fault)
        case .note: .told("\(fault.reason)", fault.status)
        case .word:
            switch fault.status {
            case .badRequest, .lengthRequired, .unsupportedMediaType:
                refusal(.invalidParameters, isChromium: false)
            case .unavailable: refusal(.serviceNotAvailable, isChromium: false)
            default: .plain(fault)
            }
        }
    }

    private func begin(
        _ action: HTTPEndpoint.Action, _ request: HTTPRequest, _ captured: [[UInt8]], _ requester: Requester,
        _ now: Now, _ io: inout SessionIO
    ) throws(RequestFault) -> Outcome {
        switch action {
        case .checkIn: return try checkIn(request, requester, &io)
        case .register: return register(request, requester, now, &io)
        case .legacySend: return legacySend(request, requester, now, &io)
        case .changeGroup: return changeGroup(request, requester, now, &io)
        case .showGroup: return showGroup(request, requester, now, &io)
        case .push: return push(request, token: captured[0], requester, now, &io)
        case .createInstallation: return try createInstallation(request, captured[0], requester, now, &io)
        case .generateToken: return try changeInstallation(request, captured, .token, requester, &io)
        case .deleteInstallation: return try changeInstallation(request, captured, .deletion, requester, &io)
        case .createRegistration: return try createRegistration(request, captured[0], requester, now, &io)
        case .renewRegistration: return try renewRegistration(request, captured, requester, now, &io)
        case .deleteRegistration: return try deleteRegistration(request, captured, requester, now, &io)
        case .connectSubscription: return try connectSubscription(request, requester, &io)
        case .subscribe: return try subscribe(request, captured, isEnd: false, requester, now, &io)
        case .unsubscribe: return try subscribe(request, captured, isEnd: true, requester, now, &io)
        case .tokenInfo: return tokenInfo(request, token: captured[0], requester, now, &io)
        case .subscribeToken: return relate(request, captured, isEnd: false, requester, now, &io)
        case .unsubscribeToken: return relate(request, captured, isEnd: true, requester, now, &io)
        case .batchAdd: return relateMany(request, isEnd: false, requester, now, &io)
        case .batchRemove: return relateMany(request, isEnd: true, requester, now, &io)
        case .batchImport: return importTokens(request, requester, now, &io)
        case .topicSubscription(let method):
            return topicSubscription(request, captured, method, requester, now, &io)
        case .sendMessage: return sendMessage(request, captured[0], requester, now, &io)
        case .sendBatch: return sendBatch(request, requester, now, &io)
        case .grantToken: return grantToken(request, now)
        case .allowedLocations:
            throw RequestFault(.notFound, "Nothing is said here of an account's locations.")
        case .page(let page):
            io.hostRequests.append(HostRequest(requestID: requester.requestID, page: page))
            return .wait(.page)
        }
    }

    /// The answer to a request that the rest of the server has not answered in time.
    func late(_ question: HTTPAnswers.Question) -> HTTPResponse {
        let fault = RequestFault(.unavailable, "The server did not answer in time.")
        switch question {
        case .register(let isChromium): return Self.refusal(.serviceNotAvailable, isChromium: isChromium)
        case .unregister(_, let isChromium):
            return Self.refusal(.serviceNotAvailable, isChromium: isChromium)
        case .web, .done, .installation: return .rpc(fault)
        case .gathered(let gathering): return gathering.response
        case .token(let question): return answer(refused: .unavailable, question)
        case .groupMembers, .group: return .group(GroupFault(.unavailable), .unavailable)
        case .checkIn, .push, .page, .groupSend: return .plain(fault)
        }
    }
}
