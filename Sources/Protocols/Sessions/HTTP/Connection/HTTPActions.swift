import Basics
import Delivery
import Wire

extension HTTPSession {
    /// The immediate result of a request.
    enum Outcome {
        case answer(HTTPResponse)
        /// The answer waits for the core or the host.
        case wait(HTTPPendingRequests.Question)
    }

    /// Finds the endpoint of a request, stores it in `endpointInfo`, and executes the request.
    func outcome(
        of request: HTTPRequest, _ requester: Requester, endpointInfo: inout HTTPPendingRequests.EndpointInfo,
        _ now: Now,
        _ io: inout SessionIO
    ) -> Outcome {
        if acceptedHosts?.accepts(request) == false { return .answer(.plain(.misdirected)) }
        if let start, request.path == [UInt8(ascii: "/")] {
            let text = Array("the pages of this server begin at \(start)\n".utf8)
            return .answer(
                HTTPResponse(.temporaryRedirect, HTTPResponse.text, text, extra: ("Location", start)))
        }
        if request.isServerWide { return .answer(HTTPEndpoint.allMethods(of: endpoints)) }
        if hostPrefixes.contains(where: { request.path.starts(with: $0.utf8) }) {
            io.hostRequests.append(
                HostRequest(requestID: requester.requestID, question: .operation, request: request))
            return .wait(.operation)
        }
        guard let found = recent.endpoints(at: request.path, among: endpoints) else {
            let fault = RequestFault(.badRequest, "invalid path: expected two hexadecimal digits after %")
            return .answer(refusals.response(to: fault, of: request))
        }
        guard let first = found.first else {
            let fault = RequestFault(.notFound, "There is nothing at this path.")
            return .answer(refusals.response(to: fault, of: request))
        }
        var errors = first.endpoint.errors
        endpointInfo = self.endpointInfo(first.endpoint, request)
        if let preflight = HTTPEndpoint.preflight(
            request, found.map(\.endpoint), endpointInfo.crossOrigin)
        {
            endpointInfo.isPreflight = true
            return .answer(preflight)
        }
        do throws(RequestFault) {
            guard let (endpoint, captured) = found.first(where: { $0.endpoint.accepts(request.method) })
            else {
                throw RequestFault(.methodNotAllowed, "The path does not accept this method.")
            }
            errors = endpoint.errors
            endpointInfo = self.endpointInfo(endpoint, request)
            if endpoint.needsBody, !request.delimitsBody {
                throw RequestFault(.lengthRequired, "The request has no body.")
            }
            // The content encoding of a web push is end to end: the web app decodes it.
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

    private func endpointInfo(
        _ endpoint: HTTPEndpoint, _ request: HTTPRequest
    ) -> HTTPPendingRequests.EndpointInfo {
        HTTPPendingRequests.EndpointInfo(endpoint, request, settings.pageOrigins)
    }

    /// Returns the answer to a fault in the error form of the endpoint.
    private static func response(to fault: RequestFault, _ form: HTTPEndpoint.ErrorForm) -> HTTPResponse {
        switch form {
        case .text: .plain(fault)
        case .json: .rpc(fault)
        case .note: .errorObject("\(fault.reason)", fault.status)
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
        case .subscribeToken: return changeSubscription(request, captured, isEnd: false, requester, now, &io)
        case .unsubscribeToken: return changeSubscription(request, captured, isEnd: true, requester, now, &io)
        case .batchAdd: return changeSubscriptions(request, isEnd: false, requester, now, &io)
        case .batchRemove: return changeSubscriptions(request, isEnd: true, requester, now, &io)
        case .appleFeedback: return appleFeedback(request, bundle: captured[0], requester, now, &io)
        case .batchImport: return importTokens(request, requester, now, &io)
        case .topicSubscription(let method):
            return topicSubscription(request, captured, method, requester, now, &io)
        case .sendMessage: return sendMessage(request, captured[0], requester, now, &io)
        case .messageHistory, .deliveryData: return messageHistory(request, captured, requester, now, &io)
        case .cancelMessage: return cancelMessage(request, captured, requester, now, &io)
        case .listTopics, .listSubscribers, .listScheduled:
            return listTopics(action, request, captured, requester, now, &io)
        case .sendBatch: return sendBatch(request, requester, now, &io)
        case .grantToken: return grantToken(request, now)
        case .allowedLocations:
            throw RequestFault(.notFound, "This server does not list the allowed locations of an account.")
        case .page(let page):
            io.hostRequests.append(
                HostRequest(
                    requestID: requester.requestID, question: .page(page),
                    request: hostPrefixes.isEmpty ? nil : request))
            return .wait(.page)
        }
    }

    /// Returns the answer to a request that the core or the host has not answered in time.
    func timeoutResponse(_ question: HTTPPendingRequests.Question) -> HTTPResponse {
        let fault = RequestFault(.unavailable, "The server did not answer in time.")
        switch question {
        case .register(let isChromium): return Self.refusal(.serviceNotAvailable, isChromium: isChromium)
        case .unregister(_, let isChromium):
            return Self.refusal(.serviceNotAvailable, isChromium: isChromium)
        case .web, .done, .installation, .history, .cancellation: return .rpc(fault)
        case .multiToken(let multiTokenRequest): return multiTokenRequest.response
        case .token(let question): return answer(refused: .unavailable, question)
        case .groupMembers, .group: return .group(GroupFault(.unavailable), .unavailable)
        case .checkIn, .push, .page, .operation, .groupSend: return .plain(fault)
        }
    }
}

extension RequestFault {
    /// The request is for another host, as after DNS rebinding.
    static let misdirected = RequestFault(
        .misdirectedRequest,
        "This server does not answer to the host name in Host: use localhost or admin_address, or add the name to host_names in the configuration."
    )
}
