import Foundation
import Testing

/// Real app-server libraries against the real daemon, each through the same conversation (ccs-xmpp 7.3).
@Suite(
    "App-server libraries", .serialized,
    .enabled(if: TestPaths.hasPython, "run Scripts/bootstrap --tests first")
)
struct AppServerClientTests {
    static let drivers =
        ["slixmpp_app_server.py", "xmpppy_app_server.py", "aioxmpp_app_server.py"]
        + (TestPaths.hasDebianClients ? ["xmpp4r_app_server.rb", "net_xmpp_app_server.pl"] : [])
        + (Strophe.isInstalled ? [libstrophe] : [])
    private static let libstrophe = "libstrophe"

    private func connect(_ driver: String, _ daemon: RunningDaemon, sender: String, key: String) throws
        -> Driver
    {
        driver == Self.libstrophe
            ? try Strophe.driver(daemon, sender: sender, key: key)
            : try Driver(driver, [String(daemon.port("app_server")), sender], secret: key)
    }

    @Test(
        "a library connects, sends, gets ACK, NACK, receipt and upstream message, and is drained",
        arguments: drivers)
    func wholeConversation(driver: String) throws {
        let daemon = try RunningDaemon()
        let sender = try daemon.firstSender
        let device = try TestDevice(daemon, sender: sender.id)
        let server = try connect(driver, daemon, sender: sender.id, key: sender.key)
        let connected = try server.expect(event: "connected")
        #expect((connected["jid"] as? String)?.hasPrefix("\(sender.id)@gcm.googleapis.com/") == true)

        // Downstream: ACK, then delivery.
        try server.send([
            "to": device.token, "message_id": "m-1", "data": ["hello": "wörld <&>"], "time_to_live": 600,
        ])
        let ack = try server.expectJSON("the ACK") { $0["message_id"] as? String == "m-1" }
        #expect(ack["message_type"] as? String == "ack")
        #expect(ack["from"] as? String == device.token)
        let message = try device.expectMessage { $0["hello"] == "wörld <&>" }
        #expect(message["hello"] == "wörld <&>")

        // NACK for a token that was never issued.
        try server.send(["to": "not-a-token", "message_id": "m-2", "data": ["a": "b"]])
        let nack = try server.expectJSON("the NACK") { $0["message_id"] as? String == "m-2" }
        #expect(nack["message_type"] as? String == "nack")
        #expect(nack["error"] as? String == "BAD_REGISTRATION")
        #expect((nack["error_description"] as? String)?.contains("to") == true)

        // Receipt.
        try server.send([
            "to": device.token, "message_id": "m-3", "data": ["n": "3"], "delivery_receipt_requested": true,
        ])
        try device.expectMessage { $0["n"] == "3" }
        let receipt = try server.expectJSON("the receipt") { $0["message_type"] as? String == "receipt" }
        #expect(receipt["message_id"] as? String == "dr2:m-3")
        let facts = receipt["data"] as? [String: Any]
        #expect(facts?["message_status"] as? String == "MESSAGE_SENT_TO_DEVICE")
        #expect(facts?["original_message_id"] as? String == "m-3")
        try server.send(["to": "gcm.googleapis.com", "message_id": "dr2:m-3", "message_type": "ack"])

        // Upstream: once acknowledged, the message is removed.
        try device.sendUpstream(["temperature": "21"])
        let upstream = try server.expectJSON("the upstream message") {
            $0["category"] != nil && $0["message_type"] == nil
        }
        #expect(upstream["from"] as? String == device.token)
        #expect((upstream["data"] as? [String: String]) == ["temperature": "21"])
        let id = try #require(upstream["message_id"] as? String)
        try server.send(["to": device.token, "message_id": id, "message_type": "ack"])
        try eventually("the upstream message is delivered") {
            let audit = try daemon.ctl("audit")["upstream"] as? [String: Any]
            return audit?["delivered"] as? Int == 1 && audit?["pending"] as? Int == 0
        }

        // Drain.
        daemon.signal(SIGTERM)
        let control = try server.expectJSON("the control message") {
            $0["message_type"] as? String == "control"
        }
        #expect(control["control_type"] as? String == "CONNECTION_DRAINING")
        #expect(try daemon.wait() == 0)
    }

    @Test("a library is refused when its key is wrong", arguments: drivers)
    func wrongKey(driver: String) throws {
        let daemon = try RunningDaemon()
        let sender = try daemon.firstSender
        let server = try connect(driver, daemon, sender: sender.id, key: "not-the-key-of-it")
        try server.expect(event: "refused")
        #expect(try daemon.ctl("status")["app_servers"] as? Int == 0)
    }

    @Test("canary: a library with a valid key is not refused")
    func canary() throws {
        let daemon = try RunningDaemon()
        let sender = try daemon.firstSender
        let server = try Driver(
            Self.drivers[0], [String(daemon.port("app_server_preproduction")), sender.id], secret: sender.key)
        try server.expect(event: "connected")
        #expect(throws: HarnessFailure.self) { try server.expect("nothing", seconds: 0.3) { _ in false } }
    }
}
