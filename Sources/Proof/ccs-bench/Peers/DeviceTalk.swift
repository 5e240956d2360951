import Basics
import Transport
import Wire

/// The MCS side of a device of the bench: logs in, and acknowledges every ten messages, as Chromium does.
struct DeviceTalk: ReceiverTalk {
    static let what = "device"
    private let device: BenchDevice
    private var times = MarkScanner(mark: Template.timeMark, digits: Template.timeDigits)
    private var frames = FrameCounter()
    private var acked = 0

    init(_ device: BenchDevice) { self.device = device }

    /// The first frame is the response to the login.
    var isReady: Bool { frames.total > 0 }

    mutating func begin(_ outbox: inout Outbox) {
        device.appendLogin(to: &outbox.bytes)
        outbox.endRecord()
    }

    mutating func consume(
        _ bytes: RawSpan, _ outbox: inout Outbox, _ arrived: (Int64) -> Void
    ) -> TalkVerdict {
        frames.count(bytes)
        times.scan(bytes) { span, at in arrived(Digits.time(in: span, at: at)) }
        guard frames.total - acked >= 10 else { return .fine }
        acked = frames.total
        MCS.IqStanza(.streamAck, lastStreamIDReceived: Int32(truncatingIfNeeded: acked)).append(
            to: &outbox.bytes)
        outbox.endRecord()
        return .fine
    }
}

/// Counts the frames of a device connection without parsing their content.
struct FrameCounter {
    private var needsVersion = true
    private var length = 0
    private var shift = 0
    private var inLength = false
    private var rest = 0
    /// Complete frames.
    private(set) var total = 0

    /// Consumes the next bytes, split anywhere.
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
