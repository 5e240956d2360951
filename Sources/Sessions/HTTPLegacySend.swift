import Basics
import Delivery
import Wire

/// What all recipients of one request are sent (http 2.1).
struct LegacyMessage {
    var collapseKey: [UInt8]?
    var lifetimeSeconds: Int
    var priority: Priority
    var delaysWhileIdle: Bool
    var isDryRun: Bool
    var restrictedPackage: [UInt8]?
    var body: Body = []
    /// See `Submission.holdsRawData`.
    var holdsRawData = false
    /// Why the payload is too large.
    var payloadRefusal: Refusal?

    /// Takes the pairs; that they are too large is kept for each recipient to be told, anything else is thrown (http 2.8).
    mutating func setBody(_ read: () throws(Refusal) -> Body) throws(Refusal) {
        do throws(Refusal) { body = try read() } catch {
            guard LegacyError.isOfSize(error) else { throw error }
            payloadRefusal = error
        }
    }
}

/// `POST /fcm/send` and `/gcm/send`: the legacy send of app servers, as JSON and as a form (http 2).
extension HTTPSession {
    /// Checks in the order of http 2.8: the key, the form of the body, the targets, the fields; then each recipient.
    func legacySend(
        _ request: HTTPRequest, _ origin: Origin, _ now: Now, _ io: inout SessionIO
    ) -> Outcome {
        do throws(HTTPRefusal) {
            let sender = try sender(of: request, now)
            // A JSON body under another type is read as a form, as the real service does.
            return request.mediaType == "application/json"
                ? try sendJSON(request, sender, origin, &io) : try sendForm(request, sender, origin, &io)
        } catch {
            return .answer(error.response)
        }
    }

    private func sendJSON(
        _ request: HTTPRequest, _ sender: SenderID, _ origin: Origin, _ io: inout SessionIO
    ) throws(HTTPRefusal) -> Outcome {
        var reason = RefusalReason.malformed
        do throws(LegacyFault) {
            let payload: AppServerPayload
            do throws(PayloadError) {
                payload = try AppServerPayload(request.body.raw)
            } catch { throw LegacyFault(Self.parsingFault(error)) }
            let target = try payload.legacyTarget()
            let topics = try topics(in: target, of: payload)
            let message: LegacyMessage
            do throws(Refusal) {
                message = try legacyMessage(
                    payload, of: request, isToTopics: topics != nil)
            } catch {
                reason = .refusal(error)
                throw LegacyError.fault(error)
            }
            let id = max(Int64(bitPattern: settings.random() >> 1), 1)
            if let topics {
                return submit(message, to: topics, sender, .topicJSON(dryRunID: id), origin, &io)
            }
            let targets: [[UInt8]]
            switch target {
            case .one(let one), .condition(let one): targets = [payload.reader.string(one)]
            case .several(let list, let count):
                targets = Self.strings(in: list, count: count, of: payload)
            }
            return submit(message, to: targets, sender, .json(multicastID: id), origin, &io)
        } catch {
            io.refuse(reason, sender: sender)
            throw HTTPRefusal(.legacy(error))
        }
    }

    private func sendForm(
        _ request: HTTPRequest, _ sender: SenderID, _ origin: Origin, _ io: inout SessionIO
    ) throws(HTTPRefusal) -> Outcome {
        do throws(Refusal) {
            let body: FormBody
            do throws(FormBody.Fault) {
                body = try FormBody(request.body.raw)
            } catch {
                throw .conflict(field: "body", reason: "it is no form")
            }
            let form = try LegacyForm(body)
            var message = LegacyMessage(
                collapseKey: form.collapseKey, lifetimeSeconds: form.lifetimeSeconds, priority: .normal,
                delaysWhileIdle: form.delaysWhileIdle, isDryRun: form.isDryRun,
                restrictedPackage: form.restrictedPackage)
            let isTopic = Translation.isTopicPath(form.target)
            var translation = Translation()
            try message.setBody { () throws(Refusal) in
                try translation.body(
                    ofPairs: form.data, reservesGCMPrefix: settings.rules.reservesGCMPrefix,
                    limit: settings.rules.payloadBytes(isToTopics: isTopic))
            }
            if isTopic {
                guard let topic = TopicName(path: form.target) else {
                    throw .conflict(field: PayloadField.to.name, reason: Translation.topicNameFault)
                }
                let id = max(Int64(bitPattern: settings.random() >> 1), 1)
                return submit(
                    message, to: TopicTarget(topic), sender, .topicText(dryRunID: id), origin, &io)
            }
            return submit(message, to: [form.target], sender, .text, origin, &io)
        } catch {
            io.refuse(error, sender: sender)
            let send = HTTPSend(.text, recipients: 1)
            send.note(.refused(error), at: 0)
            return .answer(send.response)
        }
    }

    /// The topics that a request goes to; nil: it goes to none.
    private func topics(
        in target: LegacyTarget, of payload: borrowing AppServerPayload
    ) throws(LegacyFault) -> TopicTarget? {
        switch target {
        case .several: return nil
        case .one(let one):
            let path = payload.reader.string(one)
            guard Translation.isTopicPath(path) else { return nil }
            guard let topic = TopicName(path: path) else {
                throw LegacyFault("InvalidParameters: Invalid topic name")
            }
            return TopicTarget(topic)
        case .condition(let text):
            do throws(TopicConditionFault) {
                return try Translation.target(
                    ofCondition: payload.reader.string(text), operators: settings.rules.conditionOperators)
            } catch {
                throw LegacyFault("InvalidParameters: Invalid condition")
            }
        }
    }

    private func legacyMessage(
        _ payload: borrowing AppServerPayload, of request: HTTPRequest, isToTopics: Bool
    ) throws(Refusal) -> LegacyMessage {
        let given = try DownstreamMessage(legacy: payload)
        try Translation.checkRawData(of: given, isToTopics: isToTopics)
        var message = LegacyMessage(
            collapseKey: Translation.collapseKey(of: given), lifetimeSeconds: given.lifetimeSeconds,
            priority: Translation.priority(of: given),
            delaysWhileIdle: Translation.delaysWhileIdle(given), isDryRun: given.isDryRun,
            restrictedPackage: given.restrictedPackage)
        var translation = Translation()
        try message.setBody { () throws(Refusal) in
            try translation.body(
                of: given, in: payload, reservesGCMPrefix: settings.rules.reservesGCMPrefix,
                textMeansBody: true, limit: settings.rules.payloadBytes(isToTopics: isToTopics))
        }
        guard given.rawData != nil else { return message }
        message.holdsRawData = true
        if message.payloadRefusal == nil, let encryption = PushEncryption(request) {
            message.body = try encryption.pairs() + message.body
        }
        return message
    }

    private static func parsingFault(_ error: PayloadError) -> String {
        switch error {
        case .notJSON(let error): "JSON_PARSING_ERROR: \(error.fault.rawValue) at position \(error.offset)"
        case .notObject, .noMessageID: "JSON_PARSING_ERROR: The message must be a JSON object"
        }
    }

    private static func strings(
        in list: JSONSlice, count: Int, of payload: borrowing AppServerPayload
    ) -> [[UInt8]] {
        var strings: [[UInt8]] = []
        strings.reserveCapacity(count)
        var cursor = payload.reader.begin(list)
        while let element = payload.reader.nextElement(&cursor) {
            strings.append(payload.reader.string(element))
        }
        return strings
    }

    /// Hands the message to the core once for each recipient; what can be said at once is not asked.
    ///
    /// One whose payload is too large is only looked at, so that what is wrong with a token is told first.
    private func submit(
        _ message: LegacyMessage, to targets: [[UInt8]], _ sender: SenderID, _ form: HTTPSend.Form,
        _ origin: Origin, _ io: inout SessionIO
    ) -> Outcome {
        let send = HTTPSend(form, recipients: targets.count, payloadRefusal: message.payloadRefusal)
        if let refusal = message.payloadRefusal { io.refuse(refusal, sender: sender) }
        let first = targets[0]
        if targets.count == 1, let group = settings.seal.group(of: first.raw) {
            if let refusal = message.payloadRefusal {
                send.note(.refused(refusal), at: 0)
                return .answer(send.response)
            }
            let submission = submission(message, to: .setLater, sender, origin.ticket)
            io.events.append(.groupSubmitted(GroupSubmission(group: group, submission: submission)))
            return .wait(.groupSend(form))
        }
        for (index, token) in targets.enumerated() {
            guard let target = settings.seal.name(of: token.raw) else {
                io.refuse(.invalidToken, sender: sender, to: token)
                send.note(.refused(.invalidToken), at: index)
                continue
            }
            let ticket = RecipientTicket.make(request: origin.ticket, index: index)
            io.events.append(.submitted(submission(message, to: target, sender, ticket)))
        }
        return send.outcome
    }

    private func submission(
        _ message: LegacyMessage, to target: RegistrationName, _ sender: SenderID, _ ticket: UInt32
    ) -> Submission {
        var submission = Submission(
            origin: Origin(connection: connection, ticket: ticket), sender: sender, target: target,
            messageID: [], collapseKey: message.collapseKey, lifetimeSeconds: message.lifetimeSeconds,
            priority: message.priority, delaysWhileIdle: message.delaysWhileIdle,
            isDryRun: message.isDryRun || message.payloadRefusal != nil,
            restrictedPackage: message.restrictedPackage, body: message.body)
        submission.holdsRawData = message.holdsRawData
        return submission
    }

    /// Hands a message to topics to the core: there is one answer, that it has been taken.
    private func submit(
        _ message: LegacyMessage, to topics: TopicTarget, _ sender: SenderID, _ form: HTTPSend.Form,
        _ origin: Origin, _ io: inout SessionIO
    ) -> Outcome {
        let send = HTTPSend(form, recipients: 1)
        if let refusal = message.payloadRefusal {
            io.refuse(refusal, sender: sender)
            send.note(.refused(refusal), at: 0)
            return .answer(send.response)
        }
        let ticket = RecipientTicket.make(request: origin.ticket, index: 0)
        // The target is set for each subscriber.
        let submission = submission(message, to: .setLater, sender, ticket)
        io.events.append(.topicSubmitted(TopicSubmission(target: topics, submission: submission)))
        return send.outcome
    }

    /// What a command says of one recipient: of which request, at which place.
    func word(in command: SessionCommand) -> (request: UInt32, index: Int, HTTPWord)? {
        switch command {
        case .acknowledge(let ticket, let id, let canonical):
            guard let (request, index) = RecipientTicket.parts(ticket) else { return nil }
            let replacing = canonical.map { settings.seal.token(for: $0) }
            return (request, index, .message(.sent(id, canonical: replacing)))
        case .refuse(let ticket, let refusal):
            guard let (request, index) = RecipientTicket.parts(ticket) else { return nil }
            return (request, index, .message(.refused(refusal)))
        case .groupAnswered(let ticket, let answer):
            guard let (request, index) = RecipientTicket.parts(ticket) else { return nil }
            return (request, index, .message(groupResult(answer)))
        case .tokenKnown(let ticket, _):
            guard let (request, index) = RecipientTicket.parts(ticket) else { return nil }
            return (request, index, .subscription(nil))
        case .tokenRefused(let ticket, let refusal):
            guard let (request, index) = RecipientTicket.parts(ticket) else { return nil }
            return (request, index, .subscription(refusal))
        case .registered(let ticket, let name):
            guard let (request, index) = RecipientTicket.parts(ticket) else { return nil }
            return (request, index, .registration(name))
        case .registrationRefused(let ticket, let refusal):
            guard let (request, index) = RecipientTicket.parts(ticket) else { return nil }
            return (request, index, .registrationRefused(refusal))
        default: return nil
        }
    }
}
