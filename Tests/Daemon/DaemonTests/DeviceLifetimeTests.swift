import Client
import ClientProtocol
import Foundation
import Testing
import Transport

/// Expired devices, uninstalled apps, and their display to an operator, on the real daemon.
@Suite("Lifetime of devices", .serialized)
struct DeviceLifetimeTests {
    /// Sends one message with ccsctl. Returns the error code, or `nil` for an ACK.
    private func send(_ daemon: RunningDaemon, to token: String) throws -> String? {
        let tool = try Tool.run(
            "ccsctl",
            ["--socket", daemon.controlSocket, "--json", "send", try daemon.firstSender.id, token, "a=b"])
        guard let answer = tool.object else { throw HarnessFailure("\(tool)") }
        return answer["error"] as? String
    }

    @Test("a device expires with its messages when it is offline for too long, also after a restart")
    func expires() throws {
        let flags = ["--device-expiry-seconds", "8"]
        let daemon = try RunningDaemon(flags: flags, reactors: 2)
        let sender = try daemon.firstSender.id
        let gone = try TestDevice(daemon, sender: sender)
        let stays = try TestDevice(daemon, sender: sender)
        gone.stop()
        #expect(try send(daemon, to: gone.token) == nil)
        // Not asked by sending: a hundred messages later the one above would be discarded.
        try eventually("the device is gone", seconds: Patience.seconds) {
            try daemon.ctl("audit")["devices"] as? Int == 1
        }
        #expect(try send(daemon, to: gone.token) == "DEVICE_UNREGISTERED")
        #expect(try send(daemon, to: stays.token) == nil, "a device that stays connected does not expire")
        let audit = try daemon.ctl("audit")
        #expect(audit["holds"] as? Bool == true && audit["devices"] as? Int == 1)
        #expect((audit["downstream"] as? [String: Any])?["removed"] as? Int == 1)
        #expect(daemon.words.contains("event=devices_expired"))
        stays.stop()
        daemon.signal(SIGTERM)
        #expect(try daemon.wait() == 0)
        // No device reconnects: the next process expires it from the store alone.
        let next = try RunningDaemon(continuing: daemon.scratch, flags: flags, reactors: 2)
        try eventually("no device is left", seconds: Patience.seconds) {
            try next.ctl("audit")["devices"] as? Int == 0
        }
    }

    @Test("a send fails when the app was uninstalled; canary: another app of the device still gets messages")
    func uninstalled() throws {
        let daemon = try RunningDaemon()
        let sender = try daemon.firstSender.id
        let reactor = try Reactor(index: 0)
        let endpoint = try Endpoint(
            host: "127.0.0.1", port: UInt16(daemon.port("https")),
            tls: TLSClientSettings(trust: .file(daemon.authority)))
        let app = DeviceCalls.App(category: "com.example.gone", sender: sender)
        let first = try DeviceEnrolment.run(nil, app, reactor: reactor, endpoint: endpoint)
        let other = try DeviceEnrolment.run(
            first.identity, DeviceCalls.App(category: "com.example.stays", sender: sender), reactor: reactor,
            endpoint: endpoint)
        #expect(try send(daemon, to: first.token) == nil)
        // Android reports a removed package by its name alone.
        let client = HTTPClient(reactor: reactor, endpoint: endpoint)
        let call = DeviceCalls.unregister(
            DeviceCalls.App(category: "com.example.gone", sender: ""), first.identity)
        #expect(try DeviceCalls.unregistered(try client.answer(to: call)) == "com.example.gone")
        client.close()
        #expect(try send(daemon, to: first.token) == "DEVICE_UNREGISTERED")
        #expect(try send(daemon, to: other.token) == nil)
        let audit = try daemon.ctl("audit")
        #expect((audit["downstream"] as? [String: Any])?["removed"] as? Int == 1)
        #expect(audit["holds"] as? Bool == true)
    }

    @Test("devices show and list print a device and its messages; forget removes them")
    func shown() throws {
        let daemon = try RunningDaemon()
        let sender = try daemon.firstSender.id
        let device = try TestDevice(daemon, sender: sender)
        let online = try daemon.ctl("devices", "show", device.token)
        let number = try #require(online["device"] as? String)
        #expect(online["online"] as? Bool == true && online["expires_at"] == nil)
        #expect((online["connection"] as? [String: Any])?["peer"] as? String != nil)
        device.stop()
        for text in ["one", "two"] { _ = try daemon.ctl("send", sender, device.token, "text=\(text)") }
        let away = try daemon.ctl("devices", "show", number)
        let row = (away["registrations"] as? [[String: Any]])?.first
        #expect(row?["category"] as? String == "com.example.app" && row?["kind"] as? String == "app")
        #expect(row?["sender_id"] as? String == sender && row?["waiting"] as? Int == 2)
        #expect((away["mailbox"] as? [String: Any])?["messages"] as? Int == 2)
        #expect(away["online"] as? Bool == false && away["expires_at"] is String)
        let others = try (0..<2).map { _ in try TestDevice(daemon, sender: sender) }
        let first = try daemon.ctl("devices", "list", "--limit", "2")
        let last = try #require(first["next_after"] as? String)
        let rest = try daemon.ctl("devices", "list", "--limit", "2", "--after", last)
        let listed = [first, rest].flatMap { $0["devices"] as? [[String: Any]] ?? [] }
        #expect(listed.count == 3 && rest["next_after"] == nil && others.count == 2)
        let forgotten = try daemon.ctl("devices", "forget", number, "--yes")
        #expect(forgotten["messages"] as? Int == 2 && forgotten["registrations"] as? Int == 1)
        #expect(try send(daemon, to: device.token) == "DEVICE_UNREGISTERED")
        let unknown = try Tool.run(
            "ccsctl", ["--socket", daemon.controlSocket, "devices", "show", number])
        #expect(unknown.code == 1 && unknown.errors.contains("unknown device"))
    }

    @Test("a trace prints each step in both directions without any payload, and ends when its time is over")
    func trace() throws {
        let daemon = try RunningDaemon(reactors: 2)
        let sender = try daemon.firstSender
        let device = try TestDevice(daemon, sender: sender.id)
        device.stop()
        let process = ChildProcess()
        let output = Pipe()
        process.executableURL = TestPaths.programs.appendingPathComponent("ccsctl")
        process.arguments = [
            "--socket", daemon.controlSocket, "--json", "devices", "trace", device.token, "--seconds", "15",
        ]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let lines = Lines(output.fileHandleForReading)
        #expect(lines.next(seconds: Patience.seconds)?.contains("tracing") == true)
        _ = try daemon.ctl("send", sender.id, device.token, "text=hush-hush")
        try device.start(daemon)
        try device.expectMessage { $0["text"] == "hush-hush" }
        try device.sendUpstream(["text": "hush-hush"])
        device.stop()
        let printed = lines.rest(seconds: Patience.seconds)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        let steps = printed.compactMap { line -> String? in
            let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            guard let row = object?["trace"] as? [String: Any], let step = row["step"] as? String,
                let direction = row["direction"] as? String
            else { return nil }
            return "\(direction) \(step)"
        }
        // The device acknowledges with its upstream message, so the two directions interleave freely.
        func path(_ direction: String) -> [String] { steps.filter { $0.hasPrefix(direction + " ") } }
        #expect(
            path("downstream") == [
                "downstream stored", "downstream accepted", "downstream sent", "downstream acknowledged",
                "downstream delivered",
            ], "\(printed)")
        #expect(
            path("upstream") == ["upstream received", "upstream stored", "upstream accepted"], "\(printed)")
        #expect(
            path("connection") == ["connection connected", "connection disconnected"], "\(printed)")
        let connected = try #require(steps.firstIndex(of: "connection connected"))
        let sent = try #require(steps.firstIndex(of: "downstream sent"))
        #expect(connected < sent, "\(printed)")
        #expect(printed.last?.contains("\"lines\":10") == true)
        for secret in ["hush-hush", sender.key, device.token] {
            #expect(!printed.contains { $0.contains(secret) })
        }
    }

    @Test("a trace ends when its reader disconnects")
    func abandoned() throws {
        let daemon = try RunningDaemon()
        let device = try TestDevice(daemon, sender: try daemon.firstSender.id)
        let process = ChildProcess()
        let output = Pipe()
        process.executableURL = TestPaths.programs.appendingPathComponent("ccsctl")
        process.arguments = [
            "--socket", daemon.controlSocket, "--json", "devices", "trace", device.token, "--seconds", "3600",
        ]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        #expect(
            Lines(output.fileHandleForReading).next(seconds: Patience.seconds)?.contains("tracing") == true)
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        daemon.signal(SIGTERM)
        #expect(try daemon.wait() == 0, "no thread waits until the trace would have ended")
    }
}
