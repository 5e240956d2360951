import Basics
import Client
import ClientProtocol
import Foundation
import Testing
import Wire

/// Limits on the growth of the registry by unauthenticated devices, on the real daemon.
@Suite(
    "Growth of the registry", .serialized,
    .enabled(if: TestPaths.hasPython, "run Scripts/bootstrap --tests first"))
struct RegistryGrowthTests {
    /// The Android ID and security token of a device that checked in.
    private struct Device {
        var id: String
        var token: String
    }

    private func ask(_ driver: Driver, _ line: String) throws -> (status: Int, retry: String?, body: String) {
        try driver.write(line: line)
        let answer = try driver.expect(event: "answer")
        return (
            answer["status"] as? Int ?? 0, answer["retry_after"] as? String, answer["body"] as? String ?? ""
        )
    }

    private func new(_ driver: Driver, from address: String) throws -> Device? {
        let answer = try ask(driver, "\(address) new")
        guard answer.status == 200 else { return nil }
        let id = answer.body.firstMatch(of: /"android_id":([0-9]+)/)
        let token = answer.body.firstMatch(of: /"security_token":([0-9]+)/)
        return Device(id: String(try #require(id).1), token: String(try #require(token).1))
    }

    private func metric(_ name: String, port: UInt16) throws -> Int {
        let page = try PlainHTTP.get("/metrics", port: port)
        let line = page.split(separator: "\n").first { $0.hasPrefix("\(name) ") }
        return line.flatMap { Int($0.dropFirst(name.count + 1)) } ?? 0
    }

    @Test(
        "an address gets 429 when it checks in too often; other addresses and known devices are served"
    )
    func limited() throws {
        let daemon = try RunningDaemon(
            flags: [
                "--unauthenticated-requests-per-address", "4", "--admin-port",
                "\(try RunningDaemon.freePort())",
            ])
        let sender = try daemon.firstSender.id
        let device = try TestDevice(daemon, sender: sender)
        let driver = try Driver("check_ins.py", [String(daemon.port("https"))])
        let known = Device(
            id: "\(device.identity.androidID)", token: "\(device.identity.securityToken.revealed)")
        var last: Device?
        var refused: (status: Int, retry: String?, body: String)?
        // Repeated because the limit starts anew if a minute ends in between.
        for _ in 0..<40 where refused == nil {
            let answer = try ask(driver, "127.0.0.1 new")
            if answer.status != 200 { refused = answer }
            last = try last ?? new(driver, from: "127.0.0.3")
        }
        let refusal = try #require(refused)
        #expect(refusal.status == 429 && refusal.retry == "60", "\(refusal)")
        #expect(try new(driver, from: "127.0.0.2") != nil, "another address has its own limit")
        let newcomer = try #require(last)
        var word = ""
        for number in 0..<40 where !word.hasPrefix("Error") {
            word = try ask(
                driver, "127.0.0.1 register \(newcomer.id) \(newcomer.token) app\(number) \(sender)"
            ).body
        }
        #expect(word == "Error=SERVICE_NOT_AVAILABLE")
        for number in 0..<12 {
            let again = try ask(driver, "127.0.0.1 again \(known.id) \(known.token)")
            #expect(again.status == 200 && again.body.contains(known.id))
            let made = try ask(
                driver, "127.0.0.1 register \(known.id) \(known.token) known\(number) \(sender)")
            #expect(made.body.hasPrefix("token="), "\(made)")
        }
        let name = "ccs_refusals_total{interface=\"http\",reason=\"too_many_unauthenticated\"}"
        #expect(try metric(name, port: UInt16(daemon.port("admin"))) >= 2)
        let lines = daemon.words.split(separator: "\n").count {
            $0.contains("reason=too_many_unauthenticated")
        }
        #expect((1...3).contains(lines), "one line a minute: \(daemon.words)")
    }

    @Test("a device is removed when it neither registers nor logs in for unused_device_seconds")
    func unused() throws {
        let daemon = try RunningDaemon(
            flags: [
                "--unused-device-seconds", "10", "--device-expiry-seconds", "0", "--admin-port",
                "\(try RunningDaemon.freePort())",
            ])
        let sender = try daemon.firstSender.id
        let driver = try Driver("check_ins.py", [String(daemon.port("https"))])
        _ = try TestDevice(daemon, sender: sender)
        let registered = try #require(try new(driver, from: "127.0.0.1"))
        let made = try ask(
            driver, "127.0.0.1 register \(registered.id) \(registered.token) com.example.app \(sender)")
        #expect(made.body.hasPrefix("token="))
        for _ in 0..<5 { _ = try new(driver, from: "127.0.0.1") }
        try eventually("the five unused devices are removed", seconds: Patience.seconds) {
            try metric("ccs_devices_unused_total", port: UInt16(daemon.port("admin"))) == 5
        }
        #expect(try daemon.ctl("audit")["devices"] as? Int == 2)
        let again = try ask(driver, "127.0.0.1 again \(registered.id) \(registered.token)")
        #expect(again.body.contains(registered.id))
    }

    @Test(
        "a full registry refuses new devices by name, serves known ones, and accepts all when the limit is raised"
    )
    func full() throws {
        let scratch = try Scratch()
        defer { extendLifetime(scratch) }
        let file = scratch.url.appendingPathComponent("ccsd.yaml")
        func limit(_ bytes: Int, _ daemon: RunningDaemon?) throws {
            try "format: 1\nregistry_bytes: \(bytes)\n".write(to: file, atomically: true, encoding: .utf8)
            guard let daemon else { return }
            #expect(try daemon.ctl("reload")["changed"] as? [String] == ["registry_bytes"])
        }
        try limit(1 << 40, nil)
        let port = UInt16(try RunningDaemon.freePort())
        let daemon = try RunningDaemon(flags: ["--config", file.path, "--admin-port", "\(port)"])
        func registry() throws -> [String: Any] {
            try #require(daemon.ctl("status")["registry"] as? [String: Any])
        }
        let made = try daemon.ctl("senders", "add", "--label", "shop")
        let sender = try #require(made["sender_id"] as? String)
        let key = try #require(made["key"] as? String)
        let device = try TestDevice(daemon, sender: sender)
        let known = "\(device.identity.androidID) \(device.identity.securityToken.revealed)"
        let driver = try Driver("check_ins.py", [String(daemon.port("https"))])
        try eventually("the size of the registry is measured") { try registry()["bytes"] as? Int ?? 0 > 0 }
        #expect(try registry()["full"] as? Bool == false)

        // The registry has reached this limit: nothing more is added.
        let bytes = try #require(try registry()["bytes"] as? Int)
        try limit(bytes, daemon)
        #expect(try registry()["full"] as? Bool == true && registry()["limit"] as? Int == bytes)
        let refused = try ask(driver, "127.0.0.1 new")
        #expect(refused.status == 503 && refused.retry == "300" && refused.body.contains("registry_bytes"))
        #expect(
            try ask(driver, "127.0.0.1 register \(known) new \(sender)").body == "Error=SERVICE_NOT_AVAILABLE"
        )
        for path in ["/iid/v1/\(device.token)/rel/topics/news", "/fcm/notification"] {
            var call = HTTPCall("POST", path)
            call.add("Content-Type", "application/json")
            call.add("project_id", sender)
            call.headers.append(("Authorization", Redacted("key=\(key)")))
            call.body = Array(
                "{\"operation\":\"create\",\"notification_key_name\":\"n\",\"registration_ids\":[\"\(device.token)\"]}"
                    .utf8)
            let answer = try device.call(daemon, call)
            #expect(answer.status == 503 && answer.text.contains("registry_bytes"), "\(answer)")
        }
        let name = "ccs_refusals_total{interface=\"http\",reason=\"registry_full\"}"
        #expect(try metric(name, port: port) == 4)
        #expect(daemon.words.contains("reason=registry_full"))
        #expect(try metric("ccs_registry_bytes", port: port) >= bytes)
        #expect(try metric("ccs_registry_bytes_limit", port: port) == bytes)
        let page = try PlainHTTP.get("/readyz", port: port)
        #expect(page.hasPrefix("HTTP/1.1 200 ") && page.contains("error: the registry is full"), "\(page)")

        // Existing devices are served as before.
        #expect(try ask(driver, "127.0.0.1 again \(known)").status == 200)
        let renewed = try ask(driver, "127.0.0.1 register \(known) com.example.app \(sender)")
        #expect(renewed.body == "token=\(device.token)")
        device.stop()
        _ = try daemon.ctl("send", sender, device.token, "n=1")
        try device.start(daemon)
        #expect(try device.expectMessage { _ in true }["n"] == "1")
        try eventually("the change is in the log") {
            daemon.words.contains("level=error event=registry_full")
        }

        try limit(1 << 40, daemon)
        #expect(try ask(driver, "127.0.0.1 new").status == 200)
        #expect(try ask(driver, "127.0.0.1 register \(known) new \(sender)").body.hasPrefix("token="))
        #expect(try !PlainHTTP.get("/readyz", port: port).contains("error:"))
        try eventually("the change is in the log") { daemon.words.contains("event=registry_below_limit") }
    }
}
