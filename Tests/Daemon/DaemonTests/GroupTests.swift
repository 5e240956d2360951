import Basics
import Client
import Foundation
import Testing
import Wire
import WireSupport

/// Device groups on the real daemon, with upstream messages of members.
@Suite("Groups", .serialized)
struct GroupTests {
    @Test("a member's message to its group reaches the other members, also after kill -9 once acknowledged")
    func upstream() throws {
        let daemon = try RunningDaemon()
        let sender = try daemon.firstSender
        let devices = try (0..<3).map { _ in try TestDevice(daemon, sender: sender.id) }
        var call = HTTPCall("POST", "/fcm/notification")
        call.add("Content-Type", "application/json")
        call.add("project_id", sender.id)
        call.headers.append(("Authorization", Redacted("key=\(sender.key)")))
        let tokens = devices.map { "\"\($0.token)\"" }.joined(separator: ",")
        let request =
            "{\"operation\":\"create\",\"notification_key_name\":\"team\",\"registration_ids\":[\(tokens)]}"
        call.body = Array(request.utf8)
        let answer = try JSONValue(parsing: devices[0].call(daemon, call).text)
        let key = try #require(answer["notification_key"]?.text)

        try devices[0].sendUpstream(["n": "1"], group: key)
        #expect(try devices[1].expectMessage { _ in true }["n"] == "1")
        #expect(try devices[2].expectMessage { _ in true }["n"] == "1")
        devices[2].stop()
        try devices[1].sendUpstream(["n": "2"], group: key)
        // The sender does not get its own message.
        #expect(try devices[0].expectMessage { _ in true }["n"] == "2")
        daemon.signal(SIGKILL)
        #expect(try daemon.wait() == -SIGKILL)
        let next = try RunningDaemon(continuing: daemon.scratch)
        try devices[2].start(next)
        #expect(try devices[2].expectMessage { _ in true }["n"] == "2")
        #expect(try next.ctl("audit")["holds"] as? Bool == true)
    }

    @Test("a group whose members are all gone answers with counts of 0, and its name is free again")
    func allGone() throws {
        let daemon = try RunningDaemon()
        let sender = try daemon.firstSender
        let devices = try (0..<2).map { _ in try TestDevice(daemon, sender: sender.id) }
        func call(_ path: String, _ json: String) throws -> (status: Int, text: String) {
            var call = HTTPCall("POST", path)
            call.add("Content-Type", "application/json")
            call.add("project_id", sender.id)
            call.headers.append(("Authorization", Redacted("key=\(sender.key)")))
            call.body = Array(json.utf8)
            let answer = try devices[0].call(daemon, call)
            return (answer.status, answer.text)
        }
        let tokens = devices.map { "\"\($0.token)\"" }.joined(separator: ",")
        let create =
            "{\"operation\":\"create\",\"notification_key_name\":\"team\",\"registration_ids\":[\(tokens)]}"
        let made = try JSONValue(parsing: try call("/fcm/notification", create).text)
        let key = try #require(made["notification_key"]?.text)
        for device in devices { try device.unregister(daemon) }
        // The group lives on without members.
        let send = "{\"to\":\"\(key)\",\"data\":{\"n\":\"1\"}}"
        for _ in 0..<3 {
            let answer = try call("/fcm/send", send)
            #expect(answer.status == 200 && answer.text == "{\"success\":0,\"failure\":0}")
        }
        let fresh = try TestDevice(daemon, sender: sender.id)
        let next = create.replacing(tokens, with: "\"\(fresh.token)\"")
        #expect(try call("/fcm/notification", next).status == 200, "the name is free")
    }
}
