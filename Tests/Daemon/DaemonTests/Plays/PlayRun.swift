import Basics
import Client
import Foundation
import TranscriptNotation
import Transport

/// One play against a running daemon, with its own sender and devices.
final class PlayRun {
    private let play: Transcript
    private let daemon: RunningDaemon
    private let reactor: Reactor
    private let peer: PlayPeer
    private let sender: String
    private let key: String
    private var devices: [String: TestDevice] = [:]
    private var text = TranscriptText()
    /// Messages without an answer and accepted messages, each with the name of its device and its pairs.
    private var submitted: [(device: String, pairs: [String: String])] = []
    private var accepted: [(device: String, pairs: [String: String])] = []
    private var isReady = false
    private var isOver = false

    /// Deadline in seconds for an expected record: the longest wait of a play, on a machine under load.
    private static let patience = 30

    private init(_ play: Transcript, on daemon: RunningDaemon) throws {
        self.play = play
        self.daemon = daemon
        reactor = try Reactor(index: 0)
        let made = try daemon.ctl("senders", "add", "--label", "play")
        guard let sender = made["sender_id"].map({ "\($0)" }), let key = made["key"] as? String else {
            throw HarnessFailure("no sender in \(made)")
        }
        self.sender = sender
        self.key = key
        text.values = TranscriptText.appServer
        for name in ["TOKEN", "TOKEN2", "TOKEN3", "GONE", "FOREIGN"]
        where play.lines.contains(where: { $0.text.contains("$(\(name))") }) {
            let device = try TestDevice(
                daemon, sender: name == "FOREIGN" ? daemon.firstSender.id : sender,
                app: "com.example.yourapp", reactor: reactor)
            if name == "GONE" { try device.unregister(daemon) }
            text.values[name] = device.token
            devices[name] = device
        }
        peer = try PlayPeer(daemon, reactor: reactor)
    }

    /// Runs a play. Throws `TranscriptFailure` if the daemon deviates from it.
    static func run(_ play: Transcript, on daemon: RunningDaemon) throws {
        let run = try PlayRun(play, on: daemon)
        defer { run.peer.drop() }
        for line in play.lines where line.mark != "%" {
            do {
                try run.step(line)
            } catch {
                throw TranscriptFailure(transcript: play.name, line: line.number, what: "\(error)")
            }
        }
        do {
            try run.finish()
        } catch {
            throw TranscriptFailure(transcript: play.name, line: 0, what: "at the end: \(error)")
        }
    }

    /// Returns a line with the run's own sender and key.
    private func withCredentials(_ line: String) -> String {
        line.replacing("1234567890", with: sender).replacing("|KEY)", with: "|\(key))")
    }

    private func step(_ line: Transcript.Line) throws {
        switch line.mark {
        case "C:": peer.write(try text.bytes(withCredentials(line.text)))
        case "S:": try expect(withCredentials(line.text))
        case ">>":
            if line.text.hasPrefix("ready") { isReady = true }
            if line.text.hasPrefix("submitted") { try submit(line.text) }
        case "<<":
            if line.text.hasPrefix("ack") || line.text.hasPrefix("nack"), !submitted.isEmpty {
                let message = submitted.removeFirst()
                // If the connection ended before the answer, the daemon may not have read the message.
                if line.text.hasPrefix("ack"), !isOver { accepted.append(message) }
            }
            if line.text.hasPrefix("upstream") { try upstream(line.text) }
            if line.text == "lost" {
                isOver = true
                peer.drop()
            }
        case "!!" where line.text != "open":
            isOver = true
            guard peer.waitForEnd(seconds: Self.patience) else {
                throw HarnessFailure("the daemon did not close the connection")
            }
        default: break
        }
    }

    private func expect(_ line: String) throws {
        guard let record = peer.nextRecord(seconds: Self.patience) else {
            throw HarnessFailure("no record came, expected: \(line)")
        }
        guard try text.matches(line, record) else {
            throw HarnessFailure("sent:     \(TranscriptText.shown(record))\n    expected: \(line)")
        }
    }

    /// Sends the upstream message of the play from a device.
    private func upstream(_ command: String) throws {
        let line = String(decoding: try text.bytes(command), as: UTF8.self)
        let head = line.prefix { $0 != "{" }.split(separator: " ")
        func field(_ name: String) -> String? {
            head.first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
        }
        let device = devices[Self.token(field("from") ?? "1")]
        device?.send(
            id: field("id") ?? "", pairs: Self.pairs(of: line),
            lifetimeSeconds: field("ttl").flatMap { Int($0) })
    }

    /// Records a submitted message: the device must have it at the end unless it is refused or a dry run.
    private func submit(_ event: String) throws {
        let words = event.split(separator: " ")
        guard let to = words.first(where: { $0.hasPrefix("to=") }) else { return }
        // Skips the request ID, which is internal to the session.
        let end = event.suffix(from: event.range(of: " {")?.lowerBound ?? event.endIndex)
        let line = String(decoding: try text.bytes(String(end)), as: UTF8.self)
        let device = words.contains("dry") ? "" : Self.token(String(to.dropFirst(3)))
        submitted.append((device, Dictionary(Self.pairs(of: line)) { $1 }))
    }

    private static func token(_ number: String) -> String {
        ["1": "TOKEN", "4": "GONE", "5": "FOREIGN"][number] ?? "TOKEN" + number
    }

    private static func pairs(of line: String) -> [(key: String, value: String)] {
        var pairs: [(key: String, value: String)] = []
        // Other fields may follow the pairs, such as raw data.
        guard let start = line.firstIndex(of: "{"), let end = line.lastIndex(of: "}") else { return [] }
        for part in line[line.index(after: start)..<end].split(separator: ";") {
            if let sign = part.firstIndex(of: "=") {
                pairs.append((String(part[..<sign]), String(part[part.index(after: sign)...])))
            } else if let last = pairs.indices.last {
                pairs[last].value += ";" + part
            }
        }
        return pairs
    }

    /// Expects the accepted messages on the devices, and the answer to a ping as the only remaining record.
    private func finish() throws {
        for message in accepted {
            try devices[message.device]?.expectMessage { $0 == message.pairs }
        }
        guard isReady, !isOver else { return }
        peer.write(Array(#"<iq type="get" id="end"><ping xmlns="urn:xmpp:ping"/></iq>"#.utf8))
        try expect(#"<iq type="result" id="end" to="$(_)"/>"#)
    }
}
