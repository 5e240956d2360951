public import Basics
import Delivery
public import Wire

/// Translates messages of HTTP v1 to neutral content, for `messages:send`, `/batch` and operators (http 8).
public struct V1Translator: Sendable {
    private let seal: TokenSeal
    private let rules: MessageRules

    /// Creates a translator with the settings of sessions.
    public init(seal: TokenSeal, rules: MessageRules) {
        self.seal = seal
        self.rules = rules
    }

    /// Returns the request to send a message. Throws the error of v1 if its target or its data is invalid.
    public func sendRequest(
        _ message: V1Message, _ sender: SenderID, _ now: Now
    ) throws(V1Error) -> SendRequest {
        let recipient = try recipient(of: message)
        let limit = rules.payloadBytes(isToTopics: recipient.isTopic)
        let isShown = message.notification != nil
        let collapseKey = message.collapseKey.flatMap { $0.isEmpty ? nil : $0 }
        let priority: Priority =
            switch message.priority {
            case .high: .high
            case .normal: .normal
            case nil: isShown ? .high : .normal
            }
        do throws(Refusal) {
            try PayloadTranslator.checkSendAt(message.sendAt, isToTopics: recipient.isTopic)
            try PayloadTranslator.checkReplaces(
                message.replaces, message.lifetimeSeconds, isToOne: recipient.isRegistration)
        } catch { throw V1Error(error) }
        var content = MessageContent(
            messageID: [], collapseKey: collapseKey ?? (isShown ? MessageContent.appCollapseKey : nil),
            lifetimeSeconds: message.lifetimeSeconds, priority: priority, isDryRun: message.isDryRun,
            restrictedPackage: message.restrictedPackage, isNotification: message.apple.isNotification,
            body: try body(of: message, limit: limit), apns: message.apple.apns,
            apnsLifetimeSeconds: message.apple.lifetimeSeconds(
                now: max(now.machineWall, message.sendAt ?? now.machineWall)))
        content.sendAt = message.sendAt
        content.replaces = message.replaces
        if let common = message.apple.data { try check(data: common, limit: limit) }
        return SendRequest(sender: sender, recipient: recipient, content: content)
    }

    private func recipient(of message: V1Message) throws(V1Error) -> Recipient {
        switch message.target {
        case .token(let token), .installation(let token):
            guard
                let recipient = Recipient(token: token, seal: seal)
                    ?? HTTPSession.installation(token).map({ .installation($0) })
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
                try ReservedKeys.check(pair.key.raw, reservesGCMPrefix: rules.reservesGCMPrefix)
            } catch { throw V1Error(error) }
            bytes += pair.key.count + pair.value.count
        }
        guard bytes <= limit else {
            throw V1Error(.tooLarge(field: "data", bytes: bytes, limit: limit))
        }
        return bytes
    }
}
