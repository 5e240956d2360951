import Basics
import Foundation
import Testing

/// What a device's app sends, recorded in place of an app server.
@Suite("Recorders", .serialized)
struct RecorderTests {
    private typealias Object = [String: Any]

    private func recorded(_ daemon: RunningDaemon, _ sender: String, _ more: String...) throws -> [Object] {
        let words = ["--socket", daemon.controlSocket, "--json", "recorders", "messages", sender]
        let result = try Tool.run("ccsctl", words + more)
        return try #require(result.object?["messages"] as? [Object], "\(result)")
    }

    private func send(_ daemon: RunningDaemon, _ device: String, _ id: String) throws {
        let sent = try daemon.ctl("virtual-devices", "send", device, "text=\(id)", "--message-id", id)
        #expect(sent["outcome"] as? String == "stored")
    }

    @Test("what a device sends is recorded while no app server is connected, and only then")
    func records() throws {
        let daemon = try RunningDaemon(flags: ["--test-bench"])
        let sender = try daemon.firstSender
        let device = try daemon.ctl("virtual-devices", "add", sender.id, "org.example.app")
        let id = try #require(device["device"] as? String)
        // Sent before: an app server would get it too.
        try send(daemon, id, "early")
        #expect(try daemon.ctl("recorders", "add", sender.id)["connected"] as? Bool == true)
        let early = try recorded(daemon, sender.id, "--wait", "20")
        #expect(early.map { $0["message_id"] as? String } == ["early"])
        #expect(early.first?["token"] as? String == device["token"] as? String)
        #expect(early.first?["app"] as? String == "org.example.app")
        #expect((early.first?["data"] as? Object)?["text"] as? String == "early")
        #expect(early.first?["type"] as? String == "message")

        let server = try TestAppServer(daemon, sender: sender)
        try send(daemon, id, "for the app server")
        try server.expectUpstream("for the app server")
        #expect(try recorded(daemon, sender.id, "--after", "1", "--wait", "1").isEmpty)
        server.end()
        try send(daemon, id, "late")
        let late = try recorded(daemon, sender.id, "--after", "1", "--wait", "20")
        #expect(late.map { $0["message_id"] as? String } == ["late"])
        #expect(server.upstream.contains("late") == false)

        #expect(try daemon.ctl("recorders", "clear", sender.id)["removed"] as? Int == 2)
        #expect(try recorded(daemon, sender.id).isEmpty)
        // All of it was acknowledged, as by an app server.
        try eventually("the mailbox is empty") {
            let audit = try daemon.ctl("audit")
            return audit["holds"] as? Bool == true && (audit["upstream"] as? Object)?["pending"] as? Int == 0
        }
    }

    @Test("the answer reports a webhook of the sender that gets the messages in place of the recorder")
    func webhook() throws {
        let daemon = try RunningDaemon(flags: ["--test-bench"])
        let sender = try daemon.firstSender.id
        func add() throws -> Tool {
            try Tool.run("ccsctl", ["--socket", daemon.controlSocket, "recorders", "add", sender])
        }
        #expect(try daemon.ctl("recorders", "add", sender)["webhook"] as? Bool == false)
        #expect(try add().output.contains("are recorded"))
        _ = try daemon.ctl("senders", "webhook", "set", sender, "https://app.example/")
        #expect(try daemon.ctl("recorders", "add", sender)["webhook"] as? Bool == true)
        #expect(try add().output.contains("pause it with ccsctl senders webhook pause \(sender)"))
        _ = try daemon.ctl("senders", "webhook", "pause", sender)
        let rows = try daemon.ctl("recorders", "list")["recorders"] as? [Object]
        #expect(rows?.first?["webhook"] as? Bool == false, "a paused webhook gets nothing")
    }

    @Test("receipts are recorded, a recorder outlives a restart, and one that is removed records nothing")
    func lifetime() throws {
        let first = try RunningDaemon(flags: ["--test-bench"])
        let sender = try first.firstSender
        let device = try first.ctl("virtual-devices", "add", sender.id, "org.example.app")
        let token = try #require(device["token"] as? String)
        _ = try first.ctl("recorders", "add", sender.id)
        first.signal(SIGTERM)
        #expect(try first.wait() == 0)

        let daemon = try RunningDaemon(continuing: first.scratch, flags: ["--test-bench"])
        _ = try daemon.ctl("send", sender.id, token, "a=b", "--delivery-receipt-requested")
        let receipt = try recorded(daemon, sender.id, "--wait", "20")
        #expect(receipt.first?["type"] as? String == "receipt", "\(receipt)")
        #expect(
            (receipt.first?["data"] as? Object)?["message_status"] as? String == "MESSAGE_SENT_TO_DEVICE")
        let list = try daemon.ctl("recorders", "list")["recorders"] as? [Object]
        #expect(list?.first?["received"] as? Int == 1)
        _ = try daemon.ctl("recorders", "remove", sender.id)
        try send(daemon, try #require(device["device"] as? String), "unrecorded")
        let refused = try Tool.run(
            "ccsctl", ["--socket", daemon.controlSocket, "recorders", "messages", sender.id])
        #expect(
            refused.code != 0 && refused.errors.contains("nothing is recorded for the sender"), "\(refused)")
        #expect((try daemon.ctl("audit")["upstream"] as? Object)?["pending"] as? Int == 1)
    }

    @Test("without test_bench nothing is recorded")
    func off() throws {
        let daemon = try RunningDaemon()
        let sender = try daemon.firstSender
        let refused = try Tool.run(
            "ccsctl", ["--socket", daemon.controlSocket, "recorders", "add", sender.id])
        #expect(refused.code != 0 && refused.errors.contains("the test bench is off"), "\(refused)")
    }
}
