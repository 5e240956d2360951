import Basics
import Delivery
import Store

/// The numbers of the kinds of commands.
enum CommandCase: UInt8, CaseNumber {
    case appServer = 1
    case device, submission, reply, connection

    static let kind: StaticString = "command"
}

extension SessionCommand: NodeCases {
    func write(to w: inout NodeWriter) throws(Fault) {
        switch self {
        case .appServer(let command): try w.put(Case.appServer, command)
        case .device(let command): try w.put(Case.device, command)
        case .submission(let requestID, let reply): try w.put(Case.submission, requestID, reply)
        case .reply(let requestID, let reply): try w.put(Case.reply, requestID, reply)
        case .connection(let command): try w.put(Case.connection, command)
        }
    }

    static func read(_ number: CommandCase, from r: inout NodeReader) throws(Fault) -> Self {
        switch number {
        case .appServer: .appServer(try r.get())
        case .device: .device(try r.get())
        case .submission: .submission(requestID: try r.get("request ID"), try r.get())
        case .reply: .reply(requestID: try r.get("request ID"), try r.get())
        case .connection: .connection(try r.get())
        }
    }
}

/// The numbers of the commands to the session of an app server.
enum AppServerCommandCase: UInt8, CaseNumber {
    case loginKeys = 1
    case loginAccepted, loginRefused, deliver, release, withdraw, streamResumed, streamNotResumed
    case changePendingWindow

    static let kind: StaticString = "command to an app server"
}

extension AppServerCommand: NodeCases {
    func write(to w: inout NodeWriter) throws(Fault) {
        switch self {
        case .loginKeys(let keys): try w.put(Case.loginKeys, LoginKeys(keys: keys))
        case .loginAccepted: try w.put(Case.loginAccepted)
        case .loginRefused(let refusal): try w.put(Case.loginRefused, refusal)
        case .deliver(let upstream): try w.put(Case.deliver, upstream, upstream.requester)
        case .release(let sequence): try w.put(Case.release, sequence)
        case .withdraw(let sequence): try w.put(Case.withdraw, sequence)
        case .streamResumed(let stream): try w.put(Case.streamResumed, stream)
        case .streamNotResumed: try w.put(Case.streamNotResumed)
        case .changePendingWindow(let window): try w.put(Case.changePendingWindow, window)
        }
    }

    static func read(_ number: AppServerCommandCase, from r: inout NodeReader) throws(Fault) -> Self {
        switch number {
        case .loginKeys:
            let keys: LoginKeys = try r.get()
            return .loginKeys(keys.keys)
        case .loginAccepted: return .loginAccepted
        case .loginRefused: return .loginRefused(try r.get())
        case .deliver:
            var upstream: StoredUpstream = try r.get()
            upstream.requester = try r.get("requester")
            return .deliver(upstream)
        case .release: return .release(try r.get())
        case .withdraw: return .withdraw(try r.get())
        case .streamResumed: return .streamResumed(try r.get())
        case .streamNotResumed: return .streamNotResumed
        case .changePendingWindow: return .changePendingWindow(try r.get())
        }
    }
}

/// Keys of a sender, as the record of a sender that has nothing else.
private struct LoginKeys: NodeFields {
    var keys: [ServerKey]

    private var sender: SenderRecord {
        SenderRecord(sender: SenderID(0), label: "", keys: keys, createdAt: 0)
    }

    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        let sender = try c.record(v?.sender, "keys", RegistryRecord.write) { (bytes) throws(RecordFault) in
            try RegistryRecord.sender(bytes, SenderID(0))
        }
        let keys = Self(keys: sender.keys)
        guard sender == keys.sender else { throw .value(of: "keys") }
        return keys
    }
}

/// The numbers of the commands to the session of a device.
enum DeviceCommandCase: UInt8, CaseNumber {
    case loginAccepted = 1
    case loginRefused, deliver, reportWhenWritable, upstreamStored, upstreamRefused

    static let kind: StaticString = "command to a device"
}

extension DeviceCommand: NodeCases {
    func write(to w: inout NodeWriter) throws(Fault) {
        switch self {
        case .loginAccepted: try w.put(Case.loginAccepted)
        case .loginRefused(let refusal): try w.put(Case.loginRefused, refusal)
        case .deliver(let delivery): try w.put(Case.deliver, delivery)
        case .reportWhenWritable: try w.put(Case.reportWhenWritable)
        case .upstreamStored(let requestID): try w.put(Case.upstreamStored, requestID)
        case .upstreamRefused(let requestID, let refusal):
            try w.put(Case.upstreamRefused, requestID, refusal)
        }
    }

    static func read(_ number: DeviceCommandCase, from r: inout NodeReader) throws(Fault) -> Self {
        switch number {
        case .loginAccepted: .loginAccepted
        case .loginRefused: .loginRefused(try r.get())
        case .deliver: .deliver(try r.get())
        case .reportWhenWritable: .reportWhenWritable
        case .upstreamStored: .upstreamStored(requestID: try r.get("request ID"))
        case .upstreamRefused: .upstreamRefused(requestID: try r.get("request ID"), try r.get())
        }
    }
}

/// A message with its body: the store keeps one that is shared elsewhere. The app is the record of a registration that has
/// nothing else.
extension DeviceDelivery: NodeFields {
    static func fields(_ v: DeviceDelivery?, _ c: inout some Coder) throws(Fault) -> DeviceDelivery {
        var bare = v?.message
        bare?.shared = nil
        var message = try c(bare)
        guard message.shared == nil else { throw .value(of: "message") }
        message.shared = try c.optional(v?.message.shared, "shared body")
        let name = RegistrationName(device: message.device, number: message.registration)
        let app = v.map { Registration(name: name, app: $0.app, sender: nil, createdAt: 0) }
        let registration = try c.record(app, "app", RegistryRecord.write) { (bytes) throws(RecordFault) in
            try RegistryRecord.registration(bytes, name)
        }
        guard registration.sender == nil, registration.createdAt == 0 else { throw .value(of: "app") }
        return DeviceDelivery(
            message: message, app: registration.app, from: try c(v?.from, "from"),
            isStored: try c(v?.isStored, "stored"))
    }

    func write(to w: inout NodeWriter) throws(Fault) {
        var bare = message
        bare.shared = nil
        try w.put(bare, message.shared)
        let name = RegistrationName(device: message.device, number: message.registration)
        RegistryRecord.write(
            Registration(name: name, app: app, sender: nil, createdAt: 0), to: &w.record)
        try w.appendRecord("app")
        try w.put(from, isStored)
    }
}

extension SharedReference: NodeFields {
    static func fields(_ v: SharedReference?, _ c: inout some Coder) throws(Fault) -> SharedReference {
        SharedReference(try c(v?.name), path: try c(v?.path, "path"))
    }
}

/// The numbers of the commands to any session.
enum ConnectionCommandCase: UInt8, CaseNumber {
    case drain = 1
    case endWhenIdle, close, refundQuota, retryAfter

    static let kind: StaticString = "command to a connection"
}

extension ConnectionCommand: NodeCases {
    func write(to w: inout NodeWriter) throws(Fault) {
        switch self {
        case .drain: try w.put(Case.drain)
        case .endWhenIdle(let instant, let reason): try w.put(Case.endWhenIdle, instant, reason)
        case .close(let reason): try w.put(Case.close, reason)
        case .refundQuota: try w.put(Case.refundQuota)
        case .retryAfter(let requestID, let seconds): try w.put(Case.retryAfter, requestID, seconds)
        }
    }

    static func read(_ number: ConnectionCommandCase, from r: inout NodeReader) throws(Fault) -> Self {
        switch number {
        case .drain: .drain
        case .endWhenIdle: .endWhenIdle(from: try r.get(), try r.get())
        case .close: .close(try r.get())
        case .refundQuota: .refundQuota
        case .retryAfter: .retryAfter(requestID: try r.get("request"), seconds: try r.get())
        }
    }
}

/// Nanoseconds from now until an instant, negative if it is over: the monotonic clocks of two nodes have nothing in common.
extension Instant: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        let now = c.now
        let span = try c(
            v.map { instant in
                let (span, isOver) = instant.nanoseconds.subtractingReportingOverflow(now.nanoseconds)
                return isOver ? (instant < now ? .min : .max) : span
            } as Int64?)
        let (instant, isOver) = now.nanoseconds.addingReportingOverflow(span)
        guard isOver else { return Instant(nanoseconds: instant) }
        return span < 0 ? .distantPast : .distantFuture
    }
}

/// The numbers of the answers to submissions.
enum SubmissionReplyCase: UInt8, CaseNumber {
    case accepted = 1
    case refused, group

    static let kind: StaticString = "answer to a submission"
}

extension SubmissionReply: NodeCases {
    func write(to w: inout NodeWriter) throws(Fault) {
        switch self {
        case .accepted(let id, let canonical): try w.put(Case.accepted, id, canonical)
        case .refused(let refusal): try w.put(Case.refused, refusal)
        case .group(let answer):
            try w.put(Case.group, answer.success, answer.failed.map(FailedMember.init))
        }
    }

    static func read(_ number: SubmissionReplyCase, from r: inout NodeReader) throws(Fault) -> Self {
        switch number {
        case .accepted: return .accepted(id: try r.get("message ID"), canonical: try r.get("token"))
        case .refused: return .refused(try r.get())
        case .group:
            let (success, failed): (Int, [FailedMember]) = (try r.get(), try r.get("members"))
            return .group(GroupAnswer(success: success, failed: failed.map(\.pair)))
        }
    }
}

private struct FailedMember: NodeFields {
    static var leastBytes: Int { 4 }

    var member: TokenName
    var refusal: Refusal

    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(member: try c(v?.member), refusal: try c(v?.refusal))
    }

    var pair: (member: TokenName, refusal: Refusal) { (member, refusal) }
}

/// The numbers of the answers to other requests.
enum RequestReplyCase: UInt8, CaseNumber {
    case group = 1
    case groupRefused, token, tokenRefused, checkedIn, checkInRefused, registered, unregistered
    case registrationRefused, installation, forgotten, imported, traced, cancelled

    static let kind: StaticString = "answer to a request"
}

extension RequestReply: NodeCases {
    func write(to w: inout NodeWriter) throws(Fault) {
        switch self {
        case .group(let group): try w.put(Case.group, AnyGroup(group))
        case .groupRefused(let refusal): try w.put(Case.groupRefused, refusal)
        case .token(let report):
            try w.put(Case.token, report.registration, report.topics, report.wasThere)
        case .tokenRefused(let refusal): try w.put(Case.tokenRefused, refusal)
        case .checkedIn(let device, let freshToken): try w.put(Case.checkedIn, device, freshToken)
        case .checkInRefused: try w.put(Case.checkInRefused)
        case .registered(let name): try w.put(Case.registered, name)
        case .unregistered: try w.put(Case.unregistered)
        case .registrationRefused(let refusal): try w.put(Case.registrationRefused, refusal)
        case .installation(let installation, let registrations):
            try w.put(Case.installation, installation, registrations)
        case .forgotten(let registrations, let messages):
            try w.put(Case.forgotten, registrations, messages)
        case .imported(let outcomes): try w.put(Case.imported, outcomes)
        case .traced(let record): try w.put(Case.traced, record)
        case .cancelled(let count, let late): try w.put(Case.cancelled, count, late)
        }
    }

    static func read(_ number: RequestReplyCase, from r: inout NodeReader) throws(Fault) -> Self {
        switch number {
        case .group:
            let group: AnyGroup = try r.get()
            return .group(group.record)
        case .groupRefused: return .groupRefused(try r.get())
        case .token:
            return .token(
                TokenReport(
                    registration: try r.get(), topics: try r.get("subscriptions"),
                    wasThere: try r.get("existed")))
        case .tokenRefused: return .tokenRefused(try r.get())
        case .checkedIn: return .checkedIn(try r.get(), freshToken: try r.get("token"))
        case .checkInRefused: return .checkInRefused
        case .registered: return .registered(try r.get())
        case .unregistered: return .unregistered
        case .registrationRefused: return .registrationRefused(try r.get())
        case .installation: return .installation(try r.get(), registrations: try r.get())
        case .forgotten: return .forgotten(registrations: try r.get(), messages: try r.get())
        case .imported: return .imported(try r.get("outcomes"))
        case .traced: return .traced(try r.get())
        case .cancelled: return .cancelled(try r.get(), tooLate: try r.get())
        }
    }
}

extension TraceRecord: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        var record = Self(try c(v?.direction), try c(v?.step))
        record.messageID = try c(v?.messageID, "message ID")
        record.persistentID = try c.optional(v?.persistentID, "message ID")
        record.registration = try c.optional(v?.registration, "registration")
        record.sender = try c.optional(v?.sender, "sender")
        record.detail = try c(v?.detail, "detail")
        return record
    }
}
