import Foundation
import Testing

/// ccs-device against the real daemon, as used by hand and by scripts.
@Suite("ccs-device", .serialized)
struct DeviceToolTests {
    /// A daemon and a device with its own state file.
    private final class Bench {
        let daemon: RunningDaemon
        let sender: String
        let state: String
        private let common: [String]

        init() throws {
            daemon = try RunningDaemon()
            sender = try daemon.firstSender.id
            state = daemon.directory.appendingPathComponent("device.json").path
            common = [
                "--ca", daemon.authority, "--device-port", String(try daemon.port("device")), "--https-port",
                String(try daemon.port("https")), "--state", state,
            ]
        }

        func device(_ arguments: String...) throws -> Tool {
            try Tool.run("ccs-device", arguments + common)
        }

        func device(options: [String]) throws -> Tool { try Tool.run("ccs-device", options + common) }

        func send(to token: String, _ text: String) throws {
            _ = try daemon.ctl("send", sender, token, "text=\(text)")
        }

        /// Parses the output as JSON lines.
        func lines(_ tool: Tool) -> [[String: Any]] {
            tool.output.split(separator: "\n").compactMap {
                (try? JSONSerialization.jsonObject(with: Data($0.utf8))) as? [String: Any]
            }
        }

        func register() throws -> String {
            let tool = try device("register", "--sender", sender, "--print-token")
            guard tool.code == 0 else { throw HarnessFailure("\(tool)") }
            return tool.output.trimmingCharacters(in: .newlines)
        }
    }

    @Test(
        "register prints a token, stores the device in a file with mode 0600, and prints the same token again"
    )
    func register() throws {
        let bench = try Bench()
        let token = try bench.register()
        #expect(token.utf8.count == 152 && token.contains(":APA91b"))
        let attributes = try FileManager.default.attributesOfItem(atPath: bench.state)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try bench.register() == token)
        let registered = bench.lines(try bench.device("register", "--sender", bench.sender, "--app", "other"))
        #expect(
            registered.first?["event"] as? String == "registered"
                && registered.first?["token"] as? String != token)
        let content = try String(contentsOfFile: bench.state, encoding: .utf8)
        let state = try JSONSerialization.jsonObject(with: Data(content.utf8)) as? [String: Any]
        #expect((state?["registrations"] as? [Any])?.count == 2)
        let unknown = try bench.device("register", "--sender", "5")
        #expect(unknown.code == 1 && unknown.errors.contains("unknown sender ID"))
    }

    @Test("listen prints each stored message once, and exits with 1 when fewer came than expected")
    func listen() throws {
        let bench = try Bench()
        let token = try bench.register()
        try bench.send(to: token, "one")
        try bench.send(to: token, "two")
        let first = try bench.device("listen", "--count", "2", "--seconds", "120")
        #expect(first.code == 0, "\(first)")
        let texts = bench.lines(first).compactMap { ($0["data"] as? [String: Any])?["text"] as? String }
        #expect(texts == ["one", "two"])
        let second = try bench.device("listen", "--count", "1", "--seconds", "1")
        #expect(second.code == 1)
        #expect(!bench.lines(second).contains { $0["event"] as? String == "message" })
    }

    @Test("listen gets the same message again when it does not acknowledge")
    func withoutAck() throws {
        let bench = try Bench()
        try bench.send(to: try bench.register(), "one")
        for _ in 0..<2 {
            let tool = try bench.device("listen", "--count", "1", "--seconds", "120", "--no-ack")
            #expect(tool.code == 0, "\(tool)")
        }
    }

    @Test("listen prints its token first, and reports how many of the expected messages came")
    func tokens() throws {
        let bench = try Bench()
        let file = bench.daemon.directory.appendingPathComponent("token").path
        let first = try bench.device(
            "listen", "--sender", bench.sender, "--print-token", "--token-file", file, "--count", "1",
            "--timeout", "3")
        #expect(first.code == 1 && first.errors.contains("0 of 1 messages arrived in 3 seconds"), "\(first)")
        let token = String(first.output.prefix { $0 != "\n" })
        #expect(token.contains(":APA91b"))
        #expect(try String(contentsOfFile: file, encoding: .utf8) == token + "\n")
        try bench.send(to: token, "one")
        let second = try bench.device(
            "listen", "--sender", bench.sender, "--print-token", "--count", "1", "--timeout", "120")
        #expect(second.code == 0 && second.output.hasPrefix(token + "\n"))
        #expect(bench.lines(second).contains { $0["event"] as? String == "message" })
        #expect(try bench.device("listen", "--timeout", "1").code == 64)
    }

    @Test(
        "register prints a new token when the app instance is new, and the same token for the same instance")
    func instances() throws {
        let bench = try Bench()
        let tokens = try ["one", "one", "two"].map { instance in
            try bench.device(
                "register", "--sender", bench.sender, "--instance", instance, "--print-token"
            ).output
        }
        #expect(tokens[0] == tokens[1] && tokens[1] != tokens[2])
    }

    @Test(
        "register replaces the unnamed instance when one is named for the first time, and then reuses it"
    )
    func firstInstance() throws {
        let bench = try Bench()
        let first = try bench.register()
        let named = try bench.device(
            "register", "--sender", bench.sender, "--instance", "new", "--token-file",
            bench.daemon.directory.appendingPathComponent("token").path)
        let token = try #require(bench.lines(named).first?["token"] as? String, "\(named)")
        #expect(token != first)
        #expect(try bench.register() == token, "the named instance stays in use when no instance is named")
        let listener = try bench.device(
            "listen", "--sender", bench.sender, "--instance", "newer", "--print-token", "--seconds", "1")
        let newest = listener.output.prefix { $0 != "\n" }
        #expect(newest.contains(":APA91b") && newest != token, "\(listener)")
        #expect(try bench.register() == newest)
    }

    @Test(
        "register --web --app registers a web app beside an Android app of the same name"
    )
    func webApp() throws {
        let bench = try Bench()
        let app = "com.example.browser"
        let web = try bench.device("register", "--web", "--sender", bench.sender, "--app", app)
        let made = try #require(bench.lines(web).first, "\(web)")
        #expect(made["app"] as? String == app && made["subscription"] is [String: Any], "\(web)")
        let usual = try bench.device("register", "--web", "--sender", bench.sender)
        #expect(bench.lines(usual).first?["app"] as? String == "org.chromium.linux", "\(usual)")
        let plain = try bench.device("register", "--sender", bench.sender, "--app", app)
        #expect(bench.lines(plain).first?["token"] as? String != made["token"] as? String)
        let again = try bench.device("register", "--web", "--sender", bench.sender, "--app", app)
        #expect(
            bench.lines(again).first?["token"] as? String == made["token"] as? String,
            "the registration is still known")
        let other = try bench.device(
            "register", "--web", "--sender", bench.sender, "--app", app, "--instance", "new")
        #expect(bench.lines(other).first?["token"] as? String != made["token"] as? String, "\(other)")

        let token = try #require(bench.lines(other).first?["token"] as? String)
        try bench.send(to: token, "hello")
        let listener = try bench.device("listen", "--count", "1", "--timeout", "20")
        let message = try #require(
            bench.lines(listener).first { $0["event"] as? String == "message" }, "\(listener)")
        #expect(message["app"] as? String == app)
        let opened = try #require(message["opened"] as? [String: Any], "\(listener)")
        #expect(opened["data"] as? [String: String] == ["text": "hello"])
    }

    @Test(
        "each message arrives when a device acknowledges twice, replays, half-closes or idles",
        arguments: [
            ["--ack", "twice"], ["--ack", "selective", "--replay"], ["--half-close"], ["--idle"],
            ["--ack", "login", "--flap-seconds", "1"],
        ])
    func misbehaves(_ options: [String]) throws {
        let bench = try Bench()
        let token = try bench.register()
        for text in ["one", "two", "three"] { try bench.send(to: token, text) }
        for round in 0..<2 {
            let tool = try bench.device(options: ["listen", "--seconds", round == 0 ? "5" : "2"] + options)
            let texts = bench.lines(tool).compactMap { ($0["data"] as? [String: Any])?["text"] as? String }
            #expect(tool.code == 0, "\(tool)")
            if round == 0 { #expect(Set(texts) == ["one", "two", "three"], "\(options): \(tool)") }
        }
        // A conforming device then gets the rest, and no message was counted twice.
        _ = try bench.device("listen", "--seconds", "3")
        let audit = try bench.daemon.ctl("audit")
        #expect(audit["holds"] as? Bool == true)
        #expect((audit["downstream"] as? [String: Any])?["delivered"] as? Int == 3, "\(options): \(audit)")
    }

    @Test("send waits for the stream ack, and prints the reason when the message is refused")
    func send() throws {
        let bench = try Bench()
        _ = try bench.register()
        let sent = try bench.device("send", "--sender", bench.sender, "text=hello", "a=b=c")
        #expect(sent.code == 0 && bench.lines(sent).first?["event"] as? String == "stored", "\(sent)")
        let status = try bench.daemon.ctl("status")["upstream"] as? [String: Any]
        #expect(status?["stored"] as? Int == 1)
        let refused = try bench.device("send", "--sender", bench.sender, "--app", "unknown", "text=hello")
        #expect(refused.code == 1 && refused.errors.contains("invalid_parameters"), "\(refused)")
        let wrong = try bench.device("send", "--sender", bench.sender, "text")
        #expect(wrong.code == 64)
    }

    @Test("converse prints the messages of both directions with their acknowledgements")
    func converse() throws {
        let bench = try Bench()
        let tool = try bench.device(
            "converse", "--sender", bench.sender, "--key-file",
            bench.daemon.directory.appendingPathComponent("data/first-sender.key").path, "--app-server-port",
            String(try bench.daemon.port("app_server")), "--json=false")
        #expect(tool.code == 0, "\(tool)")
        for words in ["ACK m-1", "receipt: m-1", "stream ack: u-1", "ACK u-1", "ACK m-2", "You were offline"]
        {
            #expect(tool.output.contains(words), "no \(words) in the conversation: \(tool)")
        }
        #expect(!tool.output.contains(try bench.daemon.firstSender.key))
        #expect(try bench.daemon.ctl("audit")["holds"] as? Bool == true)
    }

    @Test("many registers and logs in a number of devices, and prints their counts")
    func many() throws {
        let bench = try Bench()
        let file = bench.daemon.directory.appendingPathComponent("tokens").path
        let tool = try bench.device(
            "many", "--sender", bench.sender, "--devices", "100", "--seconds", "1", "--tokens", file)
        let summary = bench.lines(tool).last
        #expect(tool.code == 0 && summary?["logged_in"] as? Int == 100, "\(tool)")
        let tokens = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        #expect(Set(tokens).count == 100)
    }

    @Test("many sends at a rate, drops connections, and exits with 1 when fewer messages came than expected")
    func manyActive() throws {
        let bench = try Bench()
        let tool = try bench.device(
            "many", "--sender", bench.sender, "--devices", "20", "--seconds", "8", "--send-rate", "50",
            "--flap-seconds", "2", "--events")
        let lines = bench.lines(tool)
        let summary = lines.last
        #expect(tool.code == 0 && summary?["event"] as? String == "summary", "\(tool)")
        #expect((summary?["stored"] as? Int ?? 0) > 20 && (summary?["losses"] as? Int ?? 0) > 5, "\(tool)")
        #expect(lines.contains { $0["event"] as? String == "closed" })
        #expect(try bench.daemon.ctl("audit")["holds"] as? Bool == true)
        let missing = try bench.device(
            "many", "--sender", bench.sender, "--devices", "2", "--seconds", "1", "--count", "1")
        #expect(missing.code == 1 && missing.errors.contains("0 of 1 messages"), "\(missing)")
    }

    @Test("flap logs in repeatedly; unregister removes the token")
    func flap() throws {
        let bench = try Bench()
        _ = try bench.register()
        let tool = try bench.device("flap", "--times", "3", "--every-milliseconds", "300")
        #expect(tool.code == 0 && bench.lines(tool).last?["logins"] as? Int == 3, "\(tool)")
        #expect(try bench.device("unregister", "--sender", bench.sender).code == 0)
        #expect(try bench.device("send", "--sender", bench.sender, "a=b").code == 1)
    }

    @Test("neither the output of ccs-device nor the daemon's log contains a secret")
    func secrets() throws {
        let bench = try Bench()
        _ = try bench.register()
        let content = try String(contentsOfFile: bench.state, encoding: .utf8)
        let state = try JSONSerialization.jsonObject(with: Data(content.utf8)) as? [String: Any]
        let secret = try #require(state?["security_token"] as? String)
        for tool in [
            try bench.device("register", "--sender", bench.sender),
            try bench.device("listen", "--seconds", "1"), try bench.device("send", "--sender", "5", "a=b"),
        ] {
            #expect(!tool.output.contains(secret) && !tool.errors.contains(secret))
        }
        #expect(!bench.daemon.words.contains(secret))
    }

    @Test("canary: ccs-device fails when the authority is another one, or when no device is registered")
    func canary() throws {
        let bench = try Bench()
        let missing = try bench.device("listen")
        #expect(missing.code == 1 && missing.errors.contains("register one"))
        let other = try RunningDaemon()
        let tool = try Tool.run(
            "ccs-device",
            [
                "register", "--sender", bench.sender, "--ca", other.authority, "--https-port",
                String(try bench.daemon.port("https")), "--state", bench.state,
            ])
        #expect(tool.code == 69 && tool.errors.contains("--ca FILE"), "\(tool)")
    }
}
