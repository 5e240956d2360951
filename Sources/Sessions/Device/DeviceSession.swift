public import Basics
public import Delivery
import Wire

/// The server's end of a device link: login, messages both ways, acknowledgements and heartbeats (mcs-device 1 to 4).
///
/// Frames are counted from 1 in each direction; the counts are the stream ids in which both
/// sides acknowledge (mcs-device 3.2).
public struct DeviceSession: ~Copyable, ProtocolSession {
    /// How far the conversation is.
    enum State: Sendable {
        /// Nothing but a login is accepted.
        case awaitingLogin
        /// The core looks at the login of this device; what comes meanwhile is held. The ID of the login is repeated in the answer
        /// and then dropped: a stranger chose its length.
        case checking(DeviceID, loginID: [UInt8])
        /// Logged in.
        case open(DeviceID)
        /// Closed from here; nothing is read or written any more. The core is to hear that the connection of this device is gone.
        case ended(DeviceID?)
    }

    let connection: ConnectionID
    private let shared: SharedSettings
    var settings: SessionSettings { @inline(__always) get { shared.value } }
    let loginDeadline: Instant
    var state = State.awaitingLogin
    var reader = MCS.FrameReader(loginLimit: Limits.MCS.loginFrameBytes)
    /// Bytes that came while the login was checked.
    var held = ByteBuffer()
    /// Whether the client keeps the app's message id in `persistent_id` (mcs-device 4.1).
    var isAndroid = false
    /// Whether each frame has a TLS record of its own, for a client that would not see the second one of a record in time.
    var hasRecordPerFrame = false
    /// Whether the client is asked if it is idle, once it is logged in.
    var isAskedWhetherIdle = false
    /// What the client last said about that.
    var isIdle = false
    /// Why the connection ends right after the login; nil while it may stay.
    var endAfterLogin: CloseReason?
    /// Frames received.
    var incoming = 0
    /// Frames sent.
    var outgoing = 0
    /// What makes the ids of frames differ between connections.
    var frameIDBase: UInt32 = 0

    /// Stored messages sent and not yet acknowledged.
    var ledger = DeviceLedger()
    /// Sequences acknowledged in this call.
    var acknowledged: [SequenceNumber] = []
    /// Upstream frames that wait to be stored, and what may be acknowledged.
    var upstream = DeviceUpstreamWindow()
    /// When the stream ack that waits for more is written all the same.
    var streamAckDue = Instant.distantFuture
    /// When the device is asked to come again, because something could not be stored.
    var retryDue = Instant.distantFuture

    /// When a frame that has begun must have ended.
    var frameDue = Instant.distantFuture

    var isCongested = false
    /// When to look whether what was handed over has left.
    var readyDue = Instant.distantFuture

    /// Seconds of silence before a ping.
    var pingSeconds: Int
    /// When bytes last came.
    var lastHeard: Instant
    /// When the first ping was sent that is not answered; nil when all are.
    var unansweredSince: Instant?
    /// When the last ping was sent.
    var lastPing = Instant.distantPast
    /// Whether this client answers pings; those that never do are not taken for dead by silence.
    var answersPings = false
    /// When silence is looked at next; moves only when reached, so that traffic does not move timers.
    var silenceDue = Instant.distantFuture

    /// A session on a connection whose TLS handshake has just ended.
    public init(connection: ConnectionID, settings: SharedSettings, now: Now) {
        self.connection = connection
        shared = settings
        let settings = settings.value
        loginDeadline = now.monotonic.advanced(seconds: settings.loginDeadlineSeconds)
        pingSeconds = settings.devicePingSeconds
        lastHeard = now.monotonic
    }

    /// The device that is logged in; nil before and after.
    public var loggedInDevice: DeviceID? { if case .open(let device) = state { device } else { nil } }

    /// The device that the core knows of this connection, so that it must hear of its end; nil before it is asked.
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
        case .open: min(min(silenceDue, streamAckDue), min(min(retryDue, readyDue), frameDue))
        case .ended: .distantFuture
        }
    }

    public mutating func receive(_ bytes: RawSpan, now: Now, io: inout SessionIO) {
        switch state {
        case .ended: return
        case .checking: hold(bytes, io: &io)
        case .awaitingLogin, .open:
            lastHeard = now.monotonic
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
        case .appServer, .submission, .reply: io.misdirected(command)
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
            upstream.settle(requestID)
            acknowledgeUpstream(now: now, io: &io)
        case (.open, .upstreamRefused(let requestID, let refusal)):
            settleRefused(requestID, refusal, now: now, io: &io)
        // What was on its way when the session closed, or was refused.
        case (.awaitingLogin, _), (.checking, _), (.open, _), (.ended, _): return
        }
    }

    private mutating func perform(_ command: ConnectionCommand, io: inout SessionIO) {
        switch (state, command) {
        // A device that has been let in to log in is greeted before it is sent away: no answer would read as an outage.
        case (.awaitingLogin, .endWhenIdle(_, let reason)), (.checking, .endWhenIdle(_, let reason)):
            endAfterLogin = reason
        case (_, .endWhenIdle(_, let reason)), (_, .close(let reason)): close(reason, io: &io)
        // The protocol has no word for it.
        case (_, .drain): return
        // Of those that ask without an account; a device that logs in is known.
        case (_, .refundQuota): return
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
            if now.monotonic >= readyDue { tellReady(io: &io) }
            if now.monotonic >= streamAckDue { writeStreamAck(io: &io) }
            if now.monotonic >= silenceDue { lookAtSilence(now: now, io: &io) }
        }
    }

    public mutating func outboundChanged(isCongested: Bool, now: Now, io: inout SessionIO) {
        guard isCongested != self.isCongested else { return }
        self.isCongested = isCongested
        guard case .open(let device) = state else { return }
        if isCongested {
            io.events.append(.deviceCongested(connection, device))
        } else {
            tellReady(io: &io)
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
            if case .checking = state { hold(bytes.extracting(taken..<bytes.byteCount), io: &io) }
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

    /// Notes whether a frame is under way, and until when it may be.
    mutating func watchFrame(isNew: Bool, now: Now) {
        if !reader.isWithinFrame {
            frameDue = .distantFuture
        } else if isNew || frameDue == .distantFuture {
            frameDue = now.monotonic.advanced(seconds: Limits.MCS.frameDeadlineSeconds)
        }
    }

    /// What follows once from all the frames of a call.
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

    /// Keeps bytes for after the login, and reads no more until then.
    mutating func hold(_ bytes: RawSpan, io: inout SessionIO) {
        guard held.count + bytes.byteCount <= Limits.AppServer.unreadBytes else {
            return end(.tooLarge, io: &io)
        }
        held.append(bytes)
    }

    /// Says goodbye where the device has been greeted, then closes.
    mutating func close(_ reason: CloseReason, io: inout SessionIO) {
        if isOpen {
            MCS.Close().append(to: &io.out.bytes)
            endFrame(io: &io)
        }
        end(reason, io: &io)
    }

    /// Closes without a word.
    mutating func end(_ reason: CloseReason, io: inout SessionIO) {
        if case .ended = state { return }
        state = .ended(device)
        held.removeAll()
        io.close = reason
    }

    /// Counts a frame that was written.
    mutating func endFrame(io: inout SessionIO) {
        outgoing += 1
        // The greeting has a record of its own. Later frames of one turn share one, and its cost: most clients read a stream.
        if outgoing == 1 || hasRecordPerFrame { io.out.endRecord() }
    }
}
