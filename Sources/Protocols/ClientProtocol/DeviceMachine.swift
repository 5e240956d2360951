public import Basics
import Wire

/// The device's side of one connection: bytes in, events and bytes out (mcs-device 3). It has no socket and no clock.
public struct DeviceMachine: ~Copyable {
    private enum Stage {
        case idle, loggingIn, ready, ended
    }

    private let identity: DeviceIdentity
    private let acknowledgement: DeviceAcknowledgement
    private var reader = MCS.FrameReader()
    private var stage = Stage.idle
    /// The numbers of frames sent and received, the login included.
    private var sent: Int32 = 0
    private var received: Int32 = 0
    /// The last reported number of received frames.
    private var lastReportedCount: Int32 = 0
    /// Persistent IDs received but possibly not yet acknowledged.
    public private(set) var unconfirmed: [[UInt8]]
    /// The number of these IDs that the login reported.
    private var reported = 0
    /// IDs received since the last acknowledgement.
    private var fresh: [[UInt8]] = []
    private var freshCount = 0
    private var wantsAckNow = false
    /// Whether the device is idle, as reported by its login, heartbeats and answers (mcs-device 3.5).
    public var isIdle = false {
        didSet { if isIdle || status != nil { status = isIdle ? 1 : 0 } }
    }
    /// The idle status in heartbeats; `nil` while the device was never idle.
    private var status: Int64?
    /// Unconfirmed acknowledgements: the number of the frame, and how many IDs it confirms.
    private var acks: [(frame: Int32, count: Int)] = []
    /// Unconfirmed messages to the server: the number of the frame, and the message's IDs.
    private var upstream: [(frame: Int32, persistentID: [UInt8], messageID: [UInt8])] = []

    /// Whether messages may be sent.
    public var isReady: Bool { stage == .ready }

    /// Creates a machine for one connection; `received` are the IDs that earlier connections left unconfirmed.
    public init(
        identity: DeviceIdentity, received: [[UInt8]] = [], acknowledgement: DeviceAcknowledgement = .stream
    ) {
        self.identity = identity
        self.acknowledgement = acknowledgement
        unconfirmed = received
    }

    /// Sends the version byte and the login (mcs-device 1.2); call when the connection is open.
    public mutating func open(out: inout Outbox) {
        stage = .loggingIn
        var login = MCS.LoginRequest()
        let number = Array(String(identity.androidID).utf8)
        // The machine behaves as Chromium, also in its answers to idle queries.
        login.id = Array("chrome-156.0.8078.79".utf8)
        login.domain = Array("mcs.android.com".utf8)
        login.user = number
        login.resource = number
        login.authToken = Array(String(identity.securityToken.revealed).utf8)
        login.deviceID = Array("android-\(String(identity.androidID, radix: 16))".utf8)
        login.settings = [MCS.Setting(name: Array("new_vc".utf8), value: [0x31])]
        login.receivedIDs = unconfirmed.suffix(Limits.MCS.receivedIDs)
        login.adaptiveHeartbeat = false
        login.usesRMQ2 = true
        login.authService = 2
        login.networkType = 1
        login.status = status
        reported = unconfirmed.count
        out.bytes.append(byte: MCS.version)
        login.append(to: &out.bytes)
        endFrame(&out)
    }

    /// Processes bytes from the server.
    public mutating func receive(_ bytes: RawSpan, out: inout Outbox, events: inout [DeviceEvent]) {
        guard stage != .ended else { return }
        // The reader is moved out of `self`, so that its visitor may mutate `self`.
        var reader = MCS.FrameReader()
        swap(&reader, &self.reader)
        do throws(MCSError) {
            try reader.read(bytes) { (tag, message) throws(MCSError) in
                try handle(tag, message, &out, &events)
                return stage != .ended
            }
        } catch {
            stage = .ended
            events.append(.unexpected("a malformed frame"))
        }
        swap(&reader, &self.reader)
        acknowledgeIfDue(&out)
    }

    private mutating func handle(
        _ tag: UInt8, _ message: RawSpan, _ out: inout Outbox, _ events: inout [DeviceEvent]
    ) throws(MCSError) {
        received &+= 1
        switch try MCS.Message(tag: tag, decoding: message) {
        case .loginResponse(let response): handle(response, &events)
        case .dataMessage(let message):
            let count = message.lastStreamIDReceived
            if message.category.raw.equals(MCS.idleCategory) {
                confirm(count, &events)
                answerIdleNotification(&out)
                return events.append(.idleAsked)
            }
            var received = try record(message)
            // The server has received the frame of a refused message, but not stored the message. So the refusal comes first: the
            // count of the same frame may include messages after the refused one.
            if received.isRefusal { received.refusedFrame = forgetUpstream(received["message_id"] ?? []) }
            events.append(.message(received))
            confirm(count, &events)
        case .iq(let iq):
            confirm(iq.lastStreamIDReceived, &events)
            if case .selectiveAck(let ids) = iq.content { markStored(ids, &events) }
        case .heartbeatPing(let ping):
            confirm(ping.lastStreamIDReceived, &events)
            MCS.Heartbeat(lastStreamIDReceived: consumeReceivedCount(), status: status ?? ping.status)
                .append(as: .heartbeatAck, to: &out.bytes)
            endFrame(&out)
            events.append(.heartbeat(isAnswer: false))
        case .heartbeatAck(let ack):
            confirm(ack.lastStreamIDReceived, &events)
            events.append(.heartbeat(isAnswer: true))
        case .close:
            stage = .ended
            events.append(.closeRequested)
        case .loginRequest, .streamError, nil: events.append(.unexpected("a frame of tag \(tag)"))
        }
    }

    private mutating func handle(_ response: MCS.LoginResponse, _ events: inout [DeviceEvent]) {
        if let error = response.error {
            stage = .ended
            return events.append(.loginRefused(code: error.code))
        }
        // The server stores the acknowledgements of the login before it answers (mcs-device 3.1).
        unconfirmed.removeFirst(min(reported, unconfirmed.count))
        reported = 0
        stage = .ready
        events.append(.loggedIn)
        confirm(response.lastStreamIDReceived, &events)
    }

    /// Whether received IDs are retained for the next login.
    private var keepsIDs: Bool {
        switch acknowledgement {
        case .nothing, .manual: false
        case .never, .stream, .streamEvery, .selective, .twice: true
        }
    }

    /// Records a message for the next acknowledgement, and decodes it.
    private mutating func record(_ message: MCS.DataMessage) throws(MCSError) -> DeviceMessage {
        if let id = message.persistentID, !id.isEmpty, keepsIDs {
            if unconfirmed.count == Limits.MCS.receivedIDs { unconfirmed.removeFirst() }
            unconfirmed.append(id)
            fresh.append(id)
        }
        freshCount += 1
        if message.immediateAck ?? false { wantsAckNow = true }
        var pairs: [(key: [UInt8], value: [UInt8])] = []
        try AppData.forEach(in: message.body.raw) { key, value in
            pairs.append(([UInt8](copying: key), [UInt8](copying: value)))
        }
        return DeviceMessage(
            persistentID: message.persistentID ?? [], from: message.from, category: message.category,
            collapseKey: message.token ?? [], sentAt: message.sent ?? 0, pairs: pairs,
            rawData: message.rawData ?? [], wantsImmediateAcknowledgement: message.immediateAck ?? false)
    }

    // MARK: Acknowledgements

    private mutating func acknowledgeIfDue(_ out: inout Outbox) {
        guard stage == .ready, freshCount > 0 else { return }
        switch acknowledgement {
        case .nothing, .never, .manual: fresh.removeAll(keepingCapacity: true)
        case .stream: acknowledge(.streamAck, &out)
        case .streamEvery(let count):
            if freshCount >= count || wantsAckNow { acknowledge(.streamAck, &out) }
        case .selective: if !fresh.isEmpty { acknowledge(.selectiveAck(fresh), &out) }
        case .twice:
            guard !fresh.isEmpty else { return }
            let ids = fresh
            for _ in 0..<2 { acknowledge(.selectiveAck(ids), &out) }
        }
    }

    private mutating func acknowledge(_ content: MCS.IqStanza.Content, _ out: inout Outbox) {
        let frames: Int32? = if case .streamAck = content { consumeReceivedCount() } else { nil }
        MCS.IqStanza(content, lastStreamIDReceived: frames).append(to: &out.bytes)
        endFrame(&out)
        if case .selectiveAck = content { recordAck(frame: sent) }
    }

    /// Returns the number of received frames for the next frame to report, or `nil` if it is unchanged or not to be reported.
    private mutating func consumeReceivedCount() -> Int32? {
        switch acknowledgement {
        case .nothing, .never, .selective, .twice, .manual: return nil
        case .stream, .streamEvery: break
        }
        guard lastReportedCount != received else { return nil }
        lastReportedCount = received
        recordAck(frame: sent &+ 1)
        return received
    }

    /// Records that a frame acknowledges all IDs in `fresh`.
    private mutating func recordAck(frame: Int32) {
        if !fresh.isEmpty { acks.append((frame, fresh.count)) }
        fresh.removeAll(keepingCapacity: true)
        freshCount = 0
        wantsAckNow = false
    }

    /// Handles the server's count of received frames: the acknowledgements and messages in them have arrived.
    private mutating func confirm(_ count: Int32?, _ events: inout [DeviceEvent]) {
        guard let count else { return }
        if count > sent {
            events.append(.unexpected("an acknowledgement of \(count) frames, but only \(sent) were sent"))
        }
        while let ack = acks.first, ack.frame <= count {
            unconfirmed.removeFirst(min(ack.count, unconfirmed.count))
            acks.removeFirst()
        }
        while let first = upstream.first, first.frame <= count {
            events.append(.upstreamStored(persistentID: first.persistentID, frame: first.frame))
            upstream.removeFirst()
        }
    }

    /// Removes the first unconfirmed message with this ID, which the server has refused. Returns its frame.
    private mutating func forgetUpstream(_ messageID: [UInt8]) -> Int32? {
        guard let at = upstream.firstIndex(where: { $0.messageID == messageID }) else { return nil }
        return upstream.remove(at: at).frame
    }

    /// Handles the IDs of messages that the server has stored.
    private mutating func markStored(_ ids: [[UInt8]], _ events: inout [DeviceEvent]) {
        for id in ids { events.append(.upstreamStored(persistentID: id, frame: nil)) }
        let named = Set(ids)
        upstream.removeAll { named.contains($0.persistentID) }
    }

    // MARK: Sending

    /// Sends a message; only while `isReady`. Returns the number of its frame on this connection, which identifies it even if other
    /// messages have the same IDs.
    @discardableResult
    public mutating func send(_ message: Upstream, now: UnixMilliseconds, out: inout Outbox) -> Int32 {
        var frame = MCS.DataMessage()
        frame.id = message.messageID
        frame.from = Array("gcm@chrome.com".utf8)
        frame.to = message.group ?? Array("\(message.sender.number)@gcm.googleapis.com".utf8)
        frame.category = message.category
        var body = ByteBuffer()
        for pair in message.data { AppData.append(key: pair.key.raw, value: pair.value.raw, to: &body) }
        frame.body = body.copied()
        if !message.persistentID.isEmpty { frame.persistentID = message.persistentID }
        frame.lastStreamIDReceived = consumeReceivedCount()
        frame.timeToLive = Int32(clamping: message.lifetimeSeconds)
        frame.sent = now / 1_000
        frame.queued = 0
        frame.append(to: &out.bytes)
        endFrame(&out)
        upstream.append((sent, message.persistentID, message.messageID))
        return sent
    }

    /// Acknowledges messages by their IDs, received or not (`DeviceAcknowledgement.manual`).
    public mutating func acknowledge(_ ids: [[UInt8]], out: inout Outbox) {
        MCS.IqStanza(.selectiveAck(ids)).append(to: &out.bytes)
        endFrame(&out)
    }

    /// Acknowledges all received frames (`DeviceAcknowledgement.manual`).
    public mutating func acknowledgeAll(out: inout Outbox) {
        MCS.IqStanza(.streamAck, lastStreamIDReceived: received).append(to: &out.bytes)
        endFrame(&out)
    }

    /// Sends a close frame; the connection ends.
    public mutating func close(out: inout Outbox) {
        stage = .ended
        MCS.Close().append(to: &out.bytes)
        endFrame(&out)
    }

    /// Sends a heartbeat ping; the answer is `.heartbeat`.
    public mutating func heartbeat(out: inout Outbox) {
        MCS.Heartbeat(lastStreamIDReceived: consumeReceivedCount(), status: status)
            .append(as: .heartbeatPing, to: &out.bytes)
        endFrame(&out)
    }

    /// Answers an idle query.
    private mutating func answerIdleNotification(_ out: inout Outbox) {
        var frame = MCS.DataMessage()
        frame.from = Array("gcm@android.com".utf8)
        frame.category = Array("\(MCS.idleCategory)".utf8)
        var body = ByteBuffer()
        AppData.append(key: MCS.idleKey, text: isIdle ? "true" : "false", to: &body)
        frame.body = body.copied()
        frame.lastStreamIDReceived = consumeReceivedCount()
        frame.timeToLive = 0
        frame.append(to: &out.bytes)
        endFrame(&out)
    }

    private mutating func endFrame(_ out: inout Outbox) {
        sent &+= 1
        out.endRecord()
    }
}
