import Foundation
import Testing

/// pywebpush 2.5 sends to a web app on ccs-device, which decrypts the messages (http 10, mcs-device 5.7).
@Suite("pywebpush", .serialized, .enabled(if: TestPaths.hasPython, "run Scripts/bootstrap --tests first"))
struct WebPushTests {
    /// A daemon, an application server, and a web app that is registered with its key.
    private final class Bench {
        let daemon: RunningDaemon
        let server: Driver
        let subscription: [String: Any]
        let state: String
        private let common: [String]

        init() throws {
            daemon = try RunningDaemon()
            state = daemon.directory.appendingPathComponent("web.json").path
            common = [
                "--ca", daemon.authority, "--device-port", String(try daemon.port("device")), "--https-port",
                String(try daemon.port("https")), "--state", state,
            ]
            server = try Driver(
                "web_push_server.py", [], environment: ["REQUESTS_CA_BUNDLE": daemon.authority])
            guard let key = try server.expect(event: "key")["public"] as? String else {
                throw HarnessFailure("the web push server reported no key")
            }
            let tool = try Tool.run("ccs-device", ["register", "--web", "--web-key", key] + common)
            guard tool.code == 0, let made = tool.object?["subscription"] as? [String: Any] else {
                throw HarnessFailure("\(tool)")
            }
            subscription = made
        }

        func push(_ text: String, _ more: [String: Any] = [:]) throws -> [String: Any] {
            try server.command(
                ["do": "push", "subscription": subscription, "text": text].merging(more) { $1 })
            return try server.expect(event: "pushed")
        }

        /// Runs `ccs-device listen` until `count` messages have come, and returns the messages.
        func listen(_ count: Int, seconds: Int = 20) throws -> [[String: Any]] {
            let tool = try Tool.run(
                "ccs-device",
                ["listen", "--count", String(count), "--seconds", String(seconds)] + common)
            return tool.output.split(separator: "\n").compactMap {
                (try? JSONSerialization.jsonObject(with: Data($0.utf8))) as? [String: Any]
            }.filter { $0["event"] as? String == "message" }
        }
    }

    @Test("a message is stored, delivered and decrypted with each encoding and each form of VAPID")
    func wholeLife() throws {
        let bench = try Bench()
        let first = try bench.push("first", ["urgency": "high", "topic": "news"])
        #expect(first["status"] as? Int == 201, "\(first)")
        let location = try #require(first["location"] as? String)
        let origin = "https://127.0.0.1:\(try bench.daemon.port("https"))/m/0:"
        #expect(location.hasPrefix(origin), "\(location)")
        let second = try bench.push(#"{"n":2}"#, ["encoding": "aesgcm", "old": true])
        #expect(second["status"] as? Int == 201, "\(second)")
        let messages = try bench.listen(2)
        #expect(messages.count == 2)
        #expect(messages.first?["opened"] as? String == "first")
        #expect(messages.first?["collapse_key"] as? String == "news")
        #expect((messages.last?["opened"] as? [String: Int])?["n"] == 2, "\(messages)")
        #expect(try bench.listen(1, seconds: 1).isEmpty, "an acknowledged message is not repeated")
        #expect(try bench.daemon.ctl("audit")["holds"] as? Bool == true)
    }

    @Test("a push topic replaces the stored message, and a push with TTL 0 is not stored")
    func topics() throws {
        let bench = try Bench()
        for text in ["one", "two"] {
            #expect(try bench.push(text, ["topic": "score"])["status"] as? Int == 201)
        }
        #expect(try bench.push("never", ["ttl": 0])["status"] as? Int == 201)
        #expect(try bench.listen(1).compactMap { $0["opened"] as? String } == ["two"])
        #expect(try bench.listen(1, seconds: 1).isEmpty)
    }

    @Test("the keys of a web app are stored in a file with mode 0600")
    func stateFile() throws {
        let bench = try Bench()
        let attributes = try FileManager.default.attributesOfItem(atPath: bench.state)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test("canary: a push is refused when its key, the life of its token or its subscription is wrong")
    func canary() throws {
        let bench = try Bench()
        let other = try bench.push("x", ["another_key": true])
        #expect(other["status"] as? Int == 403, "\(other)")
        let long = try bench.push("x", ["expires": 90_000])
        #expect(
            long["status"] as? Int == 403 && (long["body"] as? String)?.contains("exp") == true, "\(long)")
        let large = try bench.push(String(repeating: "x", count: 4_096))
        #expect(large["status"] as? Int == 413, "\(large)")
        var changed = bench.subscription
        changed["endpoint"] = (changed["endpoint"] as? String ?? "") + "x"
        #expect(try bench.push("x", ["subscription": changed])["status"] as? Int == 404)
        // Encrypted for other keys: the message arrives but cannot be decrypted.
        let otherBench = try Bench()
        changed["endpoint"] = bench.subscription["endpoint"]
        changed["keys"] = otherBench.subscription["keys"]
        #expect(try bench.push("x", ["subscription": changed])["status"] as? Int == 201)
        let messages = try bench.listen(1)
        #expect(messages.count == 1 && messages.first?["opened"] is NSNull, "\(messages)")
    }

    @Test("a push gets 410 when the device of its subscription is forgotten")
    func ended() throws {
        let bench = try Bench()
        let state = try JSONSerialization.jsonObject(
            with: try Data(contentsOf: URL(fileURLWithPath: bench.state)))
        let device = try #require((state as? [String: Any])?["android_id"] as? String)
        _ = try bench.daemon.ctl("devices", "forget", device, "--yes")
        #expect(try bench.push("x")["status"] as? Int == 410)
    }
}

/// Messages of app servers to a web app, which the server encrypts (mcs-device 5.6, 7).
@Suite("web registrations", .serialized)
struct WebRegistrationTests {
    @Test("a message of an app server is encrypted for the web app, stored, and decrypted there")
    func encrypted() throws {
        let daemon = try RunningDaemon()
        let sender = try daemon.firstSender.id
        let common = [
            "--ca", daemon.authority, "--device-port", String(try daemon.port("device")), "--https-port",
            String(try daemon.port("https")), "--state",
            daemon.directory.appendingPathComponent("web.json").path,
        ]
        let made = try Tool.run(
            "ccs-device", ["register", "--web", "--sender", sender, "--print-token"] + common)
        #expect(made.code == 0, "\(made)")
        let token = made.output.trimmingCharacters(in: .newlines)
        let again = try Tool.run(
            "ccs-device", ["register", "--web", "--sender", sender, "--print-token"] + common)
        #expect(again.output == made.output, "the same keys and endpoint have the same token")
        _ = try daemon.ctl("send", sender, token, "text=hello", "n=1")
        let listener = try Tool.run("ccs-device", ["listen", "--count", "1", "--seconds", "20"] + common)
        let messages = listener.output.split(separator: "\n").compactMap {
            (try? JSONSerialization.jsonObject(with: Data($0.utf8))) as? [String: Any]
        }.filter { $0["event"] as? String == "message" }
        let opened = try #require(messages.first?["opened"] as? [String: Any], "\(listener)")
        #expect(opened["data"] as? [String: String] == ["text": "hello", "n": "1"])
        #expect(opened["from"] as? String == sender)
        #expect(opened["fcmMessageId"] as? String == messages.first?["persistent_id"] as? String)
        // The device protocol carries only ciphertext.
        #expect((messages.first?["data"] as? [String: String])?["text"] == nil)
        #expect(try daemon.ctl("audit")["holds"] as? Bool == true)
    }
}
