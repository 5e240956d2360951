import Basics
import Client
import Foundation
import Testing
import Wire
import WireSupport

/// Exports of one real daemon, imported into another one.
@Suite("Export and import", .serialized)
struct ExportTests {
    private func ctl(_ daemon: RunningDaemon, _ words: String...) throws -> Tool {
        try Tool.run("ccsctl", ["--socket", daemon.controlSocket, "--json"] + words)
    }

    private func lines(_ file: URL) throws -> [String] {
        try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    private func write(_ lines: [String], to file: URL) throws {
        try (lines.joined(separator: "\n") + "\n").write(to: file, atomically: true, encoding: .utf8)
    }

    /// Returns the lines without the times of the last contact, which move on.
    private func settled(_ lines: [String]) -> [String] {
        lines.dropFirst().map {
            $0.replacingOccurrences(of: "\"seen_at\":\"[^\"]*\"", with: "", options: .regularExpression)
        }
    }

    @Test("keys, tokens, devices and topics stay valid on another server, and an import can be repeated")
    func moved() throws {
        let old = try RunningDaemon()
        let sender = try old.firstSender
        let device = try TestDevice(old, sender: sender.id)
        try device.subscribe(old, to: "news")
        device.stop()
        let scratch = try Scratch()
        let file = scratch.url.appendingPathComponent("registry.jsonl")
        let exported = try ctl(old, "export", file.path)
        #expect(exported.code == 0 && exported.object?["rows"] as? Int == 5, "\(exported)")
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let again = try ctl(old, "export", file.path)
        #expect(again.code == 74 && again.errors.contains("File exists"), "\(again)")
        let kinds = try lines(file).map { line in
            ["header", "secret", "sender", "device", "registration", "subscription", "end"].first {
                line.hasPrefix("{\"kind\":\"\($0)\"")
            }
        }
        #expect(
            kinds == ["header", "secret", "sender", "device", "registration", "subscription", "end"])
        #expect(try !String(contentsOf: file, encoding: .utf8).contains(sender.key))

        let new = try RunningDaemon()
        let imported = try ctl(new, "import", file.path)
        #expect(imported.code == 0, "\(imported)")
        #expect(imported.object?["added"] as? Int == 4 && imported.object?["replaced"] as? Int == 1)
        #expect(imported.object?["needs_restart"] as? Bool == true)
        // Until the restart the imported tokens would be refused for good.
        #expect(try new.ctl("status")["state"] as? String == "drained")
        let released = try ctl(new, "drain", "--release")
        #expect(released.code == 1 && released.errors.contains("only after a restart"), "\(released)")
        #expect(try new.ctl("status")["state"] as? String == "drained")
        let repeated = try ctl(new, "import", file.path)
        #expect(repeated.code == 0 && repeated.object?["unchanged"] as? Int == 5, "\(repeated)")
        new.signal(SIGTERM)
        #expect(try new.wait() == 0)

        let restarted = try RunningDaemon(continuing: new.scratch)
        let copy = scratch.url.appendingPathComponent("copy.jsonl")
        #expect(try ctl(restarted, "export", copy.path).code == 0)
        // The new server has a first sender of its own.
        let mine = try settled(lines(copy)).filter { !$0.hasPrefix("{\"kind\":\"end\"") }
        for line in try settled(lines(file)).dropLast() { #expect(mine.contains(line), "\(line)") }
        let third = try ctl(restarted, "import", file.path)
        #expect(third.object?["needs_restart"] as? Bool == false, "\(third)")
        // Another certificate authority, which the device trusts from now on; all else is as before.
        try device.start(restarted)
        let server = try TestAppServer(restarted, sender: sender)
        #expect(try server.send("m1", to: device.token) == "ACK")
        try device.expectMessage { $0["id"] == "m1" }
        #expect(try server.send("m2", to: "/topics/news") == "ACK")
        try device.expectMessage { $0["id"] == "m2" }
        #expect(try restarted.ctl("audit")["holds"] as? Bool == true)
    }

    @Test("lines that are invalid or differ are reported with number and field, and the others are imported")
    func problems() throws {
        let old = try RunningDaemon()
        let device = try TestDevice(old, sender: try old.firstSender.id)
        device.stop()
        let scratch = try Scratch()
        let file = scratch.url.appendingPathComponent("registry.jsonl")
        #expect(try ctl(old, "export", file.path).code == 0)
        let whole = try lines(file)
        #expect(whole.count == 6)
        let new = try RunningDaemon()
        var bad = whole
        bad[2] = bad[2].replacingOccurrences(of: "\"label\":\"first\"", with: "\"labell\":\"first\"")
        bad[4] = bad[4].replacingOccurrences(of: "\"number\":1", with: "\"number\":\"x\"")
        bad.insert("{\"kind\":\"devise\"}", at: 4)
        bad.insert("{\"kind\":\"device\"", at: 4)
        bad.insert("[]", at: 4)
        bad[bad.count - 1] = "{\"kind\":\"end\",\"rows\":7}"
        try write(bad, to: file)
        let mixed = try ctl(new, "import", file.path)
        #expect(mixed.code == 65 && mixed.object?["added"] as? Int == 1, "\(mixed)")
        let problems = mixed.object?["problems"] as? [[String: Any]] ?? []
        let found = problems.map { "\($0["line"] ?? "") \($0["field"] ?? "") \($0["text"] ?? "")" }.sorted()
        let expected = [
            "3 labell unknown argument", "5 <null> invalid row: expected a JSON object",
            "6 <null> invalid JSON at byte", "7 kind invalid kind \"devise\": expected one of header",
            "8 number invalid number",
        ]
        #expect(found.count == expected.count, "\(found)")
        for (line, start) in zip(found, expected) { #expect(line.hasPrefix(start), "\(line)") }

        try write(whole, to: file)
        #expect(try ctl(new, "import", file.path).code == 0)
        let changed = whole.map {
            $0.replacingOccurrences(of: "com.example.app", with: "com.example.other")
                .replacingOccurrences(of: "\"label\":\"first\"", with: "\"label\":\"second\"")
        }
        #expect(changed != whole)
        try write(changed, to: file)
        let kept = try ctl(new, "import", file.path)
        #expect(kept.code == 1 && kept.object?["conflicts"] as? Int == 2, "\(kept)")
        #expect(kept.output.contains("it differs from what is here: --replace imports it"), "\(kept)")
        let unconfirmed = try ctl(new, "import", file.path, "--replace")
        #expect(unconfirmed.code == 64 && unconfirmed.errors.contains("give --yes"), "\(unconfirmed)")
        let replaced = try ctl(new, "import", file.path, "--replace", "--yes")
        #expect(replaced.code == 0 && replaced.object?["replaced"] as? Int == 2, "\(replaced)")
        #expect(try ctl(new, "import", file.path).object?["unchanged"] as? Int == 4)
    }

    @Test(
        "a webhook that this server must not reach is reported with its field, and all other rows are imported"
    )
    func forbiddenWebhook() throws {
        let old = try RunningDaemon(flags: ["--webhook-private-addresses"])
        let device = try TestDevice(old, sender: try old.firstSender.id)
        device.stop()
        let sender = try old.firstSender.id
        let set = try ctl(old, "senders", "webhook", "set", sender, "https://127.0.0.1:9/hook")
        #expect(set.code == 0, "\(set)")
        let scratch = try Scratch()
        let file = scratch.url.appendingPathComponent("registry.jsonl")
        #expect(try ctl(old, "export", file.path).code == 0)
        let new = try RunningDaemon()
        let imported = try ctl(new, "import", file.path)
        #expect(imported.code == 65 && imported.object?["invalid"] as? Int == 1, "\(imported)")
        #expect(imported.object?["added"] as? Int == 2, "the device and its registration: \(imported)")
        let problems = imported.object?["problems"] as? [[String: Any]] ?? []
        #expect(problems.first?["field"] as? String == "webhook.url" && problems.first?["line"] as? Int == 3)
        #expect((problems.first?["text"] as? String)?.contains("127.0.0.1 is a loopback address") == true)
    }

    @Test("a group that cannot be imported is reported with its line, and the groups after it are imported")
    func groups() throws {
        let old = try RunningDaemon()
        let sender = try old.firstSender
        let device = try TestDevice(old, sender: sender.id)
        device.stop()
        for label in ["blue", "green", "red"] {
            var call = HTTPCall("POST", "/fcm/notification")
            call.add("project_id", sender.id)
            call.headers.append(("Authorization", Redacted("key=\(sender.key)")))
            call.body = Array(
                #"{"operation":"create","notification_key_name":"\#(label)","registration_ids":["\#(device.token)"]}"#
                    .utf8)
            #expect(try device.call(old, call).status == 200)
        }
        let scratch = try Scratch()
        let file = scratch.url.appendingPathComponent("registry.jsonl")
        #expect(try ctl(old, "export", file.path).code == 0)
        var rows = try lines(file)
        let groups = rows.indices.filter { rows[$0].hasPrefix("{\"kind\":\"group\"") }
        try #require(groups.count == 3)
        // The second group gets the label of the first one.
        let first = try #require(["blue", "green", "red"].first { rows[groups[0]].contains("\"\($0)\"") })
        let second = try #require(["blue", "green", "red"].first { rows[groups[1]].contains("\"\($0)\"") })
        rows[groups[1]] = rows[groups[1]].replacingOccurrences(of: "\"\(second)\"", with: "\"\(first)\"")
        try write(rows, to: file)
        let new = try RunningDaemon()
        let imported = try ctl(new, "import", file.path)
        #expect(imported.code == 1 && imported.object?["conflicts"] as? Int == 1, "\(imported)")
        let problems = imported.object?["problems"] as? [[String: Any]] ?? []
        #expect(problems.map { $0["line"] as? Int } == [groups[1] + 1], "\(problems)")
        let copy = scratch.url.appendingPathComponent("copy.jsonl")
        #expect(try ctl(new, "export", copy.path).code == 0)
        let there = try lines(copy).filter { $0.hasPrefix("{\"kind\":\"group\"") }
        #expect(there == [rows[groups[0]], rows[groups[2]]], "\(there)")
    }

    @Test("a truncated file, another format, and a server with tokens of its own are refused as a whole")
    func refusals() throws {
        let old = try RunningDaemon()
        let device = try TestDevice(old, sender: try old.firstSender.id)
        device.stop()
        let scratch = try Scratch()
        let file = scratch.url.appendingPathComponent("registry.jsonl")
        #expect(try ctl(old, "export", file.path).code == 0)
        let whole = try lines(file)
        let new = try RunningDaemon()
        func refused(_ lines: [String], _ text: String) throws {
            try write(lines, to: file)
            let tool = try ctl(new, "import", file.path)
            #expect(tool.code == 65 && tool.errors.contains(text), "\(text): \(tool)")
        }
        try refused(Array(whole.dropLast()), "is truncated: its last line is not the end of an export")
        try refused(
            [whole[0]] + whole.dropFirst(2), "is incomplete: it has \(whole.count - 3) rows, expected")
        try refused(Array(whole.dropFirst()), "is not an export: its first line is not a header")
        for format in [0, 2] {
            let header = whole[0].replacingOccurrences(of: "\"format\":1", with: "\"format\":\(format)")
            try refused([header] + whole.dropFirst(), "has export format \(format) of ccsctl 0.1.0, expected")
        }
        #expect(try new.ctl("devices", "list")["devices"] as? [String] == [])

        let other = try TestDevice(new, sender: try new.firstSender.id)
        other.stop()
        try write(whole, to: file)
        let foreign = try ctl(new, "import", file.path)
        #expect(foreign.code == 1, "\(foreign)")
        #expect(foreign.errors.contains("depend on a secret of its own"), "\(foreign)")
        #expect((try new.ctl("devices", "list")["devices"] as? [Any])?.count == 1)
    }
}
