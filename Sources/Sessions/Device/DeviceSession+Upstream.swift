import Basics
import Delivery
import Wire

/// From the device to app servers (mcs-device 4).
extension DeviceSession {
    /// Takes in a message of the device, hands it to the core or answers it at once.
    mutating func handle(_ message: MCS.DataMessage, now: Now, io: inout SessionIO) {
        noteAcknowledged(message.lastStreamIDReceived)
        if message.category.raw.equals(MCS.idleCategory) { return handleIdleAnswer(message, io: &io) }
        let isInternal =
            message.category.raw.equals(MCS.accountCategory)
            && message.to?.raw.equals("google.com") == true
        // The client's own traffic: its place in the count is all the answer it needs.
        if isInternal { return }
        let messageID = messageID(of: message)
        let target = DeviceTarget(message.to ?? [], settings.seal)
        if let reason = Self.fault(in: message, messageID: messageID, target: target) {
            return writeSendError(
                reason, category: message.category, messageID: messageID, sender: target?.sender, now: now,
                io: &io)
        }
        guard let target, let device else { return }
        let asked = Int(message.timeToLive ?? Int32(clamping: Limits.Message.upstreamLifetimeSeconds))
        let lifetime = min(max(asked, 0), Limits.Message.upstreamLifetimeSeconds)
        let left = lifetime - Int(max(0, message.queued ?? 0))
        guard lifetime == 0 || left > 0 else {
            return writeSendError(
                UpstreamRefusal.expired.rawValue, category: message.category, messageID: messageID,
                sender: target.sender, now: now, io: &io)
        }
        guard upstream.hasRoom(for: message.category) else {
            return writeSendError(
                UpstreamRefusal.tooMany.rawValue, category: message.category, messageID: messageID,
                sender: target.sender, now: now, io: &io)
        }
        let requestID = upstream.note(
            streamID: incoming, category: message.category, messageID: messageID, sender: target.sender)
        var submission = UpstreamSubmission(
            requester: Requester(connection: connection, requestID: requestID), device: device,
            sender: target.sender,
            isFCMDomain: target.isFCMDomain, category: message.category, messageID: messageID,
            persistentID: message.persistentID ?? [], lifetimeSeconds: max(0, left), body: message.body)
        submission.group = target.group
        submission.sentAt = message.sent.map(Self.milliseconds)
        io.events.append(.upstreamReceived(submission))
    }

    /// What a device says of the time at which it sent a message: some say milliseconds since 1970, some seconds.
    private static func milliseconds(_ sent: Int64) -> UnixMilliseconds {
        (0..<Limits.Clock.earliest / 10).contains(sent) ? sent * 1_000 : sent
    }

    /// The core will not store a message: tell the device, or leave it unacknowledged where it is to send it again.
    mutating func settleRefused(
        _ requestID: UInt32, _ refusal: UpstreamRefusal, now: Now, io: inout SessionIO
    ) {
        guard let refused = upstream.settle(requestID) else { return }
        guard refusal != .unavailable else {
            upstream.block(from: refused.streamID)
            if retryDue == .distantFuture {
                retryDue = now.monotonic.advanced(seconds: Limits.Device.upstreamRetrySeconds)
            }
            return
        }
        writeSendError(
            refusal.rawValue, category: refused.category, messageID: refused.messageID,
            sender: refused.sender,
            now: now, io: &io)
        acknowledgeUpstream(now: now, io: &io)
    }

    /// Writes the stream ack that a stored message makes due; waits a little for those still on their way.
    mutating func acknowledgeUpstream(now: Now, io: inout SessionIO) {
        let owed = upstream.owed(incoming: incoming)
        guard owed > 0 else { return }
        if upstream.waiting.isEmpty || owed >= Limits.Device.framesBeforeStreamAck {
            writeStreamAck(io: &io)
        } else if streamAckDue == .distantFuture {
            streamAckDue = now.monotonic.advanced(milliseconds: Limits.Device.streamAckDelayMilliseconds)
        }
    }

    /// Writes a stream ack, where there is something to acknowledge.
    mutating func writeStreamAck(io: inout SessionIO) {
        streamAckDue = .distantFuture
        guard let count = upstream.takeAcknowledgement(incoming: incoming) else { return }
        MCS.IqStanza(.streamAck, lastStreamIDReceived: count).append(to: &io.out.bytes)
        endFrame(io: &io)
    }

    /// Writes the stanza that tells an app what became of its message (mcs-device 4.4).
    ///
    /// Chromium reads the message id from `persistent_id`, the Android SDK from the pair `message_id`.
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

    /// Tells the app that no app server took its message in time; kept until the device has acknowledged the frame.
    mutating func deliverReport(_ delivery: borrowing DeviceDelivery, now: Now, io: inout SessionIO) {
        let message = delivery.message
        writeSendError(
            UpstreamRefusal.expired.rawValue, category: delivery.category, messageID: message.messageID,
            sender: message.sender, wantsAcknowledgement: true, now: now, io: &io)
        ledger.note(message.persistentID, as: message.messageID, streamID: outgoing)
    }

    private static func sendErrorPairs(_ reason: RawSpan, messageID: [UInt8]) -> [UInt8] {
        var pairs = ByteBuffer()
        AppData.append(key: "message_type", text: "send_error", to: &pairs)
        AppData.append(key: "message_id", value: messageID.raw, to: &pairs)
        AppData.append(key: "error", value: reason, to: &pairs)
        return pairs.copied()
    }

    /// The app's id of a message: clients keep it in one of two fields (mcs-device 4.1).
    private func messageID(of message: MCS.DataMessage) -> [UInt8] {
        let id = message.id ?? []
        let persistentID = message.persistentID ?? []
        let (first, second) = isAndroid ? (persistentID, id) : (id, persistentID)
        return first.isEmpty ? second : first
    }

    /// What is wrong with the form of a message, as the word for the app; nil if nothing is.
    private static func fault(
        in message: MCS.DataMessage, messageID: [UInt8], target: DeviceTarget?
    ) -> String? {
        guard message.to?.isEmpty == false else { return "missing_to" }
        guard target != nil, !messageID.isEmpty, messageID.count <= Limits.AppServer.messageIDBytes,
            !message.category.isEmpty, message.category.count <= Limits.Registration.fieldBytes,
            (message.persistentID?.count ?? 0) <= Limits.AppServer.messageIDBytes,
            isText(messageID), isText(message.category), isText(message.persistentID ?? [])
        else { return UpstreamRefusal.invalidParameters.rawValue }
        var bytes = message.rawData?.count ?? 0
        var pairs = 0
        var isAllText = true
        let body = message.body
        do throws(MCSError) {
            try AppData.forEach(in: body.raw) { key, value in
                pairs += 1
                bytes += key.byteCount + value.byteCount
                isAllText = isAllText && isText([UInt8](copying: key)) && isText([UInt8](copying: value))
            }
        } catch {
            isAllText = false
        }
        if bytes > Limits.Message.payloadBytes || pairs > Limits.Message.upstreamPairs {
            return UpstreamRefusal.tooLarge.rawValue
        }
        return isAllText ? nil : UpstreamRefusal.invalidParameters.rawValue
    }

    private static func isText(_ bytes: [UInt8]) -> Bool {
        (try? UTF8Span(validating: bytes.span)) != nil
    }
}

/// Whom a message is addressed to: `SENDER_ID@gcm.googleapis.com`, or the bare sender ID (mcs-device 4.1), or in its place the
/// notification key of a group (ccs-xmpp 4.4).
struct DeviceTarget {
    /// The account, of a group its owner.
    var sender: SenderID
    /// The group.
    var group: GroupName?
    /// Whether the domain is `fcm.googleapis.com`.
    var isFCMDomain: Bool

    /// Reads an address; nil if what stands before the `@` is no sender ID and no key of ours.
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
