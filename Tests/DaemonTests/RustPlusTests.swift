import Foundation
import Testing

/// rustPlusPushReceiver 0.6, an Android-type device library, unchanged, with its host names redirected (mcs-device 6).
@Suite(
    "rustPlusPushReceiver", .serialized, .enabled(if: Places.hasPython, "run Scripts/bootstrap --tests first")
)
struct RustPlusTests {
    private func environment(_ daemon: RunningDaemon) throws -> [String: String] {
        [
            "PYTHONPATH": Places.clients.appendingPathComponent("hostmap").path + ":" + Places.clients.path,
            "CCS_HTTPS_PORT": String(try daemon.port("https")),
            "CCS_DEVICE_PORT": String(try daemon.port("device")),
            "REQUESTS_CA_BUNDLE": daemon.authority, "SSL_CERT_FILE": daemon.authority,
        ]
    }

    @Test("registers, receives from slixmpp, and receives after its return what was stored meanwhile")
    func wholeLife() throws {
        let daemon = try RunningDaemon()
        let sender = try daemon.firstSender
        let state = daemon.directory.appendingPathComponent("rust-plus.json").path
        let registration = try Driver(
            "rust_plus_device.py", ["register", state, sender.id], environment: environment(daemon))
        let token = try #require(try registration.expect(event: "registered")["token"] as? String)
        registration.finish()

        let server = try Driver(
            "slixmpp_app_server.py", [String(daemon.port("app_server")), sender.id], secret: sender.key)
        try server.expect(event: "connected")
        let device = try Driver("rust_plus_device.py", ["listen", state], environment: environment(daemon))
        try device.expect(event: "listening")
        try server.send(["to": token, "message_id": "first", "data": ["channelId": "team", "n": "1"]])
        try server.expectJSON("the ACK") { $0["message_id"] as? String == "first" }
        let first = try device.expect(event: "message")
        #expect((first["data"] as? [String: String])?["n"] == "1")
        device.drop()

        try server.send(["to": token, "message_id": "second", "data": ["n": "2"]])
        try server.expectJSON("the ACK") { $0["message_id"] as? String == "second" }
        let returned = try Driver("rust_plus_device.py", ["listen", state], environment: environment(daemon))
        let second = try returned.expect(event: "message")
        #expect((second["data"] as? [String: String])?["n"] == "2")
        #expect(second["persistent_id"] as? String != first["persistent_id"] as? String)
    }

    @Test("canary: without the redirection it does not reach us")
    func canary() throws {
        let daemon = try RunningDaemon()
        let state = daemon.directory.appendingPathComponent("nothing.json").path
        var wrong = try environment(daemon)
        wrong["CCS_HTTPS_PORT"] = "1"
        let registration = try Driver("rust_plus_device.py", ["register", state, "1"], environment: wrong)
        #expect(throws: HarnessFailure.self) { try registration.expect(event: "registered", seconds: 5) }
    }
}
