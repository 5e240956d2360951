import Basics
import Delivery

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

func connection(_ number: UInt32) -> ConnectionID {
    ConnectionID(reactor: 0, slot: number, generation: number)
}

let appServer = connection(1)
let phone = connection(2)
let web = connection(3)
let device = DeviceID(1 << 60 | 5)
let token = SecretDigest(octets: [UInt8](repeating: 9, count: 32))

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
        _ ticket: UInt32, key: String? = nil, lifetime: Int = 3_600, receipt: Bool = false,
        to name: RegistrationName = target, from origin: ConnectionID = appServer
    ) -> Submission {
        Submission(
            origin: Origin(connection: origin, ticket: ticket), entitlement: .account(sender), target: name,
            content: MessageContent(
                messageID: bytes("m\(ticket)"), collapseKey: key.map(bytes), lifetimeSeconds: lifetime,
                wantsReceipt: receipt, body: bytes("body \(ticket)")))
    }

    func submit(
        _ ticket: UInt32, key: String? = nil, lifetime: Int = 3_600, receipt: Bool = false
    ) {
        post(.submitted(Self.submission(ticket, key: key, lifetime: lifetime, receipt: receipt)))
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
        _ ticket: UInt32, lifetime: Int = 3_600, id: String? = nil, content: UInt32? = nil,
        category: String = "app", sender: SenderID = sender, device: DeviceID = device
    ) -> UpstreamSubmission {
        UpstreamSubmission(
            origin: Origin(connection: phone, ticket: ticket), device: device, sender: sender,
            isFCMDomain: false, category: bytes(category), messageID: bytes("u\(content ?? ticket)"),
            persistentID: bytes(id ?? "p\(ticket)"), lifetimeSeconds: lifetime,
            body: bytes("up \(content ?? ticket)"))
    }
}

extension Submission {
    /// The request of the session that submitted it.
    var origin: Origin {
        guard case .session(let origin) = replyTo else { preconditionFailure("no session made it") }
        return origin
    }
}

extension GroupSubmission {
    /// Sends a submission's message to a group.
    init(group: GroupName, submission: Submission) {
        self.init(
            origin: submission.origin, sender: submission.sender ?? Harness.sender, group: group,
            content: submission.content)
    }
}

extension TopicSubmission {
    /// Sends a submission's message to topics.
    init(target: TopicTarget, submission: Submission) {
        self.init(
            origin: submission.origin, sender: submission.sender ?? Harness.sender, target: target,
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
        case .submission(let ticket, .accepted): "ack \(ticket)"
        case .submission(let ticket, .refused(let refusal)): "nack \(ticket) \(refusal.word)"
        case .appServer(.deliver(let message)):
            message.kind == .message
                ? "upstream \(String(decoding: message.messageID, as: UTF8.self))"
                : "receipt \(String(decoding: message.messageID, as: UTF8.self))"
        case .appServer(.release(let receipt)): "release \(receipt.number)"
        case .appServer(.withdraw(let sequence)): "withdraw \(sequence.number)"
        case .submission(let ticket, .group(let answer)):
            "group \(ticket) \(answer.success)/\(answer.failed.count)"
                + answer.failed.map { " \($0.member.number.number)=\($0.refusal.word)" }.joined()
        case .reply(let ticket, .group(let group)):
            "group known \(ticket) \(group.members.map { "\($0.number.number)" }.joined(separator: ","))"
        case .reply(let ticket, .groupRefused(let refusal)): "group refused \(ticket) \(refusal.rawValue)"
        case .reply(let ticket, .token(let report)):
            "token known \(ticket) \(report.registration.name.number.number) \(report.wasThere)"
                + report.topics.map { " \(String(decoding: $0.topic.octets, as: UTF8.self))" }.joined()
        case .reply(let ticket, .tokenRefused(let refusal)): "token refused \(ticket) \(refusal.rawValue)"
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
        case .device(.reportWhenReady): "report when ready"
        case .device(.upstreamStored(let ticket)): "stored \(ticket)"
        case .device(.upstreamRefused(let ticket, let refusal)): "refused \(ticket) \(refusal.rawValue)"
        case .reply(let ticket, .checkedIn(_, let fresh)): "checked in \(ticket) \(fresh != nil)"
        case .reply(let ticket, .checkInRefused): "check-in refused \(ticket)"
        case .connection(.placeUnused): "place unused"
        case .reply(let ticket, .registered(let name)): "registered \(ticket) \(name.number.number)"
        case .reply(let ticket, .unregistered): "unregistered \(ticket)"
        case .reply(let ticket, .registrationRefused(let refusal)): "\(refusal.rawValue) \(ticket)"
        case .reply(let ticket, .installation(let record, let registrations)):
            "installation \(ticket) \(String(decoding: record.id, as: UTF8.self)) \(registrations)"
                + (record.refresh == nil ? " ended" : "")
        case .reply(let ticket, .forgotten(let registrations, let messages)):
            "forgotten \(ticket) \(registrations) \(messages)"
        case .reply(let ticket, .traced(let note)):
            "traced \(ticket) \(note.direction.rawValue) \(note.step.rawValue) \(String(decoding: note.messageID, as: UTF8.self))"
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

extension Load {
    var word: String {
        switch self {
        case .device: "device"
        case .messages: "messages"
        case .upstream: "upstream"
        case .expired: "expired"
        case .group: "group"
        case .groupLabelled: "group labelled"
        case .unseen: "unseen"
        case .installation: "installation"
        case .unusedInstallations: "unused installations"
        case .topicPage: "topic page"
        case .topicJobs: "topic jobs"
        }
    }
}

extension [SessionCommand] {
    var words: [String] { map(\.word) }
}
