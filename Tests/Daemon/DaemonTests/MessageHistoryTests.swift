import Foundation
import Testing

/// What became of messages, as the operator asks it, also after kill -9.
@Suite("The message history", .serialized)
struct MessageHistoryTests {
    /// Sends a message that is refused.
    private func send(_ daemon: RunningDaemon, _ sender: String, _ token: String, _ id: String) throws {
        let answer = try Tool.run(
            "ccsctl", ["--socket", daemon.controlSocket, "send", sender, token, "n=3", "--message-id", id])
        #expect(answer.code == 1)
    }

    @Test("canary: a message that was never sent is not found")
    func absent() throws {
        #expect(try RunningDaemon().steps(of: "absent") == [])
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
        try eventually("it is delivered") {
            try daemon.steps(of: "first") == ["stored", "sent", "delivered"]
        }
        let sessions = try daemon.ctl("sessions", "list")["sessions"] as? [[String: Any]] ?? []
        let session = try #require(sessions.first { $0["kind"] as? String == "device" }?["id"] as? String)
        let first = try daemon.ctl("messages", "find", "first")["messages"] as? [[String: Any]] ?? []
        let steps = first.first?["steps"] as? [[String: Any]] ?? []
        #expect(steps.map { $0["session"] as? String } == [nil, session, nil])
        device.stop()
        _ = try daemon.ctl("send", sender, device.token, "n=2", "--message-id", "second")
        try eventually("it is stored") { try daemon.steps(of: "second") == ["stored"] }
        let gone = try TestDevice(daemon, sender: sender)
        try gone.unregister(daemon)
        try send(daemon, sender, gone.token, "third")
        try eventually("it is refused") { try daemon.steps(of: "third") == ["refused"] }
        daemon.signal(SIGKILL)
        #expect(try daemon.wait() == -SIGKILL)

        let next = try RunningDaemon(continuing: daemon.scratch)
        #expect(try next.steps(of: "first") == ["stored", "sent", "delivered"])
        #expect(try next.steps(of: "second") == ["stored"], "it is not delivered")
        #expect(try next.steps(of: "third") == ["refused"])
        try device.start(next)
        try device.expectMessage { $0["n"] == "2" }
        try device.sendUpstream(["n": "up"])
        try eventually("it is delivered") { try next.steps(of: "second") == ["stored", "sent", "delivered"] }
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
        #expect(try last.steps(of: "second") == ["stored", "sent", "delivered"])
    }

    @Test("messages are found by sender, time and outcome, page by page, and followed")
    func list() throws {
        let daemon = try RunningDaemon()
        let sender = try daemon.firstSender.id
        let device = try TestDevice(daemon, sender: sender)
        device.stop()
        let start = Date()
        for number in 1...5 {
            _ = try daemon.ctl("send", sender, device.token, "n=\(number)", "--message-id", "m-\(number)")
        }
        try send(daemon, sender, "malformed:APA91b", "bad")
        func list(_ words: String...) throws -> (ids: [String], next: String?, latest: String?) {
            let result = try Tool.run(
                "ccsctl", ["--socket", daemon.controlSocket, "--json", "messages", "find"] + words)
            let answer = try #require(result.object, "\(result)")
            let ids = (answer["messages"] as? [[String: Any]] ?? []).compactMap {
                $0["message_id"] as? String
            }
            return (ids, answer["next_before"] as? String, answer["latest"] as? String)
        }
        let all = ["m-5", "m-4", "m-3", "m-2", "m-1"]
        try eventually("all are recorded") { try list("--outcome", "waiting").ids == all }
        #expect(try list("--sender", sender, "--outcome", "waiting").ids == all)
        #expect(try list("--sender", "5").ids.isEmpty)
        #expect(try list("--outcome", "delivered").ids.isEmpty)
        let format = ISO8601DateFormatter()
        #expect(try list("--until", format.string(from: start - 60)).ids.isEmpty)
        #expect(try list("--since", format.string(from: start - 60), "--outcome", "waiting").ids == all)
        var (page, before, _) = try list("--outcome", "waiting", "--limit", "2")
        #expect(page == ["m-5", "m-4"])
        while let next = before {
            let more = try list("--outcome", "waiting", "--limit", "2", "--before", next)
            page += more.ids
            before = more.next
        }
        #expect(page == all)
        let refused = try Tool.run(
            "ccsctl", ["--socket", daemon.controlSocket, "messages", "find", "m-1", "--before", "1"])
        #expect(refused.code != 0 && refused.errors.contains("message_id or before"))

        let latest = try #require(try list().latest)
        #expect(try list("--after", latest).ids.isEmpty)
        let follower = try Driver(
            program: TestPaths.programs.appendingPathComponent("ccsctl"),
            ["--socket", daemon.controlSocket, "--json", "messages", "history", device.token, "--follow"],
            secret: nil)
        _ = try follower.expect("the messages that are there") {
            ($0["messages"] as? [Any])?.count == 5
        }
        try device.start(daemon)
        try device.expectMessage { $0["n"] == "5" }
        try device.sendUpstream(["n": "up"])
        _ = try follower.expect("a delivery") { "\($0)".contains("delivered") }
        try eventually("they are delivered") {
            try Set(list("--outcome", "delivered", "--after", latest).ids).isSuperset(of: all)
        }
    }

    @Test("a cancelled message is not delivered, also after kill -9, and it is too late for a delivered one")
    func cancelled() throws {
        let daemon = try RunningDaemon()
        let sender = try daemon.firstSender.id
        let device = try TestDevice(daemon, sender: sender)
        device.stop()
        for id in ["first", "second"] {
            _ = try daemon.ctl("send", sender, device.token, "n=\(id)", "--message-id", id)
        }
        #expect(try daemon.ctl("messages", "cancel", device.token, "first")["cancelled"] as? Int == 1)
        try eventually("it is cancelled") { try daemon.steps(of: "first") == ["stored", "cancelled"] }
        daemon.signal(SIGKILL)
        #expect(try daemon.wait() == -SIGKILL)
        let next = try RunningDaemon(continuing: daemon.scratch)
        try device.start(next)
        #expect(try device.expectMessage { _ in true }["n"] == "second")
        try device.sendUpstream(["n": "up"])
        try eventually("it is delivered") { try next.steps(of: "second").last == "delivered" }
        for id in ["first", "second"] {
            let late = try Tool.run(
                "ccsctl", ["--socket", next.controlSocket, "messages", "cancel", device.token, id])
            #expect(late.code == 1 && late.errors.contains("no message with this ID waits"))
        }
        #expect(try next.ctl("audit")["holds"] as? Bool == true)
        #expect(try next.steps(of: "first") == ["stored", "cancelled"])
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
