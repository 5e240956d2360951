import Basics
import Delivery
import Wire

/// The message of a legacy request, sent to all its recipients (http 2.1).
struct LegacyMessage {
    var content: MessageContent
    /// The refusal of a payload that is too large.
    private(set) var payloadRefusal: Refusal?

    init(_ content: MessageContent) { self.content = content }

    /// Encodes the body. A payload that is too large is recorded and reported per recipient; other refusals are thrown (http 2.8).
    ///
    /// A message that is too large becomes a dry run, so that errors of the token are reported first.
    mutating func setBody(_ read: () throws(Refusal) -> EncodedAppData) throws(Refusal) {
        do throws(Refusal) { content.body = try read() } catch {
            guard LegacyError.isOfSize(error) else { throw error }
            payloadRefusal = error
            content.isDryRun = true
        }
    }
}

/// `POST /fcm/send` and `/gcm/send`: the legacy send of app servers, as JSON and as a form (http 2).
extension HTTPSession {
    /// Checks in the order of http 2.8: the key, the body format, the targets, the fields; then each recipient.
    func legacySend(
        _ request: HTTPRequest, _ requester: Requester, _ now: Now, _ io: inout SessionIO
    ) -> Outcome {
        do throws(HTTPRefusal) {
            let sender = try sender(of: request, now)
            // A JSON body with another media type is read as a form, as by the real service.
            return request.mediaType == "application/json"
                ? try sendJSON(request, sender, requester, &io)
                : try sendForm(request, sender, requester, &io)
        } catch {
            return .answer(error.response)
        }
    }

    private func sendJSON(
        _ request: HTTPRequest, _ sender: SenderID, _ requester: Requester, _ io: inout SessionIO
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
                message = try legacyMessage(payload, of: request, isToTopics: topics != nil)
                try PayloadTranslator.checkReplaces(
                    message.content.replaces, message.content.lifetimeSeconds,
                    isToOne: isToken(target, in: payload))
            } catch {
                reason = .refusal(error)
                throw LegacyError.fault(error)
            }
            let id = max(Int64(bitPattern: settings.random() >> 1), 1)
            if let topics {
                return submit(message, to: topics, sender, .topicJSON(dryRunID: id), requester, &io)
            }
            let targets: [[UInt8]]
            switch target {
            case .one(let one), .condition(let one): targets = [payload.reader.string(one)]
            case .several(let list, let count):
                targets = Self.strings(in: list, count: count, of: payload)
            }
            return submit(message, to: targets, sender, .json(multicastID: id), requester, &io)
        } catch {
            io.refuse(reason, sender: sender)
            throw HTTPRefusal(.legacy(error))
        }
    }

    private func sendForm(
        _ request: HTTPRequest, _ sender: SenderID, _ requester: Requester, _ io: inout SessionIO
    ) throws(HTTPRefusal) -> Outcome {
        do throws(Refusal) {
            let body: FormBody
            do throws(FormBody.Fault) {
                body = try FormBody(request.body.raw)
            } catch {
                throw .conflict(field: "body", reason: "expected application/x-www-form-urlencoded")
            }
            let form = try LegacyForm(body)
            var message = LegacyMessage(
                MessageContent(
                    messageID: [], collapseKey: form.collapseKey, lifetimeSeconds: form.lifetimeSeconds,
                    delaysWhileIdle: form.delaysWhileIdle, isDryRun: form.isDryRun,
                    restrictedPackage: form.restrictedPackage, body: []))
            message.content.sendAt = form.sendAt
            let isTopic = PayloadTranslator.isTopicPath(form.target)
            try PayloadTranslator.checkSendAt(form.sendAt, isToTopics: isTopic)
            var translator = PayloadTranslator()
            try message.setBody { () throws(Refusal) in
                try translator.body(
                    ofPairs: form.data, reservesGCMPrefix: settings.rules.reservesGCMPrefix,
                    limit: settings.rules.payloadBytes(isToTopics: isTopic))
            }
            if isTopic {
                guard let topic = TopicName(path: form.target) else {
                    throw .conflict(field: PayloadField.to.name, reason: PayloadTranslator.topicNameFault)
                }
                let id = max(Int64(bitPattern: settings.random() >> 1), 1)
                return submit(
                    message, to: TopicTarget(topic), sender, .topicText(dryRunID: id), requester, &io)
            }
            return submit(message, to: [form.target], sender, .text, requester, &io)
        } catch {
            io.refuse(error, sender: sender)
            let send = HTTPSend(.text, recipients: 1)
            send.recordResult(.refused(error), at: 0)
            return .answer(send.response)
        }
    }

    /// Returns the topics that a request is sent to, or `nil` if its target is not a topic or condition.
    private func topics(
        in target: LegacyTarget, of payload: borrowing AppServerPayload
    ) throws(LegacyFault) -> TopicTarget? {
        switch target {
        case .several: return nil
        case .one(let one):
            let path = payload.reader.string(one)
            guard PayloadTranslator.isTopicPath(path) else { return nil }
            guard let topic = TopicName(path: path) else {
                throw LegacyFault("InvalidParameters: Invalid topic name")
            }
            return TopicTarget(topic)
        case .condition(let text):
            do throws(TopicConditionFault) {
                return try PayloadTranslator.target(
                    ofCondition: payload.reader.string(text), operators: settings.rules.conditionOperators)
            } catch {
                throw LegacyFault("InvalidParameters: Invalid condition")
            }
        }
    }

    /// Returns whether a target is the token of an app instance.
    private func isToken(_ target: LegacyTarget, in payload: borrowing AppServerPayload) -> Bool {
        guard case .one(let one) = target else { return false }
        return settings.seal.name(of: payload.reader.string(one).raw) != nil
    }

    private func legacyMessage(
        _ payload: borrowing AppServerPayload, of request: HTTPRequest, isToTopics: Bool
    ) throws(Refusal) -> LegacyMessage {
        let given = try DownstreamMessage(legacy: payload)
        try PayloadTranslator.checkRawData(of: given, isToTopics: isToTopics)
        try PayloadTranslator.checkSendAt(given.sendAt, isToTopics: isToTopics)
        var message = LegacyMessage(MessageContent(given, messageID: [], body: []))
        var translator = PayloadTranslator()
        try message.setBody { () throws(Refusal) in
            try translator.body(
                of: given, in: payload, reservesGCMPrefix: settings.rules.reservesGCMPrefix,
                textMeansBody: true, limit: settings.rules.payloadBytes(isToTopics: isToTopics))
        }
        if let rawData = given.rawData, message.payloadRefusal == nil,
            let encryption = PushEncryption(request)
        {
            let content = Base64.bytes(payload.reader.string(rawData).raw) ?? []
            do throws(RequestFault) {
                try encryption.check(content, isPublicKey: settings.webPush.isPublicKey)
            } catch { throw .conflict(field: PayloadField.rawData.name, reason: "\(error.reason)") }
            message.content.body = encryption.pairs() + message.content.body
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

    /// Submits the message to the core once per recipient; malformed tokens are refused at once.
    private func submit(
        _ message: LegacyMessage, to targets: [[UInt8]], _ sender: SenderID, _ form: HTTPSend.Form,
        _ requester: Requester, _ io: inout SessionIO
    ) -> Outcome {
        let send = HTTPSend(form, recipients: targets.count, payloadRefusal: message.payloadRefusal)
        if let refusal = message.payloadRefusal { io.refuse(refusal, sender: sender) }
        var content = message.content
        content.isForSeveral = targets.count > 1
        for (index, token) in targets.enumerated() {
            switch Recipient(token: token, seal: settings.seal) {
            case .group(let group) where targets.count == 1:
                if let refusal = message.payloadRefusal {
                    send.recordResult(.refused(refusal), at: 0)
                    return .answer(send.response)
                }
                io.events.append(
                    SendRequest(sender: sender, recipient: .group(group), content: message.content)
                        .event(replyTo: requester))
                return .wait(.groupSend(form))
            case .registration(let name):
                let requestID = RecipientRequestID.make(request: requester.requestID, index: index)
                io.events.append(
                    SendRequest(sender: sender, recipient: .registration(name), content: content)
                        .event(replyTo: Requester(connection: connection, requestID: requestID)))
            default:
                io.refuse(.invalidToken, sender: sender, to: token)
                send.recordResult(.refused(.invalidToken), at: index)
            }
        }
        return send.outcome
    }

    /// Submits a message for topics to the core, which sends one reply once it has accepted the message.
    private func submit(
        _ message: LegacyMessage, to topics: TopicTarget, _ sender: SenderID, _ form: HTTPSend.Form,
        _ requester: Requester, _ io: inout SessionIO
    ) -> Outcome {
        let send = HTTPSend(form, recipients: 1)
        if let refusal = message.payloadRefusal {
            io.refuse(refusal, sender: sender)
            send.recordResult(.refused(refusal), at: 0)
            return .answer(send.response)
        }
        let requestID = RecipientRequestID.make(request: requester.requestID, index: 0)
        io.events.append(
            SendRequest(sender: sender, recipient: .topic(topics), content: message.content)
                .event(replyTo: Requester(connection: connection, requestID: requestID)))
        return send.outcome
    }

    /// Returns what a reply means for one recipient, with its request and index; `nil` if the reply is for a whole request.
    func tokenReply(in reply: SubmissionReply, _ requestID: UInt32) -> (
        request: UInt32, index: Int, HTTPTokenReply
    )? {
        guard let (request, index) = RecipientRequestID.parts(requestID) else { return nil }
        switch reply {
        case .accepted(let id, let canonical):
            let replacing = canonical.map { settings.seal.token(for: $0) }
            return (request, index, .message(.sent(id, canonical: replacing)))
        case .refused(let refusal): return (request, index, .message(.refused(refusal)))
        case .group(let answer): return (request, index, .message(groupResult(answer)))
        }
    }

    /// Returns what a reply means for one token, with its request and index; `nil` if the reply is for a whole request.
    func tokenReply(in reply: RequestReply, _ requestID: UInt32) -> (
        request: UInt32, index: Int, HTTPTokenReply
    )? {
        guard let (request, index) = RecipientRequestID.parts(requestID) else { return nil }
        switch reply {
        case .token: return (request, index, .subscription(nil))
        case .tokenRefused(let refusal): return (request, index, .subscription(refusal))
        case .registered(let name): return (request, index, .registration(name))
        case .registrationRefused(let refusal): return (request, index, .registrationRefused(refusal))
        case .group, .groupRefused, .checkedIn, .checkInRefused, .unregistered, .installation, .forgotten,
            .cancelled, .imported, .traced:
            return nil
        }
    }
}
