import Basics
import Delivery
import Wire

/// Cancellation of messages that wait, an extension of ccsd (ccs-xmpp 3.8).
extension AppServerSession {
    /// Returns the registration of the message to cancel: one app instance, since a message to several waits at each of them.
    func target(of request: CancelRequest) throws(Refusal) -> RegistrationName {
        switch Recipient(token: request.to, seal: settings.seal) {
        case .registration(let name): return name
        case .group:
            throw .conflict(
                field: PayloadField.to.name, reason: "a message to a group is cancelled for one member")
        case .topic, .installation, nil: throw .invalidToken
        }
    }

    /// Passes the request on, under which the answer comes.
    func cancel(
        _ request: CancelRequest, of target: RegistrationName, _ sender: SenderID, _ requestID: UInt32,
        _ io: inout SessionIO
    ) {
        let requester = Requester(connection: connection, requestID: requestID)
        io.events.append(
            .cancel(
                Cancellation(
                    requester: requester, device: target.device, registration: target.number, sender: sender,
                    messageID: request.messageID)))
    }

    /// Writes the answer for the core's reply to a request.
    mutating func answered(
        cancellation requestID: UInt32, _ reply: RequestReply, _ io: inout SessionIO
    ) {
        switch reply {
        case .cancelled(0, tooLate: 0): refuse(requestID, .unknownMessage, &io)
        case .cancelled(0, tooLate: _): refuse(requestID, .messageSent, &io)
        case .cancelled:
            guard state.isReady || state.isFinishing, let entry = submissions.close(requestID) else { return }
            AnswerWriter.appendAck(to: entry.to.raw, messageID: entry.messageID.raw, into: &io.out.bytes)
            answered(entry.number, &io)
        case .registrationRefused: refuse(requestID, .unavailable, &io)
        default: io.rejectMisdirected(.reply(requestID: requestID, reply))
        }
    }
}
