import Basics
import Delivery

@testable import NodeProtocol

// Events and commands of each case: a case without a generator does not compile.

extension RandomValues {
    mutating func event(_ number: DeviceEventCase) -> Event {
        let event: DeviceEvent =
            switch number {
            case .submitted: .submitted(submission())
            case .login: .login(deviceLogin())
            case .acknowledged: .acknowledged(connection(), list { $0.sequence() })
            case .writable: .writable(connection())
            case .congested: .congested(connection())
            case .idleChanged: .idleChanged(connection(), isIdle: flag())
            case .closed: .closed(connection())
            case .upstreamReceived: .upstreamReceived(upstreamSubmission())
            case .upstreamAnswered: .upstreamAnswered(registrationNumber(), requester())
            case .upstreamReturned: .upstreamReturned(upstreamReturn())
            case .receiptStored: .receiptStored(sequence())
            case .receiptRefused: .receiptRefused(sequence())
            case .checkIn: .checkIn(checkIn())
            case .register: .register(registrationRequest())
            case .unregister: .unregister(registrationRequest())
            case .registerWeb: .registerWeb(webRegistrationRequest())
            case .unregisterToken: .unregisterToken(tokenClaim(), requester())
            case .subscribe: .subscribe(topicRequest())
            case .token: .token(tokenRequest())
            case .installationFound: .installationFound(installationRequest(one()), names())
            case .forget: .forget(requester())
            case .imported: .imported(deviceImport())
            case .gatewayAnswered: .gatewayAnswered(gatewayAnswer(one()))
            case .gatewayDue: .gatewayDue(registrationNumber())
            case .markedForGateway: .markedForGateway
            case .unseen: .unseen
            case .topicsDue: .topicsDue
            case .cancel: .cancel(cancellation())
            case .due: .due(sequence(), signed())
            }
        return .device(device(), event)
    }

    mutating func event(_ number: SenderEventCase) -> Event {
        let event: SenderEvent =
            switch number {
            case .login: .login(connection(), key: digest())
            case .keysRequested: .keysRequested(connection())
            case .bound: .bound(connection())
            case .draining: .draining(connection())
            case .congested: .congested(connection())
            case .writable: .writable(connection())
            case .closed: .closed(connection())
            case .streamManaged: .streamManaged(connection(), id: text())
            case .streamDetached: .streamDetached(connection(), stream())
            case .streamRequested: .streamRequested(connection(), id: text())
            case .upstreamFinished: .upstreamFinished(connection(), sequence(), one())
            case .upstreamResolved: .upstreamResolved(upstreamSubmission(), from: token())
            case .groupUpstream: .groupUpstream(groupSubmission())
            case .upstreamReturnFinished: .upstreamReturnFinished(sequence(), hasFailed: flag())
            case .receiptDue: .receiptDue(receiptDue())
            }
        return .sender(sender(), event)
    }

    mutating func event(_ number: GroupEventCase) -> Event {
        let event: GroupEvent =
            switch number {
            case .requested: .requested(groupRequest(one()))
            case .submitted: .submitted(groupSubmission())
            case .memberAnswered: .memberAnswered(member(), memberAnswer(one()))
            }
        return .group(sender(), event)
    }

    mutating func event(_ number: TopicEventCase) -> Event {
        let event: TopicEvent =
            switch number {
            case .submitted: .submitted(topicSubmission())
            }
        return .topic(sender(), event)
    }

    mutating func event(_ number: TopicLogEventCase, partitions: Int = 2) -> Event {
        let event: TopicLogEvent =
            switch number {
            case .published: .published(list { $0.topicMessage() }, from: below(partitions))
            case .nowOrNever: .nowOrNever(topicMessage())
            case .copied: .copied(by: below(partitions), through: optional { $0.sequence() })
            }
        return .topicLog(below(partitions), event)
    }

    mutating func event(_ number: InstallationEventCase) -> Event {
        let event: InstallationEvent =
            switch number {
            case .requested: .requested(installationRequest(one()))
            case .unused: .unused(before: signed(), unlinkedBefore: signed())
            }
        return .installation(bytes(), event)
    }

    mutating func command(_ number: AppServerCommandCase) -> SessionCommand {
        let command: AppServerCommand =
            switch number {
            case .loginKeys: .loginKeys(list { $0.serverKey() })
            case .loginAccepted: .loginAccepted
            case .loginRefused: .loginRefused(one())
            case .deliver: .deliver(delivered())
            case .release: .release(sequence())
            case .withdraw: .withdraw(sequence())
            case .streamResumed: .streamResumed(stream())
            case .streamNotResumed: .streamNotResumed
            case .changePendingWindow: .changePendingWindow(integer())
            }
        return .appServer(command)
    }

    private mutating func delivered() -> StoredUpstream {
        var upstream = upstream()
        upstream.requester = optional { $0.connection() }
        return upstream
    }

    mutating func command(_ number: DeviceCommandCase) -> SessionCommand {
        let command: DeviceCommand =
            switch number {
            case .loginAccepted: .loginAccepted
            case .loginRefused: .loginRefused(one())
            case .deliver: .deliver(delivery())
            case .reportWhenWritable: .reportWhenWritable
            case .upstreamStored: .upstreamStored(requestID: small())
            case .upstreamRefused: .upstreamRefused(requestID: small(), one())
            }
        return .device(command)
    }

    mutating func delivery() -> DeviceDelivery {
        var message = message()
        message.shared = optional { SharedReference($0.bodyName(), path: $0.bytes()) }
        return DeviceDelivery(
            message: message, app: registration().app, from: bytes(), isStored: flag())
    }

    mutating func command(_ number: ConnectionCommandCase) -> SessionCommand {
        let command: ConnectionCommand =
            switch number {
            case .drain: .drain
            case .endWhenIdle: .endWhenIdle(from: Instant(nanoseconds: signed()), one())
            case .close: .close(one())
            case .refundQuota: .refundQuota
            case .retryAfter: .retryAfter(requestID: small(), seconds: integer())
            }
        return .connection(command)
    }

    mutating func command(_ number: SubmissionReplyCase) -> SessionCommand {
        let reply: SubmissionReply =
            switch number {
            case .accepted:
                .accepted(id: optional { $0.persistentID() }, canonical: optional { $0.token() })
            case .refused: .refused(refusal(one()))
            case .group:
                .group(
                    GroupAnswer(
                        success: integer(),
                        failed: list { (member: $0.token(), refusal: $0.refusal($0.one())) }))
            }
        return .submission(requestID: small(), reply)
    }

    mutating func command(_ number: RequestReplyCase) -> SessionCommand {
        let reply: RequestReply =
            switch number {
            case .group: .group(changedGroup())
            case .groupRefused: .groupRefused(one())
            case .token:
                .token(
                    TokenReport(
                        registration: registration(), topics: list { $0.subscription() }, wasThere: flag()))
            case .tokenRefused: .tokenRefused(one())
            case .checkedIn: .checkedIn(device(), freshToken: optional { $0.number() })
            case .checkInRefused: .checkInRefused
            case .registered: .registered(token())
            case .unregistered: .unregistered
            case .registrationRefused: .registrationRefused(one())
            case .installation: .installation(installation(), registrations: integer())
            case .forgotten: .forgotten(registrations: integer(), messages: integer())
            case .imported: .imported(list { $0.one() })
            case .traced: .traced(traceRecord())
            case .cancelled: .cancelled(integer(), tooLate: integer())
            }
        return .reply(requestID: small(), reply)
    }

    private mutating func changedGroup() -> GroupRecord {
        var group = groupRecord()
        if flag() { group.members = [] }
        return group
    }

    private mutating func traceRecord() -> TraceRecord {
        var record = TraceRecord(one(), one())
        record.messageID = bytes()
        record.persistentID = optional { $0.persistentID() }
        record.registration = optional { $0.registrationNumber() }
        record.sender = optional { $0.sender() }
        record.detail = text()
        return record
    }
}

extension RandomValues {
    /// Every case of every event.
    mutating func events() -> [Event] {
        DeviceEventCase.allCases.map { event($0) } + SenderEventCase.allCases.map { event($0) }
            + GroupEventCase.allCases.map { event($0) } + TopicEventCase.allCases.map { event($0) }
            + TopicLogEventCase.allCases.map { event($0) }
            + InstallationEventCase.allCases.map { event($0) }
            + InstallationActionCase.allCases.map {
                .installation(bytes(), .requested(installationRequest($0)))
            } + GroupOperationCase.allCases.map { .group(sender(), .requested(groupRequest($0))) }
            + GatewayOutcomeCase.allCases.map { .device(device(), .gatewayAnswered(gatewayAnswer($0))) }
    }

    /// Every case of every command.
    mutating func commands() -> [SessionCommand] {
        AppServerCommandCase.allCases.map { command($0) } + DeviceCommandCase.allCases.map { command($0) }
            + ConnectionCommandCase.allCases.map { command($0) }
            + SubmissionReplyCase.allCases.map { command($0) } + RequestReplyCase.allCases.map { command($0) }
            + RefusalCase.allCases.map { .submission(requestID: small(), .refused(refusal($0))) }
    }
}
