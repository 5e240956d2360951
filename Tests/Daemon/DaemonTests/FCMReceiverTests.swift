import Foundation
import Testing

/// fcm-receiver 0.1, a library for web apps that sends no acks, unmodified, with its host names redirected (mcs-device 6).
@Suite("fcm-receiver", .serialized, .enabled(if: TestPaths.hasPython, "run Scripts/bootstrap --tests first"))
struct FCMReceiverTests {
    private func device(_ daemon: RunningDaemon, _ sender: String) throws -> Driver {
        try Driver(
            "fcm_receiver_device.py",
            [daemon.directory.appendingPathComponent("receiver.json").path, sender],
            environment: daemon.hostMap())
    }

    private func waitForLogin(_ device: Driver) throws {
        try device.expect("the login") { $0["status"] as? String == "connected" }
    }

    private func push(_ daemon: RunningDaemon, _ sender: String, _ token: String, _ id: String) throws {
        _ = try daemon.ctl("send", sender, token, "id=\(id)")
    }

    /// Returns the ID in the next message, or `nil` if the library could not decrypt it.
    private func next(_ device: Driver) throws -> String? {
        let event = try device.expect("a message") {
            ["message", "unread"].contains($0["event"] as? String)
        }
        return ((event["message"] as? [String: Any])?["data"] as? [String: String])?["id"]
    }

    private func pending(_ daemon: RunningDaemon) throws -> Int? {
        (try daemon.ctl("audit")["downstream"] as? [String: Any])?["pending"] as? Int
    }

    @Test(
        "fcm-receiver registers, decrypts messages, reconnects after Close, and reports received IDs at login"
    )
    func wholeLife() throws {
        var daemon = try RunningDaemon()
        let sender = try daemon.firstSender.id
        let device = try device(daemon, sender)
        let ready = try device.expect(event: "ready")
        let token = try #require(ready["token"] as? String)
        try waitForLogin(device)
        for id in ["1", "2", "3"] {
            try push(daemon, sender, token, id)
            #expect(try next(device) == id)
        }
        // The library sends no acks; its login names the last two messages.
        #expect(try pending(daemon) == 3)
        daemon.signal(SIGTERM)
        #expect(try daemon.wait() == 0)
        daemon = try RunningDaemon(continuing: daemon.scratch, ports: daemon.ports)
        try waitForLogin(device)
        try eventually("the last two messages are acknowledged") { try pending(daemon) == 1 }
        // The library drops the repeated first message as a duplicate, so the next one is new.
        try push(daemon, sender, token, "4")
        #expect(try next(device) == "4")
        device.finish()
        try eventually("the device has disconnected") { try daemon.ctl("status")["devices"] as? Int == 0 }

        try push(daemon, sender, token, "5")
        let returned = try self.device(daemon, sender)
        let again = try returned.expect(event: "ready")
        #expect(again["fresh"] as? Bool == false && again["device"] as? String == ready["device"] as? String)
        #expect(try next(returned) == "5")
        #expect(try daemon.ctl("audit")["holds"] as? Bool == true)
    }

    @Test("fcm-receiver subscribes to topics and unsubscribes")
    func topics() throws {
        let daemon = try RunningDaemon()
        let device = try device(daemon, try daemon.firstSender.id)
        try device.expect(event: "ready")
        for isEnd in [false, true] {
            try device.command(["do": "topic", "name": "news", "end": isEnd])
            let answer = try device.expect(event: "topic")
            #expect((answer["raw"] as? String)?.hasPrefix("token=") == true, "\(answer)")
        }
    }

    @Test("canary: a message is reported as undecrypted when it was encrypted for other keys")
    func canary() throws {
        let daemon = try RunningDaemon()
        let sender = try daemon.firstSender.id
        let device = try device(daemon, sender)
        let token = try #require(try device.expect(event: "ready")["token"] as? String)
        device.finish()
        let state = daemon.directory.appendingPathComponent("receiver.json")
        let text = try Data(contentsOf: state)
        var known = try #require(try JSONSerialization.jsonObject(with: text) as? [String: Any])
        let keys = try #require(known["keys"] as? [String])
        known["keys"] = [keys[0], Data(repeating: 7, count: 16).base64EncodedString()]
        try JSONSerialization.data(withJSONObject: known).write(to: state)
        try push(daemon, sender, token, "1")
        #expect(try next(try self.device(daemon, sender)) == nil)
    }
}
