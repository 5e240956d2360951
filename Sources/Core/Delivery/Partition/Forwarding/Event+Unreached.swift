public import Basics

/// What takes the place of the answer to an event whose owner cannot be reached, or does not answer.
public enum UnreachedAnswer: Sendable {
    /// Nothing waits for the event.
    case none
    /// A command for a session.
    case command(ConnectionID, SessionCommand)
    /// An event for a partition.
    case event(Event)
    /// All of these, in order.
    case several([UnreachedAnswer])

    /// Calls a closure with each command and each event, in order.
    public func forEach(command: (ConnectionID, SessionCommand) -> Void, event: (Event) -> Void) {
        switch self {
        case .none: break
        case .command(let connection, let answer): command(connection, answer)
        case .event(let answer): event(answer)
        case .several(let answers): for one in answers { one.forEach(command: command, event: event) }
        }
    }
}

/// Something that waits for the answer to an event.
public struct OpenRequest: Sendable {
    /// What waits.
    public var key: PendingKey
    /// What releases it without the answer.
    public var answer: UnreachedAnswer

    /// The key of the partition that waits. `nil` if a session does.
    public var partitionKey: PartitionKey? { if case .event(let event) = answer { event.key } else { nil } }
}

/// The answers that the core itself gives to an event that it cannot handle (`Partition.refuse`), without the partition.
extension Event {
    /// Returns what to do if the event's owner cannot be reached.
    ///
    /// `OpenRequest.answer` for each that waits. A session whose state the owner would no longer have is closed, so that its client
    /// connects again. All other events have no answer: see the table in the Overview of NodeProtocol.
    public func answerWhenUnreached() -> UnreachedAnswer {
        if let connection = concernedSession {
            return .command(connection, .connection(.close(.storeFailed)))
        }
        let answers = openRequests.map(\.answer)
        return answers.count > 1 ? .several(answers) : answers.first ?? .none
    }

    /// The session of which the event reports a change that its owner must not miss.
    private var concernedSession: ConnectionID? {
        switch self {
        case .device(_, .acknowledged(let connection, _)), .device(_, .writable(let connection)),
            .device(_, .congested(let connection)), .device(_, .idleChanged(let connection, _)),
            .sender(_, .bound(let connection)), .sender(_, .draining(let connection)),
            .sender(_, .congested(let connection)), .sender(_, .writable(let connection)),
            .sender(_, .streamManaged(let connection, _)),
            .sender(_, .upstreamFinished(let connection, _, _)):
            connection
        default: nil
        }
    }

    /// What waits for the answer to the event.
    public var openRequests: [OpenRequest] {
        switch self {
        case .device(_, let event): event.openRequests
        case .sender(let sender, let event): event.openRequests(of: sender)
        case .group(_, .requested(let request)):
            request.requester.map { [.request($0, .reply($0, .groupRefused(.unavailable)))] } ?? []
        case .group(_, .submitted(let submission)): submission.openRequests
        case .topic(_, .submitted(let submission)): [.submission(submission.requester)]
        case .installation(_, .requested(let request)) where !request.isVouched: [request.openRequest]
        case .topicLog(let partition, .published(_, let source)):
            [
                OpenRequest(
                    key: .topicCopy(from: source, to: partition),
                    answer: .event(.topicLog(source, .copied(by: partition, through: nil))))
            ]
        case .group(_, .memberAnswered), .topicLog, .installation, .partition: []
        }
    }
}

extension OpenRequest {
    fileprivate static func request(_ requester: Requester, _ answer: UnreachedAnswer) -> OpenRequest {
        OpenRequest(key: PendingKey(requester), answer: answer)
    }

    fileprivate static func submission(_ requester: Requester) -> OpenRequest {
        let refusal = SessionCommand.submission(requestID: requester.requestID, .refused(.unavailable))
        return .request(requester, .command(requester.connection, refusal))
    }

    fileprivate static func registry(_ requester: Requester) -> OpenRequest {
        .request(requester, .reply(requester, .registrationRefused(.serviceNotAvailable)))
    }

    fileprivate static func upstream(_ requester: Requester) -> OpenRequest {
        let refusal = DeviceCommand.upstreamRefused(requestID: requester.requestID, .unavailable)
        return OpenRequest(
            key: PendingKey(upstream: requester), answer: .command(requester.connection, .device(refusal)))
    }

    fileprivate static func waitingUpstream(_ requester: Requester, of name: RegistrationName) -> OpenRequest
    {
        OpenRequest(
            key: PendingKey(waitingUpstream: requester), answer: .event(.upstreamAnswered(name, requester)))
    }
}

extension UnreachedAnswer {
    fileprivate static func reply(_ requester: Requester, _ reply: RequestReply) -> UnreachedAnswer {
        .command(requester.connection, .reply(requestID: requester.requestID, reply))
    }
}

extension DeviceEvent {
    fileprivate var openRequests: [OpenRequest] {
        switch self {
        case .submitted(let submission): submission.replyTo.openRequest.map { [$0] } ?? []
        case .login(let login):
            [
                OpenRequest(
                    key: .login(login.connection),
                    answer: .command(login.connection, .device(.loginRefused(.unavailable))))
            ]
        case .upstreamReceived(let upstream): [.upstream(upstream.requester)]
        case .upstreamReturned(let gone):
            // The next search for expired messages returns it again.
            [
                OpenRequest(
                    key: .upstreamReturn(gone.sender, gone.sequence),
                    answer: .event(.upstreamReturnFinished(gone.sender, gone.sequence, hasFailed: true)))
            ]
        case .checkIn(let request): [.registry(request.requester)]
        case .register(let request), .unregister(let request): [.registry(request.requester)]
        case .registerWeb(let request): [.registry(request.requester)]
        case .subscribe(let request): [.registry(request.requester)]
        case .unregisterToken(_, let requester), .forget(let requester): [.registry(requester)]
        case .cancel(let request): [.registry(request.requester)]
        case .imported(let rows): [.registry(rows.requester)]
        case .token(let request):
            [.request(request.requester, .reply(request.requester, .tokenRefused(.unavailable)))]
        case .installationFound(let request, _): [request.openRequestAtDevice]
        case .acknowledged, .writable, .congested, .idleChanged, .closed, .upstreamAnswered,
            .receiptStored, .receiptRefused, .gatewayAnswered, .gatewayDue, .markedForGateway, .topicsDue,
            .unseen, .due:
            []
        }
    }
}

extension SenderEvent {
    fileprivate func openRequests(of sender: SenderID) -> [OpenRequest] {
        switch self {
        case .login(let connection, _):
            // If the owner accepts it after all, it learns that the session has ended.
            [
                OpenRequest(
                    key: .login(connection),
                    answer: .several([
                        .command(connection, .appServer(.loginRefused(.unavailable))),
                        .event(.appServerClosed(connection, sender)),
                    ]))
            ]
        case .keysRequested(let connection):
            [OpenRequest(key: .keys(connection), answer: .command(connection, .appServer(.loginKeys([]))))]
        case .streamRequested(let connection, _):
            [
                OpenRequest(
                    key: .stream(connection), answer: .command(connection, .appServer(.streamNotResumed)))
            ]
        case .upstreamResolved(let upstream, let token):
            [
                .upstream(upstream.requester),
                .waitingUpstream(upstream.requester, of: token.registration),
            ]
        case .groupUpstream(let submission): submission.openRequests
        case .receiptDue(let due):
            [
                OpenRequest(
                    key: .receipt(due.message.device, due.sequence),
                    answer: .event(.receiptRefused(due.message.device, due.sequence)))
            ]
        case .bound, .draining, .congested, .writable, .closed, .streamManaged, .streamDetached,
            .upstreamFinished, .upstreamReturnFinished:
            []
        }
    }
}

extension ReplyTo {
    fileprivate var openRequest: OpenRequest? {
        switch self {
        case .session(let requester): .submission(requester)
        case .nobody: nil
        case .group(let sender, let member):
            OpenRequest(
                key: .member(sender, member),
                answer: .event(.memberAnswered(sender, member, .refused(.unavailable))))
        }
    }
}

extension GroupSubmission {
    fileprivate var openRequests: [OpenRequest] {
        guard let author else { return [.submission(requester)] }
        let waiting = author.own.last.map { OpenRequest.waitingUpstream(requester, of: $0) }
        return [.upstream(requester)] + (waiting.map { [$0] } ?? [])
    }
}

extension InstallationRequest {
    fileprivate var openRequest: OpenRequest {
        if case .send = action { .submission(requester) } else { .registry(requester) }
    }

    /// At the device only a check-in pair is verified for a change, which waits in the partition of the installation.
    fileprivate var openRequestAtDevice: OpenRequest {
        guard case .create(let offer) = action else { return openRequest }
        var unproved = self
        unproved.action = .vouched(offer, isProved: false)
        return OpenRequest(key: PendingKey(proof: self), answer: .event(.installation(unproved)))
    }
}
