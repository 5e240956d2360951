import Basics
import Client
import Foundation
import Testing
import Wire

/// Messages to topics and conditions on the real daemon, with subscriptions made by devices.
@Suite("Topics", .serialized)
struct TopicTests {
    /// Sends a message over legacy HTTP and returns the body of the response.
    private func send(_ daemon: RunningDaemon, _ key: String, _ json: String, by device: TestDevice) throws
        -> (status: Int, text: String)
    {
        var call = HTTPCall("POST", "/fcm/send")
        call.add("Content-Type", "application/json")
        call.headers.append(("Authorization", Redacted("key=\(key)")))
        call.body = Array(json.utf8)
        let answer = try device.call(daemon, call)
        return (answer.status, answer.text)
    }

    private func isTaken(_ answer: (status: Int, text: String)) -> Bool {
        answer.status == 200 && answer.text.hasPrefix("{\"message_id\":")
            && answer.text.dropFirst(14).dropLast().allSatisfy(\.isNumber)
    }

    @Test("a topic message reaches subscribers alone, and survives kill -9 when acknowledged")
    func reach() throws {
        let daemon = try RunningDaemon()
        let sender = try daemon.firstSender
        let devices = try (0..<3).map { try TestDevice(daemon, sender: sender.id, app: "com.example.\($0)") }
        for device in devices[..<2] { try device.subscribe(daemon, to: "news") }
        let listed = try #require(try daemon.ctl("topics", "list")["topics"] as? [[String: Any]])
        #expect(listed.count == 1 && listed[0]["topic"] as? String == "news")
        #expect(listed[0]["subscribers"] as? Int == 2 && listed[0]["sender_id"] as? String == sender.id)
        let toTopic = try send(
            daemon, sender.key, "{\"to\":\"/topics/news\",\"data\":{\"id\":\"1\"}}", by: devices[0])
        #expect(isTaken(toTopic), "\(toTopic)")
        for device in devices[..<2] {
            let message = try device.expectMessage { _ in true }
            #expect(message["id"] == "1")
        }
        let toOthers = try send(
            daemon, sender.key, "{\"condition\":\"!('news' in topics)\",\"data\":{\"id\":\"2\"}}",
            by: devices[0])
        #expect(isTaken(toOthers), "\(toOthers)")
        // This is its first message, so the topic message did not reach it.
        #expect(try devices[2].expectMessage { _ in true }["id"] == "2")

        devices[0].stop()
        let last = try send(
            daemon, sender.key, "{\"to\":\"/topics/news\",\"data\":{\"id\":\"3\"}}", by: devices[1])
        #expect(isTaken(last), "\(last)")
        let waiting = try daemon.ctl("messages", "list", devices[0].token)["messages"] as? [[String: Any]]
        #expect(waiting?.last?["state"] as? String == "at_login" && waiting?.last?["bytes"] == nil)
        #expect(waiting?.count { $0["state"] as? String == "at_login" } == 1, "\(waiting ?? [])")
        daemon.signal(SIGKILL)
        #expect(try daemon.wait() == -SIGKILL)
        let next = try RunningDaemon(continuing: daemon.scratch)
        try devices[0].start(next)
        #expect(try devices[0].expectMessage { _ in true }["id"] == "3")
        let audit = try next.ctl("audit")
        #expect(audit["holds"] as? Bool == true)
        #expect(audit["subscriptions"] as? Int == 2)
        let running = try next.ctl("topics", "running")
        let messages = try #require(running["messages"] as? [[String: Any]])
        #expect(messages.map { $0["to"] as? String } == ["/topics/news", "condition", "/topics/news"])
        #expect(messages[0]["subscribers"] as? Int == 2 && messages[1]["subscribers"] as? Int == nil)
        #expect(running["left_out"] as? Int == 0)
        try eventually("all partitions have the messages") {
            let status = try next.ctl("status")["topics"] as? [String: Any]
            return try status?["in_progress"] as? Int == 0
                && next.ctl("audit")["topic_messages"] as? Int == 0
        }
    }

    @Test("a send is refused with a reason when its topic name or condition is invalid")
    func refusals() throws {
        let daemon = try RunningDaemon()
        let sender = try daemon.firstSender
        let device = try TestDevice(daemon, sender: sender.id)
        let name = try send(daemon, sender.key, "{\"to\":\"/topics/#\"}", by: device)
        #expect(name.status == 400 && name.text.contains("Invalid topic name"))
        let condition = try send(daemon, sender.key, "{\"condition\":\"'a' in\"}", by: device)
        #expect(condition.status == 400 && condition.text.contains("Invalid condition"))
    }
}
