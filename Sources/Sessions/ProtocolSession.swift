package import Basics
package import Delivery
package import Wire

/// What a session works on during one call: its outbound bytes, and what it has to tell the rest of the server.
package struct SessionIO: ~Copyable {
    /// What goes to the peer; the session appends and ends records.
    package var out = Outbox()
    /// What goes to the core, in order; the host takes it after each call.
    package var events: [Event] = []
    /// What only the host can answer (metrics, health, log level); the host takes it after each call.
    package var hostRequests: [HostRequest] = []
    /// What happened that only a metric tells of; the host takes it after each call.
    package var counts = SessionCounts()
    /// Set once: flush `out`, then close for this reason.
    package var close: CloseReason?
    /// Whether the host reads from the peer; the session clears it to press back, and sets it again.
    package var isReading = true

    /// Nothing to send or tell.
    package init() {}
}

/// What a session counts for the metrics.
package struct SessionCounts: Sendable, Equatable {
    /// Acks of an app server for messages not sent over its connection.
    package var unknownAcks = 0
    /// Spaces and pings sent to a silent peer.
    package var keepalives = 0
    /// HTTP requests answered.
    package var requests = 0
    /// Device logins whose fields contradict each other (mcs-device 3.1).
    package var oddLogins = 0

    /// Nothing happened.
    package init() {}
}

/// An HTTP request that the daemon itself answers, through `HTTPSession.answer`.
package struct HostRequest: Sendable {
    /// Which of the session's requests.
    package var ticket: UInt32
    /// What is asked for.
    package var page: Page

    /// The pages.
    package enum Page: String, Sendable, CaseIterable {
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
    package init(ticket: UInt32, page: Page) {
        self.ticket = ticket
        self.page = page
    }
}

/// A protocol machine: bytes, commands and time in; bytes and events out. It knows no socket, clock or thread.
///
/// The host calls it on one thread only, looks at `deadline` after each call, and calls `wake` at or after it.
package protocol ProtocolSession: ~Copyable {
    /// When `wake` wants to be called; `.distantFuture` for never.
    var deadline: Instant { get }
    /// Bytes came from the peer; any split of the stream must give the same result.
    mutating func receive(_ bytes: RawSpan, now: Now, io: inout SessionIO)
    /// The core or the host wants something done.
    mutating func perform(_ command: SessionCommand, now: Now, io: inout SessionIO)
    /// The deadline is reached.
    mutating func wake(now: Now, io: inout SessionIO)
    /// Outbound octets wait: over `Limits.outboundLowBytes` (true), or under it again (false).
    mutating func outboundChanged(isCongested: Bool, now: Now, io: inout SessionIO)
    /// The peer sends no more, though it may still read; whether the session has something to say before it closes.
    mutating func inputEnded(now: Now, io: inout SessionIO) -> Bool
    /// The connection is gone; the last call. Only events may follow, no bytes.
    mutating func ended(_ reason: CloseReason, now: Now, io: inout SessionIO)
}

extension ProtocolSession where Self: ~Copyable {
    /// Nothing: the connection may close.
    package mutating func inputEnded(now: Now, io: inout SessionIO) -> Bool { false }
}

/// What all sessions of one listener share.
package struct SessionSettings: Sendable {
    /// Makes and verifies registration tokens.
    package var seal: TokenSeal
    /// SHA-256, from the host: sessions know no crypto library.
    package var digest: @Sendable ([UInt8]) -> SecretDigest
    /// A fresh random number that nobody can guess, from the host.
    package var random: @Sendable () -> UInt64
    /// What web push needs; without it web apps are sent nothing.
    package var webPush = WebPushFunctions.none
    /// The account that a server key belongs to at a time; nil where it is of none, or of one that is suspended.
    package var senderOfKey: @Sendable (SecretDigest, UnixMilliseconds) -> SenderID? = { _, _ in nil }
    /// What service accounts need; without it there are none.
    package var accounts = AccountFunctions.none
    /// Names that may stand in the origin that a web push is signed for, in lower case (RFC 8292, 2).
    package var pushHosts = ["fcm.googleapis.com", "jmt17.google.com", "localhost", "127.0.0.1", "::1"]
    /// What SCRAM needs; nil: it is not offered, as with the real service.
    package var scram: SCRAMSettings?
    /// XEP-0198 is offered after the login.
    package var streamManagement = false
    /// Pending window of each direction.
    package var pendingWindow = Limits.pendingWindow
    /// Seconds of silence before a space goes to an app server.
    package var keepaliveSeconds = Limits.keepaliveSeconds
    /// Seconds without a frame before a device is pinged.
    package var devicePingSeconds = Limits.devicePingSeconds
    /// Seconds after which devices are told to ping by themselves; 0: they keep to their own (mcs-device 3.6).
    package var deviceHeartbeatSeconds = 0
    /// Devices that can answer are asked whether they are idle, and believed (mcs-device 3.5).
    package var idleNotifications = false
    /// Seconds from the handshake to the finished login.
    package var loginDeadlineSeconds = Limits.loginDeadlineSeconds
    /// Domain that answers where the client named none that can be used (ccs-xmpp 1.3).
    package var defaultDomain = "gcm.googleapis.com"
    /// Domains that may stand behind a sender ID at login.
    package var acceptedDomains: [String] = [
        "gcm.googleapis.com", "fcm.googleapis.com", "gcm-xmpp.googleapis.com", "fcm-xmpp.googleapis.com",
        "gcm-preprod.googleapis.com", "gcm-staging.googleapis.com", "projects.gcm.android.com", "localhost",
    ]
    /// An ack for a message not sent over this connection gets BAD_ACK instead of being ignored (ccs-xmpp 4.2).
    package var strictAcks = false
    /// Control stanzas carry a message_id (ccs-xmpp 3.7): helps two old clients.
    package var controlMessageID = false
    /// What messages may be like.
    package var rules = MessageRules()
    /// What a check-in tells a browser about where to register and connect; nil: nothing.
    package var checkIn: CheckInSettings?

    /// Settings with the defaults of the spec.
    package init(
        seal: TokenSeal, digest: @escaping @Sendable ([UInt8]) -> SecretDigest,
        random: @escaping @Sendable () -> UInt64
    ) {
        self.seal = seal
        self.digest = digest
        self.random = random
    }
}

/// Settings that all connections of a listener hold together: each has one reference, and not a copy of them all.
package final class SharedSettings: Sendable {
    /// What they say.
    package let value: SessionSettings

    /// Puts settings where they can be shared.
    package init(_ value: SessionSettings) { self.value = value }
}

/// What an operator may set about the messages of app servers.
package struct MessageRules: Sendable {
    /// `time_to_live` may be a decimal string (ccs-xmpp 8, row 10).
    package var lenientLifetime = false
    /// Data keys that begin with `gcm` are reserved, not only `gcm.` (ccs-xmpp 2.2).
    package var reservesGCMPrefix = false
    /// Conditions have at most `Limits.strictConditionOperators`, but in HTTP v1 (http 5.3).
    package var strictConditions = false
    /// Octets of keys and values of a message to topics.
    package var topicPayloadBytes = Limits.topicPayloadBytes

    /// The defaults of the spec.
    package init() {}

    /// Operators of a condition of the older interfaces.
    var conditionOperators: Int {
        strictConditions ? Limits.strictConditionOperators : Limits.conditionTests - 1
    }

    /// Octets of keys and values of a message.
    func payloadBytes(isToTopics: Bool) -> Int { isToTopics ? topicPayloadBytes : Limits.payloadBytes }
}

/// What a session needs to offer SCRAM-SHA-256, all from the host (ccs-xmpp 1.5.1).
package struct SCRAMSettings: Sendable {
    /// Hash and HMAC.
    package var functions: SCRAM.Functions
    /// The salt told for a sender that has no key to prove: always the same for one sender, unlike any other's.
    package var unknownSalt: @Sendable (SenderID) -> [UInt8]

    /// Settings of the caller's.
    package init(functions: SCRAM.Functions, unknownSalt: @escaping @Sendable (SenderID) -> [UInt8]) {
        self.functions = functions
        self.unknownSalt = unknownSalt
    }
}
