import Basics
import ClusterLog
import Testing
import Wire

@testable import NATSClient

/// A machine of the client with a server that the test plays.
final class MachineRun {
    var machine = JetStreamMachine(names: .standard)
    private(set) var now = Instant(nanoseconds: 1_000_000_000)
    static let server = NATSServerAddress(host: "n1")

    init(isConnected: Bool = true) { if isConnected { connect() } }

    func connect(maximumPayload: Int = 1 << 20) {
        let text = "{\"server_name\":\"s\",\"max_payload\":\(maximumPayload),\"headers\":true}"
        guard let info = try? NATSServerInfo(parsing: Array(text.utf8)) else { return }
        machine.connected(info, inbox: "_INBOX.x", now: now)
    }

    func disconnect() { machine.disconnected(Self.server, .silent) }

    func pass(_ milliseconds: Int64) {
        now = now.advanced(milliseconds: milliseconds)
        machine.tick(now: now)
    }

    /// What is sent since the last call: `subject reply payload`.
    func sent() -> [String] {
        defer { machine.commands = [] }
        return machine.commands.map { command in
            switch command {
            case .publish(let payload, let subject, let reply):
                [subject, reply ?? [], payload].map { String(decoding: $0, as: UTF8.self) }
                    .joined(separator: " ")
            case .subscribe(let subject, let number):
                "SUB \(String(decoding: subject, as: UTF8.self)) \(number)"
            case .unsubscribe(let number): "UNSUB \(number)"
            }
        }
    }

    /// The events since the last call, in words.
    func reported() -> [String] {
        defer { machine.events = [] }
        return machine.events.map { event in
            switch event {
            case .connected(let info): "connected \(info.name)"
            case .disconnected(_, let failure): "disconnected \(failure)"
            case .stored(let p, let name, let at): "stored \(p) \(name.number) at \(at.number)"
            case .refused(let p, let name, let why): "refused \(p) \(name.number): \(why)"
            case .record(let p, let at, let bytes): "record \(p) \(at.number) \(bytes)"
            case .end(let p, let at): "end \(p) \(at.number)"
            case .readFailed(let p, let at, let why): "read failed \(p) \(at.number): \(why)"
            case .followed(let p, let at, let bytes): "followed \(p) \(at.number) \(bytes)"
            case .caughtUp(let p, let at): "caught up \(p) \(at.number)"
            case .followFailed(let p, let why): "follow failed \(p): \(why)"
            case .purged(let p, let at): "purged \(p) \(at.number)"
            case .purgeFailed(let p, let at, let why): "purge failed \(p) \(at.number): \(why)"
            case .stream(let p, let info, let problems):
                "stream \(p) \(info.first.number)-\(info.last.number) \(problems)"
            case .streamFailed(let p, let why): "stream failed \(p): \(why)"
            case .message(let message): "message \(message.subscription)"
            case .attemptFailed, .warning, .leaving: "\(event)"
            }
        }
    }

    /// Answers the request of a number.
    func answer(_ number: Int, _ text: String, inbox: String = "_INBOX.x.") {
        receive(
            NATSMessage(subject: Array("\(inbox)\(number)".utf8), subscription: 1, payload: Array(text.utf8)))
    }

    /// Sends a record of a batch.
    func record(_ number: Int, _ sequence: UInt64, behind: Int = 0) {
        let headers = "NATS/1.0\r\nNats-Sequence: \(sequence)\r\nNats-Num-Pending: \(behind)\r\n\r\n"
        receive(
            NATSMessage(
                subject: Array("_INBOX.x.\(number)".utf8), subscription: 1, headers: Array(headers.utf8),
                payload: [UInt8(truncatingIfNeeded: sequence)]))
    }

    /// Ends a batch.
    func end(_ number: Int, status: Int, behind: Int = 0) {
        let headers = "NATS/1.0 \(status)\r\nNats-Num-Pending: \(behind)\r\n\r\n"
        receive(
            NATSMessage(
                subject: Array("_INBOX.x.\(number)".utf8), subscription: 1, status: status,
                headers: Array(headers.utf8), payload: []))
    }

    func receive(_ message: NATSMessage) { machine.received(message, now: now) }

    func subscribe(_ subject: String) -> UInt64? { machine.subscribe(Array(subject.utf8)) }

    func publish(_ payload: [UInt8], _ subject: String) -> Bool {
        machine.publish(payload, to: Array(subject.utf8))
    }

    func append(_ number: UInt64, room: Int = 1 << 20, bytes: Int = 1) {
        machine.append(
            [UInt8](repeating: 0x61, count: bytes), frame(number), to: 5, room: room, now: now)
    }
}
