import Basics
import Client
import ClientProtocol
import Testing
import Wire

/// A device's machine with its output and events.
final class DeviceBench {
    static let identity = DeviceIdentity(
        androidID: 600_000_000_000_000_001, securityToken: Redacted(700_000_000_000_000_002))

    var machine: DeviceMachine
    var out = Outbox()
    var events: [DeviceEvent] = []
    private var reader = MCS.FrameReader()

    init(received: [[UInt8]] = [], acknowledgement: DeviceAcknowledgement = .stream) {
        machine = DeviceMachine(
            identity: Self.identity, received: received, acknowledgement: acknowledgement)
    }

    /// Returns the frames sent since the last call.
    func sent() -> [MCS.Message] {
        var frames: [MCS.Message] = []
        let bytes = out.bytes.copied()
        out.removeAll()
        do throws(MCSError) {
            try reader.read(bytes.raw) { (tag, message) throws(MCSError) in
                if let frame = try MCS.Message(tag: tag, decoding: message) { frames.append(frame) }
                return true
            }
        } catch { Issue.record("\(error)") }
        return frames
    }

    /// Passes frames from the server in pieces of `step`. Returns the frames sent.
    @discardableResult
    func receive(_ frames: MCS.Message..., version: Bool = false, step: Int = .max) -> [MCS.Message] {
        var buffer = ByteBuffer()
        if version { buffer.append(byte: MCS.version) }
        for frame in frames { frame.append(to: &buffer) }
        let bytes = buffer.copied()
        var at = 0
        while at < bytes.count {
            let end = step >= bytes.count - at ? bytes.count : at + step
            let piece = Array(bytes[at..<end])
            machine.receive(piece.raw, out: &out, events: &events)
            at = end
        }
        return sent()
    }

    /// Completes the login; the server has then sent two frames, the device one.
    func logIn(step: Int = .max) {
        machine.open(out: &out)
        _ = sent()
        var response = MCS.LoginResponse()
        response.lastStreamIDReceived = 1
        receive(.loginResponse(response), version: true, step: step)
        receive(.iq(MCS.IqStanza(.selectiveAck([]))), step: step)
        events.removeAll()
    }
}
