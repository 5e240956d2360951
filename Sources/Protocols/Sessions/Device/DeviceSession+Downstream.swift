import Basics
import Delivery
import Wire

/// From app servers to the device (mcs-device 2 and 3.3).
extension DeviceSession.Open {
    /// The ID of the next frame, written as eight hexadecimal digits; it differs from frame to frame.
    var nextFrameID: UInt32 { frameIDBase &+ UInt32(truncatingIfNeeded: outgoing) }

    /// Writes the frame of a message or marker.
    mutating func deliver(_ delivery: DeviceDelivery, now: Now, io: inout SessionIO) {
        guard !delivery.isStored || ledger.count < Limits.Mailbox.unacknowledgedPerDevice else {
            return close(.tooManyUnacknowledged, io: &io)
        }
        if Self.isUnwantedMarker(delivery) { return drop(delivery, io: &io) }
        if let web = delivery.web { return deliver(delivery, to: web, now: now, io: &io) }
        let message = delivery.message
        if message.kind.isReport { return deliverReport(delivery, now: now, io: &io) }
        writeFrame(of: delivery, now: now, io: &io) { buffer in
            Self.appendContent(
                of: message, isPackage: Self.isPackage(delivery), hasSubtype: !delivery.subtype.isEmpty,
                to: &buffer)
            if !delivery.subtype.isEmpty {
                AppData.append(key: "subtype", value: delivery.subtype.raw, to: &buffer)
            }
        }
    }

    /// Writes a message frame: the common fields, with those of `content` between them.
    @inline(__always)
    mutating func writeFrame(
        of delivery: DeviceDelivery, now: Now, io: inout SessionIO,
        content: (inout ByteBuffer) -> Void
    ) {
        let frameID = nextFrameID
        let ack = upstream.takeAcknowledgement(incoming: incoming)
        let message = delivery.message
        io.out.bytes.appendFrame(.dataMessage) { buffer in
            typealias Field = MCS.DataMessage.Field
            buffer.appendFieldHead(Field.id, length: 8)
            Hex.appendUpper(frameID, to: &buffer)
            buffer.appendField(Field.from, bytes: delivery.from)
            buffer.appendField(Field.category, bytes: delivery.category)
            content(&buffer)
            buffer.appendField(Field.fromTrustedServer, bool: false)
            if delivery.isStored {
                buffer.appendField(Field.persistentID) { message.persistentID.append(to: &$0) }
            }
            if let ack { buffer.appendField(Field.lastStreamIDReceived, varint: ack) }
            // Rounded up, so that a message in its last second does not appear to have no lifetime.
            // Limited to the longest lifetime: while the clock is in doubt, expiry times are far in the future.
            let whole = Int64(Limits.Message.lifetimeSeconds) * 1_000
            let left = (min(max(0, message.expiresAt &- now.wall), whole) + 999) / 1_000
            buffer.appendField(Field.timeToLive, varint: Int32(clamping: left))
            buffer.appendField(Field.sent, varint: message.acceptedAt)
            if message.wantsReceipt { buffer.appendField(Field.immediateAck, bool: true) }
        }
        endFrame(io: &io)
        if delivery.isStored { ledger.add(message.persistentID, streamID: outgoing) }
    }

    private static func appendContent(
        of message: StoredMessage, isPackage: Bool, hasSubtype: Bool, to buffer: inout ByteBuffer
    ) {
        switch message.kind {
        case .message:
            if let key = message.collapseKey {
                buffer.appendField(MCS.DataMessage.Field.token, bytes: key)
            } else if isPackage {
                buffer.appendField(MCS.DataMessage.Field.token, text: MCS.doNotCollapse)
            }
            if hasSubtype {
                // The app server's own `subtype` would route the message to another app, so it is replaced (mcs-device 2.1).
                AppData.append(message.body.raw, leavingOut: "subtype", to: &buffer)
            } else {
                buffer.append(message.body)
            }
        case .discardedMarker(let count):
            AppData.append(key: "message_type", text: "deleted_messages", to: &buffer)
            var digits = ByteBuffer()
            digits.append(decimal: count)
            AppData.append(key: "total_deleted", value: digits.bytes, to: &buffer)
        case .sendError: assertionFailure("an error report has a frame of its own")
        }
    }

    /// Returns whether a message is for an Android app. Categories of extensions have no dot; browsers have names of their own or
    /// a web subtype (mcs-device 8, 3).
    private static func isPackage(_ delivery: DeviceDelivery) -> Bool {
        delivery.category.contains(UInt8(ascii: ".")) && !isBrowser(delivery.category)
            && !begins(delivery.subtype, with: "wp:")
    }

    /// Returns whether a category belongs to a browser, or to a library that acts as one.
    static func isBrowser(_ category: [UInt8]) -> Bool {
        begins(category, with: "org.chromium.") || begins(category, with: "com.chrome.")
    }

    private static func begins(_ text: [UInt8], with prefix: StaticString) -> Bool {
        let length = prefix.utf8CodeUnitCount
        return text.count >= length && text.raw.extracting(0..<length).equals(prefix)
    }

    /// Reports `deviceWritable` once the delivered messages have been sent. If they may not fit the socket buffer, waits for the
    /// host's attempt to send them.
    mutating func reportWhenWritable(now: Now, io: inout SessionIO) {
        if io.out.bytes.count <= Limits.Connection.outboundLowBytes {
            report(isCongested: false, io: &io)
        } else {
            writableDue = now.monotonic
        }
    }

    /// Reports to the core whether more messages may follow.
    mutating func report(isCongested: Bool, io: inout SessionIO) {
        writableDue = nil
        io.events.append(
            isCongested ? .deviceCongested(connection, device) : .deviceWritable(connection, device))
    }

    /// Records that all frames up to this count have reached the device; an impossible count is ignored.
    mutating func recordAcknowledged(_ count: Int32?) {
        guard let count, count > 0, Int(count) <= outgoing else { return }
        ledger.acknowledge(upTo: Int(count), into: &acknowledged)
    }

    /// Handles an acknowledgement by stream ID, by persistent IDs, or both.
    mutating func handle(_ iq: MCS.IqStanza) {
        recordAcknowledged(iq.lastStreamIDReceived)
        guard case .selectiveAck(let ids) = iq.content else { return }
        ledger.acknowledge(ids, into: &acknowledged)
    }
}
