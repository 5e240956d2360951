public import Basics
import CLinux
import Glibc

/// One TCP or UNIX-domain connection, with or without TLS; used only on the thread of its reactor.
public final class Connection {
    /// The state of a connection.
    enum State {
        /// The outbound TCP connect is in progress.
        case connecting
        /// The proxy must send its PROXY header.
        case awaitingProxyHeader
        /// The TLS handshake is in progress.
        case handshaking
        /// Data flows.
        case open
        /// Pending output is sent, input is discarded.
        case closing
        /// Output has ended and the delegate was notified; waits for the peer to close.
        case lingering
        /// The socket is no longer used.
        case closed
    }

    /// The ID of the connection, unique over all threads and time.
    public let id: ConnectionID
    /// The address of the peer; behind a trusted proxy that of the client, from `connectionReceivedProxyHeader` on.
    public internal(set) var peer: SocketAddress
    /// The listener that accepted the connection; `.outgoing` for outbound connections.
    public let listener: ListenerName
    /// Receives events; set to `nil` after `connectionClosed`.
    public var delegate: (any ConnectionDelegate)?
    /// Outbound plaintext, sent at the end of the turn after `setNeedsFlush`.
    public var outbox = Outbox()
    /// Whether bytes are read from the peer; false applies backpressure.
    ///
    /// If it is set to false within `connection(_:received:now:)`, no further record is delivered.
    public var isReading = true {
        didSet { if isReading, !oldValue { reactor.readLater(self) } }
    }
    /// When `connectionDeadline` is called; `.distantFuture` for never.
    public var deadline = Instant.distantFuture {
        didSet { if deadline < oldValue { reactor.arm(self) } }
    }
    /// Whether the connection counts against `PaceSettings.anonymousPerAddress`; set it to false after the login.
    public var isAnonymous = false {
        didSet {
            guard oldValue, !isAnonymous else { return }
            acceptor?.forgetAnonymous(peer)
            isBeforeLogin = false
        }
    }
    /// Whether the connection counts against `Reactor.beforeLoginLimit`: from its accept, before its address is known, to its login.
    var isBeforeLogin = false {
        didSet { if oldValue, !isBeforeLogin { reactor.beforeLogin.leave() } }
    }
    /// The error text of OpenSSL or the system that explains the close, for logs; may be empty.
    public internal(set) var failure = ""

    let socket: Int32
    /// Replaced once at most, by `startTLS`.
    var tls: TLSSession
    let reactor: Reactor
    let acceptor: Acceptor?
    let pace: PaceSettings
    var state: State
    var closeReason = CloseReason.internalError
    /// Encrypted bytes that the socket has not accepted yet.
    var waiting = ByteBuffer()
    /// The part of the PROXY header received so far.
    var proxyHeader = ByteBuffer()
    /// Bytes received while reading was stopped, not decrypted yet.
    var unreadInput = ByteBuffer()
    /// The bytes of a record that OpenSSL has read in part and that are still to come.
    var restOfRecord = 0
    /// Whether reading was stopped with records in OpenSSL's buffer.
    var hasBufferedRecords = false
    var needsFlush = false
    /// Whether the outbox keeps memory for the next turn, and whether anything was sent since the last check of that memory.
    var isWarm = false
    var wasBusy = false
    var readsLater = false
    /// The kernel has reported the peer's end of stream: a short read does not mean that nothing follows.
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

    /// Whether the connection comes from a proxy that has not sent its header yet.
    public var isAwaitingProxyHeader: Bool { state == .awaitingProxyHeader }

    /// Whether data flows: after `connectionOpened`, before `close` and `abort`.
    public var isOpen: Bool { state == .open }

    /// Schedules sending of the outbox at the end of this turn.
    @inline(__always)
    public func setNeedsFlush() {
        guard !needsFlush else { return }
        needsFlush = true
        reactor.flushLater(self)
    }

    /// Sends pending output, ends TLS and TCP properly, and then calls `connectionClosed`; bounded by the write deadline.
    public func close(_ reason: CloseReason) {
        switch state {
        case .connecting, .awaitingProxyHeader, .handshaking: abort(reason)
        case .open:
            state = .closing
            closeReason = reason
            stateDeadline = reactor.now.monotonic.advanced(milliseconds: pace.writeMilliseconds)
            reactor.arm(self)
            setNeedsFlush()
        case .closing, .lingering, .closed: break
        }
    }

    /// Closes the connection without sending pending output; `connectionClosed` is called within this turn or the next.
    public func abort(_ reason: CloseReason) {
        guard state != .closed else { return }
        if state != .closing, state != .lingering { closeReason = reason }
        state = .closed
        reactor.reapLater(self)
    }

    /// Pending output in bytes: the outbox and what the socket has not accepted yet.
    public var outboundCount: Int { outbox.bytes.count &+ waiting.count }

    /// Whether there is no TLS.
    public var isPlain: Bool { tls.isPlain }
    /// The TLS version, such as `TLSv1.3`; `nil` without TLS.
    public var tlsVersion: String? { tls.version }
    /// Whether the TLS handshake resumed an earlier session.
    public var tlsIsResumed: Bool { tls.isResumed }
    /// The application protocol agreed on in the TLS handshake (ALPN); `nil` if there is none.
    public var applicationProtocol: String? { tls.applicationProtocol }
    /// The channel binding of a login (RFC 9266, `tls-exporter`); `nil` if TLS has no safe one.
    public var channelBinding: [UInt8]? { tls.channelBinding }

    /// The DNS name in the peer's certificate that ends with a suffix, such as `.example.org`, after one label. Returns `nil` if there
    /// is none, and for a peer without a certificate.
    public func peerName(under suffix: String) -> String? { tls.peerName(under: suffix) }

    /// The user ID and process ID of the process that opened the other end of a UNIX-domain socket; `nil` for other
    /// connections. The process may have ended since; its ID is 0 if it is outside this process ID namespace.
    public var peerCredentials: (user: UInt32, process: Int32)? {
        var user: UInt32 = 0
        var process: Int32 = 0
        guard case .unix = peer, state != .closed, unsafe clinux_peer(socket, &user, &process) == 0 else {
            return nil
        }
        return (user, process)
    }
}
