import Foundation
import Testing

/// `ccsctl drain` of one connection, one sender or all app servers.
@Suite("Drain", .serialized, .enabled(if: TestPaths.hasPython, "run Scripts/bootstrap --tests first"))
struct DrainTests {
    /// A `ccsctl drain` that runs in parallel with the test.
    private final class Drain {
        private let process = ChildProcess()
        private let output = Pipe()

        init(_ daemon: RunningDaemon, _ options: [String]) throws {
            process.executableURL = TestPaths.programs.appendingPathComponent("ccsctl")
            process.arguments = ["--socket", daemon.controlSocket, "--json", "drain", "--yes"] + options
            process.standardOutput = output
            try process.run()
        }

        /// Waits for the end and returns the number of drained sessions that it printed.
        func sessions() throws -> Int? {
            process.waitUntilExit()
            let data = output.fileHandleForReading.readDataToEndOfFile()
            let object = (try? JSONSerialization.jsonObject(with: data)) as? [String: Any]
            return object?["sessions"] as? Int
        }
    }

    private func connect(_ daemon: RunningDaemon, _ sender: (id: String, key: String)) throws -> Driver {
        let server = try Driver(
            "slixmpp_app_server.py", [String(daemon.port("app_server")), sender.id], secret: sender.key)
        try server.expect(event: "connected")
        return server
    }

    /// Sends a message and returns the answer.
    private func answer(_ server: Driver, _ id: String, to device: TestDevice) throws -> [String: Any] {
        try server.send(["to": device.token, "message_id": id, "data": ["id": id]])
        return try server.expectJSON("the answer to \(id)") { $0["message_id"] as? String == id }
    }

    private func appServers(_ daemon: RunningDaemon) throws -> [[String: Any]] {
        let sessions = try daemon.ctl("sessions", "list")["sessions"] as? [[String: Any]] ?? []
        return sessions.filter { $0["kind"] as? String == "app_server" }
    }

    @Test(
        "a drained connection gets notice and NACKs, may still ack, and closes; upstream moves to the other"
    )
    func oneConnection() throws {
        let daemon = try RunningDaemon(graceSeconds: 600)
        let sender = try daemon.firstSender
        let device = try TestDevice(daemon, sender: sender.id)
        let old = try connect(daemon, sender)
        let id = try #require(try appServers(daemon).first?["id"] as? String)
        try device.sendUpstream(["n": "1"])
        let first = try old.expectJSON("the first upstream message") { $0["category"] != nil }
        let new = try connect(daemon, sender)

        let drain = try Drain(daemon, ["--session", id])
        try old.expectJSON("the notice") { $0["control_type"] as? String == "CONNECTION_DRAINING" }
        let refused = try answer(old, "late", to: device)
        #expect(refused["message_type"] as? String == "nack")
        #expect(refused["error"] as? String == "CONNECTION_DRAINING")
        #expect(try answer(new, "next", to: device)["message_type"] as? String == "ack")
        #expect(try daemon.ctl("status")["state"] as? String == "serving")
        try device.sendUpstream(["n": "2"])
        let second = try new.expectJSON("the second upstream message") { $0["category"] != nil }
        #expect((second["data"] as? [String: String]) == ["n": "2"])
        try old.send(["to": device.token, "message_id": first["message_id"] ?? "", "message_type": "ack"])
        try new.send(["to": device.token, "message_id": second["message_id"] ?? "", "message_type": "ack"])
        try eventually("both upstream messages are delivered") {
            (try daemon.ctl("audit")["upstream"] as? [String: Any])?["pending"] as? Int == 0
        }
        try old.expect(event: "closed")
        #expect(try drain.sessions() == 1)
        #expect(try appServers(daemon).count == 1, "the other connection stays")
        #expect(try answer(new, "after", to: device)["message_type"] as? String == "ack")
    }

    @Test(
        "draining a sender closes its open connections; new ones and those of other senders stay"
    )
    func oneSender() throws {
        let daemon = try RunningDaemon(graceSeconds: 3)
        let sender = try daemon.firstSender
        let made = try daemon.ctl("senders", "add", "--label", "other")
        let other = (
            id: try #require(made["sender_id"] as? String), key: try #require(made["key"] as? String)
        )
        let device = try TestDevice(daemon, sender: sender.id)
        let old = try connect(daemon, sender)
        let bystander = try connect(daemon, other)

        let drain = try Drain(daemon, ["--sender", sender.id])
        try old.expectJSON("the notice") { $0["control_type"] as? String == "CONNECTION_DRAINING" }
        let new = try connect(daemon, sender)
        try device.sendUpstream(["n": "1"])
        let message = try new.expectJSON("upstream on the new connection") { $0["category"] != nil }
        try new.send(["to": device.token, "message_id": message["message_id"] ?? "", "message_type": "ack"])
        #expect(try answer(new, "m", to: device)["message_type"] as? String == "ack")
        try old.expect(event: "closed")
        #expect(try drain.sessions() == 1)
        #expect(throws: HarnessFailure.self) {
            try bystander.expectJSON("a notice", seconds: 0.3) { $0["control_type"] != nil }
        }
        #expect(
            try appServers(daemon).compactMap { $0["sender_id"] as? String }.sorted()
                == [sender.id, other.id].sorted())
    }

    @Test(
        "a drained connection closes before the grace period ends, when it has no ack outstanding"
    )
    func grace() throws {
        let daemon = try RunningDaemon(graceSeconds: 600)
        let sender = try daemon.firstSender
        let device = try TestDevice(daemon, sender: sender.id)
        let pending = try connect(daemon, sender)
        try device.sendUpstream(["n": "1"])
        let message = try pending.expectJSON("an upstream message") { $0["category"] != nil }
        let idle = try connect(daemon, sender)
        let drain = try Drain(daemon, ["--sender", sender.id])
        try idle.expect(event: "closed")
        #expect(throws: HarnessFailure.self) { try pending.expect(event: "closed", seconds: 1) }
        #expect(try answer(pending, "late", to: device)["error"] as? String == "CONNECTION_DRAINING")
        let ack = ["to": device.token, "message_id": message["message_id"] ?? "", "message_type": "ack"]
        try pending.send(ack)
        try pending.expect(event: "closed")
        #expect(try drain.sessions() == 2)
        #expect(
            (try daemon.ctl("audit")["upstream"] as? [String: Any])?["delivered"] as? Int == 1,
            "no redelivery")
    }

    @Test("devices stay connected when all app servers are drained")
    func everyone() throws {
        let daemon = try RunningDaemon(graceSeconds: 600)
        let sender = try daemon.firstSender
        let device = try TestDevice(daemon, sender: sender.id)
        let old = try connect(daemon, sender)
        // An outstanding ack keeps the drain open until the test sends it.
        try device.sendUpstream(["n": "1"])
        let owed = try old.expectJSON("an upstream message") { $0["category"] != nil }
        let drain = try Drain(daemon, [])
        try old.expectJSON("the notice") { $0["control_type"] as? String == "CONNECTION_DRAINING" }
        #expect(try daemon.ctl("status")["state"] as? String == "draining")
        try old.send(["to": device.token, "message_id": owed["message_id"] ?? "", "message_type": "ack"])
        try old.expect(event: "closed")
        #expect(try drain.sessions() == 1)
        let status = try daemon.ctl("status")
        #expect(status["state"] as? String == "serving")
        #expect(status["devices"] as? Int == 1)
        let new = try connect(daemon, sender)
        #expect(try answer(new, "m", to: device)["message_type"] as? String == "ack")
    }

    @Test("a drain that holds disconnects all clients, serves none until it is released, and loses nothing")
    func hold() throws {
        let daemon = try RunningDaemon(reactors: 2, graceSeconds: 600)
        let sender = try daemon.firstSender
        let device = try TestDevice(daemon, sender: sender.id)
        let server = try connect(daemon, sender)
        // An outstanding ack keeps the drain open until the test sends it.
        try device.sendUpstream(["n": "1"])
        let owed = try server.expectJSON("an upstream message") { $0["category"] != nil }
        let drain = try Drain(daemon, ["--hold"])
        try server.expectJSON("the notice") { $0["control_type"] as? String == "CONNECTION_DRAINING" }
        #expect(try daemon.ctl("status")["state"] as? String == "draining")
        try server.send(["to": device.token, "message_id": owed["message_id"] ?? "", "message_type": "ack"])
        try server.expect(event: "closed")
        #expect(try drain.sessions() == 1)

        let status = try daemon.ctl("status")
        #expect(status["state"] as? String == "drained")
        #expect(status["devices"] as? Int == 0 && status["app_servers"] as? Int == 0)
        let health = try Tool.run("ccsctl", ["--socket", daemon.controlSocket, "health"])
        #expect(health.code == 11 && health.output.contains("ccsctl drain --release"), "\(health)")
        func accepted() throws -> Int {
            let connections = try daemon.ctl("status")["connections"] as? [String: Any]
            return try #require(connections?["accepted"] as? Int)
        }
        let before = try accepted()
        for name in ["app_server", "device", "https"] {
            let port = UInt16(try daemon.port(name))
            #expect(PlainHTTP.canConnect(port: port), "the system completes it")
        }
        #expect(try accepted() == before + 1, "ccsd accepts only that of the status itself")

        #expect(try daemon.ctl("drain", "--release")["state"] as? String == "serving")
        let new = try connect(daemon, sender)
        try device.start(daemon)
        #expect(try answer(new, "m", to: device)["message_type"] as? String == "ack")
        let upstream = try daemon.ctl("audit")["upstream"] as? [String: Any]
        #expect(upstream?["pending"] as? Int == 0)
        let both = try Tool.run(
            "ccsctl", ["--socket", daemon.controlSocket, "drain", "--hold", "--release"])
        #expect(both.code == 64 && both.errors.contains("exclude each other"), "\(both)")
    }

    @Test("canary: drain refuses an unknown session with a hint and drains no session")
    func canary() throws {
        let daemon = try RunningDaemon()
        let server = try connect(daemon, try daemon.firstSender)
        for options in [["--session", "0-999"], ["--sender", "424242"]] {
            let result = try Tool.run(
                "ccsctl", ["--socket", daemon.controlSocket, "drain", "--yes"] + options)
            #expect(result.code == 1 && result.errors.contains("ccsctl s"), "\(result)")
        }
        let both = try Tool.run(
            "ccsctl", ["--socket", daemon.controlSocket, "drain", "--session", "0-1", "--sender", "1"])
        #expect(both.code == 64)
        let malformed = try Tool.run(
            "ccsctl", ["--socket", daemon.controlSocket, "drain", "--session", "x"])
        #expect(malformed.code == 64 && malformed.errors.contains("see sessions list"), "\(malformed)")
        let left = try appServers(daemon).count
        #expect(left == 1)
        server.finish()
    }
}
