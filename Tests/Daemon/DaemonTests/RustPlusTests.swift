import Foundation
import Testing

/// rustPlusPushReceiver 0.6, a library that acts as an Android device, unmodified, with its host names redirected (mcs-device 6).
@Suite(
    "rustPlusPushReceiver", .serialized,
    .enabled(if: TestPaths.hasPython, "run Scripts/bootstrap --tests first")
)
struct RustPlusTests {
    @Test("rustPlusPushReceiver registers, receives, and gets stored messages when it reconnects")
    func wholeLife() throws {
        let daemon = try RunningDaemon()
        let sender = try daemon.firstSender
        let state = daemon.directory.appendingPathComponent("rust-plus.json").path
        let registration = try Driver(
            "rust_plus_device.py", ["register", state, sender.id], environment: daemon.hostMap())
        let token = try #require(try registration.expect(event: "registered")["token"] as? String)
        registration.finish()

        let server = try Driver(
            "slixmpp_app_server.py", [String(daemon.port("app_server")), sender.id], secret: sender.key)
        try server.expect(event: "connected")
        let device = try Driver("rust_plus_device.py", ["listen", state], environment: daemon.hostMap())
        try device.expect(event: "listening")
        try server.send(["to": token, "message_id": "first", "data": ["channelId": "team", "n": "1"]])
        try server.expectJSON("the ACK") { $0["message_id"] as? String == "first" }
        let first = try device.expect(event: "message")
        #expect((first["data"] as? [String: String])?["n"] == "1")
        device.drop()

        // The library polls its socket and misses frames that TLS has buffered: it would not see all frames of one record.
        for n in 2...5 {
            try server.send(["to": token, "message_id": "away-\(n)", "data": ["n": "\(n)"]])
            try server.expectJSON("the ACK") { $0["message_id"] as? String == "away-\(n)" }
        }
        let returned = try Driver("rust_plus_device.py", ["listen", state], environment: daemon.hostMap())
        for n in 2...5 {
            let waited = try returned.expect(event: "message")
            #expect((waited["data"] as? [String: String])?["n"] == "\(n)")
            #expect(waited["persistent_id"] as? String != first["persistent_id"] as? String)
        }
    }

    @Test("canary: the library does not reach the daemon when its host names are not redirected")
    func canary() throws {
        let daemon = try RunningDaemon()
        let state = daemon.directory.appendingPathComponent("nothing.json").path
        let registration = try Driver(
            "rust_plus_device.py", ["register", state, "1"], environment: daemon.hostMap(httpsPort: 1))
        #expect(throws: HarnessFailure.self) { try registration.expect(event: "registered", seconds: 5) }
    }
}
