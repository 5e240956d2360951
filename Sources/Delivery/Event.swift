public import Basics

/// Who owns what an event is about: every device and every sender belongs to exactly one partition.
public enum Address: Hashable, Sendable {
    case device(DeviceID)
    case sender(SenderID)

    /// The partition, of so many. The same on every run, so that a reactor finds its own after a restart.
    public func partition(of count: Int) -> Int {
        let number: UInt64
        switch self {
        case .device(let device): number = device.number
        case .sender(let sender): number = ~sender.number
        }
        var mixed = number &* 0x9e37_79b9_7f4a_7c15
        mixed ^= mixed >> 32
        return Int(truncatingIfNeeded: mixed % UInt64(count))
    }
}

/// A login over MCS (mcs-device 3.1).
public struct DeviceLogin: Sendable {
    /// The connection that logs in.
    public var connection: ConnectionID
    /// The Android id it claims.
    public var device: DeviceID
    /// Digest of the security token it gave (decimal text).
    public var token: SecretDigest
    /// Messages that it has received and not yet known to be acknowledged.
    public var received: [PersistentID]
    /// Whether it says that it is idle; until it says so, it counts as active.
    public var isIdle: Bool

    /// A login; all parts are the caller's.
    public init(
        connection: ConnectionID, device: DeviceID, token: SecretDigest, received: [PersistentID],
        isIdle: Bool = false
    ) {
        self.isIdle = isIdle
        self.connection = connection
        self.device = device
        self.token = token
        self.received = received
    }
}

/// A check-in (mcs-device 5.1). Fresh numbers come with it, since the core draws none that must stay secret.
public struct CheckIn: Sendable {
    /// Where the answer goes.
    public var origin: Origin
    /// The device it says to be, with the token it gave; nil: a new one.
    public var claimed: (DeviceID, SecretDigest)?
    /// The numbers for a new device.
    public var freshDevice: DeviceID
    /// The security token for a new device.
    public var freshToken: UInt64
    /// Digest of that token's decimal text.
    public var freshDigest: SecretDigest
    /// Whether a wrong token is to be refused (Chromium) rather than answered with a new device (mcs-device 5.1).
    public var refusesWrongToken: Bool

    /// A check-in; all parts are the caller's.
    public init(
        origin: Origin, claimed: (DeviceID, SecretDigest)?, freshDevice: DeviceID, freshToken: UInt64,
        freshDigest: SecretDigest, refusesWrongToken: Bool
    ) {
        self.origin = origin
        self.claimed = claimed
        self.freshDevice = freshDevice
        self.freshToken = freshToken
        self.freshDigest = freshDigest
        self.refusesWrongToken = refusesWrongToken
    }
}

/// A request to register or unregister an app (mcs-device 5.2, 5.3).
public struct RegistrationRequest: Sendable {
    /// Where the answer goes.
    public var origin: Origin
    /// The device, with the security token it gave.
    public var device: DeviceID
    /// Digest of the security token.
    public var token: SecretDigest
    /// `app`.
    public var category: [UInt8]
    /// `X-subtype`; empty where absent. For `unregister`, empty matches every subtype.
    public var subtype: [UInt8]
    /// `sender` as sent. For `unregister`, empty or `*` matches every sender.
    public var senderText: [UInt8]
    /// `X-appid`: the instance of the app, new after its data was cleared; empty where absent.
    public var instance: [UInt8]
    /// Whether a token of the installation that `instance` names was shown, and is good.
    public var isProved = false
    /// `X-scope`, to register.
    public var scope = RegistrationScope.unnamed
    /// The scopes of what is to be ended, to unregister.
    public var endedScopes = EndedScopes.any
    /// `apns_token` of an iOS app; empty where absent.
    public var apnsToken: [UInt8] = []
    /// `app_ver`; empty where absent.
    public var appVersion: [UInt8] = []

    /// A request; all parts are the caller's.
    public init(
        origin: Origin, device: DeviceID, token: SecretDigest, category: [UInt8], subtype: [UInt8],
        senderText: [UInt8], instance: [UInt8] = []
    ) {
        self.origin = origin
        self.device = device
        self.token = token
        self.category = category
        self.subtype = subtype
        self.senderText = senderText
        self.instance = instance
    }
}

/// A request to make a token whose messages the server encrypts, beside that of a web push endpoint (mcs-device 5.6).
public struct WebRegistrationRequest: Sendable {
    /// Whose app servers may use the token.
    public enum Project: Sendable, Equatable {
        /// A sender ID.
        case sender(SenderID)
        /// The label of a sender.
        case label([UInt8])
    }

    /// Where the answer goes.
    public var origin: Origin
    /// The registration of the endpoint, which must be one of web push.
    public var endpoint: RegistrationName
    /// What messages are to be encrypted with.
    public var keys: WebKeys
    /// Whose app servers may use the token.
    public var project: Project
    /// The installation that asks; empty where none is named.
    public var instance: [UInt8]
    /// Whether a token of that installation was shown, and is good.
    public var isProved = false
    /// What shows who asks; without any a registration can be made, and none changed.
    public var proof = RegistrationProof.none
    /// The token that is to be renewed; nil for a new one.
    public var renewed: TokenClaim?

    /// A request; all parts are the caller's.
    public init(
        origin: Origin, endpoint: RegistrationName, keys: WebKeys, project: Project,
        instance: [UInt8] = [], renewed: TokenClaim? = nil
    ) {
        self.origin = origin
        self.endpoint = endpoint
        self.keys = keys
        self.project = project
        self.instance = instance
        self.renewed = renewed
    }
}

/// What became of an upstream message on an app server's connection.
public enum UpstreamSettlement: Sendable {
    /// Acknowledged.
    case acknowledged
    /// The app server answered `nack`: no redelivery.
    case refused
    /// A receipt that was written long ago, and that so many were written after: most clients never ack one.
    case unanswered
    /// Its time was over before there was room to write it.
    case expired
}

/// What happens to the core. Each event is about one address, or about all partitions.
public enum Event: Sendable {
    // To the sender's partition.
    /// An app server wants to log in with a key of this digest.
    case appServerLogin(ConnectionID, SenderID, key: SecretDigest)
    /// An app server wants to prove a key without showing it: `loginKeys` is due (SCRAM).
    case appServerKeysWanted(ConnectionID, SenderID)
    /// It has bound its resource and takes upstream messages.
    case appServerReady(ConnectionID, SenderID)
    /// It is being drained: no new upstream to it, acks still count.
    case appServerDraining(ConnectionID, SenderID)
    /// Its stream may be resumed from now on, by this id (XEP-0198).
    case appServerStreamManaged(ConnectionID, SenderID, id: String)
    /// Its connection is lost, and this is left of its stream; `appServerClosed` follows.
    case appServerStreamDetached(ConnectionID, SenderID, ResumableStream)
    /// It wants to go on with the stream of this id.
    case appServerStreamWanted(ConnectionID, SenderID, id: String)
    /// Its outbound octets pile up: hand over nothing more until `appServerRelieved`.
    case appServerCongested(ConnectionID, SenderID)
    /// All that was handed over has been written, and it reads again.
    case appServerRelieved(ConnectionID, SenderID)
    /// Its connection is gone (sent for every connection that was told `loginAccepted`).
    case appServerClosed(ConnectionID, SenderID)
    /// It answered an upstream message or receipt, or there is no answer to wait for.
    case upstreamSettled(ConnectionID, SenderID, Sequence, UpstreamSettlement)
    /// A device's message, its registration resolved by the device's partition.
    case upstreamResolved(UpstreamSubmission, from: RegistrationName)
    /// A receipt is owed.
    case receiptDue(ReceiptDue)

    /// An app server wants something of its groups.
    case groupRequested(GroupRequest)
    /// An app server submitted a message to a group.
    indirect case groupSubmitted(GroupSubmission)
    /// A member of a group has been sent such a message, or not.
    case memberAnswered(SenderID, ticket: UInt32, MemberAnswer)

    /// An app server submitted a message to topics.
    indirect case topicSubmitted(TopicSubmission)
    /// An app instance has been sent such a message, or not.
    case topicAnswered(SenderID, run: UInt32, TopicAnswer)
    /// An earlier process has left such a message unfinished.
    indirect case topicResumed(TopicJob)

    // To the device's partition.
    /// An app server submitted a message.
    case submitted(Submission)
    /// A device wants to log in.
    case deviceLogin(DeviceLogin)
    /// A device has these messages.
    case deviceAcknowledged(ConnectionID, DeviceID, [Sequence])
    /// More may be sent: what was handed over for this device has left (asked for by `deliver` pages and after congestion).
    case deviceReady(ConnectionID, DeviceID)
    /// Its outbound octets pile up: hand over nothing more until `deviceReady`.
    case deviceCongested(ConnectionID, DeviceID)
    /// It says that it is idle, or active again.
    case deviceIdleChanged(ConnectionID, DeviceID, isIdle: Bool)
    /// Its connection is gone (sent for every connection that sent `deviceLogin`).
    case deviceClosed(ConnectionID, DeviceID)
    /// A device sent a message to an app server.
    case upstreamReceived(UpstreamSubmission)
    /// A receipt is on disk: its message may go.
    case receiptStored(DeviceID, Sequence)
    /// A receipt could not be stored: its message stays.
    case receiptRefused(DeviceID, Sequence)
    /// A device's message was stored or refused: it no longer counts as waiting.
    case upstreamAnswered(RegistrationName)
    /// A device's message was not taken in time: its device is to hear of it.
    case upstreamReturned(UpstreamReturn)
    /// Such a message has left the sender's mailbox, or could not.
    case upstreamReturnSettled(SenderID, Sequence)
    /// A device checked in. The address is the claimed device, else the fresh one.
    case checkIn(CheckIn)
    /// An app registers.
    case register(RegistrationRequest)
    /// An app unregisters.
    case unregister(RegistrationRequest)
    /// A web app wants a token whose messages the server encrypts.
    case registerWeb(WebRegistrationRequest)
    /// A registration subscribes to a topic, or ends that.
    case subscribe(TopicRequest)
    /// An app server asks about a registration, or subscribes it to a topic of its sender.
    case address(TokenRequest)
    /// An app asks for its installation. Any partition will do; it is the same one for the same installation.
    indirect case installation(InstallationRequest)
    /// It goes on at a device that has the first of the installation's registrations.
    indirect case installationFound(InstallationRequest, [RegistrationName], at: DeviceID)
    /// An app gives a token up.
    case unregisterToken(TokenClaim, Origin)
    /// An operator forgets a device: registrations and messages go, its connection is closed.
    case forgetDevice(DeviceID, Origin)
    /// The store has not seen a device for so long that it may be gone: its registrations expire if that is so.
    case unseen(DeviceID)
    /// A message or upstream message is over its time.
    case expired(ExpiredEntry)

    // To every partition, in the name of an operator.
    /// Somebody watches a device: `traced` tells each step of its messages from now on.
    case trace(DeviceID, Origin)
    /// Somebody watches no more.
    case untrace(Origin)

    // From the store, to the partition that asked.
    case committed(CommitOutcome)
    case loaded(Loaded)

    // To every partition.
    /// The senders changed.
    case senders(SenderDirectory)
    /// An operator changed settings.
    case settingsChanged(RunningSettings)
    /// Somebody who must know says that the machine's wall clock is right.
    case clockAccepted
    /// Time passed: at least twice a second.
    case tick

    /// The owner; nil for events that the store answers or that go to every partition.
    public var address: Address? {
        switch self {
        case .appServerLogin(_, let sender, _), .appServerKeysWanted(_, let sender),
            .appServerStreamManaged(_, let sender, _), .appServerStreamDetached(_, let sender, _),
            .appServerStreamWanted(_, let sender, _),
            .appServerReady(_, let sender), .appServerDraining(_, let sender),
            .appServerCongested(_, let sender), .appServerRelieved(_, let sender),
            .appServerClosed(_, let sender), .upstreamSettled(_, let sender, _, _):
            .sender(sender)
        case .upstreamResolved(let upstream, _): .sender(upstream.sender)
        case .receiptDue(let receipt): .sender(receipt.sender)
        case .groupRequested(let request): .sender(request.sender)
        case .groupSubmitted(let submission): .sender(submission.group.sender)
        case .memberAnswered(let sender, _, _): .sender(sender)
        case .topicSubmitted(let submission): .sender(submission.submission.sender)
        case .topicAnswered(let sender, _, _): .sender(sender)
        case .topicResumed(let job): .sender(job.name.sender)
        case .expired(.topicBody(let job, _)): .sender(job.sender)
        case .submitted(let submission): .device(submission.target.device)
        case .deviceLogin(let login): .device(login.device)
        case .deviceAcknowledged(_, let device, _), .deviceReady(_, let device),
            .deviceCongested(_, let device), .deviceIdleChanged(_, let device, _),
            .deviceClosed(_, let device), .receiptStored(let device, _), .receiptRefused(let device, _),
            .forgetDevice(let device, _), .unseen(let device):
            .device(device)
        case .upstreamAnswered(let name): .device(name.device)
        case .upstreamReturned(let gone): .device(gone.author.from.device)
        case .upstreamReturnSettled(let sender, _): .sender(sender)
        case .upstreamReceived(let upstream): .device(upstream.device)
        case .checkIn(let checkIn): .device(checkIn.claimed?.0 ?? checkIn.freshDevice)
        case .register(let request), .unregister(let request): .device(request.device)
        case .registerWeb(let request): .device(request.endpoint.device)
        case .unregisterToken(let claim, _): .device(claim.name.device)
        case .subscribe(let request): .device(request.name.device)
        case .address(let request): .device(request.name.device)
        case .installation(let request):
            .device(DeviceID(request.installation.reduce(0) { $0 &* 31 &+ UInt64($1) }))
        case .installationFound(_, _, let device): .device(device)
        case .expired(.message(let device, _, _)): .device(device)
        case .expired(.upstream(let sender, _, _, _)): .sender(sender)
        case .committed, .loaded, .senders, .settingsChanged, .clockAccepted, .tick, .trace, .untrace: nil
        }
    }
}
