import Foundation
import Testing

/// The configured rates, as app servers and devices observe them.
@Suite("Rates", .serialized, .enabled(if: TestPaths.hasPython, "run Scripts/bootstrap --tests first"))
struct RateTests {
    /// Sends `count` messages to a device and returns the answers in the order of their IDs.
    private func answers(_ daemon: RunningDaemon, _ count: Int) throws -> [[String: Any]] {
        let sender = try daemon.firstSender
        let device = try TestDevice(daemon, sender: sender.id)
        let server = try Driver(
            "slixmpp_app_server.py", [String(daemon.port("app_server")), sender.id], secret: sender.key)
        try server.expect(event: "connected")
        return try (1...count).map { number in
            try server.send(["to": device.token, "message_id": "m\(number)", "time_to_live": 0])
            return try server.expectJSON("the answer to m\(number)") {
                $0["message_id"] as? String == "m\(number)"
            }
        }
    }

    @Test(
        "a send gets DEVICE_MESSAGE_RATE_EXCEEDED with a reason when device_messages_per_minute is exceeded")
    func deviceRate() throws {
        let daemon = try RunningDaemon(flags: ["--device-messages-per-minute", "3"])
        let answers = try answers(daemon, 4)
        #expect(answers.prefix(3).allSatisfy { $0["message_type"] as? String == "ack" })
        let last = try #require(answers.last)
        #expect(last["message_type"] as? String == "nack")
        #expect(last["error"] as? String == "DEVICE_MESSAGE_RATE_EXCEEDED")
        #expect(
            last["error_description"] as? String
                == "Downstream message rate exceeded for this registration id")
    }

    @Test(
        "the newest message of a collapse key waits when collapsible_burst is exceeded, and none is refused")
    func collapsible() throws {
        let daemon = try RunningDaemon(
            flags: ["--collapsible-burst", "2", "--collapsible-refill-seconds", "10"])
        let sender = try daemon.firstSender
        let device = try TestDevice(daemon, sender: sender.id)
        let server = try Driver(
            "slixmpp_app_server.py", [String(daemon.port("app_server")), sender.id], secret: sender.key)
        try server.expect(event: "connected")
        for number in 1...6 {
            let id = String(number)
            try server.send([
                "to": device.token, "message_id": id, "collapse_key": "score", "data": ["n": id],
            ])
            let answer = try server.expectJSON("the answer to \(id)") { $0["message_id"] as? String == id }
            #expect(answer["message_type"] as? String == "ack")
        }
        let seen = try (0..<3).map { _ in try device.expectMessage { _ in true }["n"] }
        #expect(seen == ["1", "2", "6"])
        #expect(throws: HarnessFailure.self) { try device.expectMessage(seconds: 1) { _ in true } }
        #expect(try daemon.ctl("audit")["holds"] as? Bool == true)
    }

    @Test("a reload changes rates of open connections, and names settings that need a restart")
    func reload() throws {
        let scratch = try Scratch()
        defer { extendLifetime(scratch) }
        let folder = scratch.url
        let file = folder.appendingPathComponent("ccsd.yaml")
        let first = "format: 1\ndevice_messages_per_minute: 2\n"
        try first.write(to: file, atomically: true, encoding: .utf8)
        let daemon = try RunningDaemon(flags: ["--config", file.path])
        let made = try daemon.ctl("senders", "add", "--label", "reload")
        let sender = try #require(made["sender_id"] as? String)
        let device = try TestDevice(daemon, sender: sender)
        let server = try Driver(
            "slixmpp_app_server.py", [String(daemon.port("app_server")), sender],
            secret: try #require(made["key"] as? String))
        try server.expect(event: "connected")
        func answer(_ id: String) throws -> String? {
            try server.send(["to": device.token, "message_id": id, "time_to_live": 0])
            let answer = try server.expectJSON("the answer to \(id)") { $0["message_id"] as? String == id }
            return answer["error"] as? String ?? answer["message_type"] as? String
        }
        #expect(try ["1", "2", "3"].map(answer) == ["ack", "ack", "DEVICE_MESSAGE_RATE_EXCEEDED"])

        let second = "format: 1\ndevice_messages_per_minute: 5\nreactors: 2\nlog_format: json\n"
        try second.write(to: file, atomically: true, encoding: .utf8)
        let reloaded = try daemon.ctl("reload")
        #expect(reloaded["changed"] as? [String] == ["device_messages_per_minute"])
        // The command-line flag of the test overrides the file, so `reactors` is unchanged.
        #expect(reloaded["needs_restart"] as? [String] == ["log_format"])
        #expect(
            try ["4", "5", "6", "7"].map(answer) == ["ack", "ack", "ack", "DEVICE_MESSAGE_RATE_EXCEEDED"])
        let again = try Tool.run("ccsctl", ["--socket", daemon.controlSocket, "reload"])
        #expect(again.output.hasSuffix("needs a restart: log_format\n"), "\(again)")

        let third = "format: 1\ndevice_messages_per_minute: 0\n"
        try third.write(to: file, atomically: true, encoding: .utf8)
        daemon.signal(SIGHUP)
        try eventually("the reload is in the log") {
            daemon.words.components(separatedBy: "event=reloaded").count > 3
        }
        #expect(try (8...20).map(String.init).map(answer).allSatisfy { $0 == "ack" })
        device.stop()
    }

    @Test("canary: the same messages are accepted at the default rate")
    func canary() throws {
        let answers = try answers(try RunningDaemon(), 4)
        #expect(answers.allSatisfy { $0["message_type"] as? String == "ack" })
    }
}
