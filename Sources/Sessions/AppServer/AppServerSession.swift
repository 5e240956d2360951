public import Basics
public import Delivery
import Wire

/// The machine of one app server's connection: login, binding, messages both ways, draining and the end (ccs-xmpp 1 to 5).
///
/// One server stanza is one record. It never answers for the core: an ACK is written when the core says so.
public struct AppServerSession: ~Copyable, ProtocolSession {
    /// How far the connection has come.
    enum Stage {
        /// The header of the first stream is due.
        case opening
        /// `<auth>` is due.
        case login
        /// A challenge was sent, of SCRAM or of PLAIN without a first response; `<response>` is due.
        case challenged(AppServerSCRAM?)
        /// The core is checking the key, or asked which keys there are; what comes meanwhile is held.
        case checking(AppServerSCRAM?)
        /// The header of the second stream is due.
        case restarting
        /// A resource must be bound.
        case binding
        /// The core is asked for a stream to go on with; what comes meanwhile is held.
        case resuming
        /// Messages go both ways.
        case ready
        /// The app server has ended its stream; answers to what it sent are still written, and then it ends for this reason.
        case finishing(CloseReason)
        /// Nothing more is read or written.
        case over

        /// Whether messages go both ways.
        var isReady: Bool { if case .ready = self { true } else { false } }
        /// Whether only answers are still written.
        var isFinishing: Bool { if case .finishing = self { true } else { false } }
        /// Whether the header of a stream is due.
        var isOpening: Bool {
            switch self {
            case .opening, .restarting: true
            default: false
            }
        }
        /// Whether a resource must be bound.
        var isBinding: Bool { if case .binding = self { true } else { false } }
        /// Whether nobody has begun to log in on the first stream.
        var isBeforeLogin: Bool {
            switch self {
            case .opening, .login: true
            default: false
            }
        }
        /// Whether the core has been asked, and what comes is held.
        var isHolding: Bool {
            switch self {
            case .checking, .resuming: true
            default: false
            }
        }
        /// Whether the login is due, or a part of it.
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
    var stage = Stage.opening
    var reader = StanzaReader()
    /// Bytes that came while the key was being checked.
    var early = ByteBuffer()
    var failedLogins = 0
    /// Headers of the first stream that have come: their number is bounded.
    var headers = 0
    /// A header that is answered once it is clear that no other one follows it in the same bytes.
    var unanswered: StreamHeader?
    /// The managed stream, once the client has enabled it or gone on with it.
    var stream: AppServerStream?
    /// Our stanzas that the client has of the stream it goes on with.
    var resumedAt: UInt32 = 0
    /// The channel binding of the connection once TLS is up; nil where there is none.
    let channelBinding: () -> [UInt8]?
    /// Who logs in or has logged in; never the password.
    var sender: SenderID?
    /// Domain behind the sender ID at login; the bound JID uses it.
    var domain = ""
    /// The bound full JID.
    var jid = ""
    var isDraining = false
    /// From when a drained connection ends by itself once it owes and is owed nothing, and why; nil: the host ends it.
    var idleEnd: (from: Instant, reason: CloseReason)?
    /// When the last message came from a drained app server; nil: in this very call.
    var quietSince: Instant?
    /// Whether outbound bytes pile up: then no more messages are taken, since each needs an answer.
    var isCongested = false
    /// Whether the core has been told so.
    var isCongestionTold = false
    /// Until when the login must be done; at first absolute, later that of the farewell.
    var stageDeadline: Instant
    /// When something was last sent.
    var lastSent: Instant

    var submissions: AppServerSubmissions
    var recentIDs: AppServerMessageIDs
    var held = AppServerHeldMessages()
    var outstanding = AppServerOutstanding()
    /// Upstream messages that wait until what was written before has left, oldest first.
    var unwritten: [UnwrittenUpstream] = []
    var translation = Translation()
    var tokens = TokenMemory()

    /// A session on a new connection whose TLS handshake is done.
    ///
    /// `channelBinding` gives the `tls-exporter` value of RFC 9266, nil where TLS cannot make one; asked for SCRAM only.
    public init(
        connection: ConnectionID, settings: SharedSettings, now: Now,
        channelBinding: @escaping () -> [UInt8]? = { nil }
    ) {
        self.connection = connection
        self.channelBinding = channelBinding
        shared = settings
        let settings = settings.value
        stageDeadline = now.monotonic.advanced(seconds: settings.loginDeadlineSeconds)
        lastSent = now.monotonic
        submissions = AppServerSubmissions(window: settings.pendingWindow)
        recentIDs = AppServerMessageIDs(key: (settings.random(), settings.random()))
    }

    public var deadline: Instant {
        switch stage {
        case .over: .distantFuture
        // What was written last leaves after this call; then there is room.
        case .ready where !unwritten.isEmpty && !isCongested: lastSent.advanced(milliseconds: 1)
        case .ready: min(keepaliveDeadline, idleDeadline)
        default: stageDeadline
        }
    }

    private var keepaliveDeadline: Instant {
        settings.keepaliveSeconds > 0
            ? lastSent.advanced(seconds: settings.keepaliveSeconds) : .distantFuture
    }

    public mutating func receive(_ bytes: RawSpan, now: Now, io: inout SessionIO) {
        let sentBefore = io.out.bytes.count
        read(bytes, &io)
        settle(sentBefore, now, &io)
    }

    public mutating func perform(_ command: SessionCommand, now: Now, io: inout SessionIO) {
        let sentBefore = io.out.bytes.count
        switch command {
        case .submission(let requestID, let reply): answered(requestID, reply, &io)
        case .appServer(let command): perform(command, now, &io)
        case .connection(let command): perform(command, &io)
        case .device, .reply: io.misdirected(command)
        }
        settle(sentBefore, now, &io)
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
        // Of those that ask without an account; an app server never does.
        case .refundQuota: break
        }
    }

    public mutating func wake(now: Now, io: inout SessionIO) {
        let sentBefore = io.out.bytes.count
        if deadline <= now.monotonic {
            switch stage {
            case .over: break
            case .ready where !unwritten.isEmpty && !isCongested: writeUnwritten(now, &io)
            case .ready where idleDeadline <= now.monotonic: endIdle(&io)
            case .ready: keepAlive(now, &io)
            case .finishing: finish(&io)
            default: fail(.connectionTimeout, .loginDeadline, &io)
            }
        }
        settle(sentBefore, now, &io)
    }

    public mutating func outboundChanged(isCongested: Bool, now: Now, io: inout SessionIO) {
        let sentBefore = io.out.bytes.count
        self.isCongested = isCongested
        submitHeld(&io)
        writeUnwritten(now, &io)
        settle(sentBefore, now, &io)
    }

    public mutating func inputEnded(now: Now, io: inout SessionIO) -> Bool {
        let sentBefore = io.out.bytes.count
        // A managed stream was not ended but lost: the client comes back for the answers.
        if stage.isReady, owesAnswers, stream?.id == nil { sayFarewell(.peerClosed) }
        settle(sentBefore, now, &io)
        return stage.isFinishing
    }

    public mutating func ended(_ reason: CloseReason, now: Now, io: inout SessionIO) {
        detach(&io)
        stage = .over
        reportEnd(&io)
    }

    /// What every call ends with: whether to read on, and when something was last sent.
    private mutating func settle(_ sentBefore: Int, _ now: Now, _ io: inout SessionIO) {
        if stage.isFinishing, !owesAnswers { finish(&io) }
        reportCongestion(&io)
        if isDraining, quietSince == nil { quietSince = now.monotonic }
        let hasSent = io.out.bytes.count != sentBefore
        if hasSent { lastSent = now.monotonic }
        // What is owed is bounded, since nothing more is read: as long as it goes on, the wait does.
        if stage.isFinishing, hasSent || stageDeadline == .distantFuture {
            stageDeadline = now.monotonic.advanced(milliseconds: Limits.AppServer.farewellMilliseconds)
        }
        // The core's answer about the key comes first; a full window presses back once enough is held.
        if stage.isHolding || held.count > Limits.AppServer.unreadBytes {
            io.isReading = false
        } else if held.count <= Limits.AppServer.unreadBytes / 2 {
            io.isReading = true
        }
    }

    /// One space, alone in its record: clients take it for the sign that all is well (ccs-xmpp 1.9).
    private mutating func keepAlive(_ now: Now, _ io: inout SessionIO) {
        lastSent = now.monotonic
        translation.releaseBuffers()
        guard !isCongested else { return }
        io.counts.keepalives += 1
        io.out.bytes.append(" ")
        io.out.endRecord()
    }
}
