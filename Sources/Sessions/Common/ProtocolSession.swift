public import Basics
public import Delivery
public import Wire

/// What a session works on during one call: its outbound bytes, and what it has to tell the rest of the server.
public struct SessionIO: ~Copyable {
    /// What goes to the peer; the session appends and ends records.
    public var out = Outbox()
    /// What goes to the core, in order; the host takes it after each call.
    public var events: [Event] = []
    /// What only the host can answer (metrics, health, log level); the host takes it after each call.
    public var hostRequests: [HostRequest] = []
    /// What happened that only a metric tells of; the host takes it after each call.
    public var counts = SessionCounts()
    /// What the session refused by itself; the host counts and logs it after each call.
    public var refusals: [RefusalNote] = []
    /// HTTP answers that were chosen, for the metrics; the host takes them after each call.
    public var responses: [HTTPResponseNote] = []
    /// In which name the peer wants to log in, with the event that asks for it; the host takes it after each call.
    public var loginClaim: LoginClaim?
    /// Set once: flush `out`, then close for this reason.
    public var close: CloseReason?
    /// Whether the host reads from the peer; the session clears it to press back, and sets it again.
    public var isReading = true

    /// Nothing to send or tell.
    public init() {}

    /// Notes a refusal; one for the same reason as the last is counted with it.
    mutating func refuse(
        _ reason: RefusalReason, sender: SenderID? = nil, to: [UInt8] = [], messageID: [UInt8] = []
    ) {
        guard refusals.last?.reason.position != reason.position || refusals.last?.sender != sender else {
            refusals[refusals.count - 1].count += 1
            return
        }
        refusals.append(RefusalNote(reason: reason, sender: sender, to: to, messageID: messageID))
    }

    /// A command came that this kind of session never takes: it has been confused with another, and nothing that it says can be
    /// relied on any more.
    mutating func misdirected(_ command: SessionCommand) {
        assertionFailure("a command for another kind of session: \(command)")
        counts.misdirectedCommands += 1
        close = close ?? .internalError
    }

    /// Notes a refusal in the words of the protocol.
    mutating func refuse(
        _ refusal: Refusal, sender: SenderID? = nil, to: [UInt8] = [], messageID: [UInt8] = []
    ) {
        refuse(.refusal(refusal), sender: sender, to: to, messageID: messageID)
    }
}

/// In which name a peer wants to log in.
public enum LoginClaim: Sendable, Equatable {
    /// As an app server of an account.
    case sender(SenderID)
    /// As a device.
    case device(DeviceID)

    /// The number of either.
    public var number: UInt64 {
        switch self {
        case .sender(let sender): sender.number
        case .device(let device): device.number
        }
    }
}

/// Something that a session refused before the core was asked.
public struct RefusalNote: Sendable, Equatable {
    /// Why.
    public var reason: RefusalReason
    /// Who asked; `nil` before the login.
    public var sender: SenderID?
    /// Where the first of them was addressed, cut.
    public var to: [UInt8]
    /// The message ID of the first of them, cut.
    public var messageID: [UInt8]
    /// Requests, messages or tokens refused for this reason.
    public var count = 1

    init(reason: RefusalReason, sender: SenderID?, to: [UInt8], messageID: [UInt8]) {
        self.reason = reason
        self.sender = sender
        self.to = Array(to.prefix(Limits.Log.refusedTextBytes))
        self.messageID = Array(messageID.prefix(Limits.Log.refusedTextBytes))
    }
}

/// An HTTP answer, as the metrics count it.
public struct HTTPResponseNote: Sendable, Equatable {
    /// The position of the endpoint among `Metric.httpEndpoints`.
    public var endpoint: Int
    /// The status.
    public var status: HTTPStatus
}

/// What a session counts for the metrics.
public struct SessionCounts: Sendable, Equatable {
    /// Acks of an app server for messages not sent over its connection.
    public var unknownAcks = 0
    /// Spaces and pings sent to a silent peer.
    public var keepalives = 0
    /// HTTP requests answered.
    public var requests = 0
    /// Device logins whose fields contradict each other (mcs-device 3.1).
    public var inconsistentLogins = 0
    /// Commands for another kind of session.
    public var misdirectedCommands = 0

    /// Nothing happened.
    public init() {}
}

/// An HTTP request that the daemon itself answers, through `HTTPSession.answer`.
public struct HostRequest: Sendable {
    /// Which of the session's requests.
    public var requestID: UInt32
    /// What is asked for.
    public var page: Page

    /// The pages.
    public enum Page: String, Sendable, CaseIterable {
        /// `/healthz`: the process lives.
        case health
        /// `/readyz`: it can accept; 503 while draining or when the store fails.
        case readiness
        /// `/metrics`.
        case metrics
        /// `/openapi.json`: the description of the interface.
        case openAPI
    }

    /// Asks for a page.
    public init(requestID: UInt32, page: Page) {
        self.requestID = requestID
        self.page = page
    }
}

/// A protocol machine: bytes, commands and time in; bytes and events out. It knows no socket, clock or thread.
///
/// The host calls it on one thread only, looks at `deadline` after each call, and calls `wake` at or after it.
public protocol ProtocolSession: ~Copyable {
    /// When `wake` wants to be called; `.distantFuture` for never.
    var deadline: Instant { get }
    /// Bytes came from the peer; any split of the stream must give the same result.
    mutating func receive(_ bytes: RawSpan, now: Now, io: inout SessionIO)
    /// The core or the host wants something done.
    mutating func perform(_ command: SessionCommand, now: Now, io: inout SessionIO)
    /// The deadline is reached.
    mutating func wake(now: Now, io: inout SessionIO)
    /// Outbound bytes wait: over `Limits.Connection.outboundLowBytes` (true), or under it again (false).
    mutating func outboundChanged(isCongested: Bool, now: Now, io: inout SessionIO)
    /// The peer sends no more, though it may still read; whether the session has something to say before it closes.
    mutating func inputEnded(now: Now, io: inout SessionIO) -> Bool
    /// The connection is gone; the last call. Only events may follow, no bytes.
    mutating func ended(_ reason: CloseReason, now: Now, io: inout SessionIO)
}

extension ProtocolSession where Self: ~Copyable {
    /// Nothing: the connection may close.
    public mutating func inputEnded(now: Now, io: inout SessionIO) -> Bool { false }
}

/// What all sessions of one listener share.
public struct SessionSettings: Sendable {
    /// Makes and verifies registration tokens.
    public var seal: TokenSeal
    /// SHA-256, from the host: sessions know no crypto library.
    public var digest: @Sendable ([UInt8]) -> SecretDigest
    /// A fresh random number that nobody can guess, from the host.
    public var random: @Sendable () -> UInt64
    /// What web push needs; without it web apps are sent nothing.
    public var webPush = WebPushFunctions.none
    /// The account that a server key belongs to at a time; nil where it is of none, or of one that is suspended.
    public var senderOfKey: @Sendable (SecretDigest, UnixMilliseconds) -> SenderID? = { _, _ in nil }
    /// What service accounts need; without it there are none.
    public var accounts = AccountFunctions.none
    /// Names that may stand in the origin that a web push is signed for, in lower case (RFC 8292, 2).
    public var pushHosts = ["fcm.googleapis.com", "jmt17.google.com", "localhost", "127.0.0.1", "::1"]
    /// What SCRAM needs; nil: it is not offered, as with the real service.
    public var scram: SCRAMSettings?
    /// XEP-0198 is offered after the login.
    public var streamManagement = false
    /// Pending window of each direction.
    public var pendingWindow = Limits.AppServer.pendingWindow
    /// Seconds of silence before a space goes to an app server.
    public var keepaliveSeconds = Limits.AppServer.keepaliveSeconds
    /// Seconds without a frame before a device is pinged.
    public var devicePingSeconds = Limits.Device.pingSeconds
    /// Seconds after which devices are told to ping by themselves; 0: they keep to their own (mcs-device 3.6).
    public var deviceHeartbeatSeconds = 0
    /// Devices that can answer are asked whether they are idle, and believed (mcs-device 3.5).
    public var idleNotifications = false
    /// Seconds from the handshake to the finished login.
    public var loginDeadlineSeconds = Limits.Login.deadlineSeconds
    /// Domain that answers where the client named none that can be used (ccs-xmpp 1.3).
    public var defaultDomain = "gcm.googleapis.com"
    /// Domains that may stand behind a sender ID at login.
    public var acceptedDomains: [String] = [
        "gcm.googleapis.com", "fcm.googleapis.com", "gcm-xmpp.googleapis.com", "fcm-xmpp.googleapis.com",
        "gcm-preprod.googleapis.com", "gcm-staging.googleapis.com", "projects.gcm.android.com", "localhost",
    ]
    /// An ack for a message not sent over this connection gets BAD_ACK instead of being ignored (ccs-xmpp 4.2).
    public var strictAcks = false
    /// Control stanzas carry a message_id (ccs-xmpp 3.7): helps two old clients.
    public var controlMessageID = false
    /// What messages may be like.
    public var rules = MessageRules()
    /// What a check-in tells a browser about where to register and connect; nil: nothing.
    public var checkIn: CheckInSettings?

    /// Settings with the defaults of the spec.
    public init(
        seal: TokenSeal, digest: @escaping @Sendable ([UInt8]) -> SecretDigest,
        random: @escaping @Sendable () -> UInt64
    ) {
        self.seal = seal
        self.digest = digest
        self.random = random
    }
}

/// Settings that all connections of a listener hold together: each has one reference, and not a copy of them all.
public final class SharedSettings: Sendable {
    /// What they say.
    public let value: SessionSettings

    /// Puts settings where they can be shared.
    public init(_ value: SessionSettings) { self.value = value }
}

/// What an operator may set about the messages of app servers.
public struct MessageRules: Sendable {
    /// `time_to_live` may be a decimal string (ccs-xmpp 8, row 10).
    public var lenientLifetime = false
    /// Data keys that begin with `gcm` are reserved, not only `gcm.` (ccs-xmpp 2.2).
    public var reservesGCMPrefix = false
    /// Conditions have at most `Limits.Topic.strictConditionOperators`, but in HTTP v1 (http 5.3).
    public var strictConditions = false
    /// Bytes of keys and values of a message to topics.
    public var topicPayloadBytes = Limits.Topic.payloadBytes

    /// The defaults of the spec.
    public init() {}

    /// Operators of a condition of the older interfaces.
    var conditionOperators: Int {
        strictConditions ? Limits.Topic.strictConditionOperators : Limits.Topic.conditionTests - 1
    }

    /// Bytes of keys and values of a message.
    func payloadBytes(isToTopics: Bool) -> Int {
        isToTopics ? topicPayloadBytes : Limits.Message.payloadBytes
    }
}

/// What a session needs to offer SCRAM-SHA-256, all from the host (ccs-xmpp 1.5.1).
public struct SCRAMSettings: Sendable {
    /// Hash and HMAC.
    public var functions: SCRAM.Functions
    /// The salt told for a sender that has no key to prove: always the same for one sender, unlike any other's.
    public var unknownSalt: @Sendable (SenderID) -> [UInt8]

    /// Settings of the caller's.
    public init(functions: SCRAM.Functions, unknownSalt: @escaping @Sendable (SenderID) -> [UInt8]) {
        self.functions = functions
        self.unknownSalt = unknownSalt
    }
}
