import Basics
import Delivery
import Wire

/// From the device to app servers (mcs-device 4).
extension DeviceSession.Open {
    /// Handles a message from the device: submits it to the core, or answers it at once.
    mutating func handle(_ message: MCS.DataMessage, now: Now, io: inout SessionIO) {
        recordAcknowledged(message.lastStreamIDReceived)
        if message.category.raw.equals(MCS.idleCategory) { return handleIdleAnswer(message, io: &io) }
        let isInternal =
            message.category.raw.equals(MCS.accountCategory)
            && message.to?.raw.equals("google.com") == true
        // Internal traffic of the client: it needs no answer but the count of its frame.
        if isInternal { return }
        let messageID = messageID(of: message)
        let target = DeviceTarget(message.to ?? [], settings.seal)
        let asked = Int(message.timeToLive ?? Int32(clamping: Limits.Message.upstreamLifetimeSeconds))
        let lifetime = min(max(asked, 0), Limits.Message.upstreamLifetimeSeconds)
        let left = lifetime - Int(max(0, message.queued ?? 0))
        let isExpired = lifetime > 0 && left <= 0
        if let reason = fault(in: message, messageID: messageID, target: target, isExpired: isExpired) {
            return writeSendError(
                reason, category: message.category, messageID: messageID, sender: target?.sender, now: now,
                io: &io)
        }
        guard let target else { return }
        let requestID = upstream.add(
            streamID: incoming, category: message.category, messageID: messageID, sender: target.sender,
            receivedAt: now.monotonic)
        var submission = UpstreamSubmission(
            requester: Requester(connection: connection, requestID: requestID), device: device,
            sender: target.sender,
            isFCMDomain: target.isFCMDomain, category: message.category, messageID: messageID,
            persistentID: message.persistentID ?? [], lifetimeSeconds: max(0, left), body: message.body)
        submission.group = target.group
        submission.sentAt = message.sent.map(Self.milliseconds)
        io.events.append(.upstreamReceived(submission))
    }

    /// Returns the device's time of sending in milliseconds since 1970; some clients send seconds.
    private static func milliseconds(_ sent: Int64) -> UnixMilliseconds {
        (0..<Limits.Clock.earliest / 10).contains(sent) ? sent * 1_000 : sent
    }

    /// Handles that the core has refused a message: reports an error to the app, or, if the store is unavailable, leaves the
    /// frame unacknowledged, so that the device sends it again.
    mutating func handleRefusal(
        _ requestID: UInt32, _ refusal: UpstreamRefusal, now: Now, io: inout SessionIO
    ) {
        guard let refused = upstream.resolve(requestID) else { return }
        guard refusal != .unavailable else {
            let due = now.monotonic.advanced(seconds: settings.upstreamRetrySeconds)
            return upstream.block(from: refused.streamID, retryDue: due)
        }
        writeSendError(
            refusal.rawValue, category: refused.category, messageID: refused.messageID,
            sender: refused.sender,
            now: now, io: &io)
        acknowledgeUpstream(now: now, io: &io)
    }

    /// Writes the stream ack for stored messages, delayed a little while others are still being stored.
    mutating func acknowledgeUpstream(now: Now, io: inout SessionIO) {
        let owed = upstream.owed(incoming: incoming)
        guard owed > 0 else { return }
        if upstream.waiting.isEmpty || owed >= Limits.Device.framesBeforeStreamAck {
            writeStreamAck(io: &io)
        } else if streamAckDue == nil {
            streamAckDue = now.monotonic.advanced(milliseconds: Limits.Device.streamAckDelayMilliseconds)
        }
    }

    /// Writes a stream ack if there is a frame to acknowledge.
    mutating func writeStreamAck(io: inout SessionIO) {
        streamAckDue = nil
        guard let count = upstream.takeAcknowledgement(incoming: incoming) else { return }
        MCS.IqStanza(.streamAck, lastStreamIDReceived: count).append(to: &io.out.bytes)
        endFrame(io: &io)
    }

    /// Writes the frame that reports an error about an app's message (mcs-device 4.4).
    ///
    /// Chromium reads the message ID from `persistent_id`, the Android SDK from the pair `message_id`.
    private mutating func writeSendError(
        _ reason: String, category: [UInt8], messageID: [UInt8], sender: SenderID?,
        wantsAcknowledgement: Bool = false, now: Now, io: inout SessionIO
    ) {
        let frameID = nextFrameID
        let ack = upstream.takeAcknowledgement(incoming: incoming)
        var reasonText = ByteBuffer()
        reasonText.append(text: reason)
        let pairs = Self.sendErrorPairs(reasonText.bytes, messageID: messageID)
        io.out.bytes.appendFrame(.dataMessage) { buffer in
            typealias Field = MCS.DataMessage.Field
            buffer.appendField(Field.id) { Hex.appendUpper(frameID, to: &$0) }
            buffer.appendField(Field.from) { from in
                if let sender { from.append(decimal: sender.number) } else { from.append(MCS.domain) }
            }
            buffer.appendField(Field.category, bytes: category)
            buffer.append(pairs)
            buffer.appendField(Field.fromTrustedServer, bool: false)
            buffer.appendField(Field.persistentID, bytes: messageID)
            if let ack { buffer.appendField(Field.lastStreamIDReceived, varint: ack) }
            buffer.appendField(Field.sent, varint: now.wall)
            if wantsAcknowledgement { buffer.appendField(Field.immediateAck, bool: true) }
        }
        endFrame(io: &io)
    }

    /// Reports to the app that its message expired before an app server took it; stored until the device acknowledges the frame.
    mutating func deliverReport(_ delivery: DeviceDelivery, now: Now, io: inout SessionIO) {
        let message = delivery.message
        writeSendError(
            UpstreamRefusal.expired.rawValue, category: delivery.category, messageID: message.messageID,
            sender: message.sender, wantsAcknowledgement: true, now: now, io: &io)
        ledger.add(message.persistentID, as: message.messageID, streamID: outgoing)
    }

    private static func sendErrorPairs(_ reason: RawSpan, messageID: [UInt8]) -> [UInt8] {
        var pairs = ByteBuffer()
        AppData.append(key: "message_type", text: "send_error", to: &pairs)
        AppData.append(key: "message_id", value: messageID.raw, to: &pairs)
        AppData.append(key: "error", value: reason, to: &pairs)
        return pairs.copied()
    }

    /// Returns the app's ID of a message, which clients put in one of two fields (mcs-device 4.1).
    private func messageID(of message: MCS.DataMessage) -> [UInt8] {
        let id = message.id ?? []
        let persistentID = message.persistentID ?? []
        let (first, second) = client.isAndroid ? (persistentID, id) : (id, persistentID)
        return first.isEmpty ? second : first
    }

    /// Validates a message. Returns the error word for the app, or `nil` if the message is accepted.
    private func fault(
        in message: MCS.DataMessage, messageID: [UInt8], target: DeviceTarget?, isExpired: Bool
    ) -> String? {
        guard message.to?.isEmpty == false else { return "missing_to" }
        guard target != nil, !messageID.isEmpty, messageID.count <= Limits.AppServer.messageIDBytes,
            !message.category.isEmpty, message.category.count <= Limits.Registration.fieldBytes,
            (message.persistentID?.count ?? 0) <= Limits.AppServer.messageIDBytes,
            // App servers repeat these in XML, some of them without escapes.
            Self.isXMLText(messageID), Self.isXMLText(message.category),
            Self.isXMLText(message.persistentID ?? [])
        else { return UpstreamRefusal.invalidParameters.rawValue }
        var bytes = message.rawData?.count ?? 0
        var pairs = 0
        var isValid = true
        // Strict parsers of app servers refuse JSON with a key that is there twice, and would never acknowledge the message.
        var keys: Set<[UInt8]> = []
        let body = message.body
        do throws(MCSError) {
            try AppData.forEach(in: body.raw) { key, value in
                pairs += 1
                bytes += key.byteCount + value.byteCount
                let name = [UInt8](copying: key)
                let isText = Self.isText(name) && Self.isText([UInt8](copying: value))
                isValid = isValid && isText && keys.insert(name).inserted
            }
        } catch {
            isValid = false
        }
        if bytes > Limits.Message.payloadBytes || pairs > Limits.Message.upstreamPairs {
            return UpstreamRefusal.tooLarge.rawValue
        }
        guard isValid else { return UpstreamRefusal.invalidParameters.rawValue }
        if isExpired { return UpstreamRefusal.expired.rawValue }
        return upstream.hasRoom(for: message.category) ? nil : UpstreamRefusal.tooMany.rawValue
    }

    private static func isXMLText(_ bytes: [UInt8]) -> Bool { bytes.raw.isXMLText }

    private static func isText(_ bytes: [UInt8]) -> Bool {
        (try? UTF8Span(validating: bytes.span)) != nil
    }
}

/// The target of an upstream message: `SENDER_ID@gcm.googleapis.com` or the bare sender ID (mcs-device 4.1), or the notification
/// key of a group in its place (ccs-xmpp 4.4).
struct DeviceTarget {
    /// The account, or the owner of the group.
    var sender: SenderID
    var group: GroupName?
    /// Whether the domain is `fcm.googleapis.com`.
    var isFCMDomain: Bool

    /// Parses an address; `nil` if the part before the `@` is neither a sender ID nor a notification key of this server.
    init?(_ text: [UInt8], _ seal: TokenSeal) {
        let at = text.firstIndex(of: UInt8(ascii: "@")) ?? text.count
        if let group = seal.group(of: text.raw.extracting(0..<at)) {
            self.group = group
            sender = group.sender
        } else if let number = DeviceNumber.parseUnsigned(text.raw, from: 0, to: at), number > 0,
            number < 1 << 63
        {
            sender = SenderID(number)
        } else {
            return nil
        }
        isFCMDomain = at < text.count && text.raw.extracting(at + 1..<text.count).equals("fcm.googleapis.com")
    }
}
