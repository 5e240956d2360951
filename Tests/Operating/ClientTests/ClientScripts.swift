import Basics
import Client
import Testing
import Wire

/// A scripted server for app servers, each on a connection of its own.
final class AppServerScript {
    private var connection = 0
    private var turn = 0
    /// Called when bytes have arrived, with the number of times on this connection.
    var onTurn: (Int) -> Void = { _ in }
    /// Returns the answer after the login; `nil` closes the connection.
    var answer: (String) -> String?

    init(_ answer: @escaping (String) -> String?) { self.answer = answer }

    func respond(_ bytes: [UInt8], _ server: ScriptedServer) -> [UInt8]? {
        if server.accepted != connection { (connection, turn) = (server.accepted, 0) }
        turn += 1
        onTurn(turn)
        let login = [
            AppServerBench.header + AppServerBench.mechanisms, AppServerBench.success,
            AppServerBench.header + AppServerBench.features, AppServerBench.bound,
        ]
        guard turn > login.count else { return Array(login[turn - 1].utf8) }
        return answer(String(decoding: bytes, as: UTF8.self)).map { Array($0.utf8) }
    }
}

/// A scripted server for devices, which records their frames.
final class DeviceScript {
    private var reader = MCS.FrameReader()
    private(set) var logins: [MCS.LoginRequest] = []
    private(set) var frames: [MCS.Message] = []
    /// Returns the answer to a frame; `nil` closes the connection.
    var answer: (MCS.Message) -> [MCS.Message]?

    init(_ answer: @escaping (MCS.Message) -> [MCS.Message]?) { self.answer = answer }

    func respond(_ bytes: [UInt8]) -> [UInt8]? {
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
        } catch { Issue.record("\(error)") }
        for frame in heard {
            if case .loginRequest(let login) = frame { logins.append(login) } else { frames.append(frame) }
            guard let replies = answer(frame) else { return nil }
            for reply in replies { reply.append(to: &out) }
        }
        return out.copied()
    }

    /// The number of heartbeats received.
    var heartbeats: Int { frames.count(where: { if case .heartbeatPing = $0 { true } else { false } }) }
    /// The messages received.
    var messages: [MCS.DataMessage] {
        frames.compactMap { if case .dataMessage(let message) = $0 { message } else { nil } }
    }

    /// The answers of a server that accepts every login and sends nothing else.
    static func greeting(_ frame: MCS.Message) -> [MCS.Message] {
        if case .loginRequest = frame { [.loginResponse(MCS.LoginResponse())] } else { [] }
    }
}
