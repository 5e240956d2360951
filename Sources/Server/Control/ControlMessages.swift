import Basics
import Delivery
import Sessions
import Transport
import Wire

extension ControlServer {
    /// Submits one downstream message in the name of a sender and waits for its ACK or NACK.
    func send(_ request: Request) throws(Problem) -> JSONValue {
        let sender = try requiredSender(request)
        guard daemon.senders.directory[sender] != nil else {
            throw Problem(
                text: "there is no sender \(sender.number)", hint: "ccsctl senders list shows those there are"
            )
        }
        let messageID = "ctl-" + Hex.text(SecureRandom.bytes(8))
        var members = (request.arguments.members ?? []).filter {
            $0.key != "sender_id" && $0.key != "message_id"
        }
        members.append(.init("message_id", .string(messageID)))
        let to = request.arguments["to"]?.text ?? ""
        let refusal = try refusal(
            of: Array(JSONValue.object(members).compact.utf8), sender, messageID, request)
        var answer: [JSONValue.Member] = [
            .init("message_id", .string(messageID)), .init("outcome", refusal == nil ? "ack" : "nack"),
        ]
        if let refusal {
            var description = ByteBuffer()
            ErrorCode.append(descriptionOf: refusal, to: Array(to.utf8).raw, into: &description)
            answer.append(.init("error", .string("\(ErrorCode.code(refusal))")))
            answer.append(
                .init("error_description", .string(String(decoding: description.copied(), as: UTF8.self))))
        }
        return .object(answer)
    }

    /// Takes the way that a message of an app server takes, from its JSON on; nil for an ACK.
    private func refusal(of json: [UInt8], _ sender: SenderID, _ messageID: String, _ request: Request)
        throws(Problem) -> Refusal?
    {
        let settings = daemon.sessionSettings
        let submission: Submission
        do {
            let payload = try AppServerPayload(json.raw)
            var translation = Translation()
            var to: [UInt8] = []
            submission = try translation.submission(
                of: payload, messageID: Array(messageID.utf8), to: &to, sender: sender,
                connection: request.connection, seal: settings.seal,
                lenientLifetime: settings.lenientLifetime,
                reservesGCMPrefix: settings.reservesGCMPrefix)
        } catch let refusal as Refusal {
            return refusal
        } catch {
            throw Problem(
                text: "the message is no JSON that can be read", hint: "ccsctl send --help shows its parts")
        }
        let answer = try submit(from: request.connection) { origin in
            var submission = submission
            submission.origin = origin
            return .submitted(submission)
        }
        if case .refuse(_, let refusal) = answer { return refusal }
        return nil
    }
}
