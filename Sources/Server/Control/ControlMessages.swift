import Basics
import Delivery
import Operator
import Sessions
import Transport
import Wire

extension ControlServer {
    /// Submits a downstream message as a sender, and waits for its ACK or NACK.
    func send(_ command: SendMessage, _ call: Call) throws(OperatorProblem) -> SendMessage.Answer {
        try requireSender(command.sender)
        guard !daemon.senders.directory.suspended.contains(command.sender) else {
            throw OperatorProblem(
                "sender \(command.sender.number) is suspended",
                hint: "ccsctl senders resume \(command.sender.number) lets it send again")
        }
        let messageID = "ctl-" + Hex.text(SecureRandom.bytes(8))
        let answered = try answer(to: command, messageID, call)
        var answer = SendMessage.Answer(messageID: messageID, outcome: .ack)
        if case .submission(_, .refused(let refusal)) = answered {
            daemon.metrics.shards[0].add(
                to: .refusals, RefusalInterface.control.position, RefusalReason.refusal(refusal).position)
            var description = ByteBuffer()
            ErrorCode.append(
                descriptionOf: refusal, to: Array(command.to.revealed.utf8).raw, into: &description)
            answer.outcome = .nack
            answer.error = "\(ErrorCode.code(refusal))"
            answer.errorDescription = String(decoding: description.copied(), as: UTF8.self)
        }
        if case .submission(_, .group(let group)) = answered {
            answer.success = group.success
            answer.failure = group.failed.count
        }
        return answer
    }

    /// Processes the message like one of an app server, starting with its JSON.
    private func answer(
        to command: SendMessage, _ messageID: String, _ call: Call
    ) throws(OperatorProblem) -> SessionCommand {
        let settings = daemon.sessionSettings.value
        let send: SendRequest
        do {
            let json = Array(command.payload(messageID).compact.utf8)
            let payload = try AppServerPayload(json.raw)
            var translator = PayloadTranslator()
            var to: [UInt8] = []
            send = try translator.sendRequest(
                payload, messageID: Array(messageID.utf8), to: &to, sender: command.sender,
                seal: settings.seal,
                rules: settings.rules)
        } catch let refusal as Refusal {
            return .submission(requestID: 0, .refused(refusal))
        } catch {
            daemon.metrics.shards[0].add(
                to: .refusals, RefusalInterface.control.position, RefusalReason.malformed.position)
            throw OperatorProblem(
                "the message is not valid JSON", hint: "ccsctl send --help shows the arguments")
        }
        return try submit(from: call.connection) { send.event(replyTo: $0) }
    }
}

extension SendMessage {
    /// The message as the JSON of an app server.
    fileprivate func payload(_ messageID: String) -> JSONValue {
        let fields: [(PayloadField, JSONValue?)] = [
            (.to, .string(to.revealed)), (.rawData, rawData.map { .string($0) }),
            (.data, data.map { .object($0) }), (.collapseKey, collapseKey.map { .string($0) }),
            (.timeToLive, timeToLive.map { .integer($0) }),
            (.priority, priority.map { .string($0.rawValue) }),
            (.deliveryReceiptRequested, wantsReceipt ? .boolean(true) : nil),
            (.messageID, .string(messageID)),
        ]
        return .object(fields.compactMap { field, value in value.map { .init(field.name, $0) } })
    }
}
