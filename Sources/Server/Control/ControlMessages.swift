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
        let answered = try answer(
            to: Array(JSONValue.object(members).compact.utf8), sender, messageID, request)
        let refusal = Self.refusal(in: answered)
        if let refusal {
            daemon.metrics.shards[0].add(
                to: .refusals, RefusalInterface.control.position, RefusalReason.refusal(refusal).position)
        }
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
        if case .submission(_, .group(let group)) = answered {
            answer.append(.init("success", .integer(group.success)))
            answer.append(.init("failure", .integer(group.failed.count)))
        }
        return .object(answer)
    }

    /// Why a message was refused; `nil` if it was taken.
    private static func refusal(in answer: SessionCommand) -> Refusal? {
        if case .submission(_, .refused(let refusal)) = answer { refusal } else { nil }
    }

    /// Takes the way that a message of an app server takes, from its JSON on.
    private func answer(to json: [UInt8], _ sender: SenderID, _ messageID: String, _ request: Request)
        throws(Problem) -> SessionCommand
    {
        let settings = daemon.sessionSettings.value
        let send: SendRequest
        do {
            let payload = try AppServerPayload(json.raw)
            var translation = Translation()
            var to: [UInt8] = []
            send = try translation.sendRequest(
                payload, messageID: Array(messageID.utf8), to: &to, sender: sender, seal: settings.seal,
                rules: settings.rules)
        } catch let refusal as Refusal {
            return .submission(ticket: 0, .refused(refusal))
        } catch {
            daemon.metrics.shards[0].add(
                to: .refusals, RefusalInterface.control.position, RefusalReason.malformed.position)
            throw Problem(
                text: "the message is no JSON that can be read", hint: "ccsctl send --help shows its parts")
        }
        return try submit(from: request.connection) { send.event(replyTo: $0) }
    }
}
