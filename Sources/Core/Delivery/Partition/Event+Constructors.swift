public import Basics

/// Constructors of events: each derives the partition key from what the event carries, so that the two always agree.
extension Event {
    // MARK: Of a device

    /// A message that an app server submitted, for its target.
    public static func submitted(_ submission: Submission) -> Event {
        .device(submission.target.device, .submitted(submission))
    }

    /// A device logs in.
    public static func deviceLogin(_ login: DeviceLogin) -> Event { .device(login.device, .login(login)) }

    /// A device acknowledges these messages.
    public static func deviceAcknowledged(
        _ connection: ConnectionID, _ device: DeviceID, _ sequences: [SequenceNumber]
    ) -> Event { .device(device, .acknowledged(connection, sequences)) }

    /// The device's connection accepts more.
    public static func deviceWritable(_ connection: ConnectionID, _ device: DeviceID) -> Event {
        .device(device, .writable(connection))
    }

    /// The device's connection accepts nothing more until it is writable again.
    public static func deviceCongested(_ connection: ConnectionID, _ device: DeviceID) -> Event {
        .device(device, .congested(connection))
    }

    /// A device reports that it is idle, or active again.
    public static func deviceIdleChanged(
        _ connection: ConnectionID, _ device: DeviceID, isIdle: Bool
    ) -> Event { .device(device, .idleChanged(connection, isIdle: isIdle)) }

    /// The connection of a device has ended.
    public static func deviceClosed(_ connection: ConnectionID, _ device: DeviceID) -> Event {
        .device(device, .closed(connection))
    }

    /// A device sends a message to an app server.
    public static func upstreamReceived(_ upstream: UpstreamSubmission) -> Event {
        .device(upstream.device, .upstreamReceived(upstream))
    }

    /// The gateway answered a delivery.
    public static func gatewayAnswered(_ answer: GatewayAnswer) -> Event {
        .device(answer.registration.device, .gatewayAnswered(answer))
    }

    static func upstreamAnswered(_ name: RegistrationName, _ requester: Requester) -> Event {
        .device(name.device, .upstreamAnswered(name.number, requester))
    }

    static func upstreamReturned(_ gone: UpstreamReturn) -> Event {
        .device(gone.author.from.device, .upstreamReturned(gone))
    }

    static func receiptStored(_ device: DeviceID, _ sequence: SequenceNumber) -> Event {
        .device(device, .receiptStored(sequence))
    }

    static func receiptRefused(_ device: DeviceID, _ sequence: SequenceNumber) -> Event {
        .device(device, .receiptRefused(sequence))
    }

    /// For the claimed device, or the fresh one if none is claimed.
    public static func checkIn(_ checkIn: CheckIn) -> Event {
        .device(checkIn.claimed?.0 ?? checkIn.freshDevice, .checkIn(checkIn))
    }

    /// An app registers.
    public static func register(_ request: RegistrationRequest) -> Event {
        .device(request.device, .register(request))
    }

    /// An app unregisters.
    public static func unregister(_ request: RegistrationRequest) -> Event {
        .device(request.device, .unregister(request))
    }

    /// A web app requests a token whose messages the server encrypts.
    public static func registerWeb(_ request: WebRegistrationRequest) -> Event {
        .device(request.endpoint.device, .registerWeb(request))
    }

    /// An app unregisters a token.
    public static func unregisterToken(_ claim: TokenClaim, _ requester: Requester) -> Event {
        .device(claim.name.device, .unregisterToken(claim, requester))
    }

    /// A registration subscribes to a topic or unsubscribes.
    public static func subscribe(_ request: TopicRequest) -> Event {
        .device(request.name.device, .subscribe(request))
    }

    /// An app server requests information on a registration, or changes its topics.
    public static func token(_ request: TokenRequest) -> Event {
        .device(request.name.device, .token(request))
    }

    static func installationFound(
        _ request: InstallationRequest, _ names: [RegistrationName], at device: DeviceID
    ) -> Event { .device(device, .installationFound(request, names)) }

    /// An operator removes a device.
    public static func forgetDevice(_ device: DeviceID, _ requester: Requester) -> Event {
        .device(device, .forget(requester))
    }

    /// An operator or an app server cancels messages that wait for a device.
    public static func cancel(_ request: Cancellation) -> Event { .device(request.device, .cancel(request)) }

    /// An operator imports rows of a device.
    public static func imported(_ rows: DeviceImport) -> Event { .device(rows.device, .imported(rows)) }

    /// The store has not seen the device for long.
    public static func unseen(_ device: DeviceID) -> Event { .device(device, .unseen) }

    // MARK: Of a sender

    /// An app server logs in with its key.
    public static func appServerLogin(
        _ connection: ConnectionID, _ sender: SenderID, key: SecretDigest
    ) -> Event { .sender(sender, .login(connection, key: key)) }

    /// An app server requests the keys for a login that does not reveal its key (SCRAM).
    public static func appServerKeysRequested(_ connection: ConnectionID, _ sender: SenderID) -> Event {
        .sender(sender, .keysRequested(connection))
    }

    /// An app server accepts upstream messages from now on.
    public static func appServerBound(_ connection: ConnectionID, _ sender: SenderID) -> Event {
        .sender(sender, .bound(connection))
    }

    /// An app server accepts no more upstream messages.
    public static func appServerDraining(_ connection: ConnectionID, _ sender: SenderID) -> Event {
        .sender(sender, .draining(connection))
    }

    /// The app server's connection accepts nothing more until it is writable again.
    public static func appServerCongested(_ connection: ConnectionID, _ sender: SenderID) -> Event {
        .sender(sender, .congested(connection))
    }

    /// The app server's connection accepts more.
    public static func appServerWritable(_ connection: ConnectionID, _ sender: SenderID) -> Event {
        .sender(sender, .writable(connection))
    }

    /// The connection of an app server has ended.
    public static func appServerClosed(_ connection: ConnectionID, _ sender: SenderID) -> Event {
        .sender(sender, .closed(connection))
    }

    /// The stream of an app server can be resumed from now on (XEP-0198).
    public static func appServerStreamManaged(
        _ connection: ConnectionID, _ sender: SenderID, id: String
    ) -> Event { .sender(sender, .streamManaged(connection, id: id)) }

    /// The connection of a resumable stream is lost.
    public static func appServerStreamDetached(
        _ connection: ConnectionID, _ sender: SenderID, _ stream: ResumableStream
    ) -> Event { .sender(sender, .streamDetached(connection, stream)) }

    /// An app server requests to resume a stream.
    public static func appServerStreamRequested(
        _ connection: ConnectionID, _ sender: SenderID, id: String
    ) -> Event { .sender(sender, .streamRequested(connection, id: id)) }

    /// An app server has answered an upstream message, or no answer is expected.
    public static func upstreamFinished(
        _ connection: ConnectionID, _ sender: SenderID, _ sequence: SequenceNumber, _ outcome: UpstreamOutcome
    ) -> Event { .sender(sender, .upstreamFinished(connection, sequence, outcome)) }

    static func upstreamResolved(_ upstream: UpstreamSubmission, from token: TokenName) -> Event {
        .sender(upstream.sender, .upstreamResolved(upstream, from: token))
    }

    static func groupUpstream(_ submission: GroupSubmission) -> Event {
        .sender(submission.group.sender, .groupUpstream(submission))
    }

    static func upstreamReturnFinished(
        _ sender: SenderID, _ sequence: SequenceNumber, hasFailed: Bool
    ) -> Event {
        .sender(sender, .upstreamReturnFinished(sequence, hasFailed: hasFailed))
    }

    static func receiptDue(_ receipt: ReceiptDue) -> Event { .sender(receipt.sender, .receiptDue(receipt)) }

    // MARK: Of an installation

    /// A request names an installation.
    public static func installation(_ request: InstallationRequest) -> Event {
        .installation(request.installation, .requested(request))
    }

    // MARK: Of groups and topics

    /// An app server requests to create, change or read a group.
    public static func groupRequested(_ request: GroupRequest) -> Event {
        .group(request.sender, .requested(request))
    }

    /// A message to a group.
    public static func groupSubmitted(_ submission: GroupSubmission) -> Event {
        .group(submission.group.sender, .submitted(submission))
    }

    static func memberAnswered(
        _ sender: SenderID, _ member: GroupSendMember, _ answer: MemberAnswer
    ) -> Event {
        .group(sender, .memberAnswered(member, answer))
    }

    /// A message to a topic or a condition.
    public static func topicSubmitted(_ submission: TopicSubmission) -> Event {
        .topic(submission.sender, .submitted(submission))
    }

    // MARK: Of a partition

    /// The store reports the outcome of a batch.
    public static func committed(_ outcome: CommitOutcome) -> Event { .partition(.committed(outcome)) }

    /// The store answers a query.
    public static func loaded(_ answer: StoreResult) -> Event { .partition(.loaded(answer)) }

    /// The senders changed.
    public static func senders(_ directory: SenderDirectory) -> Event { .partition(.senders(directory)) }

    /// The settings changed.
    public static func settingsChanged(_ settings: RunningSettings) -> Event {
        .partition(.settingsChanged(settings))
    }

    /// The machine's wall clock is right.
    public static func clockAccepted(by witness: ClockWitness) -> Event {
        .partition(.clockAccepted(by: witness))
    }

    /// Time has passed.
    public static var tick: Event { .partition(.tick) }

    /// An operator starts to trace a device.
    public static func trace(_ device: DeviceID, _ watcher: Requester) -> Event {
        .partition(.trace(device, watcher))
    }

    /// An operator stops tracing.
    public static func untrace(_ watcher: Requester) -> Event { .partition(.untrace(watcher)) }
}
