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
        let messageID = command.messageID ?? "ctl-" + Hex.text(SecureRandom.bytes(8))
        var answer = SendMessage.Answer(messageID: messageID, outcome: .ack)
        do throws(SendFault) {
            let send = try request(of: command, messageID)
            switch try submit(send, call) {
            case .submission(_, .refused(let refusal)): throw command.fault(refusal)
            case .submission(_, .group(let group)):
                answer.success = group.success
                answer.failure = group.failed.count
            case .submission(_, .accepted(_, let canonical?)):
                answer.registration = Redacted(
                    String(decoding: daemon.secrets.seal.token(for: canonical), as: UTF8.self))
            default: break
            }
        } catch {
            switch error {
            case .problem(let problem): throw problem
            case .refused(let code, let description, let reason):
                daemon.metrics[.control].add(
                    to: .refusals, RefusalInterface.control.position, reason.position)
                answer.outcome = .nack
                answer.error = code
                answer.errorDescription = description
            }
        }
        return answer
    }

    private func submit(_ send: SendRequest, _ call: Call) throws(SendFault) -> SessionCommand {
        do throws(OperatorProblem) {
            return try submit(from: call.connection) { send.event(replyTo: $0) }
        } catch { throw .problem(error) }
    }

    /// Translates the message like one of an app server, starting with its JSON.
    private func request(of command: SendMessage, _ messageID: String) throws(SendFault) -> SendRequest {
        let settings = daemon.sessionSettings.value
        if let message = command.message {
            do throws(V1Error) {
                return try V1Translator(seal: settings.seal, rules: settings.rules).sendRequest(
                    V1Message(Array(SendMessage.body(message).compact.utf8).raw), command.sender,
                    daemon.clock.now())
            } catch { throw SendFault(error) }
        }
        do {
            let json = Array(command.payload(messageID).compact.utf8)
            let payload = try AppServerPayload(json.raw)
            var translator = PayloadTranslator()
            var to: [UInt8] = []
            return try translator.sendRequest(
                payload, messageID: Array(messageID.utf8), to: &to, sender: command.sender,
                seal: settings.seal, rules: settings.rules)
        } catch let refusal as Refusal {
            throw command.fault(refusal)
        } catch {
            daemon.metrics[.control].add(
                to: .refusals, RefusalInterface.control.position, RefusalReason.malformed.position)
            throw .problem(
                OperatorProblem(
                    "the message is not valid JSON", hint: "ccsctl send --help shows the arguments"))
        }
    }
}

/// Why a message was not sent.
private enum SendFault: Error {
    /// It was refused, with the answer that an app server would get.
    case refused(code: String, description: String, RefusalReason)
    /// The command failed.
    case problem(OperatorProblem)

    /// The error of HTTP v1, with the fields that it names.
    init(_ error: V1Error) {
        let fields = error.violations.map { "\($0.field): \($0.description)" }
        self = .refused(
            code: error.code?.rawValue ?? "\(error.status.rpcWord)",
            description: fields.isEmpty ? error.message : fields.joined(separator: "; "),
            error.refusal.map { .refusal($0) } ?? .malformed)
    }
}

extension SendMessage {
    /// Returns the body of a request of HTTP v1, which has the message in a field of its own.
    fileprivate static func body(_ message: [JSONValue.Member]) -> JSONValue {
        message.contains { $0.key == "message" }
            ? .object(message) : .object([.init("message", .object(message))])
    }

    /// The NACK of a refusal: in the words of HTTP v1 for a message in its form.
    fileprivate func fault(_ refusal: Refusal) -> SendFault {
        guard message == nil else { return SendFault(V1Error(refusal)) }
        var description = ByteBuffer()
        ErrorCode.append(
            descriptionOf: refusal, to: Array((to?.revealed ?? "").utf8).raw, as: .plain, into: &description)
        return .refused(
            code: "\(ErrorCode.code(refusal))",
            description: String(decoding: description.copied(), as: UTF8.self), .refusal(refusal))
    }

    /// The message as the JSON of an app server.
    fileprivate func payload(_ messageID: String) -> JSONValue {
        let fields: [(PayloadField, JSONValue?)] = [
            (.to, to.map { .string($0.revealed) }), (.rawData, rawData.map { .string($0) }),
            (.data, data.map { .object($0) }), (.notification, notification.map { .object($0) }),
            (.collapseKey, collapseKey.map { .string($0) }),
            (.timeToLive, timeToLive.map { .integer($0) }),
            (.priority, priority.map { .string($0.rawValue) }),
            (.deliveryReceiptRequested, wantsReceipt ? .boolean(true) : nil),
            (.messageID, .string(messageID)),
        ]
        return .object(fields.compactMap { field, value in value.map { .init(field.name, $0) } })
    }
}
