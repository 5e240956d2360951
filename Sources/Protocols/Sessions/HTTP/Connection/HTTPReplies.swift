import Basics
import Delivery
import Wire

extension HTTPSession {
    /// Returns the answer to a request of one message; `nil` if the reply came too late.
    func response(to reply: SubmissionReply, of requestID: UInt32) -> HTTPResponse? {
        switch (question(of: requestID), reply) {
        case (.push(let push), .accepted(let id?, _)): return Self.pushResponse(push, id)
        case (.push, .refused(let refusal)): return Self.refusal(refusal)
        case (.groupSend(let form), .group(let answer)): return groupSendResponse(answer, form)
        case (.groupSend(let form), .refused(let refusal)):
            let send = HTTPSend(form, recipients: 1)
            send.recordResult(.refused(refusal), at: 0)
            return send.response
        default: return nil
        }
    }

    /// Returns the answer to any other request; `nil` if the reply came too late.
    func response(to reply: RequestReply, of requestID: UInt32, _ now: Now) -> HTTPResponse? {
        guard let question = question(of: requestID) else { return nil }
        switch (reply, question) {
        case (.checkedIn(let device, let fresh), .checkIn(let given, let form)):
            return (fresh ?? given).map { checkedIn(device, token: $0, form, now) }
        case (.checkInRefused, _):
            return .plain(RequestFault(.unauthorized, "wrong security token for this device"))
        case (.registered(let name), .register): return registered(name)
        case (.registered(let name), .web(let answer)): return registered(name, answer)
        case (.unregistered, .unregister(let done, _)): return HTTPResponse(.ok, HTTPResponse.text, done)
        case (.unregistered, .done(let body)): return HTTPResponse(.ok, HTTPResponse.json, body)
        case (.installation(let record, _), .installation(let answer)):
            return installationResponse(record, answer, now)
        case (.registrationRefused(let refusal), _): return response(refusing: question, refusal)
        case (.group(let group), .group(let question)): return groupResponse(group, question)
        case (.groupRefused(let refusal), .group): return .group(refusal)
        case (.cancelled(let count, let late), .cancellation): return Self.cancelled(count, tooLate: late)
        case (.token(let report), .token(let question)): return response(to: report, question)
        case (.tokenRefused(let refusal), .token(let question)): return answer(refused: refusal, question)
        default: return nil
        }
    }

    private func response(
        refusing question: HTTPPendingRequests.Question, _ refusal: RegistrationRefusal
    ) -> HTTPResponse? {
        switch question {
        case .installation: Self.retriable(.rpc(Self.installationFault(refusal)), refusal)
        case .register(let isChromium), .unregister(_, let isChromium):
            Self.refusal(refusal, isChromium: isChromium)
        case .web, .done: Self.retriable(.rpc(Self.fault(refusal)), refusal)
        case .checkIn: Self.retriable(.plain(Self.fault(refusal)), refusal)
        case .token(let question):
            answer(refused: refusal == .notRegistered ? .notRegistered : .unavailable, question)
        case .cancellation: V1Error(Refusal.unavailable).response
        case .page, .history, .operation, .push, .multiToken, .groupSend, .groupMembers, .group: nil
        }
    }

    /// Adds `Retry-After` to the answer if a retry can help.
    private static func retriable(_ answer: HTTPResponse, _ refusal: RegistrationRefusal) -> HTTPResponse {
        let seconds: Int
        switch refusal {
        case .tooManyUnauthenticated: seconds = Limits.Registry.addressRetrySeconds
        case .registryFull: seconds = Limits.Registry.retrySeconds
        default: return answer
        }
        var answer = answer
        answer.extra = ("Retry-After", String(seconds))
        return answer
    }

    /// Returns the error of the JSON interfaces for a refusal.
    static func fault(_ refusal: RegistrationRefusal) -> RequestFault {
        switch refusal {
        case .authenticationFailed:
            RequestFault(.unauthorized, "wrong token for this device")
        case .invalidSender:
            RequestFault(
                .badRequest,
                "unknown project: expected the number or the label of a sender, in the installation's token or else in the path"
            )
        case .invalidParameters:
            RequestFault(.badRequest, "invalid web.endpoint: expected a web push endpoint")
        case .tooManyRegistrations:
            RequestFault(.tooManyRequests, "The device has too many registrations.")
        case .tooManySubscriptions:
            RequestFault(.tooManyRequests, "The registration has too many subscriptions.")
        case .notRegistered: RequestFault(.notFound, "The registration does not exist or was deleted.")
        case .notPermitted:
            RequestFault(
                .forbidden,
                "The registration belongs to another installation, device or project than the credentials of the request."
            )
        case .serviceNotAvailable: RequestFault(.unavailable, "The store is unavailable, try again later.")
        case .tooManyUnauthenticated:
            RequestFault(.tooManyRequests, "Too many new devices and registrations in this minute.")
        case .registryFull: .registryFull
        }
    }
}

extension RequestFault {
    /// The registry has reached its limit, `registry_bytes`.
    static let registryFull = RequestFault(
        .unavailable,
        "The registry is full (registry_bytes): nothing new is added until the operator raises the limit or removes devices."
    )
}

extension HTTPResponse {
    /// The answer to an app server if the registry is full, as a text in `error`.
    static let registryFull = {
        var response = errorObject("\(RequestFault.registryFull.reason)", .unavailable)
        response.extra = ("Retry-After", String(Limits.HTTP.sendRetrySeconds))
        return response
    }()
}
