public import Basics
import CLinux
import Glibc

/// One TCP or UNIX-domain connection, with or without TLS; used on the thread of its reactor only.
public final class Connection {
    /// What may still happen on it.
    enum State {
        /// Our own TCP connect is under way.
        case connecting
        /// A proxy is to say whose connection it is.
        case introducing
        /// TLS is being set up.
        case handshaking
        /// Data flows.
        case open
        /// What waits is sent, nothing is taken any more.
        case closing
        /// Our end is sent and the owner is told; we wait for the peer's end.
        case lingering
        /// Nothing more happens.
        case closed
    }

    /// Names it, on all threads and for ever.
    public let id: ConnectionID
    /// The other end; behind a proxy of ours the client that it named, from `connectionIntroduced` on.
    public internal(set) var peer: SocketAddress
    /// Which listener accepted it; `.outgoing` for our own.
    public let listener: ListenerName
    /// Who is told; dropped after `connectionClosed`.
    public var delegate: (any ConnectionDelegate)?
    /// What goes to the peer at the end of the turn, after `setNeedsFlush`.
    public var outbox = Outbox()
    /// Whether bytes are taken from the peer; false presses back.
    ///
    /// Cleared within `connection(_:received:now:)`, no record follows the one at hand.
    public var isReading = true {
        didSet { if isReading, !oldValue { reactor.readLater(self) } }
    }
    /// When `connectionDeadline` is called; `.distantFuture` for never.
    public var deadline = Instant.distantFuture {
        didSet { if deadline < oldValue { reactor.arm(self) } }
    }
    /// Whether it counts against `PaceSettings.anonymousPerAddress`; clear it after the login.
    public var isAnonymous = false {
        didSet { if oldValue, !isAnonymous { acceptor?.forgetAnonymous(peer) } }
    }
    /// OpenSSL's or the system's words for what ended the connection, for logs; empty where there are none.
    public internal(set) var failure = ""

    let socket: Int32
    let tls: TLSSession
    let reactor: Reactor
    let acceptor: Acceptor?
    let pace: PaceSettings
    var state: State
    var closeReason = CloseReason.internalError
    /// Sealed bytes that the socket did not take yet.
    var waiting = ByteBuffer()
    /// The PROXY header as far as it has come.
    var introduction = ByteBuffer()
    /// Bytes received while reading was stopped, not opened yet.
    var held = ByteBuffer()
    /// Whether reading was stopped with records in OpenSSL's buffer.
    var holdsRecords = false
    var needsFlush = false
    /// Whether the outbox holds memory for the next turn, and something was sent since that was last looked at.
    var isWarm = false
    var wasBusy = false
    var readsLater = false
    /// The kernel told of the peer's end: a short read does not mean that nothing follows.
    var peerHungUp = false
    var inputEnded = false
    var isCongested = false
    var endIsSealed = false
    var timer: TimerID?
    var armed = Instant.distantFuture
    var writeDeadline = Instant.distantFuture
    /// End of the handshake, of closing or of lingering.
    var stateDeadline = Instant.distantFuture

    init(
        id: ConnectionID, socket: Int32, peer: SocketAddress, tls: consuming TLSSession, reactor: Reactor,
        acceptor: Acceptor?, pace: PaceSettings, state: State
    ) {
        self.id = id
        self.socket = socket
        self.peer = peer
        self.tls = tls
        self.reactor = reactor
        self.acceptor = acceptor
        self.pace = pace
        self.state = state
        listener = acceptor?.name ?? .outgoing
    }

    /// Whether it comes from a proxy that has not said yet whose it is.
    public var isIntroducing: Bool { state == .introducing }

    /// Whether data flows: after `connectionOpened`, before `close` and `abort`.
    public var isOpen: Bool { state == .open }

    /// Asks for the outbox to be sent at the end of this turn.
    @inline(__always)
    public func setNeedsFlush() {
        guard !needsFlush else { return }
        needsFlush = true
        reactor.flushLater(self)
    }

    /// Sends what waits, ends TLS and TCP in order, and then calls `connectionClosed`; bounded by the write deadline.
    public func close(_ reason: CloseReason) {
        switch state {
        case .connecting, .introducing, .handshaking: abort(reason)
        case .open:
            state = .closing
            closeReason = reason
            stateDeadline = reactor.now.monotonic.advanced(milliseconds: pace.writeMilliseconds)
            reactor.arm(self)
            setNeedsFlush()
        case .closing, .lingering, .closed: break
        }
    }

    /// Drops the connection without sending what waits; `connectionClosed` is called within this turn or the next.
    public func abort(_ reason: CloseReason) {
        guard state != .closed else { return }
        if state != .closing, state != .lingering { closeReason = reason }
        state = .closed
        reactor.reapLater(self)
    }

    /// Bytes that wait for the peer: the outbox and what the socket did not take yet.
    public var outboundCount: Int { outbox.bytes.count &+ waiting.count }

    /// Whether there is no TLS.
    public var isPlain: Bool { tls.isPlain }
    /// `TLSv1.3`; nil without TLS.
    public var tlsVersion: String? { tls.version }
    /// Whether the TLS handshake resumed an earlier session.
    public var tlsIsResumed: Bool { tls.isResumed }
    /// What binds a login to this very channel (RFC 9266, `tls-exporter`); nil where TLS has nothing safe to offer.
    public var channelBinding: [UInt8]? { tls.channelBinding }

    /// The user ID and the process ID of the process that opened the other end of a UNIX-domain socket; `nil` for other
    /// connections. The process may have ended since; it is 0 if it cannot be seen from here.
    public var peerCredentials: (user: UInt32, process: Int32)? {
        var user: UInt32 = 0
        var process: Int32 = 0
        guard case .unix = peer, state != .closed, unsafe clinux_peer(socket, &user, &process) == 0 else {
            return nil
        }
        return (user, process)
    }
}
