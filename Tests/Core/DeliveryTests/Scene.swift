import Basics
import Delivery

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

/// The tokens of registrations that begin with no ID.
func tokens(_ names: [RegistrationName]) -> [TokenName] { names.map { TokenName($0) } }

func connection(_ number: UInt32) -> ConnectionID {
    ConnectionID(reactor: 0, slot: number, generation: number)
}

let appServer = connection(1)
let phone = connection(2)
let web = connection(3)
let device = DeviceID(1 << 60 | 5)
let token = SecretDigest(bytes: [UInt8](repeating: 9, count: 32))

/// The actors and requests that most tests use.
extension Harness {
    /// A harness with one device that has one registration of `app` with the first sender.
    static func withDevice(
        partitions: Int = 1, settings: DeliverySettings = DeliverySettings()
    ) -> Harness {
        var store = FakeStore()
        store.records[device] = DeviceRecord(
            device: device, token: token, createdAt: 0, seenAt: 1_700_000_000_000,
            nextRegistration: 2)
        store.registrations[target] = Registration(
            name: target, category: bytes("app"), subtype: [], senderText: bytes("100"),
            sender: sender, createdAt: 0)
        return Harness(partitions: partitions, store: store, settings: settings)
    }

    static let target = RegistrationName(device: device, number: RegistrationNumber(1))

    /// A second device with the same app.
    func addDevice() -> DeviceID {
        let other = DeviceID(1 << 60 | 77)
        store.records[other] = DeviceRecord(
            device: other, token: token, createdAt: 0, seenAt: 1_700_000_000_000, nextRegistration: 2)
        let name = RegistrationName(device: other, number: RegistrationNumber(1))
        store.registrations[name] = Registration(
            name: name, category: bytes("app"), subtype: [], senderText: bytes("100"),
            sender: Self.sender, createdAt: 0)
        return other
    }

    static func submission(
        _ requestID: UInt32, key: String? = nil, lifetime: Int = 3_600, receipt: Bool = false,
        to name: RegistrationName = target, from requester: ConnectionID = appServer
    ) -> Submission {
        Submission(
            requester: Requester(connection: requester, requestID: requestID), entitlement: .account(sender),
            target: name,
            content: MessageContent(
                messageID: bytes("m\(requestID)"), collapseKey: key.map(bytes), lifetimeSeconds: lifetime,
                wantsReceipt: receipt, body: bytes("body \(requestID)")))
    }

    func submit(
        _ requestID: UInt32, key: String? = nil, lifetime: Int = 3_600, receipt: Bool = false
    ) {
        post(.submitted(Self.submission(requestID, key: key, lifetime: lifetime, receipt: receipt)))
    }

    func login(_ link: ConnectionID = phone, received: [PersistentID] = []) {
        post(
            .deviceLogin(
                DeviceLogin(connection: link, device: device, token: token, received: received)))
    }

    func bindAppServer(_ link: ConnectionID = appServer) {
        post(.appServerLogin(link, Self.sender, key: Self.key))
        post(.appServerBound(link, Self.sender))
        settle()
        commands.removeAll { $0.0 == link && $0.1.word == "login accepted" }
    }

    static func upstream(
        _ requestID: UInt32, lifetime: Int = 3_600, id: String? = nil, content: UInt32? = nil,
        category: String = "app", sender: SenderID = sender, device: DeviceID = device
    ) -> UpstreamSubmission {
        UpstreamSubmission(
            requester: Requester(connection: phone, requestID: requestID), device: device, sender: sender,
            isFCMDomain: false, category: bytes(category), messageID: bytes("u\(content ?? requestID)"),
            persistentID: bytes(id ?? "p\(requestID)"), lifetimeSeconds: lifetime,
            body: bytes("up \(content ?? requestID)"))
    }
}

extension Submission {
    /// The request of the session that submitted it.
    var requester: Requester {
        guard case .session(let requester) = replyTo else { preconditionFailure("no session made it") }
        return requester
    }
}

extension GroupSubmission {
    /// Sends a submission's message to a group.
    init(group: GroupName, submission: Submission) {
        self.init(
            requester: submission.requester, sender: submission.sender ?? Harness.sender, group: group,
            content: submission.content)
    }
}

extension TopicSubmission {
    /// Sends a submission's message to topics.
    init(target: TopicTarget, submission: Submission) {
        self.init(
            requester: submission.requester, sender: submission.sender ?? Harness.sender, target: target,
            content: submission.content)
    }
}

/// Short texts that tests compare commands by.
extension SessionCommand {
    var word: String {
        switch self {
        case .appServer(.streamResumed(let stream)): "stream resumed \(stream.id)"
        case .appServer(.streamNotResumed): "stream not resumed"
        case .appServer(.loginKeys(let keys)): "login keys \(keys.count)"
        case .appServer(.loginAccepted): "login accepted"
        case .appServer(.loginRefused(let refusal)): "login refused \(refusal.rawValue)"
        case .submission(let requestID, .accepted): "ack \(requestID)"
        case .submission(let requestID, .refused(let refusal)): "nack \(requestID) \(refusal.word)"
        case .appServer(.deliver(let message)):
            message.kind == .message
                ? "upstream \(String(decoding: message.messageID, as: UTF8.self))"
                : "receipt \(String(decoding: message.messageID, as: UTF8.self))"
        case .appServer(.release(let receipt)): "release \(receipt.number)"
        case .appServer(.withdraw(let sequence)): "withdraw \(sequence.number)"
        case .submission(let requestID, .group(let answer)):
            "group \(requestID) \(answer.success)/\(answer.failed.count)"
                + answer.failed.map { " \($0.member.registration.number.number)=\($0.refusal.word)" }.joined()
        case .reply(let requestID, .group(let group)):
            "group known \(requestID) \(group.members.map { "\($0.registration.number.number)" }.joined(separator: ","))"
        case .reply(let requestID, .groupRefused(let refusal)):
            "group refused \(requestID) \(refusal.rawValue)"
        case .reply(let requestID, .token(let report)):
            "token known \(requestID) \(report.registration.name.number.number) \(report.wasThere)"
                + report.topics.map { " \(String(decoding: $0.topic.bytes, as: UTF8.self))" }.joined()
        case .reply(let requestID, .tokenRefused(let refusal)):
            "token refused \(requestID) \(refusal.rawValue)"
        case .connection(.drain): "drain"
        case .appServer(.changePendingWindow(let window)): "pending window \(window)"
        case .connection(.endWhenIdle(_, let reason)): "end when idle \(reason.rawValue)"
        case .device(.loginRefused(let refusal)): "login refused \(refusal.rawValue)"
        case .device(.loginAccepted): "device login accepted"
        case .device(.deliver(let delivery)):
            switch delivery.message.kind {
            case .discardedMarker(let count): "marker \(count)"
            case .sendError: "send error \(String(decoding: delivery.message.messageID, as: UTF8.self))"
            case .message: "deliver \(String(decoding: delivery.message.messageID, as: UTF8.self))"
            }
        case .device(.reportWhenWritable): "report when writable"
        case .device(.upstreamStored(let requestID)): "stored \(requestID)"
        case .device(.upstreamRefused(let requestID, let refusal)): "refused \(requestID) \(refusal.rawValue)"
        case .reply(let requestID, .checkedIn(_, let fresh)): "checked in \(requestID) \(fresh != nil)"
        case .reply(let requestID, .checkInRefused): "check-in refused \(requestID)"
        case .connection(.refundQuota): "refund quota"
        case .connection(.retryAfter(let requestID, let seconds)): "retry \(requestID) \(seconds)"
        case .reply(let requestID, .registered(let token)):
            "registered \(requestID) \(token.registration.number.number)"
        case .reply(let requestID, .unregistered): "unregistered \(requestID)"
        case .reply(let requestID, .registrationRefused(let refusal)): "\(refusal.rawValue) \(requestID)"
        case .reply(let requestID, .installation(let record, let registrations)):
            "installation \(requestID) \(String(decoding: record.id, as: UTF8.self)) \(registrations)"
                + (record.refresh == nil ? " ended" : "")
        case .reply(let requestID, .forgotten(let registrations, let messages)):
            "forgotten \(requestID) \(registrations) \(messages)"
        case .reply(let requestID, .cancelled(let count, let late)): "cancelled \(requestID) \(count) \(late)"
        case .reply(let requestID, .imported(let outcomes)):
            "imported \(requestID) \(outcomes.map(\.rawValue).joined(separator: " "))"
        case .reply(let requestID, .traced(let note)):
            "traced \(requestID) \(note.direction.rawValue) \(note.step.rawValue) \(String(decoding: note.messageID, as: UTF8.self))"
                + (note.detail.isEmpty ? "" : " \(note.detail)")
        case .connection(.close(let reason)): "close \(reason.rawValue)"
        }
    }

    /// Kind and name, such as `device deliver`.
    var label: String {
        guard let kind = Mirror(reflecting: self).children.first else { return "\(self)" }
        let payload = Mirror(reflecting: kind.value)
        let command = payload.displayStyle == .tuple ? Array(payload.children)[1].value : kind.value
        return "\(kind.label ?? "") \(Mirror(reflecting: command).children.first?.label ?? "\(command)")"
    }

    var delivery: DeviceDelivery? { if case .device(.deliver(let delivery)) = self { delivery } else { nil } }
    var upstream: StoredUpstream? {
        if case .appServer(.deliver(let message)) = self { message } else { nil }
    }
}

extension StoreQuery {
    var word: String {
        switch self {
        case .device: "device"
        case .messages: "messages"
        case .gatewayMessage: "gateway message"
        case .gatewayDevices: "gateway devices"
        case .upstream: "upstream"
        case .expired: "expired"
        case .group: "group"
        case .groupLabelled: "group labelled"
        case .unseen: "unseen"
        case .installation: "installation"
        case .unusedInstallations: "unused installations"
        case .topicMessages: "topic messages"
        case .topicEntries: "topic log"
        case .topicDevices: "topic devices"
        case .named: "named"
        case .schedule: "schedule"
        }
    }
}

extension [SessionCommand] {
    var words: [String] { map(\.word) }
}
