import Foundation
import Testing

/// Redelivery of unacknowledged messages with the same ID after a lost connection or a restart.
@Suite("Redelivery", .serialized, .enabled(if: TestPaths.hasPython, "run Scripts/bootstrap --tests first"))
struct RedeliveryTests {
    private func connect(_ daemon: RunningDaemon, _ sender: (id: String, key: String)) throws -> Driver {
        let server = try Driver(
            "slixmpp_app_server.py", [String(daemon.port("app_server")), sender.id], secret: sender.key)
        try server.expect(event: "connected")
        return server
    }

    @Test("an upstream message is redelivered to another connection when the first is lost before its ack")
    func upstreamAfterConnectionLoss() throws {
        let daemon = try RunningDaemon()
        let sender = try daemon.firstSender
        let device = try TestDevice(daemon, sender: sender.id)
        let first = try connect(daemon, sender)
        try device.sendUpstream(["n": "1"])
        let seen = try first.expectJSON("the upstream message") { $0["category"] != nil }
        first.drop()
        let second = try connect(daemon, sender)
        let again = try second.expectJSON("the same message") { $0["category"] != nil }
        #expect(again["message_id"] as? String == seen["message_id"] as? String)
        #expect((again["data"] as? [String: String]) == ["n": "1"])
        try second.send(["to": device.token, "message_id": again["message_id"] ?? "", "message_type": "ack"])
        try eventually("the message is delivered") {
            (try daemon.ctl("audit")["upstream"] as? [String: Any])?["pending"] as? Int == 0
        }
    }

    @Test(
        "stored messages survive kill -9 and arrive at the next login, collapsed and unexpired")
    func offlineAcrossRestart() throws {
        let daemon = try RunningDaemon()
        let sender = try daemon.firstSender
        let device = try TestDevice(daemon, sender: sender.id)
        device.stop()
        let server = try connect(daemon, sender)
        func send(_ id: String, _ extra: [String: Any]) throws {
            try server.send(["to": device.token, "message_id": id, "data": ["id": id]].merging(extra) { $1 })
            let answer = try server.expectJSON("the answer to \(id)") { $0["message_id"] as? String == id }
            #expect(answer["message_type"] as? String == "ack")
        }
        try send("plain", [:])
        try send("old", ["collapse_key": "score"])
        try send("new", ["collapse_key": "score"])
        try send("short", ["time_to_live": 1])
        try send("now", ["time_to_live": 0])
        daemon.signal(SIGKILL)
        #expect(try daemon.wait() == -SIGKILL)

        let next = try RunningDaemon(continuing: daemon.scratch)
        usleep(1_200_000)
        try device.start(next)
        #expect(try device.expectMessage { _ in true }["id"] == "plain")
        #expect(try device.expectMessage { _ in true }["id"] == "new")
        #expect(throws: HarnessFailure.self) { try device.expectMessage(seconds: 1) { _ in true } }
        try eventually("the audit balances") {
            let audit = try next.ctl("audit")
            let down = audit["downstream"] as? [String: Any]
            return audit["holds"] as? Bool == true && down?["accepted"] as? Int == 4
                && down?["replaced"] as? Int == 1
                && down?["expired"] as? Int == 1 && down?["delivered"] as? Int == 2
        }
    }

    @Test("the stored messages are replaced by the deleted-messages marker when the 101st arrives")
    func discardedMarker() throws {
        let daemon = try RunningDaemon()
        let sender = try daemon.firstSender
        let device = try TestDevice(daemon, sender: sender.id)
        device.stop()
        let server = try connect(daemon, sender)
        for number in 1...101 {
            try server.send(["to": device.token, "message_id": "m\(number)", "data": ["n": String(number)]])
            try server.expectJSON("the ACK of m\(number)") { $0["message_id"] as? String == "m\(number)" }
        }
        try device.start(daemon)
        let marker = try device.expectMessage { _ in true }
        #expect(marker["message_type"] == "deleted_messages")
        #expect(marker["total_deleted"] == "101")
        #expect(try daemon.ctl("audit")["holds"] as? Bool == true)
    }

    @Test("canary: a wait for a message that was never sent fails")
    func canary() throws {
        let daemon = try RunningDaemon()
        let device = try TestDevice(daemon, sender: try daemon.firstSender.id)
        #expect(throws: HarnessFailure.self) { try device.expectMessage(seconds: 1) { _ in true } }
    }
}
