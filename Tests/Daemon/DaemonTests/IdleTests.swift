import Foundation
import Testing

/// Idle devices on the real daemon (mcs-device 3.5).
@Suite("Idle devices", .serialized, .enabled(if: TestPaths.hasPython, "run Scripts/bootstrap --tests first"))
struct IdleTests {
    private func appServer(_ daemon: RunningDaemon, _ sender: (id: String, key: String)) throws -> Driver {
        let server = try Driver(
            "slixmpp_app_server.py", [String(daemon.port("app_server")), sender.id], secret: sender.key)
        try server.expect(event: "connected")
        return server
    }

    private func send(
        _ server: Driver, _ id: String, to device: TestDevice, delays: Bool, key: String? = nil,
        lifetime: Int = 600
    ) throws {
        var message: [String: Any] = [
            "to": device.token, "message_id": id, "delay_while_idle": delays, "time_to_live": lifetime,
            "data": ["n": id],
        ]
        message["collapse_key"] = key
        try server.send(message)
        let answer = try server.expectJSON("the answer to \(id)") { $0["message_id"] as? String == id }
        #expect(answer["message_type"] as? String == "ack", "\(answer)")
    }

    @Test(
        "a delay_while_idle message waits while the device is idle, also over a restart; others do not"
    )
    func delayed() throws {
        let flags = ["--idle-notifications"]
        let daemon = try RunningDaemon(flags: flags)
        let sender = try daemon.firstSender
        let device = try TestDevice(daemon, sender: sender.id)
        let server = try appServer(daemon, sender)
        try send(server, "1", to: device, delays: true)
        try device.expectMessage { $0["n"] == "1" }

        try device.setIdle(true)
        try send(server, "2", to: device, delays: true)
        try send(server, "3", to: device, delays: true, key: "score")
        try send(server, "4", to: device, delays: true, key: "score")
        try send(server, "5", to: device, delays: true, lifetime: 0)
        try send(server, "6", to: device, delays: false)
        #expect(
            try device.expectMessage { _ in true }["n"] == "6",
            "the message without delay_while_idle overtakes the others")

        daemon.signal(SIGKILL)
        _ = try daemon.wait()
        let again = try RunningDaemon(continuing: daemon.scratch, flags: flags)
        try device.start(again)
        try send(try appServer(again, sender), "7", to: device, delays: false)
        // A message that was unacknowledged before the kill may be repeated.
        while try device.expectMessage({ _ in true })["n"] == "6" {}
        #expect(throws: HarnessFailure.self) { try device.expectMessage(seconds: 1) { _ in true } }

        try device.setIdle(false)
        let seen = try (0..<2).map { _ in try device.expectMessage { _ in true }["n"] }
        #expect(seen == ["2", "4"])
        #expect(throws: HarnessFailure.self) { try device.expectMessage(seconds: 1) { _ in true } }
        #expect(try again.ctl("audit")["holds"] as? Bool == true)
    }

    @Test("canary: a delay_while_idle message is sent at once when idle_notifications is off")
    func canary() throws {
        let daemon = try RunningDaemon()
        let sender = try daemon.firstSender
        let device = try TestDevice(daemon, sender: sender.id)
        let server = try appServer(daemon, sender)
        try device.setIdle(true)
        try send(server, "1", to: device, delays: true)
        try device.expectMessage { $0["n"] == "1" }
    }
}
