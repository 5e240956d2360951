public import Basics
public import Delivery
import Wire

/// The session of one app server connection: login, binding, messages both ways, draining and the end (ccs-xmpp 1 to 5).
///
/// Each stanza of the server is one TLS record. An ACK is written only after the core has accepted the message.
public struct AppServerSession: ~Copyable, ProtocolSession {
    /// The account that a client claims and then proves.
    struct Account {
        var sender: SenderID
        /// The domain after the sender ID, used in the bound JID.
        var domain: String
    }

    enum State {
        /// The header of the first stream is expected.
        case opening
        /// `<auth>` is expected.
        case login
        /// A challenge was sent, of SCRAM or of PLAIN without an initial response; `<response>` is expected.
        case challenged(AppServerSCRAM?)
        /// The core is looking up the keys of the claimed account; bytes received meanwhile are buffered.
        case lookingUpKeys(AppServerSCRAM)
        /// The core is checking the key; bytes received meanwhile are buffered.
        case checking(Account, AppServerSCRAM?)
        /// The header of the second stream is expected.
        case restarting(Account)
        /// The binding of a resource is expected.
        case binding(Account)
        /// The core is looking up a stream to resume, of which the client had received `handled` stanzas; bytes received meanwhile
        /// are buffered.
        case resuming(Account, handled: UInt32)
        /// Messages are exchanged both ways.
        case ready(SenderID)
        /// Nothing more is read; the session ends for this reason once the messages received are answered.
        case finishing(SenderID, CloseReason)
        /// Nothing more is read or written. The core has yet to receive the end of this sender's session, if there is one.
        case ended(unreported: SenderID?)

        /// The account that logs in or has logged in. Returns `nil` before the core has been given its key, and once the core has
        /// received the end of the session.
        var sender: SenderID? {
            switch self {
            case .ready(let sender), .finishing(let sender, _): sender
            case .checking(let account, _), .restarting(let account), .binding(let account),
                .resuming(let account, _):
                account.sender
            case .ended(let unreported): unreported
            case .opening, .login, .challenged, .lookingUpKeys: nil
            }
        }

        /// Whether messages are exchanged both ways.
        var isReady: Bool { if case .ready = self { true } else { false } }
        /// Whether only answers are still written.
        var isFinishing: Bool { if case .finishing = self { true } else { false } }
        /// Whether a stream header is expected.
        var isOpening: Bool {
            switch self {
            case .opening, .restarting: true
            default: false
            }
        }
        /// Whether the binding of a resource is expected.
        var isBinding: Bool { if case .binding = self { true } else { false } }
        /// Whether the session waits for the core and buffers bytes.
        var isWaitingForCore: Bool {
            switch self {
            case .lookingUpKeys, .checking, .resuming: true
            default: false
            }
        }
        /// Whether `<auth>` or `<response>` is expected.
        var isLoginDue: Bool {
            switch self {
            case .login, .challenged: true
            default: false
            }
        }
    }

    let connection: ConnectionID
    private let shared: SharedSettings
    var settings: SessionSettings { @inline(__always) get { shared.value } }
    var state = State.opening
    var reader = StanzaReader()
    /// Bytes received while the key was checked.
    var earlyBytes = ByteBuffer()
    var failedLogins = 0
    /// The number of headers received for the first stream, which is limited.
    var headers = 0
    /// A header that is answered once no other one follows it in the same bytes.
    var unanswered: StreamHeader?
    /// The managed stream, once the client has enabled or resumed it.
    var stream: AppServerStream?
    /// Returns the channel binding of the connection after the TLS handshake, or `nil` if there is none.
    let channelBinding: () -> [UInt8]?
    /// The account that logs in or has logged in.
    var sender: SenderID? { @inline(__always) get { state.sender } }
    /// The bound full JID.
    var jid = ""
    var isDraining = false
    /// When a draining connection may end by itself once no answers are due, and why; `nil`: the host ends it.
    var idleEnd: (from: Instant, reason: CloseReason)?
    /// When a draining app server last sent a message; `nil` if in this call.
    var quietSince: Instant?
    /// Whether outbound bytes pile up: then no more messages are submitted, because each needs an answer.
    var isCongested = false
    /// Whether the congestion has been reported to the core.
    var isCongestionReported = false
    /// The deadline of the login, later that of the last answers; `nil` until the end of the call that begins to wait for them.
    var stateDeadline: Instant?
    /// When something was last sent.
    var lastSent: Instant
    /// The time of the last call with bytes from the peer.
    var receivedAt: Instant

    var submissions: AppServerSubmissions
    var recentIDs: AppServerMessageIDs
    var inboundQueue = AppServerInboundQueue()
    var outstanding = AppServerOutstanding()
    /// Upstream messages that wait until what was written before has left, oldest first.
    var unwritten: [UnwrittenUpstream] = []
    var translator = PayloadTranslator()
    var tokens = TokenCache()

    /// Creates a session on a new connection whose TLS handshake has completed.
    ///
    /// `channelBinding` returns the `tls-exporter` value of RFC 9266, or `nil` if TLS has none; called only for SCRAM.
    public init(
        connection: ConnectionID, settings: SharedSettings, now: Now,
        channelBinding: @escaping () -> [UInt8]? = { nil }
    ) {
        self.connection = connection
        self.channelBinding = channelBinding
        shared = settings
        let settings = settings.value
        stateDeadline = now.monotonic.advanced(seconds: settings.loginDeadlineSeconds)
        lastSent = now.monotonic
        receivedAt = now.monotonic
        submissions = AppServerSubmissions(window: settings.pendingWindow)
        recentIDs = AppServerMessageIDs(
            key: (settings.random(), settings.random()),
            limit: max(Limits.AppServer.rememberedMessageIDs, settings.pendingWindow))
    }

    public var deadline: Instant {
        switch state {
        case .ended: .distantFuture
        // The bytes written last are sent after this call; then there is room.
        case .ready where !unwritten.isEmpty && !isCongested: lastSent.advanced(milliseconds: 1)
        case .ready: min(keepaliveDeadline, idleDeadline)
        default: stateDeadline ?? .distantFuture
        }
    }

    private var keepaliveDeadline: Instant {
        settings.keepaliveSeconds > 0
            ? lastSent.advanced(seconds: settings.keepaliveSeconds) : .distantFuture
    }

    public mutating func receive(_ bytes: RawSpan, now: Now, io: inout SessionIO) {
        let sentBefore = io.out.bytes.count
        receivedAt = now.monotonic
        read(bytes, &io)
        endCall(sentBefore, now, &io)
    }

    public mutating func perform(_ command: SessionCommand, now: Now, io: inout SessionIO) {
        let sentBefore = io.out.bytes.count
        switch command {
        case .submission(let requestID, let reply): answered(requestID, reply, &io)
        case .appServer(let command): perform(command, now, &io)
        case .connection(let command): perform(command, &io)
        case .reply(let requestID, let reply): answered(cancellation: requestID, reply, &io)
        case .device: io.rejectMisdirected(command)
        }
        endCall(sentBefore, now, &io)
    }

    private mutating func perform(_ command: AppServerCommand, _ now: Now, _ io: inout SessionIO) {
        switch command {
        case .loginKeys(let keys): received(keys, &io)
        case .loginAccepted: loginAccepted(&io)
        case .loginRefused(let refusal): loginRefused(refusal, &io)
        case .streamResumed(let remains): resume(remains, &io)
        case .streamNotResumed: resumeFailed(&io)
        case .deliver(let message): deliver(message, now, &io)
        case .release(let receipt): release(receipt, &io)
        case .withdraw(let sequence): withdraw(sequence)
        case .changePendingWindow(let window): changePendingWindow(window, &io)
        }
    }

    private mutating func perform(_ command: ConnectionCommand, _ io: inout SessionIO) {
        switch command {
        case .drain: drain(&io)
        case .endWhenIdle(let from, let reason): idleEnd = (from, reason)
        case .close(let reason): close(reason, &io)
        // Only for HTTP requests.
        case .refundQuota, .retryAfter: break
        }
    }

    public mutating func wake(now: Now, io: inout SessionIO) {
        let sentBefore = io.out.bytes.count
        if deadline <= now.monotonic {
            switch state {
            case .ended: break
            case .ready where !unwritten.isEmpty && !isCongested: writeUnwritten(now, &io)
            case .ready where idleDeadline <= now.monotonic: endIdle(&io)
            case .ready: keepAlive(now, &io)
            case .finishing: finish(&io)
            default: fail(.connectionTimeout, .loginDeadline, &io)
            }
        }
        endCall(sentBefore, now, &io)
    }

    public mutating func outboundChanged(isCongested: Bool, now: Now, io: inout SessionIO) {
        let sentBefore = io.out.bytes.count
        self.isCongested = isCongested
        submitQueued(&io)
        writeUnwritten(now, &io)
        endCall(sentBefore, now, &io)
    }

    public mutating func inputEnded(now: Now, io: inout SessionIO) -> Bool {
        let sentBefore = io.out.bytes.count
        // A managed stream was lost, not ended: the client resumes it to get the answers.
        if state.isReady, owesAnswers, stream?.id == nil { finishAfterAnswers(.peerClosed) }
        endCall(sentBefore, now, &io)
        return state.isFinishing
    }

    public mutating func ended(_ reason: CloseReason, now: Now, io: inout SessionIO) {
        detach(&io)
        state = .ended(unreported: sender)
        reportEnd(&io)
    }

    /// Ends every call: updates the deadlines, and whether to read.
    private mutating func endCall(_ sentBefore: Int, _ now: Now, _ io: inout SessionIO) {
        if state.isFinishing, !owesAnswers { finish(&io) }
        reportCongestion(&io)
        if isDraining, quietSince == nil { quietSince = now.monotonic }
        let hasSent = io.out.bytes.count != sentBefore
        if hasSent { lastSent = now.monotonic }
        // The number of answers due is limited, because nothing more is read; so every answer extends the deadline.
        if state.isFinishing, hasSent || stateDeadline == nil {
            stateDeadline = now.monotonic.advanced(milliseconds: Limits.AppServer.farewellMilliseconds)
        }
        // Backpressure: the session waits for the core during the login, and later once enough messages are queued.
        if state.isWaitingForCore || inboundQueue.count > Limits.AppServer.unreadBytes {
            io.isReading = false
        } else if inboundQueue.count <= Limits.AppServer.unreadBytes / 2 {
            io.isReading = true
        }
    }

    /// Sends one space in a record of its own, by which clients detect that the connection is alive (ccs-xmpp 1.9).
    private mutating func keepAlive(_ now: Now, _ io: inout SessionIO) {
        lastSent = now.monotonic
        translator.releaseBuffers()
        guard !isCongested else { return }
        io.counts.keepalives += 1
        io.out.bytes.append(" ")
        io.out.endRecord()
    }
}
