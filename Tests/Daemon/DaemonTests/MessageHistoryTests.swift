import Foundation
import Testing

/// What became of messages, as the operator asks it, also after kill -9.
@Suite("The message history", .serialized)
struct MessageHistoryTests {
    /// The steps of the only message with an ID.
    private func steps(_ daemon: RunningDaemon, _ id: String) throws -> [String] {
        let answer = try daemon.ctl("messages", "find", id)
        let messages = answer["messages"] as? [[String: Any]] ?? []
        guard messages.count == 1 else { return messages.isEmpty ? [] : ["several"] }
        let steps = messages[0]["steps"] as? [[String: Any]] ?? []
        return steps.compactMap { $0["step"] as? String }
    }

    /// Sends a message that is refused.
    private func send(_ daemon: RunningDaemon, _ sender: String, _ token: String, _ id: String) throws {
        let answer = try Tool.run(
            "ccsctl", ["--socket", daemon.controlSocket, "send", sender, token, "n=3", "--message-id", id])
        #expect(answer.code == 1)
    }

    @Test("canary: a message that was never sent is not found")
    func absent() throws {
        #expect(try steps(RunningDaemon(), "absent") == [])
    }

    @Test("a delivered, a waiting and a refused message are found, also after kill -9, and a gap is named")
    func kill() throws {
        let daemon = try RunningDaemon()
        let sender = try daemon.firstSender.id
        let device = try TestDevice(daemon, sender: sender)
        _ = try daemon.ctl("send", sender, device.token, "n=1", "--message-id", "first")
        try device.expectMessage { $0["n"] == "1" }
        // The acknowledgement of the message arrives with that of a message of the device.
        try device.sendUpstream(["n": "up"])
        try eventually("it is delivered") { try steps(daemon, "first") == ["stored", "sent", "delivered"] }
        device.stop()
        _ = try daemon.ctl("send", sender, device.token, "n=2", "--message-id", "second")
        try eventually("it is stored") { try steps(daemon, "second") == ["stored"] }
        let gone = try TestDevice(daemon, sender: sender)
        try gone.unregister(daemon)
        try send(daemon, sender, gone.token, "third")
        try eventually("it is refused") { try steps(daemon, "third") == ["refused"] }
        daemon.signal(SIGKILL)
        #expect(try daemon.wait() == -SIGKILL)

        let next = try RunningDaemon(continuing: daemon.scratch)
        #expect(try steps(next, "first") == ["stored", "sent", "delivered"])
        #expect(try steps(next, "second") == ["stored"], "it is not delivered")
        #expect(try steps(next, "third") == ["refused"])
        try device.start(next)
        try device.expectMessage { $0["n"] == "2" }
        try device.sendUpstream(["n": "up"])
        try eventually("it is delivered") { try steps(next, "second") == ["stored", "sent", "delivered"] }
        let coverage = try next.ctl("messages", "find", "absent")["history"] as? [String: Any]
        #expect((coverage?["gaps"] as? [Any])?.count == 1)
        #expect(coverage?["damaged"] as? Int == 0)

        let page = try next.ctl("messages", "history", device.token, "--limit", "2")
        let rows = page["messages"] as? [[String: Any]] ?? []
        #expect(rows.count == 2 && page["next_before"] != nil)
        #expect(!"\(page)".contains(device.token), "tokens are not shown")
        // A stop leaves no gap.
        next.signal(SIGTERM)
        #expect(try next.wait() == 0)
        let last = try RunningDaemon(continuing: daemon.scratch)
        let after = try last.ctl("messages", "find", "second")["history"] as? [String: Any]
        #expect((after?["gaps"] as? [Any])?.count == 1)
        #expect(try steps(last, "second") == ["stored", "sent", "delivered"])
    }

    @Test("a history that is switched off is removed, and a question about it is refused")
    func off() throws {
        let daemon = try RunningDaemon()
        let sender = try daemon.firstSender.id
        try send(daemon, sender, "x", "first")
        daemon.signal(SIGTERM)
        #expect(try daemon.wait() == 0)
        let next = try RunningDaemon(continuing: daemon.scratch, flags: ["--history-hours", "0"])
        let answer = try Tool.run("ccsctl", ["--socket", next.controlSocket, "messages", "find", "first"])
        #expect(answer.code != 0 && answer.errors.contains("history is switched off"))
    }
}
