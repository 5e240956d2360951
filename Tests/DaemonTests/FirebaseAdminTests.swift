import Foundation
import Testing

/// firebase-admin 7.7, unchanged, with a key file from ccsctl and its host names redirected (http 8, 9, 12 row c20).
@Suite(
    "firebase-admin", .serialized, .enabled(if: Places.hasPython, "run Scripts/bootstrap --tests first")
)
struct FirebaseAdminTests {
    /// A daemon, a service account, and an app server that has its key file.
    private final class Bench {
        let daemon: RunningDaemon
        let sender: String
        let account: [String: Any]
        let keyFile: String
        let server: Driver

        init(project: String? = nil) throws {
            daemon = try RunningDaemon()
            sender = try daemon.firstSender.id
            keyFile = daemon.directory.appendingPathComponent("key.json").path
            account = try daemon.ctl("service-accounts", "add", sender, "--out", keyFile)
            server = try Driver(
                "firebase_admin_server.py", [keyFile] + (project.map { [$0] } ?? []),
                environment: [
                    "PYTHONPATH": Places.clients.appendingPathComponent("hostmap").path + ":"
                        + Places.clients.path,
                    "CCS_HTTPS_PORT": String(try daemon.port("https")),
                    "CCS_DEVICE_PORT": String(try daemon.port("device")),
                    "REQUESTS_CA_BUNDLE": daemon.authority, "SSL_CERT_FILE": daemon.authority,
                ])
            try server.expect(event: "ready")
        }

        func send(_ token: String, _ more: [String: Any] = [:]) throws -> [String: Any] {
            try server.tell(["do": "send", "token": token, "data": ["n": "1"]].merging(more) { $1 })
            return try server.expect(event: "sent")
        }
    }

    @Test("send and send_each reach a device, which receives what was sent")
    func wholeLife() throws {
        let bench = try Bench()
        let device = try TestDevice(bench.daemon, sender: bench.sender)
        let sent = try bench.send(device.token, ["title": "Hello", "ttl": 60, "collapse_key": "k"])
        let name = try #require(sent["name"] as? String, "\(sent)")
        #expect(name.hasPrefix("projects/ccs-\(bench.sender)/messages/0:"))
        let received = try device.expectMessage { $0["n"] == "1" }
        #expect(received["gcm.notification.title"] == "Hello")

        let looked = try bench.send(device.token, ["dry_run": true])
        #expect(looked["name"] as? String == "projects/ccs-\(bench.sender)/messages/fake_message_id")

        try bench.server.tell([
            "do": "send_each", "tokens": [device.token, "nonsense", device.token], "data": ["n": "2"],
        ])
        let several = try bench.server.expect(event: "sent_each")
        #expect(several["success"] as? Int == 2, "\(several)")
        let results = try #require(several["results"] as? [[String: Any]])
        #expect(results[1]["error"] as? String == "InvalidArgumentError")
        for _ in 0..<2 { _ = try device.expectMessage { $0["n"] == "2" } }
    }

    @Test("Every refusal is the exception that the library has for it")
    func refusals() throws {
        let bench = try Bench()
        let bad = try bench.send("nonsense")
        #expect(bad["error"] as? String == "InvalidArgumentError")
        #expect(
            bad["text"] as? String == "The registration token is not a valid FCM registration token", "\(bad)"
        )

        let other = try #require(try bench.daemon.ctl("senders", "add")["sender_id"] as? String)
        let foreign = try TestDevice(bench.daemon, sender: other)
        #expect(try bench.send(foreign.token)["error"] as? String == "SenderIdMismatchError")

        let device = try TestDevice(bench.daemon, sender: bench.sender)
        let large = try bench.send(device.token, ["data": ["n": String(repeating: "x", count: 4_096)]])
        #expect(large["error"] as? String == "InvalidArgumentError", "\(large)")
        #expect(
            try bench.send(device.token, ["data": ["from": "x"]])["error"] as? String
                == "InvalidArgumentError")
        #expect(try bench.send(device.token)["name"] is String, "the canary: the device can be reached")
        try device.unregister(bench.daemon)
        let gone = try bench.send(device.token)
        #expect(gone["error"] as? String == "UnregisteredError", "\(gone)")
    }

    @Test("Another project is refused, and so is a removed account whose token was good")
    func accounts() throws {
        let wrong = try Bench(project: "somebody-else")
        #expect(try wrong.send("nonsense")["error"] as? String == "SenderIdMismatchError")

        let bench = try Bench()
        #expect(try bench.send("nonsense")["error"] as? String == "InvalidArgumentError")
        let key = try #require(bench.account["key_id"] as? String)
        _ = try bench.daemon.ctl("service-accounts", "remove", bench.sender, key)
        let refused = try bench.send("nonsense")
        // The access token that it still has is refused, and another is not granted.
        #expect(refused["error"] as? String == "RefreshError", "\(refused)")
        #expect((refused["text"] as? String)?.contains("account not found") == true, "\(refused)")
        let words = bench.daemon.words
        #expect(!words.contains("ya29.") && !words.contains("PRIVATE"), "nothing secret is logged")
    }
}
