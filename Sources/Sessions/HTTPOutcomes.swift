import Basics
import Delivery
import Wire

extension HTTPSession {
    /// What a command of the core answers, and to which request; nil for commands that are not for HTTP or came too late.
    func answer(to command: SessionCommand, _ now: Now) -> (UInt32, HTTPResponse)? {
        switch command {
        case .checkedIn(let ticket, let device, let fresh):
            guard case .checkIn(let given, let form)? = question(of: ticket), let token = fresh ?? given
            else { return nil }
            return (ticket, checkedIn(device, token: token, form, now))
        case .checkInRefused(let ticket):
            return (
                ticket, .plain(RequestFault(.unauthorized, "The security token is not that of the device."))
            )
        case .registered(let ticket, let name):
            switch question(of: ticket) {
            case .register: return (ticket, registered(name))
            case .web(let answer): return (ticket, registered(name, answer))
            default: return nil
            }
        case .unregistered(let ticket):
            switch question(of: ticket) {
            case .unregister(let done, _): return (ticket, HTTPResponse(.ok, HTTPResponse.text, done))
            case .done(let body): return (ticket, HTTPResponse(.ok, HTTPResponse.json, body))
            default: return nil
            }
        case .installationKnown(let ticket, let record, _):
            guard case .installation(let answer)? = question(of: ticket) else { return nil }
            return (ticket, installed(record, answer, now))
        case .registrationRefused(let ticket, let refusal):
            switch question(of: ticket) {
            case .installation:
                return (ticket, Self.retriable(.rpc(Self.installationFault(refusal)), refusal))
            case .register(let isChromium), .unregister(_, let isChromium):
                return (ticket, Self.refusal(refusal, isChromium: isChromium))
            case .web, .done: return (ticket, Self.retriable(.rpc(Self.fault(refusal)), refusal))
            case .checkIn: return (ticket, Self.retriable(.plain(Self.fault(refusal)), refusal))
            case .token(let question):
                return (
                    ticket,
                    answer(refused: refusal == .notRegistered ? .notRegistered : .unavailable, question)
                )
            case .page, .push, .gathered, .groupSend, .groupMembers, .group, nil: return nil
            }
        case .acknowledge(let ticket, let id?, _):
            guard case .push(let push)? = question(of: ticket) else { return nil }
            return (ticket, Self.pushed(push, id))
        case .refuse(let ticket, let refusal):
            guard case .push? = question(of: ticket) else { return nil }
            return (ticket, Self.refusal(refusal))
        default: return nil
        }
    }

    /// The answer with a refusal, and when to try again where that helps.
    private static func retriable(_ answer: HTTPResponse, _ refusal: RegistrationRefusal) -> HTTPResponse {
        let seconds: Int
        switch refusal {
        case .tooManyStrangers: seconds = Limits.strangersRetrySeconds
        case .registryFull: seconds = Limits.registryRetrySeconds
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
        case .tooManyStrangers:
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
        response.extra = ("Retry-After", String(Limits.sendRetrySeconds))
        return response
    }()
}
