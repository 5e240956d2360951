import Basics
import Delivery
import Wire

extension DeviceSession.Client {
    /// Returns whether a client supports the question. It crashes libraries, whose login IDs are chrome-63 or older, or other.
    static func answersIdleQuestion(_ loginID: [UInt8]) -> Bool {
        if loginID.starts(with: "android-".utf8) { return true }
        let browser = Array("chrome-".utf8)
        guard loginID.starts(with: browser) else { return false }
        let version = loginID.dropFirst(browser.count).prefix { $0 != UInt8(ascii: ".") }
        let digits = Array(version)
        guard let number = DeviceNumber.parseUnsigned(digits.raw, from: 0, to: digits.count) else {
            return false
        }
        return number > 63
    }

    /// Returns whether bit 0 of a status is set: the device is idle.
    static func isIdle(_ status: Int64) -> Bool { status & 1 == 1 }
}

/// Idle state of the device (screen off): asked after the login, reported by the client (mcs-device 3.5).
extension DeviceSession.Open {
    /// Asks the client to report whether it is idle, now and at each change.
    mutating func askWhetherIdle(now: Now, io: inout SessionIO) {
        let frameID = nextFrameID
        let ack = upstream.takeAcknowledgement(incoming: incoming)
        io.out.bytes.appendFrame(.dataMessage) { buffer in
            typealias Field = MCS.DataMessage.Field
            buffer.appendField(Field.id) { Hex.appendUpper(frameID, to: &$0) }
            buffer.appendField(Field.from, text: MCS.domain)
            buffer.appendField(Field.category, text: MCS.idleCategory)
            AppData.append(key: MCS.idleKey, text: "true", to: &buffer)
            buffer.appendField(Field.fromTrustedServer, bool: false)
            if let ack { buffer.appendField(Field.lastStreamIDReceived, varint: ack) }
            // Not stored, so it has no persistent ID: the next login asks again.
            buffer.appendField(Field.timeToLive, varint: Int32(0))
            buffer.appendField(Field.sent, varint: now.wall)
        }
        endFrame(io: &io)
    }

    /// Handles the client's answer, which needs no reply.
    mutating func handleIdleAnswer(_ message: MCS.DataMessage, io: inout SessionIO) {
        var answer: Bool?
        // An unreadable answer is ignored.
        try? AppData.forEach(in: message.body.raw) { key, value in
            guard key.equals(MCS.idleKey) else { return }
            if value.equals("true") { answer = true }
            if value.equals("false") { answer = false }
        }
        if let answer { recordIdle(answer, io: &io) }
    }

    /// Handles the status of a heartbeat, which few clients send.
    mutating func recordStatus(_ status: Int64?, io: inout SessionIO) {
        if let status { recordIdle(DeviceSession.Client.isIdle(status), io: &io) }
    }

    private mutating func recordIdle(_ isIdle: Bool, io: inout SessionIO) {
        guard settings.idleNotifications, isIdle != client.isIdle else { return }
        client.isIdle = isIdle
        io.events.append(.deviceIdleChanged(connection, device, isIdle: isIdle))
    }
}
