import Client
import ClientProtocol
import Foundation
import Testing
import Transport

/// Tokens with several senders and replaced tokens, on the real daemon.
@Suite("Registrations", .serialized, .enabled(if: TestPaths.hasPython, "run Scripts/bootstrap --tests first"))
struct RegistrationTests {
    private func answer(
        _ daemon: RunningDaemon, _ sender: (id: String, key: String), _ id: String, to device: TestDevice
    ) throws -> [String: Any] {
        let server = try Driver(
            "slixmpp_app_server.py", [String(daemon.port("app_server")), sender.id], secret: sender.key)
        try server.expect(event: "connected")
        try server.send(["to": device.token, "message_id": id, "data": ["id": id]])
        return try server.expectJSON("the answer to \(id)") { $0["message_id"] as? String == id }
    }

    private func add(_ daemon: RunningDaemon) throws -> (id: String, key: String) {
        let made = try daemon.ctl("senders", "add")
        return (try #require(made["sender_id"] as? String), try #require(made["key"] as? String))
    }

    @Test("each sender of a token reaches the device, also after kill -9; canary: another sender does not")
    func reach() throws {
        let daemon = try RunningDaemon()
        let first = try daemon.firstSender
        let (second, outsider) = (try add(daemon), try add(daemon))
        let device = try TestDevice(daemon, sender: "\(first.id),\(second.id)")
        #expect(try answer(daemon, first, "a", to: device)["message_type"] as? String == "ack")
        #expect(try answer(daemon, second, "b", to: device)["message_type"] as? String == "ack")
        #expect(try answer(daemon, outsider, "c", to: device)["error"] as? String == "BAD_REGISTRATION")
        for id in ["a", "b"] { #expect(try device.expectMessage { _ in true }["id"] == id) }
        daemon.signal(SIGKILL)
        #expect(try daemon.wait() == -SIGKILL)
        let next = try RunningDaemon(continuing: daemon.scratch)
        try device.start(next)
        #expect(try answer(next, second, "d", to: device)["message_type"] as? String == "ack")
        #expect(try device.expectMessage { $0["id"] == "d" }["id"] == "d")
    }

    @Test("a message to a replaced token is delivered, and its ACK has the new token in registration_id")
    func canonical() throws {
        let daemon = try RunningDaemon()
        let sender = try daemon.firstSender
        let reactor = try Reactor(index: 0)
        let endpoint = try Endpoint(
            host: "127.0.0.1", port: UInt16(daemon.port("https")),
            tls: TLSClientSettings(trust: .file(daemon.authority)))
        var app = DeviceCalls.App(category: "com.example.app", sender: sender.id)
        app.instance = "one"
        let old = try DeviceEnrolment.run(nil, app, reactor: reactor, endpoint: endpoint)
        app.instance = "two"
        let new = try DeviceEnrolment.run(old.identity, app, reactor: reactor, endpoint: endpoint)
        #expect(old.token != new.token)
        let server = try Driver(
            "slixmpp_app_server.py", [String(daemon.port("app_server")), sender.id], secret: sender.key)
        try server.expect(event: "connected")
        for (id, token) in [("to-old", old.token), ("to-new", new.token)] {
            try server.send(["to": token, "message_id": id, "data": ["id": id]])
            let ack = try server.expectJSON("the ACK of \(id)") { $0["message_id"] as? String == id }
            #expect(ack["message_type"] as? String == "ack" && ack["from"] as? String == token)
            #expect(ack["registration_id"] as? String == (id == "to-old" ? new.token : nil))
            let sent = try daemon.ctl("send", sender.id, token, "id=\(id)")
            #expect(sent["registration_id"] as? String == (id == "to-old" ? new.token : nil))
        }
    }
}
