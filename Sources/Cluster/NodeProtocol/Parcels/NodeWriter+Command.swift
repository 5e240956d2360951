import Basics
import Delivery
import Store

extension NodeWriter {
    mutating func write(_ command: SessionCommand) {
        switch command {
        case .appServer(let command):
            write(CommandCase.appServer)
            write(command)
        case .device(let command):
            write(CommandCase.device)
            write(command)
        case .submission(let requestID, let reply):
            write(CommandCase.submission)
            number(requestID)
            write(reply)
        case .reply(let requestID, let reply):
            write(CommandCase.reply)
            number(requestID)
            write(reply)
        case .connection(let command):
            write(CommandCase.connection)
            write(command)
        }
    }

    private mutating func write(_ command: AppServerCommand) {
        switch command {
        case .loginKeys(let keys):
            write(AppServerCommandCase.loginKeys)
            write(keys)
        case .loginAccepted: write(AppServerCommandCase.loginAccepted)
        case .loginRefused(let refusal):
            write(AppServerCommandCase.loginRefused)
            write(refusal)
        case .deliver(let upstream):
            write(AppServerCommandCase.deliver)
            write(upstream)
            optional(upstream.requester) { $0.write($1) }
        case .release(let sequence):
            write(AppServerCommandCase.release)
            write(sequence)
        case .withdraw(let sequence):
            write(AppServerCommandCase.withdraw)
            write(sequence)
        case .streamResumed(let stream):
            write(AppServerCommandCase.streamResumed)
            write(stream)
        case .streamNotResumed: write(AppServerCommandCase.streamNotResumed)
        case .changePendingWindow(let window):
            write(AppServerCommandCase.changePendingWindow)
            signed(window)
        }
    }

    /// Keys of a sender, as the record of a sender that has nothing else.
    private mutating func write(_ keys: [ServerKey]) {
        let sender = SenderRecord(sender: SenderID(0), label: "", keys: keys, createdAt: 0)
        RegistryRecord.write(sender, to: &record)
        appendRecord()
    }

    private mutating func write(_ command: DeviceCommand) {
        switch command {
        case .loginAccepted: write(DeviceCommandCase.loginAccepted)
        case .loginRefused(let refusal):
            write(DeviceCommandCase.loginRefused)
            write(refusal)
        case .deliver(let delivery):
            write(DeviceCommandCase.deliver)
            write(delivery)
        case .reportWhenWritable: write(DeviceCommandCase.reportWhenWritable)
        case .upstreamStored(let requestID):
            write(DeviceCommandCase.upstreamStored)
            number(requestID)
        case .upstreamRefused(let requestID, let refusal):
            write(DeviceCommandCase.upstreamRefused)
            number(requestID)
            write(refusal)
        }
    }

    /// A message with its body: the store keeps that of a message to topics elsewhere. The app is the record of a registration that
    /// has nothing else.
    private mutating func write(_ delivery: DeviceDelivery) {
        var message = delivery.message
        message.topic = nil
        write(message)
        optional(delivery.message.topic) {
            $0.write($1.job)
            $0.bytes($1.path)
        }
        let name = RegistrationName(device: message.device, number: message.registration)
        RegistryRecord.write(
            Registration(name: name, app: delivery.app, sender: nil, createdAt: 0), to: &record)
        appendRecord()
        bytes(delivery.from)
        flag(delivery.isStored)
    }

    private mutating func write(_ command: ConnectionCommand) {
        switch command {
        case .drain: write(ConnectionCommandCase.drain)
        case .endWhenIdle(let instant, let reason):
            write(ConnectionCommandCase.endWhenIdle)
            write(instant)
            write(reason)
        case .close(let reason):
            write(ConnectionCommandCase.close)
            write(reason)
        case .refundQuota: write(ConnectionCommandCase.refundQuota)
        case .retryAfter(let requestID, let seconds):
            write(ConnectionCommandCase.retryAfter)
            number(requestID)
            signed(seconds)
        }
    }

    /// Nanoseconds from now until an instant, negative if it is over: the monotonic clocks of two nodes have nothing in common.
    private mutating func write(_ instant: Instant) {
        let (span, isOver) = instant.nanoseconds.subtractingReportingOverflow(now.nanoseconds)
        signed(isOver ? (instant < now ? .min : .max) : span)
    }

    private mutating func write(_ reply: SubmissionReply) {
        switch reply {
        case .accepted(let id, let canonical):
            write(SubmissionReplyCase.accepted)
            optional(id) { $0.write($1) }
            optional(canonical) { $0.write($1) }
        case .refused(let refusal):
            write(SubmissionReplyCase.refused)
            write(refusal)
        case .group(let answer):
            write(SubmissionReplyCase.group)
            signed(answer.success)
            list(answer.failed) {
                $0.write($1.member)
                $0.write($1.refusal)
            }
        }
    }

    private mutating func write(_ reply: RequestReply) {
        switch reply {
        case .group(let group):
            write(RequestReplyCase.group)
            writeAny(group)
        case .groupRefused(let refusal):
            write(RequestReplyCase.groupRefused)
            write(refusal)
        case .token(let report):
            write(RequestReplyCase.token)
            write(report.registration)
            list(report.topics) { $0.write($1) }
            flag(report.wasThere)
        case .tokenRefused(let refusal):
            write(RequestReplyCase.tokenRefused)
            write(refusal)
        case .checkedIn(let device, let freshToken):
            write(RequestReplyCase.checkedIn)
            write(device)
            optional(freshToken) { $0.number($1) }
        case .checkInRefused: write(RequestReplyCase.checkInRefused)
        case .registered(let name):
            write(RequestReplyCase.registered)
            write(name)
        case .unregistered: write(RequestReplyCase.unregistered)
        case .registrationRefused(let refusal):
            write(RequestReplyCase.registrationRefused)
            write(refusal)
        case .installation(let installation, let registrations):
            write(RequestReplyCase.installation)
            write(installation)
            signed(registrations)
        case .forgotten(let registrations, let messages):
            write(RequestReplyCase.forgotten)
            signed(registrations)
            signed(messages)
        case .imported(let outcomes):
            write(RequestReplyCase.imported)
            list(outcomes) { $0.write($1) }
        case .traced(let record):
            write(RequestReplyCase.traced)
            write(record)
        }
    }

    private mutating func write(_ record: TraceRecord) {
        write(record.direction)
        write(record.step)
        bytes(record.messageID)
        optional(record.persistentID) { $0.write($1) }
        optional(record.registration) { $0.write($1) }
        optional(record.sender) { $0.write($1) }
        text(record.detail)
    }
}
