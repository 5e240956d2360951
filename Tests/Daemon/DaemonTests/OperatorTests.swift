import Catalogue
import Foundation
import Testing

/// The interface for operators and their scripts: JSON on every path, one log line for each command, every refusal counted.
@Suite("Operators", .serialized)
struct OperatorTests {
    /// Returns an invocation of a command with arguments that the command line accepts.
    static func words(_ command: Command, scratch: URL) -> [String] {
        var words = command.words
        for argument in command.arguments where !argument.isOptional || argument.name == "KEY=VALUE" {
            switch argument.name {
            case "SENDER_ID": words.append("100000000001")
            case "KEY=VALUE": words.append("a=b")
            case "NAME": words.append("alice")
            case "INSTALLATION": words.append("cGFzc3dvcmQ_aGVsbG8tdw")
            case "FILE": words.append(TestPaths.root.appendingPathComponent("Fixtures/apns/aes.p12").path)
            default: words.append(argument.choices.first ?? "7")
            }
        }
        if command.options.contains(where: { $0.name == "--yes" }) { words.append("--yes") }
        if command.name == "messages list" { words.append("7") }
        if command.name == "service-accounts add" {
            words += [
                "--out", scratch.appendingPathComponent("key-\(UInt32.random(in: 0...(.max))).json").path,
            ]
        }
        return words
    }

    static let offline: Set = [
        "config sample", "config docs", "operations", "metrics docs", "metrics alerts", "metrics dashboard",
        "schema", "explain", "man", "completion", "version",
    ]

    private static func isOneObject(_ tool: Tool) -> Bool {
        tool.object != nil && tool.output.split(separator: "\n").count == 1
    }

    @Test(
        "every command prints a JSON object, and exits with 69 and a reason when it needs a daemon and none runs"
    )
    func daemonDown() throws {
        let scratch = try Scratch()
        let socket = scratch.url.appendingPathComponent("none.sock").path
        // The founding of a cluster needs no daemon, but servers of the log, and a further node needs one: ClusterTests have both.
        for command in Program.ccsctl.commands where !["cluster found", "cluster add"].contains(command.name)
        {
            let tool = try Tool.run(
                "ccsctl", ["--socket", socket, "--json"] + Self.words(command, scratch: scratch.url))
            #expect(Self.isOneObject(tool), "\(command.name): \(tool)")
            guard !Self.offline.contains(command.name) else {
                #expect(tool.code == 0 && tool.object?["error"] == nil, "\(command.name): \(tool)")
                continue
            }
            #expect(tool.code == 69, "\(command.name): \(tool)")
            #expect(tool.object?["error"] as? String == "there is no control socket at \(socket)", "\(tool)")
            #expect(tool.object?["hint"] is String && tool.object?["exit_code"] as? Int == 69)
            #expect(tool.errors.contains("no control socket"), "standard error has the reason as well")
        }
    }

    @Test("usage errors and refusals are JSON objects of the same shape")
    func errors() throws {
        let daemon = try RunningDaemon()
        let cases: [([String], Int32)] = [
            (["nonsense"], 64), (["status", "--nonsense"], 64), (["send", "x", "y", "a=b"], 64),
            (["installations", "show", "7"], 64),
            (["explain", "nonsense"], 1), (["senders", "remove", "5", "--yes"], 1),
            (["senders", "remove", "5"], 64), (["devices", "show", "5"], 1),
            (["senders", "add", "--key-file", "/dev/null"], 65),
            (["senders", "add", "--key-file", "/nonexistent"], 74),
        ]
        for (words, code) in cases {
            let tool = try Tool.run("ccsctl", ["--json", "--socket", daemon.controlSocket] + words)
            #expect(tool.code == code && Self.isOneObject(tool), "\(words): \(tool)")
            #expect(
                tool.object?["error"] is String && tool.object?["hint"] is String
                    && tool.object?["exit_code"] as? Int == Int(code), "\(words): \(tool)")
        }
    }

    @Test("devices forget exits with 1 when the device is unknown or already forgotten")
    func forgetUnknown() throws {
        let daemon = try RunningDaemon()
        let device = try TestDevice(daemon, sender: try daemon.firstSender.id)
        let number = try #require(
            (try daemon.ctl("devices", "list")["devices"] as? [[String: Any]])?.first?["device"] as? String)
        func forget(_ name: String) throws -> Tool {
            try Tool.run("ccsctl", ["--socket", daemon.controlSocket, "devices", "forget", name, "--yes"])
        }
        let unknown = try forget("12345")
        #expect(unknown.code == 1 && unknown.errors.contains("unknown device 12345"), "\(unknown)")
        #expect(try forget(number).code == 0)
        #expect(try forget(number).code == 1)
        device.stop()
    }

    @Test("each command logs one notice line with user, command and result, without secrets")
    func records() throws {
        let daemon = try RunningDaemon()
        let sender = try daemon.firstSender
        let device = try TestDevice(daemon, sender: sender.id)
        let key = "AIzaSECRET-KEY-OF-AN-OPERATOR-0123456789"
        let file = daemon.directory.appendingPathComponent("key.txt")
        try (key + "\n").write(to: file, atomically: true, encoding: .utf8)
        _ = try daemon.ctl(
            "senders", "add", "--label", "shop", "--sender-id", "4711", "--key-file", file.path)
        _ = try daemon.ctl("send", sender.id, device.token, "text=SECRET-TEXT")
        let malformed = try Tool.run(
            "ccsctl", ["--socket", daemon.controlSocket, "send", sender.id, "SECRET-TOKEN", "a=b"])
        #expect(malformed.code == 1)
        _ = try Tool.run("ccsctl", ["--socket", daemon.controlSocket, "senders", "remove", "5", "--yes"])
        let lines = daemon.words.split(separator: "\n").filter { $0.contains("event=operator_command") }
        let user = "level=notice event=operator_command user=\(getuid()) "
        #expect(lines.allSatisfy { $0.contains(user) }, "\(lines)")
        #expect(
            lines.count {
                $0.contains("command=\"senders add\" arguments=\"sender=4711 label=shop\" result=ok")
            } == 1, "\(lines)")
        #expect(lines.count { $0.contains("command=send") } == 2)
        #expect(lines.contains { $0.contains("command=send") && $0.contains("result=ok") })
        #expect(
            lines.contains { $0.contains("target=malformed") && $0.contains("result=BAD_REGISTRATION") },
            "\(lines)")
        #expect(
            lines.contains {
                $0.contains("command=\"senders remove\"")
                    && $0.contains("result=refused problem=\"unknown sender 5\"")
            })
        for secret in ["SECRET", sender.key, String(device.token.suffix(20))] {
            #expect(!daemon.words.contains(secret))
        }
        device.stop()
    }

    @Test(
        "malformed tokens over XMPP, HTTP and ccsctl, and wrong keys, are counted by interface and reason and logged"
    )
    func counted() throws {
        let port = UInt16(try RunningDaemon.freePort())
        let daemon = try RunningDaemon(flags: ["--admin-port", "\(port)"])
        let sender = try daemon.firstSender
        let server = try TestAppServer(daemon, sender: sender)
        #expect(try server.send("x-1", to: "malformed-over-xmpp") == "BAD_REGISTRATION")
        _ = try Tool.run("ccsctl", ["--socket", daemon.controlSocket, "send", sender.id, "malformed", "a=b"])
        func post(_ key: String) throws -> String {
            try Tool.run(
                URL(fileURLWithPath: "/usr/bin/curl"),
                [
                    "--silent", "--cacert", daemon.authority, "-H", "Authorization: key=\(key)", "-H",
                    "Content-Type: application/json", "-d", #"{"to":"malformed-over-http"}"#, "-w",
                    "%{http_code}",
                    "-o", "/dev/null", "https://localhost:\(try daemon.port("https"))/fcm/send",
                ]
            ).output
        }
        #expect(try post(sender.key) == "200")
        #expect(try post("wrong") == "401")
        let page = try PlainHTTP.get("/metrics", port: port)
        for line in [
            #"ccs_refusals_total{interface="xmpp",reason="invalid_token"} 1"#,
            #"ccs_refusals_total{interface="http",reason="invalid_token"} 1"#,
            #"ccs_refusals_total{interface="control",reason="invalid_token"} 1"#,
            #"ccs_refusals_total{interface="http",reason="unauthorized"} 1"#,
            #"ccs_http_responses_total{endpoint="POST /fcm/send",status="401"} 1"#,
            #"ccs_http_responses_total{endpoint="POST /fcm/send",status="200"} 1"#,
        ] { #expect(page.contains("\n\(line)\n"), "\(line)") }
        try eventually("the refusals are in the log") {
            [
                "interface=xmpp reason=invalid_token name=\(sender.id)",
                "interface=http reason=invalid_token name=\(sender.id)",
                "interface=http reason=unauthorized",
            ].allSatisfy { daemon.words.contains("event=refused \($0)") }
        }
        #expect(daemon.words.contains("to=malformed-over-x message_id=x-1"), "cut after 16 bytes")
    }
}
