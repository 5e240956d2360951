import Basics
public import Wire

/// A scripted server for devices, which records their frames.
public final class DeviceScript {
    private var reader = MCS.FrameReader()
    /// The logins received.
    public private(set) var logins: [MCS.LoginRequest] = []
    /// The other frames received.
    public private(set) var frames: [MCS.Message] = []
    /// Returns the answer to a frame; `nil` closes the connection.
    public var answer: (MCS.Message) -> [MCS.Message]?

    /// Creates a script with the answer to each frame.
    public init(_ answer: @escaping (MCS.Message) -> [MCS.Message]?) { self.answer = answer }

    /// Returns the answer to bytes of a device; `nil` closes the connection.
    public func respond(_ bytes: [UInt8]) -> [UInt8]? {
        var out = ByteBuffer()
        if bytes.first == MCS.version {
            reader = MCS.FrameReader()
            out.append(byte: MCS.version)
        }
        var heard: [MCS.Message] = []
        do throws(MCSError) {
            try reader.read(bytes.raw) { (tag, message) throws(MCSError) in
                if let frame = try MCS.Message(tag: tag, decoding: message) { heard.append(frame) }
                return true
            }
        } catch { return nil }
        for frame in heard {
            if case .loginRequest(let login) = frame { logins.append(login) } else { frames.append(frame) }
            guard let replies = answer(frame) else { return nil }
            for reply in replies { reply.append(to: &out) }
        }
        return out.copied()
    }

    /// The number of heartbeats received.
    public var heartbeats: Int {
        frames.count(where: { if case .heartbeatPing = $0 { true } else { false } })
    }
    /// The messages received.
    public var messages: [MCS.DataMessage] {
        frames.compactMap { if case .dataMessage(let message) = $0 { message } else { nil } }
    }

    /// The answers of a server that accepts every login and sends nothing else.
    public static func greeting(_ frame: MCS.Message) -> [MCS.Message] {
        if case .loginRequest = frame { [.loginResponse(MCS.LoginResponse())] } else { [] }
    }

    /// A message with a persistent ID and data.
    public static func message(_ id: String, _ pairs: [(String, String)] = [("a", "b")]) -> MCS.DataMessage {
        var message = MCS.DataMessage()
        message.from = Array("123".utf8)
        message.category = Array("a.b".utf8)
        message.persistentID = Array(id.utf8)
        message.sent = 5
        var body = ByteBuffer()
        for pair in pairs {
            AppData.append(key: Array(pair.0.utf8).raw, value: Array(pair.1.utf8).raw, to: &body)
        }
        message.body = body.copied()
        return message
    }
}
