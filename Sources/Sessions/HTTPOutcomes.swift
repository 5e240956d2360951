import Basics
import Delivery
import Wire

extension HTTPSession {
    /// What a command of the core answers, and to which request; nil for commands that are not for HTTP or came too late.
    func answer(to command: SessionCommand, _ now: Now) -> (UInt32, HTTPResponse)? {
        switch command {
        case .checkedIn(let ticket, let device, let fresh):
            guard case .checkIn(let given)? = question(of: ticket), let token = fresh ?? given else {
                return nil
            }
            return (ticket, checkedIn(device, token: token, now))
        case .checkInRefused(let ticket):
            return (
                ticket, .plain(RequestFault(.unauthorized, "The security token is not that of the device."))
            )
        case .registered(let ticket, let name): return (ticket, registered(name))
        case .unregistered(let ticket):
            guard case .unregister(let done)? = question(of: ticket) else { return nil }
            return (ticket, HTTPResponse(.ok, HTTPResponse.text, done))
        case .registrationRefused(let ticket, let refusal):
            guard case .register(let isChromium)? = question(of: ticket) else {
                return (ticket, Self.refusal(refusal, isChromium: false))
            }
            return (ticket, Self.refusal(refusal, isChromium: isChromium))
        case .acknowledge(let ticket, let id?, _):
            guard case .push(let push)? = question(of: ticket) else { return nil }
            return (ticket, Self.pushed(push, id))
        case .refuse(let ticket, let refusal):
            guard case .push? = question(of: ticket) else { return nil }
            return (ticket, Self.refusal(refusal))
        default: return nil
        }
    }
}
