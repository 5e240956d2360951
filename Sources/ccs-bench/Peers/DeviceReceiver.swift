import Basics
import Transport
import Wire

/// One device of the bench: logs in, counts what comes, and acknowledges every ten messages, as Chromium does.
final class DeviceReceiver: ConnectionDelegate {
    private let receivers: Receivers
    private let device: BenchDevice
    private var isReady = false
    private var times = MarkScanner(mark: Template.timeMark, digits: Template.timeDigits)
    private var frames = FrameCounter()
    private var told = 0
    private let begun = Now.read().monotonic.nanoseconds
    private weak var connection: Connection?
    private var isLeaving = false
    /// Whether its connection is gone.
    private(set) var hasLeft = false

    init(_ receivers: Receivers, _ device: BenchDevice) {
        self.receivers = receivers
        self.device = device
    }

    /// Breaks its connection off.
    func leave() {
        isLeaving = true
        connection?.abort(.peerReset)
    }

    func connectionOpened(_ connection: Connection, now: Now) {
        self.connection = connection
        device.appendLogin(to: &connection.outbox.bytes)
        connection.outbox.endRecord()
        connection.setNeedsFlush()
    }

    func connection(_ connection: Connection, received bytes: RawSpan, now: Now) {
        frames.count(bytes)
        if !isReady, frames.total > 0 {
            isReady = true
            receivers.counters.ready += 1
            receivers.counters.answerTimes.note(now.monotonic.nanoseconds - begun)
        }
        let instant = now.monotonic.nanoseconds
        let counters = receivers.counters
        times.scan(bytes) { span, at in
            counters.deliveryTimes.note(instant - Digits.time(in: span, at: at))
            counters.delivered += 1
            counters.lastDelivery = instant
        }
        guard frames.total - told >= 10 else { return }
        told = frames.total
        MCS.Iq(.streamAck, lastStreamIDReceived: Int32(truncatingIfNeeded: told)).append(
            to: &connection.outbox.bytes)
        connection.outbox.endRecord()
        connection.setNeedsFlush()
    }

    func connection(_ connection: Connection, outboundIsCongested: Bool, now: Now) {}
    func connectionDeadline(_ connection: Connection, now: Now) {}

    func connectionClosed(_ connection: Connection, reason: CloseReason, now: Now) {
        hasLeft = true
        guard !isLeaving else { return }
        receivers.counters.noteEnd("device", reason, connection.failure)
    }
}

/// Counts frames of a device link without looking into them.
struct FrameCounter {
    private var needsVersion = true
    private var length = 0
    private var shift = 0
    private var inLength = false
    private var rest = 0
    /// Frames that have come whole.
    private(set) var total = 0

    /// Takes the next octets, cut anywhere.
    mutating func count(_ bytes: RawSpan) {
        var at = 0
        while at < bytes.byteCount {
            if rest > 0 {
                let part = min(rest, bytes.byteCount - at)
                rest -= part
                at += part
                if rest == 0 { total += 1 }
                continue
            }
            let byte = bytes.byte(at: at)
            at += 1
            if needsVersion {
                needsVersion = false
            } else if !inLength {
                inLength = true
                length = 0
                shift = 0
            } else {
                length |= Int(byte & 127) << shift
                shift += 7
                guard byte & 128 == 0 else { continue }
                inLength = false
                rest = length
                if rest == 0 { total += 1 }
            }
        }
    }
}
