import Foundation
import Testing

/// What operators see of the way to Apple.
@Suite(
    "APNs operators", .serialized, .enabled(if: TestPaths.hasPython, "run Scripts/bootstrap --tests first"))
struct APNsOperatorTests {
    private func states(_ bench: AppleBench) throws -> [String: [String: Any]] {
        let list = try bench.daemon.ctl("apns", "list")
        #expect(list["problem"] == nil, "\(list)")
        let states = try #require(list["states"] as? [[String: Any]])
        return Dictionary(states.map { ($0["environment"] as? String ?? "", $0) }) { first, _ in first }
    }

    @Test("ccsctl apns list shows what Apple thinks of a credential in each environment")
    func health() throws {
        let bench = try AppleBench()
        let tokens = try bench.register(["00", "3403"].map { AppleBench.deviceToken($0) })
        let before = try states(bench).mapValues { $0["health"] as? String }
        #expect(before == ["production": "unused", "sandbox": "unused"])
        #expect(try bench.send(tokens[0]).messageID != nil)
        let accepted = try #require(try states(bench)["production"])
        #expect(accepted["health"] as? String == "accepted")
        #expect(accepted["credential"] as? String == AppleMock.key)
        #expect(accepted["connections"] as? Int == 1 && accepted["token_age_seconds"] is Int)
        #expect(try bench.send(tokens[1]).word == "InvalidApnsCredential")
        let refused = try #require(try states(bench)["production"])
        #expect(refused["health"] as? String == "refused" && refused["status"] as? Int == 403)
        #expect(refused["reason"] as? String == "Forbidden")
        #expect(try states(bench)["sandbox"]?["health"] as? String == "unused")
        let text = try Tool.run("ccsctl", ["--socket", bench.daemon.controlSocket, "apns", "list"])
        #expect(text.code == 0 && text.output.contains("refused: 403 Forbidden\n"), "\(text)")
        #expect(text.output.contains("unused\n"), "\(text)")
    }

    @Test("ccsctl apns list names the topics that Apple refuses, and the days left of a certificate")
    func topics() throws {
        let bench = try AppleBench(hasKey: false)
        let password = bench.daemon.directory.appendingPathComponent("password.txt")
        try Data("secret\n".utf8).write(to: password)
        _ = try bench.daemon.ctl(
            "apns", "add", bench.apple.file("client_universal_legacy.p12"), "--password-file", password.path)
        let tokens = try bench.register(["2400", "00"].map { AppleBench.deviceToken($0) })
        #expect(try bench.send(tokens[0]).word == "InvalidApnsCredential")
        let state = try #require(try states(bench)["production"])
        #expect(state["refused_topics"] as? [String] == [AppleMock.bundle], "\(state)")
        let credentials = try bench.daemon.ctl("apns", "list")["credentials"] as? [[String: Any]]
        let days = try #require(credentials?.first?["days_left"] as? Int)
        let text = try Tool.run("ccsctl", ["--socket", bench.daemon.controlSocket, "apns", "list"])
        #expect(text.output.contains(" \(days)  "), "\(text)")
        #expect(text.output.contains("refused topic: \(AppleMock.bundle) with "), "\(text)")
    }

    @Test("a certificate that a TLS alert refuses is reported to operators and app servers")
    func alert() throws {
        let bench = try AppleBench(hasKey: false)
        let password = bench.daemon.directory.appendingPathComponent("password.txt")
        try Data("secret\n".utf8).write(to: password)
        let tokens = try bench.register((0..<3).map { AppleBench.deviceToken("00", $0) })
        // The mock of Apple would end the connection without an alert.
        bench.apple.die()
        let server = ChildProcess()
        server.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        server.arguments = [
            "s_server", "-accept", "127.0.0.1:\(bench.apple.productionPort)", "-quiet", "-alpn", "h2",
            "-Verify", "1",
            "-verify_return_error", "-CAfile", bench.apple.file("ca.pem"), "-cert",
            bench.apple.file("server.pem"), "-key", bench.apple.file("server.key"),
        ]
        server.standardOutput = FileHandle.nullDevice
        server.standardError = FileHandle.nullDevice
        server.standardInput = Pipe()
        try server.run()
        defer { server.end() }
        try eventually("the server listens") {
            PlainHTTP.canConnect(port: UInt16(bench.apple.productionPort))
        }
        // Its authority is another one.
        let file = TestPaths.root.appendingPathComponent("Fixtures/apns/aes.p12").path
        let added = try bench.daemon.ctl("apns", "add", file, "--password-file", password.path)
        let details = (added["tests"] as? [[String: Any]] ?? []).compactMap { $0["detail"] as? String }
        #expect(details.contains { $0.hasPrefix("the server refuses the certificate: ") }, "\(added)")
        for token in tokens { #expect(try bench.send(token).word == "InvalidApnsCredential") }
        #expect(try bench.sendV1(tokens[0]).code == "401 THIRD_PARTY_AUTH_ERROR")
        #expect(try states(bench)["production"]?["health"] as? String == "refused")
        #expect(bench.daemon.words.contains("event=apns_credential_off"))
        #expect(bench.daemon.words.contains("the server refuses the certificate: "))
        #expect(try bench.count("pending") == 0)
    }

    @Test("metrics count requests by reason and latency, connections, streams, and the age of the token")
    func metrics() throws {
        let port = UInt16(try RunningDaemon.freePort())
        let bench = try AppleBench(
            AppleMock(["--latency-ms", "30"]), flags: ["--admin-port", "\(port)"])
        let tokens = try bench.register(["00", "01", "1400", "dead"].map { AppleBench.deviceToken($0) })
        let start = Int(Date().timeIntervalSince1970)
        _ = try bench.request(tokens[..<3].map { AppleBench.legacy($0) }, atOnce: 3)
        #expect(try bench.answers("accepted", port: port) == 2)
        #expect(try bench.answers("DeviceTokenNotForTopic", port: port) == 1)
        let time = "ccs_apns_answer_seconds"
        let production = "environment=\"production\""
        #expect(try bench.metric("\(time)_count{\(production)}", port: port) == 3)
        #expect(try bench.metric("\(time)_bucket{\(production),le=\"0.025\"}", port: port) == 0)
        #expect(try bench.metric("\(time)_bucket{\(production),le=\"+Inf\"}", port: port) == 3)
        #expect(try bench.metric("\(time)_count{environment=\"sandbox\"}", port: port) == 0)
        #expect(try bench.metric("ccs_apns_connections{\(production)}", port: port) == 1)
        #expect(try bench.metric("ccs_apns_requests_open", port: port) == 0)
        #expect(try bench.metric("ccs_apns_provider_token_minted_seconds", port: port) >= start)
        #expect(try bench.metric("ccs_apns_certificate_not_after_seconds", port: port) == 0)
        #expect(try bench.send(tokens[3]).messageID != nil)
        // Each attempt is in flight for 15 seconds, and a second later there is another one.
        try eventually("a request is in flight") {
            try bench.metric("ccs_apns_requests_open", port: port) == 1
        }
    }
}
