import ClientProtocol
import Foundation
import Operator
import Testing

/// What app servers and apps write into the fields that operators see beside a message's ID, and what viewers must not see there.
@Suite(
    "Attacks by texts", .serialized,
    .enabled(if: TestPaths.hasPython, "run Scripts/bootstrap --tests first"))
struct TextAttackTests {
    private static func inAnHour() -> String {
        ISO8601DateFormatter().string(from: Date(timeIntervalSinceNow: 3_600))
    }

    @Test("a viewer sees no token in a text that an app server has put it into, in no answer")
    func tokens() throws {
        let bench = try OperatorAPIBench()
        let daemon = bench.daemon
        let own = try daemon.firstSender
        let device = try TestDevice(daemon, sender: own.id)
        device.stop()
        let token = device.token
        _ = try daemon.ctl("senders", "add", "--label", "for \(token)")
        let escaped = token.replacingOccurrences(of: ":", with: "%3A")
        let ids = [token, "a-\(token)-1", escaped, "later \(token)", "topic \(token)"]
        let more: [[String: Any]] = [
            ["to": token, "collapse_key": token], ["to": token], ["to": "no token"],
            ["to": token, "send_at": Self.inAnHour()], ["to": "/topics/news"],
        ]
        let sent = try BareAppServer(daemon, own).exchange(
            zip(ids, more).map { id, fields in
                ["message_id": id, "data": ["a": "b"], "time_to_live": 3_600].merging(fields) { $1 }
            })
        #expect(ids.map { sent[$0] } == ["ack", "ack", "BAD_REGISTRATION", "ack", "ack"], "\(sent)")
        try eventually("the last one is recorded") { try !daemon.steps(of: ids[4]).isEmpty }
        let number = String(device.identity.androidID)
        let secret = String(token.suffix(100))
        var shown: Set<String> = []
        for words in [
            ["messages", "find"], ["messages", "find", ids[1]], ["messages", "history", number],
            ["messages", "list", number], ["messages", "scheduled"], ["topics", "running"],
            ["topics", "list"], ["senders", "list"], ["senders", "stats"], ["sessions", "list"],
            ["devices", "list"],
        ] {
            for form in [["--json"], []] {
                let seen = try bench.ctl(as: "victor", form + words)
                #expect(seen.code == 0 && !seen.output.contains(secret), "\(words): \(seen)")
                if seen.output.contains(":APA91b…") { shown.insert(words.joined(separator: " ")) }
            }
            if try bench.ctl(as: "alice", ["--json"] + words).output.contains(secret) {
                shown.insert("operator")
            }
        }
        #expect(
            shown.isSuperset(of: ["operator", "messages find", "messages scheduled", "senders list"]),
            "canary: \(shown)")
    }

    /// Texts for terminals, lines and pages.
    private static let strange = [
        "<script>alert(1)</script>", "\"'`;--\\", "a\nevent=forged x=y", "a\r\nX-Injected: 1",
        "\u{1b}[2Jclear", "\u{202e}gnp", "\u{2028}\u{2029}", "\u{85}\u{7f}", "a\tb", "{\"ok\":true}",
    ]

    @Test("strange texts in every field are one cell, line or value wherever they are shown")
    func strange() throws {
        let bench = try OperatorAPIBench(flags: ["--log-level", "debug"])
        let daemon = bench.daemon
        let own = try daemon.firstSender
        let caller = try HTTPSCaller(daemon)
        let device = try TestDevice(daemon, sender: own.id)
        device.stop()
        var stanzas: [[String: Any]] = []
        for (number, text) in Self.strange.enumerated() {
            _ = try Tool.run(
                "ccsctl", ["--socket", daemon.controlSocket, "senders", "add", "--label", text])
            let base: [String: Any] = ["to": device.token, "time_to_live": 3_600, "data": ["a": text]]
            for (place, more) in [
                ["collapse_key": text], ["send_at": Self.inAnHour(), "collapse_key": text],
                ["to": text], ["to": "/topics/\(text)"],
                ["condition": "'\(text)' in topics", "to": NSNull()],
                ["time_to_live": text], ["send_at": text], ["priority": text],
                ["data": ["google.\(text)": "1"]], ["restricted_package_name": text],
                ["replace_message_id": text],
            ].enumerated() {
                stanzas.append(
                    base.merging(["message_id": "m-\(number)-\(place)"]) { $1 }.merging(more) { $1 }
                        .filter { !($0.value is NSNull) })
            }
            stanzas.append([
                "message_type": "cancel", "message_id": text, "to": device.token, "cancel_message_id": text,
            ])
            let answer = try caller.ask(
                "POST", "/fcm/send", ["Authorization": "key=\(own.key)"],
                body: ["to": text, "data": ["google.\(text)": "1"]])
            #expect(answer.status < 500 && !"\(answer)".contains("X-Injected: 1\n"), "\(answer)")
        }
        let server = try BareAppServer(daemon, own)
        let answers = try server.exchange(stanzas)
        #expect(answers.count == stanzas.count && !answers.values.contains("INTERNAL_SERVER_ERROR"))
        let kept = answers.values.count { $0 == "ack" }
        #expect(kept >= Self.strange.count && kept < stanzas.count, "\(answers)")
        try eventually("the last refusal is recorded") {
            try daemon.steps(of: "m-9-10") == ["refused"]
        }
        for words in [
            ["messages", "find", "--limit", "200"], ["messages", "list", device.token],
            ["messages", "scheduled"],
            ["messages", "history", device.token, "--limit", "200"], ["senders", "list"],
            ["topics", "running"],
        ] {
            let plain = try Tool.run("ccsctl", ["--socket", daemon.controlSocket] + words)
            let controls = plain.output.unicodeScalars.filter {
                $0 != "\n" && $0.properties.generalCategory == .control || $0 == "\u{202e}"
                    || $0 == "\u{2028}"
            }
            #expect(plain.code == 0 && controls.isEmpty, "\(words): \(plain)")
            #expect(!plain.output.contains("\nevent=forged"), "\(words)")
            let json = try Tool.run("ccsctl", ["--socket", daemon.controlSocket, "--json"] + words)
            #expect(json.code == 0 && json.object != nil && json.output.split(separator: "\n").count >= 1)
        }
        let log = daemon.words
        #expect(log.contains("event=refused"))
        #expect(!log.split(separator: "\n").contains { $0.hasPrefix("event=forged") })
        #expect(
            log.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control },
            "no control character in the log")
        #expect(try daemon.ctl("audit")["holds"] as? Bool == true)
    }
}
