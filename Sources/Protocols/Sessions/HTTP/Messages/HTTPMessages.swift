import Basics
import Delivery
import Wire

/// `POST /v1/projects/P/messages:send`: one message in the form of HTTP v1 (http 8).
extension HTTPSession {
    func sendMessage(
        _ request: HTTPRequest, _ project: [UInt8], _ requester: Requester, _ now: Now, _ io: inout SessionIO
    ) -> Outcome {
        do throws(V1Error) {
            let record = try granted(project, request.header("authorization"), now)
            let message = try V1Message(request.body.raw)
            let send = HTTPSend(
                .v1(project: record.projectID, isDryRun: message.isDryRun), recipients: 1)
            io.events.append(try event(for: message, record.sender, requester, index: 0, now))
            return send.outcome
        } catch {
            recordRefusal(error, request, now, &io)
            return .answer(error.response)
        }
    }

    /// Records the refusal of a message of v1; a failed authentication is recorded with the answer instead.
    func recordRefusal(_ error: V1Error, _ request: HTTPRequest, _ now: Now, _ io: inout SessionIO) {
        guard error.status != .unauthorized else { return }
        let sender = try? project(of: request.header("authorization"), now).sender
        io.refuse(error.refusal.map { .refusal($0) } ?? .malformed, sender: sender)
    }

    /// Returns the sender that an access token was granted to; the project in the path must belong to it.
    func granted(
        _ name: [UInt8], _ authorization: [UInt8]?, _ now: Now
    ) throws(V1Error) -> SenderRecord {
        let record: SenderRecord
        do throws(BearerFault) {
            record = try project(of: authorization, now)
        } catch {
            switch error {
            case .invalid: throw .unauthenticated
            case .expired: throw .expired
            case .suspended: throw .suspended
            case .unavailable: throw V1Error(Refusal.unavailable)
            }
        }
        guard record.isProject(name) else { throw .senderMismatch }
        return record
    }

    /// Returns the event that submits a message as recipient `index` of its request.
    func event(
        for message: V1Message, _ sender: SenderID, _ requester: Requester, index: Int, of count: Int = 1,
        _ now: Now
    ) throws(V1Error) -> Event {
        var send = try V1Translator(seal: settings.seal, rules: settings.rules).sendRequest(
            message, sender, now)
        send.content.isForSeveral = count > 1
        let requestID = RecipientRequestID.make(request: requester.requestID, index: index)
        return send.event(replyTo: Requester(connection: connection, requestID: requestID))
    }

    /// Returns the result of v1 for a message to a group (http 14, row 9).
    ///
    /// It is a success if at least one member was reached, with an ID of its own, because the IDs of the members differ.
    /// Otherwise the result is `GroupAnswer.refusal`.
    func groupResult(_ answer: GroupAnswer) -> LegacyReply.Result {
        guard answer.success == 0 else {
            let id = PersistentID(
                sequence: SequenceNumber(settings.random() >> 12),
                salt: UInt32(truncatingIfNeeded: settings.random()))
            return .sent(id, canonical: nil)
        }
        return .refused(answer.refusal ?? .notRegistered)
    }
}
