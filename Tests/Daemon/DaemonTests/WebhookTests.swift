import BasicsSupport
import Foundation
import Testing

/// Upstream messages and receipts to a real HTTPS endpoint, verified with the library of Standard Webhooks.
@Suite("Webhooks", .serialized, .enabled(if: TestPaths.hasPython, "run Scripts/bootstrap --tests first"))
struct WebhookTests {
    private typealias Bench = WebhookBench

    @Test("a reload that forbids private addresses ends kept connections, and nothing is sent on them")
    func forbidden() throws {
        let scratch = try Scratch()
        let file = scratch.url.appendingPathComponent("ccsd.yaml")
        let endpoint = try WebhookEndpoint()
        func write(_ isAllowed: Bool) throws {
            let text =
                "format: 1\nwebhook_ca_file: \(endpoint.authority)\nwebhook_private_addresses: \(isAllowed)\n"
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        try write(true)
        let daemon = try RunningDaemon(flags: ["--config", file.path])
        // With a configuration file the start prints no first sender.
        let made = try daemon.ctl("senders", "add", "--label", "first")
        let sender = (try #require(made["sender_id"] as? String), try #require(made["key"] as? String))
        let bench = try Bench(endpoint, daemon, sender: sender)
        try bench.say("m1")
        _ = try bench.endpoint.expect("the first message") { $0.messageID == "m1" }
        try write(false)
        #expect(try daemon.ctl("reload")["changed"] as? [String] == ["webhook_private_addresses"])
        try bench.say("m2")
        try eventually("the second message is refused") {
            (try bench.show().delivery["last_failure"] as? String)?.contains("loopback") == true
        }
        #expect(bench.endpoint.requests.map(\.messageID) == ["m1"])
        withExtendedLifetime(scratch) {}
    }

    @Test("an answer with an endless extension of a chunk costs its connection, long before the time is over")
    func extensions() throws {
        let bench = try Bench()
        try bench.endpoint.plan(["extensions": true])
        try bench.say("m1")
        try eventually("the endless answer was ended") { bench.endpoint.extensionBytes != nil }
        // What the kernels buffer is sent beyond the limit.
        #expect((bench.endpoint.extensionBytes ?? .max) < 16_777_216)
        try bench.endpoint.plan([:])
        try bench.say("m2")
        _ = try bench.endpoint.expect("the next message") { $0.messageID == "m2" }
    }

    @Test(
        "the keys of TLS connections are written to no file, and an unknown CA is reported with the setting")
    func keyLog() throws {
        let scratch = try Scratch()
        let log = scratch.url.appendingPathComponent("keys.log")
        let bench = try Bench(environment: ["SSLKEYLOGFILE": log.path])
        try bench.say("m1")
        _ = try bench.endpoint.expect("the message") { $0.messageID == "m1" }
        #expect(!FileManager.default.fileExists(atPath: log.path))
        let stranger = try WebhookEndpoint()
        let other = try Bench(stranger, RunningDaemon(flags: ["--webhook-private-addresses"]))
        try other.say("m1")
        try eventually("the certificate is not accepted") {
            (try other.show().delivery["last_failure"] as? String)?.contains("webhook_ca_file") == true
        }
    }

    @Test("an endpoint with a certificate for another name is reported with the name of the URL")
    func wrongName() throws {
        let bench = try Bench()
        // The same address in another form, which the certificate does not have.
        try bench.set("https://[::ffff:127.0.0.1]:\(bench.endpoint.port)/hook")
        try bench.say("m1")
        var failure: String?
        try eventually("the certificate is not accepted") {
            failure = try bench.show().delivery["last_failure"] as? String
            return failure != nil
        }
        #expect(
            failure?.contains("not for the host name") == true && failure?.contains("::ffff:") == true,
            "\(failure ?? "")")
    }

    @Test("messages and receipts arrive signed, with the fields of XMPP, in the order of their device")
    func arrive() throws {
        let bench = try Bench()
        for number in 1...20 {
            try bench.say("m\(number)", "ü<\(number)>")
        }
        let last = try bench.endpoint.expect("the last message") { $0.messageID == "m20" }
        #expect(last.isVerified && last.data == ["k": "ü<20>"] && last.signatures == 1)
        #expect(last.event["type"] as? String == "upstream")
        #expect(last.event["from"] as? String == bench.device.token)
        #expect(last.event["category"] as? String == "com.example.app")
        #expect(last.event["sender_id"] as? String == bench.sender.id)
        #expect(last.event["id"] as? String == last.id)
        #expect(bench.endpoint.requests.map(\.messageID) == (1...20).map { "m\($0)" })
        let server = try Driver(
            "slixmpp_app_server.py", [String(bench.daemon.port("app_server")), bench.sender.id],
            secret: bench.sender.key)
        try server.expect(event: "connected")
        bench.device.stop()
        try server.send([
            "to": bench.device.token, "message_id": "d1", "data": ["id": "d1"],
            "delivery_receipt_requested": true,
        ])
        try server.expectJSON("the ACK") { $0["message_type"] as? String == "ack" }
        server.drop()
        try eventually("no app server is left") { try bench.daemon.ctl("status")["app_servers"] as? Int == 0 }
        try bench.device.start(bench.daemon)
        try bench.device.expectMessage { $0["id"] == "d1" }
        try bench.device.heartbeat()
        let receipt = try bench.endpoint.expect("the receipt") { $0.event["type"] as? String == "receipt" }
        #expect(receipt.isVerified && receipt.messageID == "d1")
        #expect(receipt.event["status"] as? String == "MESSAGE_SENT_TO_DEVICE")
        let requests = bench.endpoint.requests
        #expect(Set(requests.map(\.id)).count == requests.count, "canary: each has an ID of its own")
    }

    @Test("an app server over XMPP comes first, and the webhook gets what it leaves")
    func takeover() throws {
        let bench = try Bench()
        let server = try Driver(
            "slixmpp_app_server.py", [String(bench.daemon.port("app_server")), bench.sender.id],
            secret: bench.sender.key)
        try server.expect(event: "connected")
        try bench.say("over-xmpp", "1")
        try server.expectJSON("the message") { $0["message_id"] as? String == "over-xmpp" }
        server.drop()
        try eventually("no app server is left") { try bench.daemon.ctl("status")["app_servers"] as? Int == 0 }
        try bench.say("over-https", "2")
        try bench.endpoint.expect("the second message") { $0.messageID == "over-https" }
    }

    @Test("a failing endpoint is tried again, paused and shown, and works again")
    func fails() throws {
        let bench = try Bench()
        try bench.endpoint.plan(["status": 503])
        for number in 1...8 {
            try bench.say("m\(number)", "1")
        }
        try bench.endpoint.expect("a failure") { $0.status == 503 }
        try eventually("the endpoint is paused") {
            try bench.show().delivery["retries_in_seconds"] as? Int != nil
        }
        let delivery = try bench.show().delivery
        #expect(delivery["last_failure"] as? String == "HTTP status 503")
        #expect(delivery["failures_in_row"] as? Int ?? 0 >= 5)
        #expect(bench.daemon.words.contains("event=webhook_paused"))
        try bench.endpoint.plan([:])
        try bench.webhook("resume", bench.sender.id)
        try bench.endpoint.expect("the last message") { $0.messageID == "m8" && $0.status == 200 }
        let received = bench.endpoint.requests.filter { $0.status == 200 }.map(\.messageID)
        #expect(received == (1...8).map { "m\($0)" })
        let ids = Set(bench.endpoint.requests.map { "\($0.id) \($0.messageID)" })
        #expect(ids.count == 8, "each attempt of a message has the same ID")
    }

    @Test("410 stops the webhook across a restart until it is resumed")
    func gone() throws {
        let bench = try Bench()
        try bench.endpoint.plan(["status": 410])
        try bench.say("m1", "1")
        try eventually("it is recorded") { try bench.show().state == "gone" }
        #expect(try bench.show().delivery["waiting"] as? Int == 1)
        try bench.endpoint.plan([:])
        try bench.say("m2", "1")
        bench.device.stop()
        bench.daemon.signal(SIGKILL)
        _ = try bench.daemon.wait()
        let count = bench.endpoint.requests.count
        let daemon = try RunningDaemon(
            continuing: bench.daemon.scratch, flags: bench.endpoint.flags, ports: [:])
        let shown = try daemon.ctl("senders", "webhook", "show", bench.sender.id)
        #expect(shown["state"] as? String == "gone")
        #expect((shown["delivery"] as? [String: Any])?["waiting"] as? Int == 2, "both are in the store")
        #expect(bench.endpoint.requests.count == count)
        _ = try daemon.ctl("senders", "webhook", "resume", bench.sender.id)
        try bench.endpoint.expect("the second message") { $0.messageID == "m2" && $0.status == 200 }
        #expect(bench.endpoint.requests.last { $0.messageID == "m1" }?.status == 200)
    }

    @Test("a redirect is not followed, and an endless answer is cut off")
    func strange() throws {
        let bench = try Bench()
        try bench.endpoint.plan(["status": 302, "headers": ["location": "/elsewhere"]])
        try bench.say("m1", "1")
        try eventually("it fails") {
            try bench.show().delivery["last_failure"] as? String == "HTTP status 302"
        }
        try bench.endpoint.plan(["bytes": 1_000_000])
        try bench.webhook("resume", bench.sender.id)
        try eventually("the long answer counts") { try bench.show().delivery["acknowledged"] as? Int == 1 }
        #expect(bench.endpoint.requests.allSatisfy { !$0.id.isEmpty })
        // Longer than libcurl takes: one line, and all together.
        for (position, (count, bytes)) in [(1, 200_000), (8, 60_000)].enumerated() {
            let value = String(repeating: "x", count: bytes)
            let headers = (0..<count).map { ("x-\($0)", value) }
            try bench.endpoint.plan(["headers": Dictionary(uniqueKeysWithValues: headers)])
            try bench.say("long-\(position)", "1")
            try eventually("so do long headers") {
                try bench.show().delivery["acknowledged"] as? Int == position + 2
            }
        }
        try bench.endpoint.plan(["status": 429, "headers": ["retry-after": "40"]])
        try bench.say("m2", "1")
        try eventually("Retry-After is respected") {
            (30...40).contains(try bench.show().delivery["retries_in_seconds"] as? Int ?? 0)
        }
    }

    @Test(
        "with the test bench, messages go to an endpoint on loopback without TLS; canary: otherwise it cannot be set"
    )
    func plain() throws {
        let port = try RunningDaemon.freePort()
        let endpoint = ChildProcess()
        endpoint.executableURL = TestPaths.python
        endpoint.arguments = ["-m", "http.server", "--bind", "127.0.0.1", "\(port)"]
        try endpoint.run()
        defer { endpoint.end() }
        let daemon = try RunningDaemon(flags: ["--test-bench"])
        let sender = try daemon.firstSender
        let url = "http://127.0.0.1:\(port)/hook"
        func set(_ daemon: RunningDaemon, _ sender: String) throws -> Tool {
            try Tool.run(
                "ccsctl",
                ["--socket", daemon.controlSocket, "--json", "senders", "webhook", "set", sender, url])
        }
        let made = try set(daemon, sender.id)
        #expect(made.code == 0, "\(made)")
        let device = try TestDevice(daemon, sender: sender.id)
        device.send(id: "m1", pairs: [("k", "1")])
        try device.expectStored("m1")
        // The server of Python answers each POST with 501.
        try eventually("the endpoint answers", seconds: Patience.seconds) {
            let shown = try daemon.ctl("senders", "webhook", "show", sender.id)
            return (shown["delivery"] as? [String: Any])?["last_failure"] as? String == "HTTP status 501"
        }
        let other = try RunningDaemon(flags: ["--webhook-private-addresses"])
        let refused = try set(other, try other.firstSender.id)
        #expect(refused.code != 0 && refused.errors.contains("expected https://"), "\(refused)")
    }

    @Test("requests have two signatures while an old secret is valid")
    func rotation() throws {
        let bench = try Bench()
        let old = try String(contentsOfFile: bench.endpoint.secretFile, encoding: .utf8)
        let rotated = try bench.webhook("rotate", bench.sender.id)
        let fresh = try #require(rotated["secret"] as? String)
        #expect(fresh.hasPrefix("whsec_") && fresh + "\n" != old)
        for (id, secret) in [("with-old", old), ("with-new", fresh)] {
            try bench.endpoint.secret(secret.trimmingCharacters(in: .whitespacesAndNewlines))
            try bench.say(id, "1")
            let request = try bench.endpoint.expect(id) { $0.messageID == id }
            #expect(request.isVerified && request.signatures == 2)
        }
        try bench.webhook("rotate", bench.sender.id, "--overlap-seconds", "0")
        try bench.say("canary", "1")
        let request = try bench.endpoint.expect("canary") { $0.messageID == "canary" }
        #expect(!request.isVerified && request.signatures == 1)
    }

    @Test(
        "private addresses are refused by the command and at the connection, and so are certificates that are not trusted"
    )
    func refused() throws {
        let endpoint = try WebhookEndpoint()
        let daemon = try RunningDaemon(flags: Array(endpoint.flags.prefix(2)))
        let sender = try daemon.firstSender
        let device = try TestDevice(daemon, sender: sender.id)
        let words = ["--socket", daemon.controlSocket, "senders", "webhook", "set", sender.id]
        let literal = try Tool.run("ccsctl", words + [endpoint.url])
        #expect(literal.code != 0 && literal.errors.contains("127.0.0.1 is a loopback address"))
        // A name passes the command; its address is seen at the connection.
        _ = try daemon.ctl("senders", "webhook", "set", sender.id, "https://hook.localhost:\(endpoint.port)/")
        device.send(id: "m1", pairs: [("k", "1")])
        try device.expectStored("m1")
        func failure(_ daemon: RunningDaemon) throws -> String {
            let shown = try daemon.ctl("senders", "webhook", "show", sender.id)
            return (shown["delivery"] as? [String: Any])?["last_failure"] as? String ?? ""
        }
        try eventually("the address is refused") {
            try failure(daemon) == "address refused: it is a loopback address"
        }
        device.stop()
        daemon.signal(SIGKILL)
        _ = try daemon.wait()
        let other = try RunningDaemon(continuing: daemon.scratch, flags: Array(endpoint.flags.suffix(1)))
        _ = try other.ctl("senders", "webhook", "set", sender.id, endpoint.url)
        try eventually("the certificate is refused") { try failure(other).hasPrefix("TLS refused") }
        #expect(endpoint.requests.isEmpty)
    }

    @Test("nothing that was acknowledged to a device is lost, or overtaken, when the daemon is killed")
    func kills() throws {
        let endpoint = try WebhookEndpoint()
        var daemon = try RunningDaemon(flags: endpoint.flags, reactors: 2)
        let sender = try daemon.firstSender
        let devices = try (0..<3).map { _ in try TestDevice(daemon, sender: sender.id) }
        _ = try daemon.ctl(
            "senders", "webhook", "set", sender.id, endpoint.url, "--secret-file", endpoint.secretFile)
        let plans: [[String: Any]] = [
            ["status": 500], ["status": 503, "percent": 30, "late": 0.5],
            ["stall": 0.3], ["status": 429, "percent": 50, "headers": ["retry-after": "1"]],
            ["percent": 40, "drop": true], [:],
        ]
        var sent: [[String]] = devices.map { _ in [] }
        for (round, plan) in plans.enumerated() {
            try endpoint.plan(plan)
            for number in 0..<15 {
                for (at, device) in devices.enumerated() {
                    let id = "\(at)-\(round)-\(number)"
                    device.send(id: id, pairs: [("k", id)])
                    try device.expectStored(id)
                    sent[at].append(id)
                }
            }
            daemon.signal(SIGKILL)
            _ = try daemon.wait()
            daemon = try RunningDaemon(continuing: daemon.scratch, flags: endpoint.flags, reactors: 2)
            for device in devices { try device.start(daemon) }
        }
        _ = try daemon.ctl("senders", "webhook", "resume", sender.id)
        func received(_ at: Int) -> [String] {
            var seen: Set<String> = []
            return endpoint.requests.filter { !$0.isIgnored }.map(\.messageID)
                .filter { $0.hasPrefix("\(at)-") && seen.insert($0).inserted }
        }
        try eventually("all messages are there") {
            devices.indices.allSatisfy { received($0).count == sent[$0].count }
        }
        for at in devices.indices { #expect(received(at) == sent[at]) }
        #expect(endpoint.requests.allSatisfy { $0.isVerified })
        #expect(endpoint.requests.contains { $0.status >= 429 }, "canary: it has failed")
    }

    @Test("the receiver of docs/webhooks.md takes messages, once each, and refuses forged ones")
    func example() throws {
        let bench = try Bench()
        let port = try FreePorts.take(1)[0]
        let (receiver, output) = (ChildProcess(), Pipe())
        receiver.executableURL = TestPaths.python
        receiver.arguments =
            [TestPaths.root.appendingPathComponent("docs/examples/webhook_receiver.py").path]
            + bench.endpoint.identity + [bench.endpoint.secretFile, String(port)]
        receiver.standardOutput = output
        try receiver.run()
        defer { receiver.end() }
        try eventually("the receiver listens") { PlainHTTP.canConnect(port: port) }
        try bench.set("https://127.0.0.1:\(port)/")
        try bench.say("m1", "v")
        let lines = Lines(output.fileHandleForReading)
        #expect(lines.next(seconds: Patience.seconds) == "upstream m1 {'k': 'v'}")
        try bench.webhook("rotate", bench.sender.id, "--overlap-seconds", "0")
        try bench.say("m2", "v")
        try eventually("the signature is refused") {
            try bench.show().delivery["last_failure"] as? String == "HTTP status 401"
        }
    }

    @Test("without a webhook there is no thread for them")
    func cost() throws {
        let endpoint = try WebhookEndpoint()
        let daemon = try RunningDaemon(flags: endpoint.flags)
        let sender = try daemon.firstSender
        func threads() throws -> [String] {
            let folder = "/proc/\(daemon.pid)/task"
            return try FileManager.default.contentsOfDirectory(atPath: folder).compactMap {
                try? String(contentsOfFile: "\(folder)/\($0)/comm", encoding: .utf8)
            }
        }
        #expect(try !threads().contains("ccsd-webhooks\n"))
        _ = try daemon.ctl("senders", "webhook", "set", sender.id, endpoint.url)
        #expect(try threads().contains("ccsd-webhooks\n"), "canary")
    }
}
