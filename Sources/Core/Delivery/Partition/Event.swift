public import Basics

/// An input of the core. The address is part of the event: a device, a sender (with its groups and topics), an installation, or the
/// partition as a whole. Sessions and the shell create events with the functions of `Event+Constructors.swift`.
public enum Event: Sendable {
    case device(DeviceID, DeviceEvent)
    case sender(SenderID, SenderEvent)
    case group(SenderID, GroupEvent)
    case topic(SenderID, TopicEvent)
    /// Of the topic messages of a whole partition, by its number.
    case topicLog(Int, TopicLogEvent)
    case installation([UInt8], InstallationEvent)
    case partition(PartitionEvent)

    /// The key of the owner that handles the event. `nil` for events of a partition: answers of the store return to the partition
    /// that asked, and all others are sent to every partition.
    public var key: PartitionKey? {
        switch self {
        case .device(let device, _): .device(device)
        case .sender(let sender, _), .group(let sender, _), .topic(let sender, _): .sender(sender)
        case .topicLog(let partition, _): .partition(partition)
        case .installation(let id, _): .installation(id)
        case .partition: nil
        }
    }
}

/// An event of a device.
public enum DeviceEvent: Sendable {
    /// An app server submitted a message.
    case submitted(Submission)
    /// The device requests to log in.
    case login(DeviceLogin)
    /// The device acknowledged these messages.
    case acknowledged(ConnectionID, [SequenceNumber])
    /// Its connection accepts more: what was sent has been written (requested by `reportWhenWritable`, and after congestion).
    case writable(ConnectionID)
    /// Its connection is congested: send nothing more until `writable`.
    case congested(ConnectionID)
    /// It reports that it is idle, or active again.
    case idleChanged(ConnectionID, isIdle: Bool)
    /// Its connection has closed (reported for every connection that sent `login`).
    case closed(ConnectionID)
    /// It sent a message to an app server.
    case upstreamReceived(UpstreamSubmission)
    /// Its upstream message was stored or refused, and no longer counts as waiting for this registration. The requester is that of
    /// the message, so that a node can match the answer with the event that it has sent to another node.
    case upstreamAnswered(RegistrationNumber, Requester)
    /// Its upstream message expired or was refused before an app server acknowledged it: the device receives a report.
    case upstreamReturned(UpstreamReturn)
    /// The receipt of a message is on disk: the message can be removed.
    case receiptStored(SequenceNumber)
    /// The receipt of a message could not be stored: the message stays.
    case receiptRefused(SequenceNumber)
    /// The device checks in.
    case checkIn(CheckIn)
    /// An app registers.
    case register(RegistrationRequest)
    /// An app unregisters.
    case unregister(RegistrationRequest)
    /// A web app requests a token whose messages the server encrypts.
    case registerWeb(WebRegistrationRequest)
    /// An app unregisters a token.
    case unregisterToken(TokenClaim, Requester)
    /// A registration subscribes to a topic or unsubscribes.
    case subscribe(TopicRequest)
    /// An app server requests information on a registration, or subscribes it to a topic of its sender.
    case token(TokenRequest)
    /// A request of an installation continues at the device that has the first of its registrations.
    indirect case installationFound(InstallationRequest, [RegistrationName])
    /// An operator removes the device: its registrations and messages are removed, and its connection is closed.
    case forget(Requester)
    /// An operator or an app server cancels messages that wait for the device.
    indirect case cancel(Cancellation)
    /// An operator imports rows of the device.
    indirect case imported(DeviceImport)
    /// The gateway answered a delivery to one of its registrations.
    case gatewayAnswered(GatewayAnswer)
    /// The time has come to offer the next message of a registration to the gateway.
    case gatewayDue(RegistrationNumber)
    /// The store has the device's mark for the gateway: what waits is offered, or the mark is removed.
    case markedForGateway
    /// There are topic messages that its iOS apps may have to be sent.
    case topicsDue
    /// The store has found that a scheduled message at this position is due.
    case due(SequenceNumber, UnixMilliseconds)
    /// The store has not seen the device for so long that it may have expired: the device is removed if it has.
    case unseen
}

/// An event of a sender and its sessions.
public enum SenderEvent: Sendable {
    /// An app server requests to log in with the key of this digest.
    case login(ConnectionID, key: SecretDigest)
    /// An app server requests to prove a key without revealing it (SCRAM): answered with `loginKeys`.
    case keysRequested(ConnectionID)
    /// The session has bound its resource and accepts upstream messages.
    case bound(ConnectionID)
    /// The session drains: it gets no new upstream messages, but its acknowledgements still count.
    case draining(ConnectionID)
    /// Its connection is congested: send nothing more until `writable`.
    case congested(ConnectionID)
    /// All that was sent has been written, and the peer reads again.
    case writable(ConnectionID)
    /// Its connection has closed (reported for every connection that got `loginAccepted`).
    case closed(ConnectionID)
    /// Its stream can be resumed by this ID from now on (XEP-0198).
    case streamManaged(ConnectionID, id: String)
    /// Its connection is lost, and this state of its stream is left; `closed` follows.
    case streamDetached(ConnectionID, ResumableStream)
    /// The session requests to resume the stream of this ID.
    case streamRequested(ConnectionID, id: String)
    /// The session answered an upstream message or receipt, or no answer is expected.
    case upstreamFinished(ConnectionID, SequenceNumber, UpstreamOutcome)
    /// A device's upstream message with the registration that the device's partition resolved.
    case upstreamResolved(UpstreamSubmission, from: TokenName)
    /// A device's message to a group, which counts towards the rate of its sender.
    indirect case groupUpstream(GroupSubmission)
    /// The report of an expired message is stored at its device, or has no registration to go to; or that failed.
    case upstreamReturnFinished(SequenceNumber, hasFailed: Bool)
    /// A receipt is due to the sender.
    case receiptDue(ReceiptDue)
}

/// An event of a sender's groups.
public enum GroupEvent: Sendable {
    /// An app server requests to create, change or read a group.
    case requested(GroupRequest)
    /// A message to a group was submitted.
    indirect case submitted(GroupSubmission)
    /// A group message to this member was accepted or refused.
    case memberAnswered(GroupSendMember, MemberAnswer)
}

/// An event of a sender's topic messages.
public enum TopicEvent: Sendable {
    /// An app server submitted a message to a topic or condition.
    indirect case submitted(TopicSubmission)
}

/// An event of a partition's topic messages: those that it keeps for its devices, and those that it copies to other partitions.
public enum TopicLogEvent: Sendable {
    /// The partition of their senders passes on messages that are on disk there, oldest first: answered with `copied`.
    case published([TopicMessage], from: Int)
    /// The partition of its sender passes on a now-or-never message, for devices that are connected.
    indirect case nowOrNever(TopicMessage)
    /// A partition has on disk all messages that were passed on to it, up to a number; `nil` if it could not store them.
    case copied(by: Int, through: SequenceNumber?)
}

/// An event of a Firebase installation.
public enum InstallationEvent: Sendable {
    /// A request of the installation.
    indirect case requested(InstallationRequest)
    /// The store has not seen the installation used for so long that it may have expired: it is removed if it was last used before
    /// the first time, or before the second time while it has no registrations.
    case unused(before: UnixMilliseconds, unlinkedBefore: UnixMilliseconds)
}

/// An event of a partition as a whole.
public enum PartitionEvent: Sendable {
    /// The store reports the outcome of a batch.
    case committed(CommitOutcome)
    /// The store answers a query of this partition.
    case loaded(StoreResult)
    /// The senders changed.
    case senders(SenderDirectory)
    /// An operator changed settings.
    case settingsChanged(RunningSettings)
    /// An operator or a device confirms that the machine's wall clock is right.
    case clockAccepted(by: ClockWitness)
    /// Time has passed: sent at least twice a second.
    case tick
    /// It is the turn of this partition to send topic messages to connected devices (`Partition.isTopicDue`).
    case topicsTurn
    /// An operator traces a device: `traced` reports each step of its messages from now on.
    case trace(DeviceID, Requester)
    /// An operator stops tracing.
    case untrace(Requester)
}

/// How an app server's session finished an upstream message.
public enum UpstreamOutcome: Sendable, CaseIterable {
    /// Acknowledged.
    case acknowledged
    /// The app server answered `nack`: the message is not sent again.
    case refused
    /// The receipt was written long ago, and many messages after it: most clients never acknowledge receipts.
    case unanswered
    /// The message expired before there was room to write it.
    case expired
    /// A webhook has not delivered it and does not try again: it goes to another session.
    case returned
}

extension Event {
    /// Owner and case name, such as `device.closed`, for traces and tests.
    public var label: String {
        guard let owner = Mirror(reflecting: self).children.first else { return "\(self)" }
        let payload = Mirror(reflecting: owner.value)
        let event: Any? = payload.displayStyle == .tuple ? payload.children.map(\.value).last : owner.value
        guard let event, Mirror(reflecting: event).displayStyle == .enum else { return owner.label ?? "" }
        return "\(owner.label ?? "").\(Mirror(reflecting: event).children.first?.label ?? "\(event)")"
    }
}
