import Basics
import Delivery
import Store

extension NodeReader {
    @_lifetime(self: copy self)
    mutating func command() throws(NodeProtocolFault) -> SessionCommand {
        let number: CommandCase = try numbered()
        switch number {
        case .appServer: return .appServer(try appServerCommand())
        case .device: return .device(try deviceCommand())
        case .submission: return .submission(requestID: try small("request ID"), try submissionReply())
        case .reply: return .reply(requestID: try small("request ID"), try requestReply())
        case .connection: return .connection(try connectionCommand())
        }
    }

    @_lifetime(self: copy self)
    private mutating func appServerCommand() throws(NodeProtocolFault) -> AppServerCommand {
        let number: AppServerCommandCase = try numbered()
        switch number {
        case .loginKeys:
            let sender = try record("keys") { (bytes) throws(RecordFault) in
                try RegistryRecord.sender(bytes, SenderID(0))
            }
            let isBare =
                sender == SenderRecord(sender: SenderID(0), label: "", keys: sender.keys, createdAt: 0)
            guard isBare else { throw .value(of: "keys") }
            return .loginKeys(sender.keys)
        case .loginAccepted: return .loginAccepted
        case .loginRefused: return .loginRefused(try numbered())
        case .deliver:
            var upstream = try upstream()
            upstream.requester = try flag("requester") ? try connection() : nil
            return .deliver(upstream)
        case .release: return .release(try sequence())
        case .withdraw: return .withdraw(try sequence())
        case .streamResumed: return .streamResumed(try stream())
        case .streamNotResumed: return .streamNotResumed
        case .changePendingWindow: return .changePendingWindow(try integer())
        }
    }

    @_lifetime(self: copy self)
    private mutating func deviceCommand() throws(NodeProtocolFault) -> DeviceCommand {
        let number: DeviceCommandCase = try numbered()
        switch number {
        case .loginAccepted: return .loginAccepted
        case .loginRefused: return .loginRefused(try numbered())
        case .deliver: return .deliver(try delivery())
        case .reportWhenWritable: return .reportWhenWritable
        case .upstreamStored: return .upstreamStored(requestID: try small("request ID"))
        case .upstreamRefused: return .upstreamRefused(requestID: try small("request ID"), try numbered())
        }
    }

    @_lifetime(self: copy self)
    private mutating func delivery() throws(NodeProtocolFault) -> DeviceDelivery {
        var message = try message()
        guard message.topic == nil else { throw .value(of: "message") }
        if try flag("topic") {
            let job = try job()
            message.topic = TopicReference(job: job, path: try byteArray("path"))
        }
        let name = RegistrationName(device: message.device, number: message.registration)
        let registration = try record("app") { (bytes) throws(RecordFault) in
            try RegistryRecord.registration(bytes, name)
        }
        guard registration.sender == nil, registration.createdAt == 0 else { throw .value(of: "app") }
        return DeviceDelivery(
            message: message, app: registration.app, from: try byteArray("from"),
            isStored: try flag("stored"))
    }

    @_lifetime(self: copy self)
    private mutating func connectionCommand() throws(NodeProtocolFault) -> ConnectionCommand {
        let number: ConnectionCommandCase = try numbered()
        switch number {
        case .drain: return .drain
        case .endWhenIdle: return .endWhenIdle(from: try instant(), try numbered())
        case .close: return .close(try numbered())
        case .refundQuota: return .refundQuota
        case .retryAfter: return .retryAfter(requestID: try small("request"), seconds: try integer())
        }
    }

    @_lifetime(self: copy self)
    private mutating func instant() throws(NodeProtocolFault) -> Instant {
        let span = try signed()
        let (instant, isOver) = now.nanoseconds.addingReportingOverflow(span)
        guard isOver else { return Instant(nanoseconds: instant) }
        return span < 0 ? .distantPast : .distantFuture
    }

    @_lifetime(self: copy self)
    private mutating func submissionReply() throws(NodeProtocolFault) -> SubmissionReply {
        let number: SubmissionReplyCase = try numbered()
        switch number {
        case .accepted:
            let id = try flag("message ID") ? try persistentID() : nil
            return .accepted(id: id, canonical: try flag("token") ? try token() : nil)
        case .refused: return .refused(try refusal())
        case .group:
            let success = try integer()
            let count = try count("members", least: 4)
            var failed: [(member: TokenName, refusal: Refusal)] = []
            for _ in 0..<count { failed.append((member: try token(), refusal: try refusal())) }
            return .group(GroupAnswer(success: success, failed: failed))
        }
    }

    @_lifetime(self: copy self)
    private mutating func requestReply() throws(NodeProtocolFault) -> RequestReply {
        let number: RequestReplyCase = try numbered()
        switch number {
        case .group: return .group(try anyGroup())
        case .groupRefused: return .groupRefused(try numbered())
        case .token:
            let (registration, topics) = (try registrationRecord(), try subscriptions())
            return .token(
                TokenReport(registration: registration, topics: topics, wasThere: try flag("existed")))
        case .tokenRefused: return .tokenRefused(try numbered())
        case .checkedIn:
            let device = try device()
            return .checkedIn(device, freshToken: try flag("token") ? try self.number() : nil)
        case .checkInRefused: return .checkInRefused
        case .registered: return .registered(try token())
        case .unregistered: return .unregistered
        case .registrationRefused: return .registrationRefused(try numbered())
        case .installation: return .installation(try installationRecord(), registrations: try integer())
        case .forgotten: return .forgotten(registrations: try integer(), messages: try integer())
        case .imported:
            let count = try count("outcomes")
            var outcomes: [ImportOutcome] = []
            for _ in 0..<count { outcomes.append(try numbered()) }
            return .imported(outcomes)
        case .traced: return .traced(try traceRecord())
        }
    }

    @_lifetime(self: copy self)
    private mutating func traceRecord() throws(NodeProtocolFault) -> TraceRecord {
        let direction: TraceRecord.Direction = try numbered()
        var record = TraceRecord(direction, try numbered())
        record.messageID = try byteArray("message ID")
        record.persistentID = try flag("message ID") ? try persistentID() : nil
        record.registration = try flag("registration") ? try registration() : nil
        record.sender = try flag("sender") ? try sender() : nil
        record.detail = try text("detail")
        return record
    }
}
