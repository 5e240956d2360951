import Catalogue
import ClientProtocol
import Foundation
import Operator
import Testing
import Wire
import WireSupport

/// Everyday commands of operators on the real daemon.
@Suite("Everyday commands", .serialized)
struct EverydayTests {
    private func run(_ daemon: RunningDaemon, _ words: [String]) throws -> Tool {
        try Tool.run("ccsctl", ["--socket", daemon.controlSocket] + words)
    }

    /// Returns the status and body of a legacy request with a server key.
    private func post(
        _ daemon: RunningDaemon, key: String, path: String = "/fcm/send", to token: String = "malformed"
    ) throws -> Tool {
        try Tool.run(
            URL(fileURLWithPath: "/usr/bin/curl"),
            [
                "--silent", "--cacert", daemon.authority, "-H", "Authorization: key=\(key)", "-H",
                "Content-Type: application/json", "-d", "{\"to\":\"\(token)\"}", "-w", "\n%{http_code}",
                "https://localhost:\(try daemon.port("https"))\(path)",
            ])
    }

    @Test(
        "a suspended sender is disconnected and refused over XMPP and HTTP, also after a restart; its devices lose nothing"
    )
    func suspension() throws {
        let first = try RunningDaemon()
        let sender = try first.firstSender
        let device = try TestDevice(first, sender: sender.id)
        let server = try TestAppServer(first, sender: sender)
        #expect(try server.send("m-1", to: device.token) == "ACK")
        #expect(try post(first, key: sender.key).output.hasSuffix("\n200"))
        #expect(try first.ctl("senders", "suspend", sender.id)["changed"] as? Bool == true)
        try eventually("the session is closed") {
            ((try? first.ctl("sessions", "list")["sessions"]) as? [[String: Any]])?
                .allSatisfy { $0["sender_id"] == nil } == true
        }
        #expect(try first.ctl("status")["connections"].debugDescription.contains("sender_suspended"))
        #expect(throws: HarnessFailure.self) { try TestAppServer(first, sender: sender) }
        #expect(first.words.contains("event=login_refused") && first.words.contains("reason=suspended"))
        for path in ["/fcm/send", "/iid/v1:batchRemove", "/iid/v1:batchAdd", "/fcm/notification"] {
            let refused = try post(first, key: sender.key, path: path)
            #expect(refused.output.hasSuffix("\n401"), "\(path): \(refused)")
            #expect(refused.output.contains("suspended"), "\(path): \(refused)")
        }
        let send = try run(first, ["send", sender.id, device.token, "a=b"])
        #expect(send.code == 1 && send.errors.contains("is suspended"), "\(send)")
        try device.sendUpstream(["text": "while suspended"])
        device.stop()
        first.signal(SIGTERM)
        #expect(try first.wait() == 0)

        let second = try RunningDaemon(continuing: first.scratch)
        #expect(throws: HarnessFailure.self) { try TestAppServer(second, sender: sender) }
        let listed = try second.ctl("messages", "list", "--sender", sender.id)["messages"]
        #expect((listed as? [[String: Any]])?.contains { $0["kind"] as? String == "message" } == true)
        #expect(try second.ctl("senders", "resume", sender.id)["changed"] as? Bool == true)
        _ = try TestAppServer(second, sender: sender)
        #expect(try post(second, key: sender.key).output.hasSuffix("\n200"))
    }

    @Test(
        "a question on a terminal is answered with y or anything else, and without a terminal --yes is needed"
    )
    func confirmation() throws {
        let daemon = try RunningDaemon()
        _ = try daemon.ctl("senders", "add", "--sender-id", "4711")
        let ccsctl = TestPaths.programs.appendingPathComponent("ccsctl").path
        func onTerminal(_ answer: String) throws -> Tool {
            try Tool.run(
                URL(fileURLWithPath: "/usr/bin/script"),
                [
                    "--quiet", "--return", "--command",
                    "'\(ccsctl)' --socket '\(daemon.controlSocket)' senders remove 4711", "/dev/null",
                ], input: answer, seconds: 60)
        }
        let without = try run(daemon, ["senders", "remove", "4711"])
        #expect(without.code == 64 && without.errors.contains("--yes"), "\(without)")
        let declined = try onTerminal("n\n")
        #expect(declined.code == 1 && declined.output.contains("Sender 4711 is removed"), "\(declined)")
        #expect(declined.output.contains("nothing was changed"), "\(declined)")
        let agreed = try onTerminal("y\n")
        #expect(agreed.code == 0 && agreed.output.contains("Sender 4711 is removed."), "\(agreed)")
        let gone = try run(daemon, ["senders", "remove", "4711", "--yes"])
        #expect(gone.code == 1 && gone.errors.contains("unknown sender 4711"), "\(gone)")
    }

    @Test("the statistics of a sender have its refused messages by reason, over XMPP and HTTP")
    func statistics() throws {
        let daemon = try RunningDaemon()
        let sender = try daemon.firstSender
        let device = try TestDevice(daemon, sender: sender.id)
        device.stop()
        let server = try TestAppServer(daemon, sender: sender)
        #expect(try server.send("m-1", to: device.token) == "ACK")
        #expect(try server.send("m-2", to: "nonsense") == "BAD_REGISTRATION")
        #expect(try post(daemon, key: sender.key).output.hasSuffix("\n200"))
        _ = try daemon.ctl("devices", "forget", "\(device.identity.androidID)", "--yes")
        #expect(try server.send("m-3", to: device.token) == "DEVICE_UNREGISTERED")
        for _ in 1...2 {
            let answer = try post(daemon, key: sender.key, to: device.token)
            #expect(answer.output.contains("NotRegistered"), "\(answer)")
        }
        try eventually("all are counted") {
            let shown = try daemon.ctl("senders", "stats", sender.id)["senders"] as? [[String: Any]]
            let down = shown?.first?["downstream"] as? [String: Int]
            return shown?.first?["refused"] as? [String: Int] == ["invalid_token": 2, "not_registered": 3]
                && down?["accepted"] == 1 && down?["refused"] == 5
        }
    }

    @Test("the authority is printed, written to a new file, and has the fingerprint that openssl computes")
    func authority() throws {
        let daemon = try RunningDaemon()
        let printed = try run(daemon, ["ca"])
        #expect(printed.output == (try String(contentsOfFile: daemon.authority, encoding: .utf8)))
        let file = daemon.directory.appendingPathComponent("copy.pem").path
        let written = try run(daemon, ["ca", "--out", file])
        #expect(written.code == 0 && written.output.contains(file), "\(written)")
        #expect(try String(contentsOfFile: file, encoding: .utf8) == printed.output)
        let again = try run(daemon, ["ca", "--out", file])
        #expect(again.code == 74 && again.errors.contains("File exists"), "\(again)")
        let fingerprint = try run(daemon, ["ca", "--fingerprint"]).output
        let openssl = try Tool.run(
            URL(fileURLWithPath: "/usr/bin/openssl"),
            ["x509", "-in", file, "-noout", "-fingerprint", "-sha256"])
        #expect(openssl.output.hasSuffix("=" + fingerprint), "\(openssl)")
    }

    @Test("the configuration in use is shown with the flag, variable or line of each value")
    func configuration() throws {
        let daemon = try RunningDaemon(
            flags: ["--keepalive-seconds", "77"], environment: ["CCSD_PENDING_WINDOW": "55"])
        let shown = try #require(try daemon.ctl("config", "show", "--changed")["keys"] as? [[String: Any]])
        func row(_ key: String) -> [String: Any] { shown.first { $0["key"] as? String == key } ?? [:] }
        #expect(row("keepalive_seconds")["value"] as? String == "77")
        #expect(row("keepalive_seconds")["name"] as? String == "--keepalive-seconds")
        #expect(row("pending_window")["name"] as? String == "CCSD_PENDING_WINDOW")
        #expect(row("scram").isEmpty, "it has its default")
        let all = try #require(try daemon.ctl("config", "show")["keys"] as? [[String: Any]])
        #expect(all.count == ConfigKey.allCases.count)
        #expect(!(try run(daemon, ["config", "show"]).output.contains(try daemon.firstSender.key)))
    }

    @Test("the level of the log is changed while the daemon runs, and returns by itself")
    func logLevel() throws {
        let daemon = try RunningDaemon()
        #expect(try daemon.ctl("log", "level", "debug", "--for", "1s")["level"] as? String == "debug")
        _ = try TestAppServer(daemon, sender: try daemon.firstSender)
        #expect(daemon.words.contains("level=debug event=login"))
        try eventually("the configured level returns") { daemon.words.contains("reason=time_over") }
        #expect(try daemon.ctl("log", "level")["level"] as? String == "info")
    }

    @Test("the audit log has the commands that changed something or were refused, and survives a restart")
    func auditLog() throws {
        let first = try RunningDaemon()
        _ = try first.ctl("senders", "add", "--sender-id", "4711", "--label", "shop")
        _ = try run(first, ["senders", "remove", "5", "--yes"])
        _ = try run(first, ["send", try first.firstSender.id, "SECRET-TOKEN", "text=SECRET-TEXT"])
        first.signal(SIGTERM)
        #expect(try first.wait() == 0)
        let second = try RunningDaemon(continuing: first.scratch)
        _ = try second.ctl("senders", "remove", "4711", "--yes")
        let entries = try #require(try second.ctl("audit-log")["entries"] as? [[String: Any]])
        #expect(
            entries.compactMap { $0["command"] as? String } == [
                "senders add", "senders remove", "send", "senders remove",
            ])
        #expect(entries.allSatisfy { $0["user"] as? String == "\(getuid())" && $0["pid"] is String })
        #expect(entries[0]["arguments"] as? String == "sender=4711 label=shop")
        #expect(entries[1]["problem"] as? String == "unknown sender 5")
        #expect(entries[2]["result"] as? String == "BAD_REGISTRATION")
        let failed = try second.ctl("audit-log", "--failed", "--command", "senders")["entries"]
        #expect((failed as? [[String: Any]])?.count == 1)
        let file = try String(
            contentsOf: second.directory.appendingPathComponent("data/audit.log"), encoding: .utf8)
        #expect(!file.contains("SECRET") && file.split(separator: "\n").count >= 4)
    }

    @Test("messages and devices are listed while they wait and while a device is connected")
    func lists() throws {
        let daemon = try RunningDaemon(reactors: 2)
        let sender = try daemon.firstSender
        let device = try TestDevice(daemon, sender: sender.id)
        func devices(_ words: String...) throws -> [[String: Any]] {
            let tool = try run(daemon, ["--json", "devices", "list"] + words)
            return tool.object?["devices"] as? [[String: Any]] ?? []
        }
        #expect(try devices("--presence", "online").count == 1 && devices("--presence", "offline").isEmpty)
        #expect(try devices("--waiting").isEmpty)
        device.stop()
        try eventually("the device is offline") { (try? devices("--presence", "offline").count) == 1 }
        _ = try daemon.ctl("send", sender.id, device.token, "text=SECRET", "--collapse-key", "news")
        let listed = try #require(try devices("--waiting", "--sender", sender.id).first)
        #expect(listed["waiting"] as? Int == 1 && listed["channels"] as? [String] == ["mcs"])
        let shown = try run(daemon, ["--json", "messages", "list", device.token])
        let message = try #require((shown.object?["messages"] as? [[String: Any]])?.first, "\(shown)")
        #expect(message["collapse_key"] as? String == "news" && message["state"] as? String == "waiting")
        #expect(message["app"] as? String == "com.example.app" && !shown.output.contains("SECRET"))
        let statistics = try daemon.ctl("senders", "stats", sender.id)["senders"] as? [[String: Any]]
        let counts = statistics?.first?["downstream"] as? [String: Int]
        #expect(counts?["accepted"] == 1, "\(String(describing: statistics))")
    }
}
