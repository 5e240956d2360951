import Basics
import Foundation
import Wire

/// A nats-server with JetStream on loopback, which syncs before it answers.
final class NATSServer {
    private let process = ChildProcess()
    private let scratch: Scratch
    let port: UInt16

    static let program = TestPaths.root.appendingPathComponent(".venv/bin/nats-server")

    static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: program.path) }

    /// Starts the server and waits until it listens. `more` is added to its configuration.
    init(_ more: String = "") throws {
        scratch = try Scratch()
        let config = scratch.url.appendingPathComponent("nats.conf")
        try """
        listen: "127.0.0.1:-1"
        jetstream { store_dir: "\(scratch.url.path)/store", sync_interval: always }
        \(more)
        """.write(to: config, atomically: true, encoding: .utf8)
        process.executableURL = Self.program
        process.arguments = ["--config", config.path, "--ports_file_dir", scratch.url.path]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        let ports = scratch.url.appendingPathComponent("nats-server_\(process.processIdentifier).ports")
        var found: UInt16?
        try eventually("nats-server listens") {
            guard let data = try? Data(contentsOf: ports),
                let object = try? JSONSerialization.jsonObject(with: data) as? [String: Any],
                let address = (object["nats"] as? [String])?.first
            else { return false }
            found = URLComponents(string: address)?.port.flatMap(UInt16.init)
            return found != nil
        }
        port = found ?? 0
    }

    deinit { process.end() }
}

/// A blocking connection to a nats-server, with the reader and writer of Wire.
final class NATSConnection {
    private let descriptor: Int32
    private var reader = NATSReader()
    /// The first description of the server.
    private(set) var info: [UInt8] = []

    /// Connects and logs in.
    init(_ server: NATSServer, login: NATSWriter.Login = .none) throws {
        descriptor = try PlainHTTP.connected(port: server.port)
        guard case .info(let info) = try next() else { throw HarnessFailure("no INFO") }
        self.info = info
        send { NATSWriter.connect(name: "tests", login: login, to: &$0) }
        send { NATSWriter.ping(to: &$0) }
    }

    deinit { close(descriptor) }

    func send(_ write: (inout ByteBuffer) -> Void) {
        var buffer = ByteBuffer()
        write(&buffer)
        let bytes = buffer.copied()
        var at = 0
        while at < bytes.count {
            let count = bytes[at...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            at += count
        }
    }

    /// Returns the next event.
    func next() throws -> NATSEvent {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            if let event = try reader.next() { return event }
            let count = read(descriptor, &chunk, chunk.count)
            guard count > 0 else { throw HarnessFailure("nats-server has closed the connection") }
            let part = Array(chunk[..<count])
            reader.append(part.span.bytes)
        }
    }

    /// Returns the next message; answers pings.
    func message() throws -> NATSMessage {
        while true {
            switch try next() {
            case .message(let message): return message
            case .ping: send { NATSWriter.pong(to: &$0) }
            case .error(let text):
                throw HarnessFailure("nats-server: \(String(decoding: text, as: UTF8.self))")
            case .info, .pong, .ok: continue
            }
        }
    }

    /// Sends a request. Returns its answer.
    func request(_ subject: String, _ payload: String) throws -> NATSMessage {
        let inbox = Array("_INBOX.\(UInt64.random(in: 0...UInt64.max))".utf8)
        let content = Array(payload.utf8)
        send {
            NATSWriter.subscribe(inbox, as: 99, to: &$0)
            NATSWriter.publish(content.span.bytes, to: Array(subject.utf8), reply: inbox, in: &$0)
        }
        let answer = try message()
        send { NATSWriter.unsubscribe(99, to: &$0) }
        return answer
    }
}
