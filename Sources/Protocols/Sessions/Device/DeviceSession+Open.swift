import Basics
import Delivery
import Wire

extension DeviceSession {
    /// A session that is logged in.
    ///
    /// Frames are counted from 1 in each direction; the counts are the stream IDs by which both sides acknowledge (mcs-device 3.2).
    struct Open: ~Copyable {
        let connection: ConnectionID
        private let shared: SharedSettings
        var settings: SessionSettings { @inline(__always) get { shared.value } }
        var client: Client
        var device: DeviceID { client.device }
        /// Frames received; the first was the login.
        var incoming = 1
        /// Frames sent.
        var outgoing = 0
        /// A random base that makes frame IDs differ between connections.
        let frameIDBase: UInt32

        /// Stored messages sent and not yet acknowledged.
        var ledger = DeviceLedger()
        /// Sequences acknowledged in this call.
        var acknowledged: [SequenceNumber] = []
        /// Upstream frames that wait to be stored, and how far frames may be acknowledged.
        var upstream = DeviceUpstreamWindow()
        /// When a delayed stream ack is written at the latest.
        var streamAckDue: Instant?
        /// When the current incomplete frame must be complete.
        private var frameDue: Instant?
        /// When to check whether the delivered messages have been sent.
        var writableDue: Instant?

        /// When bytes were last received.
        var lastReceived: Instant
        /// When the last ping was sent; before the first, when the login was accepted.
        var lastPing: Instant
        /// When the oldest unanswered ping was sent; `nil` if all are answered.
        var unansweredSince: Instant?
        /// Whether this client answers pings; those that never do are not considered dead when silent.
        var answersPings = false
        /// When silence is checked next; changed only when reached, so that traffic does not move timers.
        var silenceDue: Instant

        init(_ client: Client, _ connection: ConnectionID, _ shared: SharedSettings, now: Now) {
            self.client = client
            self.connection = connection
            self.shared = shared
            frameIDBase = UInt32(truncatingIfNeeded: shared.value.random())
            lastReceived = now.monotonic
            lastPing = now.monotonic
            silenceDue = now.monotonic.advanced(seconds: client.pingSeconds)
        }

        var deadline: Instant {
            silenceDue.orEarlier(streamAckDue).orEarlier(upstream.barrier?.retryDue).orEarlier(writableDue)
                .orEarlier(frameDue)
        }

        mutating func receive(
            _ bytes: RawSpan, with reader: inout MCS.FrameReader, now: Now, io: inout SessionIO
        ) {
            lastReceived = now.monotonic
            let framesBefore = incoming
            do throws(MCSError) {
                try reader.read(bytes) { (tag, message) throws(MCSError) in
                    try handle(tag, message, now: now, io: &io)
                    return io.close == nil
                }
            } catch {
                close(error.closeReason, io: &io)
            }
            if !reader.isWithinFrame {
                frameDue = nil
            } else if frameDue == nil || incoming != framesBefore {
                frameDue = now.monotonic.advanced(seconds: Limits.MCS.frameDeadlineSeconds)
            }
            if !acknowledged.isEmpty {
                io.events.append(.deviceAcknowledged(connection, device, acknowledged))
                acknowledged = []
            }
            guard io.close == nil else { return }
            if upstream.owed(incoming: incoming) >= Limits.Device.framesBeforeStreamAck {
                writeStreamAck(io: &io)
            }
        }

        private mutating func handle(
            _ tag: UInt8, _ message: RawSpan, now: Now, io: inout SessionIO
        ) throws(MCSError) {
            incoming += 1
            switch MCS.Tag(rawValue: tag) {
            case .heartbeatPing: handlePing(try MCS.Heartbeat(decoding: message), now: now, io: &io)
            case .heartbeatAck: handleAck(try MCS.Heartbeat(decoding: message), io: &io)
            case .iq: handle(try MCS.IqStanza(decoding: message))
            case .dataMessage: handle(try MCS.DataMessage(decoding: message), now: now, io: &io)
            case .close: io.close = .peerEndedStream
            case .loginRequest: throw .invalidTag(tag)
            case .loginResponse, .streamError, nil: return
            }
        }

        mutating func perform(
            _ command: SessionCommand, isCongested: Bool, now: Now, io: inout SessionIO
        ) {
            switch command {
            case .device(.deliver(let delivery)): deliver(delivery, now: now, io: &io)
            case .device(.reportWhenWritable): if !isCongested { reportWhenWritable(now: now, io: &io) }
            case .device(.upstreamStored(let requestID)):
                if let stored = upstream.resolve(requestID) { io.acknowledged.add(stored.receivedAt) }
                acknowledgeUpstream(now: now, io: &io)
            case .device(.upstreamRefused(let requestID, let refusal)):
                handleRefusal(requestID, refusal, now: now, io: &io)
            case .connection(.endWhenIdle(_, let reason)), .connection(.close(let reason)):
                close(reason, io: &io)
            // The login was answered before, and the protocol has no notice of draining. The others are only for unauthenticated
            // requests.
            case .device, .connection: break
            case .appServer, .submission, .reply: io.rejectMisdirected(command)
            }
        }

        mutating func wake(now: Now, io: inout SessionIO) {
            if now.hasReached(frameDue) { return close(.frameDeadline, io: &io) }
            if now.hasReached(upstream.barrier?.retryDue) { return close(.storeFailed, io: &io) }
            if now.hasReached(writableDue) { report(isCongested: false, io: &io) }
            if now.hasReached(streamAckDue) { writeStreamAck(io: &io) }
            if now.hasReached(silenceDue) { checkSilence(now: now, io: &io) }
        }

        /// Closes the connection with a close frame.
        mutating func close(_ reason: CloseReason, io: inout SessionIO) {
            guard io.close == nil else { return }
            MCS.Close().append(to: &io.out.bytes)
            endFrame(io: &io)
            io.close = reason
        }

        /// Counts a written frame and ends its TLS record if it needs one of its own.
        mutating func endFrame(io: inout SessionIO) {
            outgoing += 1
            // The login response has a record of its own. Later frames of one turn share one to save cost: most clients read a stream.
            if outgoing == 1 || client.hasRecordPerFrame { io.out.endRecord() }
        }
    }
}
