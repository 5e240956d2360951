import Basics
import Delivery
import Wire

/// `DELETE /v1/projects/P/registrations/TOKEN/messages/ID`: cancels a message that waits, an extension of ccsd (http 8.10).
extension HTTPSession {
    func cancelMessage(
        _ request: HTTPRequest, _ captured: [[UInt8]], _ requester: Requester, _ now: Now,
        _ io: inout SessionIO
    ) -> Outcome {
        answerOwner(of: captured[0], request, now, &io) { (sender, io) throws(V1Error) in
            let token = captured[1]
            guard let name = settings.seal.name(of: token.raw) else { throw V1Error(.invalidToken) }
            let id = messageID(captured[2], in: request)
            guard id.count <= Limits.AppServer.messageIDBytes else {
                throw V1Error(
                    invalid: "message",
                    "invalid message: \(id.count) bytes, expected at most \(Limits.AppServer.messageIDBytes)")
            }
            io.events.append(
                .cancel(
                    Cancellation(
                        requester: requester, device: name.device, registration: name.number, sender: sender,
                        messageID: id)))
            return .wait(.cancellation)
        }
    }

    /// Returns the answer for the core's reply.
    static func cancelled(_ count: Int, tooLate: Int) -> HTTPResponse {
        guard count == 0 else { return HTTPResponse(.ok, HTTPResponse.json, Array("{}".utf8)) }
        return V1Error(tooLate > 0 ? Refusal.messageSent : .unknownMessage).response
    }
}
