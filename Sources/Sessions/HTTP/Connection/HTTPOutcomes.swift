import Basics
import Delivery
import Wire

extension HTTPSession {
    /// The answer to a request of one message; nil where it came too late.
    func response(to reply: SubmissionReply, of requestID: UInt32) -> HTTPResponse? {
        switch (question(of: requestID), reply) {
        case (.push(let push), .accepted(let id?, _)): return Self.pushed(push, id)
        case (.push, .refused(let refusal)): return Self.refusal(refusal)
        case (.groupSend(let form), .group(let answer)): return sent(answer, form)
        case (.groupSend(let form), .refused(let refusal)):
            let send = HTTPSend(form, recipients: 1)
            send.note(.refused(refusal), at: 0)
            return send.response
        default: return nil
        }
    }

    /// The answer to any other request; nil where it came too late.
    func response(to reply: RequestReply, of requestID: UInt32, _ now: Now) -> HTTPResponse? {
        guard let question = question(of: requestID) else { return nil }
        switch (reply, question) {
        case (.checkedIn(let device, let fresh), .checkIn(let given, let form)):
            return (fresh ?? given).map { checkedIn(device, token: $0, form, now) }
        case (.checkInRefused, _):
            return .plain(RequestFault(.unauthorized, "The security token is not that of the device."))
        case (.registered(let name), .register): return registered(name)
        case (.registered(let name), .web(let answer)): return registered(name, answer)
        case (.unregistered, .unregister(let done, _)): return HTTPResponse(.ok, HTTPResponse.text, done)
        case (.unregistered, .done(let body)): return HTTPResponse(.ok, HTTPResponse.json, body)
        case (.installation(let record, _), .installation(let answer)): return installed(record, answer, now)
        case (.registrationRefused(let refusal), _): return response(refusing: question, refusal)
        case (.group(let group), .group(let question)): return known(group, question)
        case (.groupRefused(let refusal), .group): return .group(refusal)
        case (.token(let report), .token(let question)): return response(to: report, question)
        case (.tokenRefused(let refusal), .token(let question)): return answer(refused: refusal, question)
        default: return nil
        }
    }

    private func response(
        refusing question: HTTPAnswers.Question, _ refusal: RegistrationRefusal
    ) -> HTTPResponse? {
        switch question {
        case .installation: Self.retriable(.rpc(Self.installationFault(refusal)), refusal)
        case .register(let isChromium), .unregister(_, let isChromium):
            Self.refusal(refusal, isChromium: isChromium)
        case .web, .done: Self.retriable(.rpc(Self.fault(refusal)), refusal)
        case .checkIn: Self.retriable(.plain(Self.fault(refusal)), refusal)
        case .token(let question):
            answer(refused: refusal == .notRegistered ? .notRegistered : .unavailable, question)
        case .page, .push, .gathered, .groupSend, .groupMembers, .group: nil
        }
    }

    /// The answer with a refusal, and when to try again where that helps.
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

    /// A refusal in the words of the JSON interfaces.
    static func fault(_ refusal: RegistrationRefusal) -> RequestFault {
        switch refusal {
        case .authenticationFailed:
            RequestFault(.unauthorized, "The token is not that of this device.")
        case .invalidSender:
            RequestFault(
                .badRequest,
                "project: no sender has this number, and none this label. It is taken from the installation's token, else from the path."
            )
        case .invalidParameters:
            RequestFault(.badRequest, "web.endpoint: it is no web push endpoint.")
        case .tooManyRegistrations:
            RequestFault(.tooManyRequests, "The device has too many registrations.")
        case .tooManySubscriptions:
            RequestFault(.tooManyRequests, "The registration has too many subscriptions.")
        case .notRegistered: RequestFault(.notFound, "The registration is not there, or not any more.")
        case .notPermitted:
            RequestFault(
                .forbidden,
                "The registration is of another installation, device or project than the request shows.")
        case .serviceNotAvailable: RequestFault(.unavailable, "The store cannot take it now.")
        case .tooManyUnauthenticated:
            RequestFault(.tooManyRequests, "Too many new devices and registrations in this minute.")
        case .registryFull: .registryFull
        }
    }
}

extension RequestFault {
    /// The registry is as large as it may become.
    static let registryFull = RequestFault(
        .unavailable,
        "The registry is full (registry_bytes): nothing new is added until the operator raises the limit or removes devices."
    )
}

extension HTTPResponse {
    /// The same to an app server, as a text in `error`.
    static let registryFull = {
        var response = told("\(RequestFault.registryFull.reason)", .unavailable)
        response.extra = ("Retry-After", String(Limits.HTTP.sendRetrySeconds))
        return response
    }()
}
