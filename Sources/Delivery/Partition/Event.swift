public import Basics

/// What happens to the core. The address is part of the event: a device, a sender (with its groups and topics), an installation,
/// or a partition as a whole. Sessions and the shell make events by the functions of `Event+Making.swift`.
public enum Event: Sendable {
    case device(DeviceID, DeviceEvent)
    case sender(SenderID, SenderEvent)
    case group(SenderID, GroupEvent)
    case topic(SenderID, TopicEvent)
    case installation([UInt8], InstallationEvent)
    case partition(PartitionEvent)

    /// Who owns what the event is about; `nil` for events of a partition: the store answers the partition that asked, and all
    /// others go to every partition.
    public var key: PartitionKey? {
        switch self {
        case .device(let device, _): .device(device)
        case .sender(let sender, _), .group(let sender, _), .topic(let sender, _): .sender(sender)
        case .installation(let id, _): .installation(id)
        case .partition: nil
        }
    }
}

/// What happens to a device.
public enum DeviceEvent: Sendable {
    /// An app server submitted a message.
    case submitted(Submission)
    /// The device wants to log in.
    case login(DeviceLogin)
    /// The device has these messages.
    case acknowledged(ConnectionID, [Sequence])
    /// More may be sent: what was handed over has left (asked for by `reportWhenReady`, and after congestion).
    case writable(ConnectionID)
    /// Its outbound bytes pile up: hand over nothing more until `writable`.
    case congested(ConnectionID)
    /// It reports that it is idle, or active again.
    case idleChanged(ConnectionID, isIdle: Bool)
    /// Its connection is gone (reported for every connection that sent `login`).
    case closed(ConnectionID)
    /// It sent a message to an app server.
    case upstreamReceived(UpstreamSubmission)
    /// Its message was stored or refused: it no longer counts as waiting for this registration.
    case upstreamAnswered(RegistrationNumber)
    /// Its message was not taken in time: the device gets a report.
    case upstreamReturned(UpstreamReturn)
    /// The receipt of a message is on disk: the message may be removed.
    case receiptStored(Sequence)
    /// The receipt of a message could not be stored: the message stays.
    case receiptRefused(Sequence)
    /// It checks in.
    case checkIn(CheckIn)
    /// An app registers.
    case register(RegistrationRequest)
    /// An app unregisters.
    case unregister(RegistrationRequest)
    /// A web app wants a token whose messages the server encrypts.
    case registerWeb(WebRegistrationRequest)
    /// An app gives a token up.
    case unregisterToken(TokenClaim, Origin)
    /// A registration subscribes to a topic, or ends that.
    case subscribe(TopicRequest)
    /// An app server asks about a registration, or subscribes it to a topic of its sender.
    case token(TokenRequest)
    /// A request of an installation continues at the device that has the first of its registrations.
    indirect case installationFound(InstallationRequest, [RegistrationName])
    /// An operator removes the device: registrations and messages go, its connection is closed.
    case forget(Origin)
    /// The store has not seen the device for so long that it may be gone: its registrations expire if that is so.
    case unseen
}

/// What happens to a sender and its sessions.
public enum SenderEvent: Sendable {
    /// An app server wants to log in with a key of this digest.
    case login(ConnectionID, key: SecretDigest)
    /// An app server wants to prove a key without showing it: `loginKeys` is due (SCRAM).
    case keysWanted(ConnectionID)
    /// It has bound its resource and takes upstream messages.
    case bound(ConnectionID)
    /// It is being drained: no new upstream to it, acks still count.
    case draining(ConnectionID)
    /// Its outbound bytes pile up: hand over nothing more until `writable`.
    case congested(ConnectionID)
    /// All that was handed over has been written, and it reads again.
    case writable(ConnectionID)
    /// Its connection is gone (reported for every connection that got `loginAccepted`).
    case closed(ConnectionID)
    /// Its stream may be resumed from now on, by this id (XEP-0198).
    case streamManaged(ConnectionID, id: String)
    /// Its connection is lost, and this is left of its stream; `closed` follows.
    case streamDetached(ConnectionID, ResumableStream)
    /// It wants to resume the stream of this id.
    case streamWanted(ConnectionID, id: String)
    /// It answered an upstream message or receipt, or there is no answer to wait for.
    case upstreamSettled(ConnectionID, Sequence, UpstreamSettlement)
    /// A device's message, its registration resolved by the device's partition.
    case upstreamResolved(UpstreamSubmission, from: RegistrationName)
    /// A device's message to a group, which the rate of its sender counts.
    indirect case groupUpstream(GroupSubmission)
    /// A message that expired has left the sender's mailbox by way of its device, or could not.
    case upstreamReturnSettled(Sequence)
    /// A receipt is owed.
    case receiptDue(ReceiptDue)
}

/// What happens to the groups of a sender.
public enum GroupEvent: Sendable {
    /// An app server wants to make, change or read a group.
    case requested(GroupRequest)
    /// A message for a group was submitted.
    indirect case submitted(GroupSubmission)
    /// A member of a group has been sent such a message, or not.
    case memberAnswered(GroupSendMember, MemberAnswer)
}

/// What happens to messages to topics of a sender.
public enum TopicEvent: Sendable {
    /// An app server submitted a message to topics.
    indirect case submitted(TopicSubmission)
    /// An app instance has been sent such a message, or not.
    case answered(run: UInt32, TopicAnswer)
}

/// What happens to a Firebase installation.
public enum InstallationEvent: Sendable {
    /// A request names it.
    indirect case requested(InstallationRequest)
    /// The store has not seen it used for so long that it may be gone: it is forgotten if it was last used before that, or, while it
    /// has no registrations, before this.
    case unused(before: UnixMilliseconds, unlinkedBefore: UnixMilliseconds)
}

/// What happens to a partition as a whole.
public enum PartitionEvent: Sendable {
    /// The store reports a batch of this partition.
    case committed(CommitOutcome)
    /// The store answers a question of this partition.
    case loaded(Loaded)
    /// The senders changed.
    case senders(SenderDirectory)
    /// An operator changed settings.
    case settingsChanged(RunningSettings)
    /// An operator or a trusted device confirms that the machine's wall clock is right.
    case clockAccepted
    /// Time passed: at least twice a second.
    case tick
    /// An operator watches a device: `traced` reports each step of its messages from now on.
    case trace(DeviceID, Origin)
    /// An operator watches no more.
    case untrace(Origin)
}

/// What became of an upstream message on an app server's connection.
public enum UpstreamSettlement: Sendable {
    /// Acknowledged.
    case acknowledged
    /// The app server answered `nack`: no redelivery.
    case refused
    /// A receipt that was written long ago, and that so many were written after: most clients never ack one.
    case unanswered
    /// It expired before there was room to write it.
    case expired
}

extension Event {
    /// Owner and name, such as `device.closed`, for traces and tests.
    public var label: String {
        guard let owner = Mirror(reflecting: self).children.first else { return "\(self)" }
        let payload = Mirror(reflecting: owner.value)
        let event: Any? = payload.displayStyle == .tuple ? payload.children.map(\.value).last : owner.value
        guard let event, Mirror(reflecting: event).displayStyle == .enum else { return owner.label ?? "" }
        return "\(owner.label ?? "").\(Mirror(reflecting: event).children.first?.label ?? "\(event)")"
    }
}
