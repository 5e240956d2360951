public import Basics
public import Delivery
public import Wire

/// The outputs of a session during one call: outbound bytes, events, and reports to the host.
public struct SessionIO: ~Copyable {
    /// Bytes for the peer; the session appends and ends records.
    public var out = Outbox()
    /// Events for the core, in order; the host drains them after each call.
    public var events: [Event] = []
    /// Requests that only the host can answer (metrics, health); the host drains them after each call.
    public var hostRequests: [HostRequest] = []
    /// Counts that are reported by metrics alone; the host drains them after each call.
    public var counts = SessionCounts()
    /// Requests that the session refused without the core; the host counts and logs them after each call.
    public var refusals: [RefusalRecord] = []
    /// When the messages arrived that the session has acknowledged, for the metrics; the host drains them after each call.
    public var acknowledged = StartTimes()
    /// HTTP answers, for the metrics; the host drains them after each call.
    public var responses: [HTTPResponseRecord] = []
    /// The identity that the peer claims in a login, set with the login event; the host drains it after each call.
    public var loginClaim: LoginClaim?
    /// Set once: the host flushes `out`, then closes the connection for this reason.
    public var close: CloseReason?
    /// Whether the host reads from the peer; the session clears it for backpressure, and sets it again.
    public var isReading = true

    public init() {}

    /// Records a refusal, usually of a message. One without a message ID, and with the same reason and sender as the last, is counted with
    /// it: the history has each message by its ID.
    mutating func refuse(
        _ reason: RefusalReason, sender: SenderID? = nil, to: [UInt8] = [], messageID: [UInt8] = [],
        isMessage: Bool = true
    ) {
        if messageID.isEmpty, let last = refusals.last, last.reason.position == reason.position,
            last.reason.detail == reason.detail, last.sender == sender, last.isMessage == isMessage
        {
            refusals[refusals.count - 1].count += 1
            return
        }
        refusals.append(
            RefusalRecord(
                reason: reason, sender: sender, to: to, messageID: messageID, isMessage: isMessage))
    }

    /// Closes the connection because of a command for another kind of session: connections were mixed up, so no further command
    /// can be trusted.
    mutating func rejectMisdirected(_ command: SessionCommand) {
        assertionFailure("a command for another kind of session: \(command)")
        counts.misdirectedCommands += 1
        close = close ?? .internalError
    }

    /// Records a refusal that is also an answer of the protocol.
    mutating func refuse(
        _ refusal: Refusal, sender: SenderID? = nil, to: [UInt8] = [], messageID: [UInt8] = [],
        isMessage: Bool = true
    ) {
        refuse(.refusal(refusal), sender: sender, to: to, messageID: messageID, isMessage: isMessage)
    }
}

/// The identity that a peer claims in a login, not yet verified.
public enum LoginClaim: Sendable, Equatable {
    /// An app server of an account.
    case sender(SenderID)
    case device(DeviceID)

    /// The number of the sender or the device.
    public var number: UInt64 {
        switch self {
        case .sender(let sender): sender.number
        case .device(let device): device.number
        }
    }
}

/// Requests that a session refused without the core, for one reason.
public struct RefusalRecord: Sendable, Equatable {
    public var reason: RefusalReason
    /// The sender of the requests; `nil` before the login.
    public var sender: SenderID?
    /// The target of the first request, truncated to `Limits.Log.refusedTextBytes`.
    public var to: [UInt8]
    /// The message ID of the first request, truncated to `Limits.History.textBytes`.
    public var messageID: [UInt8]
    /// Whether it is a message of an app server that was refused, and not a change of groups, topics or registrations.
    public var isMessage: Bool
    /// Requests, messages or tokens refused for this reason.
    public var count = 1

    init(reason: RefusalReason, sender: SenderID?, to: [UInt8], messageID: [UInt8], isMessage: Bool) {
        self.isMessage = isMessage
        self.reason = reason
        self.sender = sender
        self.to = Array(to.prefix(Limits.Log.refusedTextBytes))
        self.messageID = Array(messageID.prefix(Limits.History.textBytes))
    }
}

/// An HTTP answer as the metrics count it.
public struct HTTPResponseRecord: Sendable, Equatable {
    /// The index of the endpoint in `Metric.httpEndpoints`.
    public var endpoint: Int
    public var status: HTTPStatus
    /// When the request was complete.
    public var start: Instant
}

/// The counts of a session for the metrics.
public struct SessionCounts: Sendable, Equatable {
    /// Acks from an app server for messages that were not sent over its connection.
    public var unknownAcks = 0
    /// Keepalive spaces and pings sent to silent peers.
    public var keepalives = 0
    /// HTTP requests answered.
    public var requests = 0
    /// Device logins whose fields contradict each other (mcs-device 3.1).
    public var inconsistentLogins = 0
    /// Commands that were meant for another kind of session.
    public var misdirectedCommands = 0

    public init() {}
}

/// An HTTP request that the daemon itself answers, with `HTTPSession.answer`.
public struct HostRequest: Sendable {
    /// The request ID within the session.
    public var requestID: UInt32
    public var question: Question
    /// The HTTP request; only for the questions of the administrative port.
    public var request: HTTPRequest?

    /// What the host answers.
    public enum Question: Sendable {
        /// A page of the daemon.
        case page(Page)
        /// A page of a feedback list, answered with `FeedbackPage`.
        case feedback(FeedbackQuery)
        /// A page of topics or subscribers, answered in the form of HTTP v1.
        case topics(TopicListQuery)
        /// What the message history has, answered in the form of HTTP v1.
        case history(HistoryQuery)
        /// A request of the operator API, which the host answers at once, later, or with a stream.
        case operation
    }

    /// The pages that the daemon answers.
    public enum Page: String, Sendable, CaseIterable {
        /// `/healthz`: the process is alive.
        case health
        /// `/readyz`: the server accepts messages; 503 while it drains or the store fails.
        case readiness
        /// `/metrics`.
        case metrics
        /// `/openapi.json`: the description of the HTTP interface.
        case openAPI
    }

    public init(requestID: UInt32, question: Question, request: HTTPRequest? = nil) {
        self.requestID = requestID
        self.question = question
        self.request = request
    }
}

/// A protocol state machine: bytes, commands and time in; bytes and events out. It uses no socket, clock or thread.
///
/// The host calls it on one thread only, checks `deadline` after each call, and calls `wake` at or after it.
public protocol ProtocolSession: ~Copyable {
    /// When to call `wake`; `.distantFuture` for never.
    var deadline: Instant { get }
    /// Processes bytes from the peer; any split of the stream gives the same result.
    mutating func receive(_ bytes: RawSpan, now: Now, io: inout SessionIO)
    /// Executes a command from the core or the host.
    mutating func perform(_ command: SessionCommand, now: Now, io: inout SessionIO)
    /// Does what is due at `deadline`.
    mutating func wake(now: Now, io: inout SessionIO)
    /// Handles that the unsent bytes have risen above `Limits.Connection.outboundLowBytes` (true) or fallen below it (false).
    mutating func outboundChanged(isCongested: Bool, now: Now, io: inout SessionIO)
    /// Handles that the peer sends no more, though it may still read. Returns whether the session has more to write before the
    /// connection closes.
    mutating func inputEnded(now: Now, io: inout SessionIO) -> Bool
    /// Handles the end of the connection. This is the last call; only events may follow, no bytes.
    mutating func ended(_ reason: CloseReason, now: Now, io: inout SessionIO)
}

extension ProtocolSession where Self: ~Copyable {
    /// Returns false: the connection may close.
    public mutating func inputEnded(now: Now, io: inout SessionIO) -> Bool { false }
}

/// The settings that all sessions of one listener share.
public struct SessionSettings: Sendable {
    /// Makes and verifies registration tokens.
    public var seal: TokenSeal
    /// SHA-256, from the host, because sessions have no crypto library.
    public var digest: @Sendable ([UInt8]) -> SecretDigest
    /// Returns a fresh unpredictable random number, from the host.
    public var random: @Sendable () -> UInt64
    /// Crypto functions for web push; without them nothing is sent to web apps.
    public var webPush = WebPushFunctions.none
    /// Returns the account that a server key belongs to at a time, or `nil` if there is none or it is suspended.
    public var senderOfKey: @Sendable (SecretDigest, UnixMilliseconds) -> SenderID? = { _, _ in nil }
    /// Returns whether a server key is valid at a time, but its account is suspended.
    public var isKeySuspended: @Sendable (SecretDigest, UnixMilliseconds) -> Bool = { _, _ in false }
    /// Returns whether the senders that were looked up at a time or later were up to date. A node of a cluster whose senders were not
    /// refuses no credentials for good.
    public var areSendersCurrent: @Sendable (Now) -> Bool = { _ in true }
    /// Functions for service accounts; without them there are none.
    public var accounts = AccountFunctions.none
    /// Hosts allowed in the origin that a web push is signed for, in lower case (RFC 8292, 2).
    public var pushHosts = ["fcm.googleapis.com", "jmt17.google.com", "localhost", "127.0.0.1", "::1"]
    /// The web pages of other origins that may call the services for devices and web push.
    public var pageOrigins = PageOrigins.any
    /// The settings of SCRAM; `nil`: it is not offered, as by the real service.
    public var scram: SCRAMSettings?
    /// Whether XEP-0198 is offered after the login.
    public var streamManagement = false
    /// Pending window of each direction.
    public var pendingWindow = Limits.AppServer.pendingWindow
    /// Seconds of silence before a space is sent to an app server.
    public var keepaliveSeconds = Limits.AppServer.keepaliveSeconds
    /// Seconds without a frame before a device is pinged.
    public var devicePingSeconds = Limits.Device.pingSeconds
    /// Seconds after which a device whose upstream message could not be stored is asked to reconnect and repeat it.
    public var upstreamRetrySeconds = Limits.Device.upstreamRetrySeconds
    /// The ping interval that devices are configured with; 0: they use their own (mcs-device 3.6).
    public var deviceHeartbeatSeconds = 0
    /// Whether devices that support the question are asked if they are idle, and trusted to answer truly (mcs-device 3.5).
    public var idleNotifications = false
    /// Seconds from the handshake to the finished login.
    public var loginDeadlineSeconds = Limits.Login.deadlineSeconds
    /// The domain that answers if the client named no usable one (ccs-xmpp 1.3).
    public var defaultDomain = "gcm.googleapis.com"
    /// Domains allowed after a sender ID at login.
    public var acceptedDomains: [String] = [
        "gcm.googleapis.com", "fcm.googleapis.com", "gcm-xmpp.googleapis.com", "fcm-xmpp.googleapis.com",
        "gcm-preprod.googleapis.com", "gcm-staging.googleapis.com", "projects.gcm.android.com", "localhost",
    ]
    /// Whether an ack for a message not sent over this connection gets BAD_ACK instead of being ignored (ccs-xmpp 4.2).
    public var strictAcks = false
    /// Whether control stanzas carry a message_id, which two old clients need (ccs-xmpp 3.7).
    public var controlMessageID = false
    public var rules = MessageRules()
    /// Returns whether an answer is in the description of an endpoint, given by its index in `Metric.httpEndpoints`; 0 for a request
    /// whose endpoint is unknown. Checked in debug builds only.
    public var isDeclared: @Sendable (HTTPResponse, Int) -> Bool = { _, _ in true }
    /// Where browsers are to register and connect, as answered to a check-in; `nil`: nothing is answered.
    public var checkIn: CheckInSettings?

    /// Creates settings with the defaults of the spec.
    public init(
        seal: TokenSeal, digest: @escaping @Sendable ([UInt8]) -> SecretDigest,
        random: @escaping @Sendable () -> UInt64
    ) {
        self.seal = seal
        self.digest = digest
        self.random = random
    }
}

/// The settings that all connections of a listener share by reference, to save a copy per connection.
public final class SharedSettings: Sendable {
    public let value: SessionSettings

    public init(_ value: SessionSettings) { self.value = value }
}

/// The operator's settings for the messages of app servers.
public struct MessageRules: Sendable {
    /// Whether `time_to_live` may be a decimal string (ccs-xmpp 8, row 10).
    public var lenientLifetime = false
    /// Whether all data keys that start with `gcm` are reserved, not only those with `gcm.` (ccs-xmpp 2.2).
    public var reservesGCMPrefix = false
    /// Whether conditions have up to `Limits.Topic.strictConditionOperators` operators, except in HTTP v1 (http 5.3).
    public var strictConditions = false
    /// The limit for the keys and values of a message to topics, in bytes.
    public var topicPayloadBytes = Limits.Topic.payloadBytes

    /// Creates rules with the defaults of the spec.
    public init() {}

    /// The limit for operators in a condition of the older interfaces.
    var conditionOperators: Int {
        strictConditions ? Limits.Topic.strictConditionOperators : Limits.Topic.conditionTests - 1
    }

    /// Returns the limit for the keys and values of a message, in bytes.
    func payloadBytes(isToTopics: Bool) -> Int {
        isToTopics ? topicPayloadBytes : Limits.Message.payloadBytes
    }
}

/// What a session needs from the host to offer SCRAM-SHA-256 (ccs-xmpp 1.5.1).
public struct SCRAMSettings: Sendable {
    /// Hash and HMAC.
    public var functions: SCRAM.Functions
    /// Returns the salt for a sender without a key: constant for each sender and different between senders, so that a client
    /// cannot find out which senders exist.
    public var unknownSalt: @Sendable (SenderID) -> [UInt8]

    public init(functions: SCRAM.Functions, unknownSalt: @escaping @Sendable (SenderID) -> [UInt8]) {
        self.functions = functions
        self.unknownSalt = unknownSalt
    }
}
