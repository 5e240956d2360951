public import Basics
public import Delivery
public import Wire

/// The target of a message.
public enum Recipient: Sendable, Equatable {
    case registration(RegistrationName)
    /// The members of a device group.
    case group(GroupName)
    /// The subscribers of a topic, or the registrations that meet a condition.
    case topic(TopicTarget)
    /// The registration of a Firebase installation.
    case installation([UInt8])

    /// Whether the target is a topic or a condition.
    var isTopic: Bool { if case .topic = self { true } else { false } }

    /// Whether the target is a token.
    var isRegistration: Bool { if case .registration = self { true } else { false } }

    /// Decodes a registration token or a notification key; `nil` if the text is neither.
    init?(token: [UInt8], seal: TokenSeal) {
        if let name = seal.name(of: token.raw) {
            self = .registration(name)
        } else if let group = seal.group(of: token.raw) {
            self = .group(group)
        } else {
            return nil
        }
    }
}

/// A validated request to send a message, common to XMPP, legacy HTTP, HTTP v1 and `ccsctl`.
///
/// Only a web push is submitted without one (`HTTPWebPush`): a key entitles it, not a sender, and its recipient is a registration.
public struct SendRequest: Sendable {
    /// The account under which the message is submitted.
    public var sender: SenderID
    public var recipient: Recipient
    public var content: MessageContent

    public init(sender: SenderID, recipient: Recipient, content: MessageContent) {
        self.sender = sender
        self.recipient = recipient
        self.content = content
    }

    /// Returns the event that submits the message; the core replies to `requester`.
    @inline(__always)
    public consuming func event(replyTo requester: Requester) -> Event {
        switch recipient {
        case .registration(let target):
            .submitted(
                Submission(
                    requester: requester, entitlement: .account(sender), target: target, content: content))
        case .group(let group):
            .groupSubmitted(
                GroupSubmission(requester: requester, sender: sender, group: group, content: content))
        case .topic(let target):
            .topicSubmitted(
                TopicSubmission(requester: requester, sender: sender, target: target, content: content))
        case .installation(let id):
            .installation(
                InstallationRequest(
                    requester: requester, installation: id, sender: sender, action: .send(content)))
        }
    }
}

extension MessageContent {
    /// Creates the content from the fields of a message of XMPP or legacy HTTP and its encoded pairs (ccs-xmpp 2.2).
    @inline(__always)
    init(_ message: borrowing DownstreamMessage, messageID: [UInt8], body: EncodedAppData) {
        self.init(
            messageID: messageID, collapseKey: PayloadTranslator.collapseKey(of: message),
            lifetimeSeconds: message.lifetimeSeconds, priority: PayloadTranslator.priority(of: message),
            wantsReceipt: message.wantsReceipt, delaysWhileIdle: PayloadTranslator.delaysWhileIdle(message),
            isDryRun: message.isDryRun, restrictedPackage: message.restrictedPackage,
            holdsRawData: message.rawData != nil, isNotification: message.notification != nil, body: body,
            apns: AppleOptions.apns(of: message))
        sendAt = message.sendAt
        replaces = message.replaces
    }
}

extension PayloadTranslator {
    /// Does steps 7 and 8 of ccs-xmpp 3.4, for XMPP and operators: checks the fields, the payload and the seal of the token.
    ///
    /// `to` is set before the checks that follow it, so that a refusal can name it.
    @inline(__always)
    public mutating func sendRequest(
        _ payload: borrowing AppServerPayload, messageID: [UInt8], to: inout [UInt8], sender: SenderID,
        seal: TokenSeal, rules: MessageRules
    ) throws(Refusal) -> SendRequest {
        let message = try DownstreamMessage(payload, lenientLifetime: rules.lenientLifetime)
        var name: RegistrationName?
        if message.condition == nil {
            (to, name) = registration(in: payload.reader, message.to, seal)
        }
        let topic = try Self.topicTarget(of: message, to: to, in: payload, rules)
        try Self.checkRawData(of: message, isToTopics: topic != nil)
        try Self.checkSendAt(message.sendAt, isToTopics: topic != nil)
        let body = try body(
            of: message, in: payload, reservesGCMPrefix: rules.reservesGCMPrefix,
            limit: rules.payloadBytes(isToTopics: topic != nil))
        guard
            let recipient = topic.map({ Recipient.topic($0) }) ?? name.map({ .registration($0) })
                ?? seal.group(of: to.raw).map({ .group($0) })
        else { throw .invalidToken }
        try Self.checkReplaces(message.replaces, message.lifetimeSeconds, isToOne: name != nil)
        return SendRequest(
            sender: sender, recipient: recipient,
            content: MessageContent(message, messageID: messageID, body: body))
    }
}
