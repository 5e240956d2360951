import Basics
import Foundation
import NATSServerSupport
import Wire

/// A blocking connection to a nats-server, with the reader and writer of Wire.
final class NATSConnection {
    private let descriptor: Int32
    private var reader = NATSReader()
    /// The first description of the server.
    private(set) var info: [UInt8] = []

    /// Connects and logs in.
    init(_ server: NATSServerProcess, login: NATSWriter.Login = .none) throws {
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
