import Foundation
import Testing

/// Limits on failed logins: they stop the attacker and no client with a valid secret.
@Suite("Failed logins", .serialized, .enabled(if: TestPaths.hasPython, "run Scripts/bootstrap --tests first"))
struct FailedLoginTests {
    /// Attempts to log in and returns the result.
    private func attempt(_ driver: Driver, _ sender: String, _ key: String, from client: String = "") throws
        -> String
    {
        try driver.write(line: "\(sender) \(key) \(client)")
        return try driver.expect(event: "attempt")["result"] as? String ?? ""
    }

    /// Attempts logins with a wrong key until the result changes; the counts start anew if a minute ends in between.
    private func fail(_ driver: Driver, _ sender: String, from client: String = "") throws -> String {
        for _ in 0..<40 {
            let result = try attempt(driver, sender, "wrong-key-\(sender)", from: client)
            if result != "not-authorized" { return result }
        }
        return "not-authorized"
    }

    private func lines(_ daemon: RunningDaemon, _ word: String) -> Int {
        daemon.words.split(separator: "\n").count {
            $0.contains("event=connection_refused") && $0.contains(word)
        }
    }

    @Test("a sender with its key is never refused, however often others fail with its number at its address")
    func identity() throws {
        let daemon = try RunningDaemon(flags: ["--failed-logins-per-minute", "3"])
        let guessed = try daemon.firstSender
        let other = try daemon.ctl("senders", "add", "--label", "other")
        let id = try #require(other["sender_id"] as? String)
        let key = try #require(other["key"] as? String)
        let driver = try Driver("login_attempts.py", [String(daemon.port("app_server"))])
        for _ in 0..<3 {
            #expect(try fail(driver, guessed.id) == "temporary-auth-failure", "canary: the limit is reached")
            #expect(try attempt(driver, guessed.id, guessed.key) == "success")
        }
        for _ in 0..<20 { _ = try attempt(driver, guessed.id, "wrong") }
        #expect(try attempt(driver, id, key) == "success")
        // The device port is not affected either.
        _ = try TestDevice(daemon, sender: guessed.id)
        #expect((1...3).contains(lines(daemon, "too_many_failures")), "one line a minute: \(daemon.words)")
    }

    @Test("an address that tried many senders may still log in with a key; a reload changes the limit")
    func address() throws {
        let scratch = try Scratch()
        defer { extendLifetime(scratch) }
        let file = scratch.url.appendingPathComponent("ccsd.yaml")
        try "format: 1\nfailed_logins_per_address: 5\n".write(to: file, atomically: true, encoding: .utf8)
        let daemon = try RunningDaemon(flags: ["--config", file.path])
        let made = try daemon.ctl("senders", "add", "--label", "good")
        let sender = try #require(made["sender_id"] as? String)
        let key = try #require(made["key"] as? String)
        let driver = try Driver("login_attempts.py", [String(daemon.port("app_server"))])
        var results: [String] = []
        for number in 1...40 where results.last != "temporary-auth-failure" {
            results.append(try attempt(driver, "9\(number)", "wrong"))
        }
        #expect(results.last == "temporary-auth-failure" && results.count > 5, "\(results)")
        #expect(try attempt(driver, sender, key) == "success", "valid, from the same address")
        let device = try TestDevice(daemon, sender: sender)
        withExtendedLifetime(device) {}
        try "format: 1\nfailed_logins_per_address: 0\n".write(to: file, atomically: true, encoding: .utf8)
        #expect(try daemon.ctl("reload")["changed"] as? [String] == ["failed_logins_per_address"])
        #expect(try attempt(driver, "99", "wrong") == "not-authorized")
    }

    @Test("failed logins count by the address in the PROXY header; other peers cannot send one")
    func header() throws {
        let daemon = try RunningDaemon(
            flags: ["--failed-logins-per-address", "5", "--proxy-protocol-from", "127.0.0.0/8"])
        let sender = try daemon.firstSender
        let driver = try Driver("login_attempts.py", [String(daemon.port("app_server"))])
        #expect(try fail(driver, "77", from: "192.0.2.1") == "temporary-auth-failure")
        #expect(try attempt(driver, "77", "wrong", from: "192.0.2.2") == "not-authorized")
        #expect(try attempt(driver, sender.id, sender.key, from: "192.0.2.2") == "success")
        #expect(daemon.words.contains("peer=192.0.2.1:40000"), "\(daemon.words)")
        #expect(
            try attempt(driver, sender.id, sender.key) == "closed",
            "a connection from a proxy must start with a header")

        let bare = try RunningDaemon()
        let known = try bare.firstSender
        let direct = try Driver("login_attempts.py", [String(bare.port("app_server"))])
        #expect(try attempt(direct, known.id, known.key, from: "192.0.2.2") == "closed")
        #expect(try attempt(direct, known.id, known.key) == "success")
    }

    @Test(
        "peers behind HAProxy appear with their own addresses, and its health checks cause no errors",
        .enabled(if: TestPaths.hasHAProxy, "run Scripts/bootstrap --tests first"),
        arguments: ["send-proxy", "send-proxy-v2"])
    func haproxy(word: String) throws {
        let scratch = try Scratch()
        defer { extendLifetime(scratch) }
        let daemon = try RunningDaemon(
            flags: [
                "--proxy-protocol-from", RunningProxy.address, "--admin-port",
                "\(try RunningDaemon.freePort())",
            ])
        let sender = try daemon.firstSender
        // Connections from other addresses, such as the tests, are served without a header.
        let direct = try TestDevice(daemon, sender: sender.id)
        let proxy = try RunningProxy(before: daemon, sends: word)
        defer { extendLifetime(proxy) }
        let device = try TestDevice(daemon, sender: sender.id)
        let server = try Driver(
            "slixmpp_app_server.py", [String(daemon.port("app_server")), sender.id], secret: sender.key)
        try server.expect(event: "connected")
        try server.send(["to": device.token, "message_id": "m1", "data": ["n": "1"]])
        try device.expectMessage { $0["n"] == "1" }
        try server.send(["to": direct.token, "message_id": "m2", "data": ["n": "2"]])
        try direct.expectMessage { $0["n"] == "2" }
        let sessions = try daemon.ctl("sessions", "list")["sessions"] as? [[String: Any]] ?? []
        let peers = sessions.compactMap { $0["peer"] as? String }
        #expect(peers.count == 3 && peers.allSatisfy { $0.hasPrefix("127.0.0.1:") }, "\(peers)")
        // Health checks have run by now, and none is counted as a failed connection.
        try eventually("HAProxy has run health checks") {
            try !PlainHTTP.get("/metrics", port: UInt16(daemon.port("admin"))).contains(
                "ccs_connections_accepted_total{listener=\"device\"} 2\n")
        }
        let page = try PlainHTTP.get("/metrics", port: UInt16(daemon.port("admin")))
        #expect(page.contains("ccs_connections_closed_total{reason=\"proxy_header\"} 0\n"))
        #expect(!daemon.words.contains("event=connection_refused"), "\(daemon.words)")
    }
}
