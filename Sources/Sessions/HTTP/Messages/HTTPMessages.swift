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
        for message: V1Message, _ sender: SenderID, _ requester: Requester, index: Int, _ now: Now
    ) throws(V1Error) -> Event {
        let recipient = try recipient(of: message)
        let limit = settings.rules.payloadBytes(isToTopics: recipient.isTopic)
        let isShown = message.notification != nil
        let collapseKey = message.collapseKey.flatMap { $0.isEmpty ? nil : $0 }
        let priority: Priority =
            switch message.priority {
            case .high: .high
            case .normal: .normal
            case nil: isShown ? .high : .normal
            }
        let content = MessageContent(
            messageID: [], collapseKey: collapseKey ?? (isShown ? MessageContent.appCollapseKey : nil),
            lifetimeSeconds: message.lifetimeSeconds, priority: priority, isDryRun: message.isDryRun,
            restrictedPackage: message.restrictedPackage, isNotification: message.apple.isNotification,
            body: try body(of: message, limit: limit), apns: message.apple.apns,
            apnsLifetimeSeconds: message.apple.lifetimeSeconds(now: now.machineWall))
        if let common = message.apple.data { try check(data: common, limit: limit) }
        let requestID = RecipientRequestID.make(request: requester.requestID, index: index)
        return SendRequest(sender: sender, recipient: recipient, content: content)
            .event(replyTo: Requester(connection: connection, requestID: requestID))
    }

    private func recipient(of message: V1Message) throws(V1Error) -> Recipient {
        switch message.target {
        case .token(let token), .installation(let token):
            guard
                let recipient = Recipient(token: token, seal: settings.seal)
                    ?? Self.installation(token).map({ .installation($0) })
            else { throw V1Error(.invalidToken) }
            return recipient
        case .topic(let name):
            guard let topic = TopicName(name) else {
                throw V1Error(invalid: "message.topic", "Invalid topic name")
            }
            return .topic(TopicTarget(topic))
        case .condition(let text):
            do throws(TopicConditionFault) {
                return .topic(try PayloadTranslator.target(ofCondition: text))
            } catch {
                throw V1Error(invalid: "message.condition", "Invalid condition: \(error.rawValue)")
            }
        }
    }

    /// Encodes the pairs that devices read: `data` as it is, `notification` with the prefix `gcm.notification.` (mcs-device 2.1).
    private func body(of message: V1Message, limit: Int) throws(V1Error) -> EncodedAppData {
        var body = ByteBuffer()
        var bytes = try check(data: message.data, limit: limit)
        for pair in message.data {
            AppData.append(key: pair.key.raw, value: pair.value.raw, to: &body)
        }
        if let notification = message.notification {
            for pair in notification {
                let key = Array("gcm.notification.\(pair.key)".utf8)
                AppData.append(key: key.raw, value: pair.value.raw, to: &body)
                bytes += pair.key.utf8CodeUnitCount + pair.value.count
            }
            AppData.append(key: "gcm.n.e", text: "1", to: &body)
        }
        guard bytes <= limit else {
            throw V1Error(.tooLarge(field: "data", bytes: bytes, limit: limit))
        }
        return body.copied()
    }

    /// Checks the keys and the size of data. Returns the size.
    @discardableResult
    private func check(
        data: [(key: [UInt8], value: [UInt8])], limit: Int
    ) throws(V1Error) -> Int {
        var bytes = 0
        for pair in data {
            do throws(Refusal) {
                try ReservedKeys.check(pair.key.raw, reservesGCMPrefix: settings.rules.reservesGCMPrefix)
            } catch { throw V1Error(error) }
            bytes += pair.key.count + pair.value.count
        }
        guard bytes <= limit else {
            throw V1Error(.tooLarge(field: "data", bytes: bytes, limit: limit))
        }
        return bytes
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
