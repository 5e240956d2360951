import Foundation
import Testing

/// Planned restarts: which peers are refused, and for how long.
@Suite(
    "Planned restart", .serialized, .enabled(if: TestPaths.hasPython, "run Scripts/bootstrap --tests first"))
struct RestartTests {
    /// An app server with an outstanding ack, which keeps a drain open until `acknowledge` is called.
    private struct PendingAckServer {
        let driver: Driver
        private let ack: [String: Any]

        init(_ daemon: RunningDaemon, _ device: TestDevice, _ sender: (id: String, key: String)) throws {
            driver = try Driver(
                "slixmpp_app_server.py", [String(daemon.port("app_server")), sender.id], secret: sender.key)
            try driver.expect(event: "connected")
            try device.sendUpstream(["n": "1"])
            let message = try driver.expectJSON("an upstream message") { $0["category"] != nil }
            ack = ["to": device.token, "message_id": message["message_id"] ?? "", "message_type": "ack"]
        }

        func acknowledge() throws { try driver.send(ack) }
    }

    /// A deadline beyond the duration of any test.
    private static let endless = ["--shutdown-seconds", "3600"]

    @Test(
        "devices and HTTPS clients are refused only between the last app server's end and the next start"
    )
    func alone() throws {
        let daemon = try RunningDaemon(flags: Self.endless, reactors: 2, graceSeconds: 3_000)
        let sender = try daemon.firstSender
        let resident = try TestDevice(daemon, sender: sender.id)
        let server = try PendingAckServer(daemon, resident, sender)
        let probe = try ConnectionProbe(daemon)
        try probe.expectServed(3)

        daemon.signal(SIGTERM)
        try server.driver.expectJSON("the notice") { $0["control_type"] as? String == "CONNECTION_DRAINING" }
        try probe.expectServed(10)
        try resident.heartbeat()
        #expect(
            try daemon.ctl("status")["state"] as? String == "stopping",
            "the control socket is served during the drain")
        #expect(!PlainHTTP.canConnect(port: UInt16(try daemon.port("app_server"))))
        #expect(daemon.isRunning)
        let lastAck = ConnectionProbe.now
        try server.acknowledge()
        try server.driver.expect(event: "closed")
        #expect(try daemon.wait() == 0, "the daemon does not wait for the whole grace period of 3,000 s")
        try resident.expectClose()

        let next = try RunningDaemon(continuing: daemon.scratch, ports: daemon.ports)
        let started = ConnectionProbe.now
        try probe.expectServed(3)
        let failures = try probe.failures()
        for failure in failures {
            // A connection from just before may have been in progress.
            let at = try #require(failure["at"] as? Double)
            #expect(
                at > lastAck - 1 && at < started, "\(failure), last ack at \(lastAck), start at \(started)")
        }
        #expect(try next.ctl("audit")["holds"] as? Bool == true)
    }

    @Test(
        "a second SIGTERM ends the drain at once, and devices still get Close"
    )
    func hurried() throws {
        let daemon = try RunningDaemon(flags: Self.endless, graceSeconds: 3_000)
        let sender = try daemon.firstSender
        let resident = try TestDevice(daemon, sender: sender.id)
        let server = try PendingAckServer(daemon, resident, sender)
        daemon.signal(SIGTERM)
        try server.driver.expectJSON("the notice") { $0["control_type"] as? String == "CONNECTION_DRAINING" }
        daemon.signal(SIGTERM)
        #expect(try daemon.wait() == 0)
        try resident.expectClose()
        try server.driver.expect(event: "closed")
    }

    @Test("no connection is refused during restarts when systemd holds the sockets")
    func activated() throws {
        let sockets = try ListeningSockets(["app_server", "app_server_preproduction", "device", "https"])
        var daemon = try RunningDaemon(reactors: 2, sockets: sockets.descriptors)
        #expect(daemon.ports == sockets.ports.merging(daemon.ports) { given, _ in given })
        let port = try #require(sockets.ports["device"])
        #expect(
            daemon.words.contains("device on 127.0.0.1:\(port)"),
            "the log has the actual address of the listener")
        let sender = try daemon.firstSender
        let resident = try TestDevice(daemon, sender: sender.id)
        let probe = try ConnectionProbe(daemon)
        for _ in 0..<3 {
            let server = try PendingAckServer(daemon, resident, sender)
            try probe.expectServed(3)
            daemon.signal(SIGTERM)
            try server.driver.expectJSON("the notice") {
                $0["control_type"] as? String == "CONNECTION_DRAINING"
            }
            // A connection from now on waits in the socket for the next process.
            let early = try Driver(
                "slixmpp_app_server.py", [String(daemon.port("app_server")), sender.id], secret: sender.key)
            try server.acknowledge()
            #expect(try daemon.wait() == 0)
            daemon = try RunningDaemon(
                continuing: daemon.scratch, reactors: 2, sockets: sockets.descriptors)
            try early.expect(event: "connected")
            try probe.expectServed(3)
            early.drop()
            try resident.start(daemon)
        }
        let failures = try probe.failures()
        #expect(failures.isEmpty, "\(failures)")
    }

    @Test(
        "a start with a wrong configuration delays its exit only when systemd holds the sockets"
    )
    func refusedStart() throws {
        let scratch = try Scratch()
        let file = scratch.url.appendingPathComponent("ccsd.yaml").path
        try "format: 1\nlog_level: loud\n".write(toFile: file, atomically: true, encoding: .utf8)
        let ccsd = TestPaths.programs.appendingPathComponent("ccsd").path
        let start = Date()
        let alone = try Tool.run("ccsd", ["--config", file])
        #expect(alone.code == 78 && alone.errors.contains("log_level"))
        let quick = Date().timeIntervalSince(start)
        let again = Date()
        let given = try Tool.run(
            URL(fileURLWithPath: "/bin/sh"),
            ["-c", "LISTEN_FDS=1 LISTEN_PID=$$ exec \(ccsd) --config \(file)"])
        #expect(given.code == 78 && given.errors.contains("log_level"))
        #expect(Date().timeIntervalSince(again) >= 5, "\(quick)")
    }

    @Test("canary: a refused client is reported")
    func canary() throws {
        let daemon = try RunningDaemon()
        let probe = try ConnectionProbe(daemon)
        try probe.expectServed(1)
        daemon.signal(SIGKILL)
        _ = try daemon.wait()
        try probe.driver.expect("a refused device") {
            $0["event"] as? String == "failed" && $0["kind"] as? String == "device"
        }
    }
}

/// Listening sockets that stay open across restarts of the daemon, as with socket activation of systemd.
final class ListeningSockets {
    let descriptors: [String: Int32]
    let ports: [String: Int]

    init(_ names: [String]) throws {
        var descriptors: [String: Int32] = [:]
        var ports: [String: Int] = [:]
        for name in names {
            let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isOpen = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(number, $0, length) == 0 && listen(number, 4_096) == 0
                        && getsockname(number, $0, &length) == 0
                }
            }
            guard isOpen else { throw HarnessFailure("cannot listen for \(name): \(errno)") }
            descriptors[name] = number
            ports[name] = Int(UInt16(bigEndian: address.sin_port))
        }
        (self.descriptors, self.ports) = (descriptors, ports)
    }

    deinit { for number in descriptors.values { close(number) } }
}
