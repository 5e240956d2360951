import Basics
import ClientProtocol
import Foundation
import Operator
import Testing
import Wire

/// What app servers try with the messages and topics of others, and what they write into fields that operators see.
@Suite(
    "Attacks on the extensions", .serialized,
    .enabled(if: TestPaths.hasPython, "run Scripts/bootstrap --tests first"))
struct ExtensionAttackTests {
    private typealias Sender = (id: String, key: String)

    /// An ID as a part of a path.
    private static func escaped(_ id: String) -> String {
        id.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }

    /// A message for an hour, with more fields.
    private static func message(
        _ id: String, to token: String, _ more: [String: Any] = [:]
    ) -> [String: Any] {
        ["to": token, "message_id": id, "data": ["id": id], "time_to_live": 3_600].merging(more) { $1 }
    }

    private static func inAnHour() -> String {
        ISO8601DateFormatter().string(from: Date(timeIntervalSinceNow: 3_600))
    }

    @Test("no interface shows, cancels or replaces the waiting messages of another sender, whatever the ID")
    func strangers() throws {
        let daemon = try RunningDaemon()
        let (own, other) = (try daemon.firstSender, try daemon.addSender())
        let device = try TestDevice(daemon, sender: own.id)
        device.stop()
        let token = device.token
        let caller = try HTTPSCaller(daemon)
        let server = try BareAppServer(daemon, own)
        #expect(
            try server.exchange([
                Self.message("m-1", to: token), Self.message("m-2", to: token, ["send_at": Self.inAnHour()]),
            ]) == ["m-1": "ack", "m-2": "ack"])
        let rows = try daemon.ctl("messages", "list", token)["messages"] as? [[String: Any]] ?? []
        let names = rows.compactMap { $0["persistent_id"] as? String }
        #expect(names.count == 2, "\(rows)")
        // The IDs themselves, and those of the messages before and after.
        let guesses = ["m-1", "m-2"] + names + names.flatMap { Self.neighbours($0) }

        let stranger = try BareAppServer(daemon, other)
        var tries: [[String: Any]] = []
        for (number, id) in guesses.enumerated() {
            tries.append([
                "message_type": "cancel", "message_id": "c-\(number)", "to": token, "cancel_message_id": id,
            ])
            tries.append(Self.message("r-\(number)", to: token, ["replace_message_id": id]))
        }
        let answers = try stranger.exchange(tries)
        #expect(answers.count == tries.count)
        #expect(Set(answers.values).isSubset(of: ["UNKNOWN_MESSAGE", "BAD_REGISTRATION"]), "\(answers)")

        func ask(_ method: String, _ path: String, _ body: Any? = nil) throws -> (Int, NSDictionary) {
            let answer = try caller.ask(
                method, "/v1/projects/\(path)", ["Authorization": "key=\(other.key)"], body: body)
            return (answer.status, answer.json as NSDictionary)
        }
        for id in guesses {
            for path in [
                "\(other.id)/registrations/\(Self.escaped(token))/messages/", "\(other.id)/messages/",
            ] {
                let method = path.contains("registrations") ? "DELETE" : "GET"
                let (status, body) = try ask(method, path + Self.escaped(id))
                #expect(status == 404, "\(method) \(path)\(id): \(body)")
                let absent = try ask(method, path + "absent")
                #expect(absent.0 == 404 && absent.1 == body, "as unknown as any")
            }
            let sent = try caller.ask(
                "POST", "/fcm/send", ["Authorization": "key=\(other.key)"],
                body: ["to": token, "data": ["n": "1"], "replace_message_id": id])
            let error = (sent.json["results"] as? [[String: Any]])?.first?["error"] as? String
            #expect(["UnknownMessage", "MismatchSenderId"].contains(error), "\(sent)")
            let message: [String: Any] = ["token": token, "data": ["n": "1"], "replace_message_id": id]
            let (status, _) = try ask("POST", "\(other.id)/messages:send", ["message": message])
            #expect([401, 403, 404].contains(status))
        }
        // All is as it was, and the stranger has none of it.
        #expect(try ask("GET", "\(other.id)/scheduledMessages").1.count == 0)
        let left = try daemon.ctl("messages", "list", token)["messages"] as? [[String: Any]] ?? []
        #expect(left.compactMap { $0["persistent_id"] as? String } == names)
        #expect(
            try server.exchange([
                ["message_type": "cancel", "message_id": "c", "to": token, "cancel_message_id": "m-2"]
            ]) == ["c": "ack"], "canary: its own sender may")
        try device.start(daemon)
        #expect(try device.expectMessage { _ in true }["id"] == "m-1")
    }

    /// Persistent IDs beside one.
    private static func neighbours(_ name: String) -> [String] {
        let parts = name.split(separator: "%")
        guard parts.count == 2, let colon = parts[0].firstIndex(of: ":"),
            let number = UInt64(parts[0][parts[0].index(after: colon)...])
        else { return [name + "0", String(name.dropLast())] }
        let start = parts[0][...colon]
        return ["\(start)\(number + 1)%\(parts[1])", "\(start)\(number - 1)%\(parts[1])", name + "0"]
    }

    @Test("lists have nothing of another project, also from the middle of its list")
    func lists() throws {
        let daemon = try RunningDaemon()
        let (own, other) = (try daemon.firstSender, try daemon.addSender())
        let caller = try HTTPSCaller(daemon)
        let device = try TestDevice(daemon, sender: own.id)
        let foreign = try TestDevice(daemon, sender: other.id)
        for (device, sender) in [(device, own), (foreign, other)] {
            for topic in ["a", "b", "c"] {
                let answer = try caller.ask(
                    "POST", "/iid/v1/\(device.token)/rel/topics/\(topic)",
                    ["Authorization": "key=\(sender.key)"])
                #expect(answer.status == 200)
            }
            let sent = try caller.ask(
                "POST", "/fcm/send", ["Authorization": "key=\(sender.key)"],
                body: ["to": device.token, "data": ["n": "1"], "send_at": Self.inAnHour()])
            #expect(sent.status == 200)
            _ = try caller.ask(
                "POST", "/fcm/send", ["Authorization": "key=\(sender.key)"],
                body: ["to": device.token, "data": ["n": "2"], "send_at": Self.inAnHour()])
        }
        func list(_ path: String, _ sender: Sender, _ token: String = "") throws -> (Int, [String: Any]) {
            let query = token.isEmpty ? "" : "&pageToken=\(Self.escaped(token))"
            let answer = try caller.ask(
                "GET", "/v1/projects/\(path)?pageSize=1\(query)", ["Authorization": "key=\(sender.key)"])
            return (answer.status, answer.json)
        }
        for path in [
            "topics", "topics/b/subscribers", "scheduledMessages", "deliveryData", "messages/m",
        ] {
            #expect(try list("\(own.id)/\(path)", other).0 == 403, "\(path)")
            #expect(try list("\(own.id)/\(path)", (own.id, "wrong")).0 == 401)
        }
        for path in ["topics", "topics/b/subscribers", "scheduledMessages"] {
            let middle = try list("\(own.id)/\(path)", own)
            #expect(middle.0 == 200 && !middle.1.isEmpty)
            let mark = middle.1["nextPageToken"] as? String ?? "b"
            let answer = try list("\(other.id)/\(path)", other, mark)
            #expect([200, 400].contains(answer.0), "\(answer)")
            #expect(!"\(answer.1)".contains(device.token) && !"\(answer.1)".contains(own.id), "\(answer)")
        }
        // Each has sent two messages, and two are counted.
        let query = "\(other.id)/deliveryData?days=2"
        func accepted() throws -> [String] {
            let answer = try caller.ask(
                "GET", "/v1/projects/\(query)", ["Authorization": "key=\(other.key)"])
            return (answer.json["deliveryData"] as? [[String: Any]] ?? []).compactMap {
                ($0["data"] as? [String: Any])?["countMessagesAccepted"] as? String
            }
        }
        try eventually("they are recorded") { try accepted() == ["2"] }
    }

    /// IDs that are more than letters: for markup, shells, paths, headers, terminals and readers of Unicode.
    private static let strange = [
        "\"'`;--", "<img src=x onerror=\"alert(1)\">", "../../../etc/passwd", "..%2f..%2f", "a/b?c=d&e#f",
        "$(reboot)", "{{7*7}}", "%s%n%00", "a\tb", "a\nb: c", "a\r\nX-Injected: 1", "\u{2028}\u{2029}",
        "\u{202e}gnp.exe", "\u{feff}", "é\u{301}", "\u{1f468}\u{200d}\u{1f469}", "\u{10fffd}", "\u{7f}\u{85}",
        String(repeating: "x", count: 255), String(repeating: "ü", count: 512), "0:1%0", "-1", "--help",
        "plain",
    ]

    @Test("strange IDs are one message each in every interface, and change no line, header or terminal")
    func fields() throws {
        let bench = try OperatorAPIBench()
        let daemon = bench.daemon
        let own = try daemon.firstSender
        let device = try TestDevice(daemon, sender: own.id)
        device.stop()
        let caller = try HTTPSCaller(daemon)
        let server = try BareAppServer(daemon, own)
        let sent = try server.exchange(Self.strange.map { Self.message($0, to: device.token) })
        let taken = Self.strange.filter { sent[$0] == "ack" }
        #expect(taken.count > 18 && sent.count == Self.strange.count, "\(sent)")
        try eventually("all are recorded") { try !daemon.steps(of: "plain").isEmpty }
        for id in taken {
            // Of a long ID the beginning is recorded, and found by the whole.
            let known = String(decoding: Array(id.utf8).prefix(255), as: UTF8.self)
            let command = FindMessages(messageID: id, limit: 5)
            let found = try bench.ask(command, as: "victor")
            let rows = found.json["messages"]?.elements ?? []
            #expect(found.status == 200 && rows.map { $0["message_id"]?.text } == [known], "\(id): \(found)")
            #expect(!found.head.lowercased().contains("x-injected"))
            let own = try caller.ask(
                "GET", "/v1/projects/\(own.id)/messages/\(Self.escaped(id))",
                ["Authorization": "key=\(own.key)"])
            #expect(own.status == 200 && (own.json["messages"] as? [Any])?.count == 1, "\(id): \(own)")
            let plain = try Tool.run(
                "ccsctl", ["--socket", daemon.controlSocket, "messages", "find", "--", id])
            let controls = plain.output.unicodeScalars.filter {
                $0 != "\n" && ($0.properties.generalCategory == .control || $0.value == 0x202e)
            }
            #expect(plain.code == 0 && controls.isEmpty, "\(id): \(plain)")
        }
        // A page of them all has each in one line.
        let page = try Tool.run(
            "ccsctl", ["--socket", daemon.controlSocket, "messages", "find", "--sender", own.id])
        #expect(page.output.split(separator: "\n").count <= taken.count + 6, "\(page.output)")
        #expect(!"\(try bench.ask(FindMessages(limit: 50), as: "victor").json)".contains(device.token))
        // Each is cancelled by its ID, and none instead of another.
        let requests = taken.enumerated().map {
            [
                "message_type": "cancel", "message_id": "c-\($0)", "to": device.token,
                "cancel_message_id": $1,
            ]
        }
        let cancelled = try server.exchange(requests)
        #expect(cancelled.count == taken.count && cancelled.values.allSatisfy { $0 == "ack" }, "\(cancelled)")
        let rest = try daemon.ctl("messages", "list", device.token)["messages"] as? [Any]
        #expect(rest?.isEmpty == true)
    }

    @Test("a path names one ID, whatever its bytes: no other resource, and no crash")
    func paths() throws {
        let daemon = try RunningDaemon()
        let own = try daemon.firstSender
        let caller = try HTTPSCaller(daemon)
        let device = try TestDevice(daemon, sender: own.id)
        let parts = [
            "%ff", "%c0%af", "%ed%a0%80", "%00", "%0d%0aX-Injected:%201", "..%2f..%2fmessages", "%2e%2e",
            "a%2fb", "%25", "%", "%zz", "a?b", String(repeating: "x", count: 1_025),
            String(repeating: "%41", count: 3_000),
        ]
        for part in parts {
            for (method, path) in [
                ("GET", "messages/"), ("DELETE", "registrations/\(device.token)/messages/"),
                ("DELETE", "registrations/"), ("GET", "topics/"),
            ] {
                let tail = path == "topics/" ? "/subscribers" : path == "registrations/" ? "/messages/m" : ""
                var call = HTTPCall(method, "/v1/projects/\(own.id)/\(path)\(part)\(tail)")
                call.headers.append(("Authorization", Redacted("key=\(own.key)")))
                let answer = try caller.make(call)
                let isEmptyList = path == "topics/" && answer.status == 200
                #expect([400, 404, 414].contains(answer.status) || isEmptyList, "\(method) \(path)\(part)")
                #expect(!"\(answer.headers)".lowercased().contains("x-injected"))
            }
        }
        #expect(try daemon.ctl("audit")["holds"] as? Bool == true)
    }

    @Test("a viewer sees no token in what became of messages, and cancels none")
    func viewers() throws {
        let bench = try OperatorAPIBench()
        let own = try bench.daemon.firstSender
        let device = try TestDevice(bench.daemon, sender: own.id)
        device.stop()
        let server = try BareAppServer(bench.daemon, own)
        let sent = try server.exchange([
            Self.message("m-1", to: device.token),
            Self.message("m-2", to: device.token, ["send_at": Self.inAnHour()]),
            Self.message("m-3", to: device.token + "x"), Self.message("m-4", to: "/topics/news"),
        ])
        #expect(sent["m-1"] == "ack" && sent["m-2"] == "ack" && sent["m-3"] == "BAD_REGISTRATION")
        try eventually("it is recorded") { try bench.daemon.steps(of: "m-4") != [] }
        let number = String(device.identity.androidID)
        for words in [
            ["messages", "find"], ["messages", "find", "m-1"], ["messages", "find", "m-3"],
            ["messages", "history", number], ["messages", "list", number],
            ["messages", "scheduled"], ["messages", "totals"],
        ] {
            let seen = try bench.ctl(as: "victor", ["--json"] + words)
            #expect(seen.code == 0 && !seen.output.isEmpty, "\(words): \(seen)")
            #expect(!seen.output.contains(device.token), "\(words)")
        }
        let refused = try bench.ctl(as: "victor", ["messages", "cancel", device.token, "m-1"])
        #expect(refused.code == 77 && refused.errors.contains("needs the role operator"), "\(refused)")
        #expect(try bench.daemon.steps(of: "m-1") == ["stored"])
    }

    @Test(
        "refused submissions are in the history with reason and field, also those without an ID, up to a rate"
    )
    func refusals() throws {
        let daemon = try RunningDaemon()
        let (own, other) = (try daemon.firstSender, try daemon.addSender())
        let caller = try HTTPSCaller(daemon)
        let device = try TestDevice(daemon, sender: own.id)
        device.stop()
        func send(_ path: String, _ body: [String: Any], _ key: String) throws {
            _ = try caller.ask("POST", path, ["Authorization": "key=\(key)"], body: body)
        }
        let bad: [String: Any] = ["data": ["n": "1"], "registration_ids": ["no token", "nor this"]]
        try send("/fcm/send", bad, own.key)
        try send("/fcm/send", ["to": device.token, "time_to_live": "soon"], own.key)
        let message: [String: Any] = ["token": "no token", "data": ["n": "1"]]
        try send("/v1/projects/\(own.id)/messages:send", ["message": message], own.key)
        try send("/fcm/send", bad, "wrong")
        func refused(_ sender: Sender) throws -> [String] {
            let found = try daemon.ctl(
                "messages", "find", "--sender", sender.id, "--outcome", "refused", "--limit", "200")
            return (found["messages"] as? [[String: Any]] ?? []).flatMap {
                ($0["steps"] as? [[String: Any]] ?? []).compactMap { $0["detail"] as? String }
            }
        }
        var details: [String] = []
        try eventually("they are recorded") {
            details = try refused(own)
            return details.count >= 2
        }
        #expect(
            details.contains("invalid_token") && details.contains { $0.hasSuffix(" time_to_live") },
            "\(details)")
        #expect(try refused(other).isEmpty, "only those of a known sender")
        // A flood leaves what became of messages in the history, and other senders their share.
        let flood = try BareAppServer(daemon, other)
        var stanzas = (0..<2_000).map { Self.message("f-\($0)", to: "no token") }
        _ = try flood.exchange(stanzas)
        stanzas = [Self.message("mine", to: "no token")]
        #expect(try BareAppServer(daemon, own).exchange(stanzas) == ["mine": "BAD_REGISTRATION"])
        try eventually("it is recorded") { try daemon.steps(of: "mine") == ["refused"] }
        #expect(try refused(other).count >= 100)
    }
}
