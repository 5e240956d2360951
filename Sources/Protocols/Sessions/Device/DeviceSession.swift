public import Basics
public import Delivery
import Wire

/// The server's side of a device connection: login, messages both ways, acknowledgements and heartbeats (mcs-device 1 to 4).
///
/// Frames are counted from 1 in each direction; the counts are the stream IDs by which both sides acknowledge (mcs-device 3.2).
public struct DeviceSession: ~Copyable, ProtocolSession {
    enum State: Sendable {
        /// Only a login is accepted.
        case awaitingLogin
        /// The core checks the login of this device; bytes received meanwhile are buffered. The login ID is repeated in the answer
        /// and then dropped, because an unauthenticated peer chose its length.
        case checking(DeviceID, loginID: [UInt8])
        /// Logged in.
        case open(DeviceID)
        /// The session has ended; nothing is read or written any more. The end of the connection is still to be reported for this
        /// device.
        case ended(DeviceID?)
    }

    let connection: ConnectionID
    private let shared: SharedSettings
    var settings: SessionSettings { @inline(__always) get { shared.value } }
    let loginDeadline: Instant
    var state = State.awaitingLogin
    var reader = MCS.FrameReader(loginLimit: Limits.MCS.loginFrameBytes)
    /// Bytes received while the login was checked.
    var earlyBytes = ByteBuffer()
    /// Whether the client puts the app's message ID in `persistent_id` (mcs-device 4.1).
    var isAndroid = false
    /// Whether each frame has a TLS record of its own, for a client that would notice the second frame of a record too late.
    var hasRecordPerFrame = false
    /// Whether the client is asked after the login if it is idle.
    var isAskedWhetherIdle = false
    /// The idle state that the client reported last.
    var isIdle = false
    /// Why the connection ends right after the login; `nil` if it may stay.
    var endAfterLogin: CloseReason?
    /// Frames received.
    var incoming = 0
    /// Frames sent.
    var outgoing = 0
    /// A random base that makes frame IDs differ between connections.
    var frameIDBase: UInt32 = 0

    /// Stored messages sent and not yet acknowledged.
    var ledger = DeviceLedger()
    /// Sequences acknowledged in this call.
    var acknowledged: [SequenceNumber] = []
    /// Upstream frames that wait to be stored, and how far frames may be acknowledged.
    var upstream = DeviceUpstreamWindow()
    /// When a delayed stream ack is written at the latest.
    var streamAckDue = Instant.distantFuture
    /// When the connection closes so that the device reconnects, because a message could not be stored.
    var retryDue = Instant.distantFuture

    /// When the current incomplete frame must be complete.
    var frameDue = Instant.distantFuture

    var isCongested = false
    /// When to check whether the delivered messages have been sent.
    var writableDue = Instant.distantFuture

    /// Seconds of silence before a ping.
    var pingSeconds: Int
    /// When bytes were last received.
    var lastReceived: Instant
    /// When the oldest unanswered ping was sent; `nil` if all are answered.
    var unansweredSince: Instant?
    var lastPing = Instant.distantPast
    /// Whether this client answers pings; those that never do are not considered dead when silent.
    var answersPings = false
    /// When silence is checked next; changed only when reached, so that traffic does not move timers.
    var silenceDue = Instant.distantFuture

    /// Creates a session on a connection whose TLS handshake has just completed.
    public init(connection: ConnectionID, settings: SharedSettings, now: Now) {
        self.connection = connection
        shared = settings
        let settings = settings.value
        loginDeadline = now.monotonic.advanced(seconds: settings.loginDeadlineSeconds)
        pingSeconds = settings.devicePingSeconds
        lastReceived = now.monotonic
    }

    /// The device that the core associates with this connection, so that its end must be reported; `nil` before the login.
    var device: DeviceID? {
        switch state {
        case .awaitingLogin: nil
        case .checking(let device, _), .open(let device): device
        case .ended(let device): device
        }
    }

    var isOpen: Bool { if case .open = state { true } else { false } }

    public var deadline: Instant {
        switch state {
        case .awaitingLogin, .checking: loginDeadline
        case .open: min(min(silenceDue, streamAckDue), min(min(retryDue, writableDue), frameDue))
        case .ended: .distantFuture
        }
    }

    public mutating func receive(_ bytes: RawSpan, now: Now, io: inout SessionIO) {
        switch state {
        case .ended: return
        case .checking: bufferEarly(bytes, io: &io)
        case .awaitingLogin, .open:
            lastReceived = now.monotonic
            let framesBefore = incoming
            read(bytes, now: now, io: &io)
            watchFrame(isNew: incoming != framesBefore, now: now)
            endCall(now: now, io: &io)
        }
    }

    public mutating func perform(_ command: SessionCommand, now: Now, io: inout SessionIO) {
        if case .ended = state { return }
        switch command {
        case .device(let command): perform(command, now: now, io: &io)
        case .connection(let command): perform(command, io: &io)
        case .appServer, .submission, .reply: io.rejectMisdirected(command)
        }
    }

    private mutating func perform(_ command: DeviceCommand, now: Now, io: inout SessionIO) {
        switch (state, command) {
        case (.checking(let device, let loginID), .loginAccepted):
            acceptLogin(of: device, loginID: loginID, now: now, io: &io)
            if let endAfterLogin { close(endAfterLogin, io: &io) }
        case (.checking(_, let loginID), .loginRefused(let refusal)):
            refuseLogin(refusal, loginID: loginID, io: &io)
        case (.open, .deliver(let delivery)): deliver(delivery, now: now, io: &io)
        case (.open, .reportWhenWritable): reportWhenWritable(now: now, io: &io)
        case (.open, .upstreamStored(let requestID)):
            if let stored = upstream.resolve(requestID) { io.acknowledged.add(stored.receivedAt) }
            acknowledgeUpstream(now: now, io: &io)
        case (.open, .upstreamRefused(let requestID, let refusal)):
            handleRefusal(requestID, refusal, now: now, io: &io)
        // The command was on its way when the session closed or its login was refused.
        case (.awaitingLogin, _), (.checking, _), (.open, _), (.ended, _): return
        }
    }

    private mutating func perform(_ command: ConnectionCommand, io: inout SessionIO) {
        switch (state, command) {
        // A device that has connected to log in gets its answer before the connection ends: without one it would assume an outage.
        case (.awaitingLogin, .endWhenIdle(_, let reason)), (.checking, .endWhenIdle(_, let reason)):
            endAfterLogin = reason
        case (_, .endWhenIdle(_, let reason)), (_, .close(let reason)): close(reason, io: &io)
        // The protocol has no notice of draining.
        case (_, .drain): return
        // Only for unauthenticated requests; a device that logs in is not one.
        case (_, .refundQuota), (_, .retryAfter): return
        }
    }

    public mutating func wake(now: Now, io: inout SessionIO) {
        switch state {
        case .ended: return
        case .awaitingLogin, .checking:
            if now.monotonic >= loginDeadline { end(.loginDeadline, io: &io) }
        case .open:
            if now.monotonic >= frameDue { return close(.frameDeadline, io: &io) }
            if now.monotonic >= retryDue { return close(.storeFailed, io: &io) }
            if now.monotonic >= writableDue { reportWritable(io: &io) }
            if now.monotonic >= streamAckDue { writeStreamAck(io: &io) }
            if now.monotonic >= silenceDue { checkSilence(now: now, io: &io) }
        }
    }

    public mutating func outboundChanged(isCongested: Bool, now: Now, io: inout SessionIO) {
        guard isCongested != self.isCongested else { return }
        self.isCongested = isCongested
        guard case .open(let device) = state else { return }
        if isCongested {
            io.events.append(.deviceCongested(connection, device))
        } else {
            reportWritable(io: &io)
        }
    }

    public mutating func ended(_ reason: CloseReason, now: Now, io: inout SessionIO) {
        if let device { io.events.append(.deviceClosed(connection, device)) }
        state = .ended(nil)
    }
}

extension DeviceSession {
    /// Reads frames until the end of the bytes, or until the login has to be checked.
    mutating func read(_ bytes: RawSpan, now: Now, io: inout SessionIO) {
        var reader = MCS.FrameReader()
        swap(&reader, &self.reader)
        do throws(MCSError) {
            let taken = try reader.read(bytes) { (tag, message) throws(MCSError) in
                try handle(tag, message, now: now, io: &io)
                return isOpen
            }
            swap(&reader, &self.reader)
            if case .checking = state { bufferEarly(bytes.extracting(taken..<bytes.byteCount), io: &io) }
        } catch {
            close(error.closeReason, io: &io)
        }
    }

    private mutating func handle(
        _ tag: UInt8, _ message: RawSpan, now: Now, io: inout SessionIO
    ) throws(MCSError) {
        incoming += 1
        guard isOpen else {
            guard tag == MCS.Tag.loginRequest.rawValue else { throw .invalidTag(tag) }
            return askToLogIn(try MCS.LoginRequest(decoding: message), now: now, io: &io)
        }
        switch MCS.Tag(rawValue: tag) {
        case .heartbeatPing: handlePing(try MCS.Heartbeat(decoding: message), now: now, io: &io)
        case .heartbeatAck: handleAck(try MCS.Heartbeat(decoding: message), io: &io)
        case .iq: handle(try MCS.IqStanza(decoding: message))
        case .dataMessage: handle(try MCS.DataMessage(decoding: message), now: now, io: &io)
        case .close: end(.peerEndedStream, io: &io)
        case .loginRequest: throw .invalidTag(tag)
        case .loginResponse, .streamError, nil: return
        }
    }

    /// Updates the deadline of the incomplete frame, if there is one.
    mutating func watchFrame(isNew: Bool, now: Now) {
        if !reader.isWithinFrame {
            frameDue = .distantFuture
        } else if isNew || frameDue == .distantFuture {
            frameDue = now.monotonic.advanced(seconds: Limits.MCS.frameDeadlineSeconds)
        }
    }

    /// Reports what all frames of a call have acknowledged, and writes the stream ack that is due.
    mutating func endCall(now: Now, io: inout SessionIO) {
        if !acknowledged.isEmpty, let device {
            io.events.append(.deviceAcknowledged(connection, device, acknowledged))
            acknowledged = []
        }
        guard isOpen else { return }
        if upstream.owed(incoming: incoming) >= Limits.Device.framesBeforeStreamAck {
            writeStreamAck(io: &io)
        }
    }

    /// Buffers bytes until the login is answered.
    mutating func bufferEarly(_ bytes: RawSpan, io: inout SessionIO) {
        guard earlyBytes.count + bytes.byteCount <= Limits.AppServer.unreadBytes else {
            return end(.tooLarge, io: &io)
        }
        earlyBytes.append(bytes)
    }

    /// Ends the session with a close frame if the login was accepted.
    mutating func close(_ reason: CloseReason, io: inout SessionIO) {
        if isOpen {
            MCS.Close().append(to: &io.out.bytes)
            endFrame(io: &io)
        }
        end(reason, io: &io)
    }

    /// Ends the session without a close frame.
    mutating func end(_ reason: CloseReason, io: inout SessionIO) {
        if case .ended = state { return }
        state = .ended(device)
        earlyBytes.removeAll()
        io.close = reason
    }

    /// Counts a written frame and ends its TLS record if it needs one of its own.
    mutating func endFrame(io: inout SessionIO) {
        outgoing += 1
        // The login response has a record of its own. Later frames of one turn share one to save cost: most clients read a stream.
        if outgoing == 1 || hasRecordPerFrame { io.out.endRecord() }
    }
}
