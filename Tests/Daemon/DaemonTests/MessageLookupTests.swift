import ClientProtocol
import Foundation
import Testing

/// What an app server finds out about its own messages, over the HTTPS port.
@Suite("An app server in the message history", .serialized)
struct MessageLookupTests {
    /// A daemon, its first sender, and another one.
    private final class Bench {
        let daemon: RunningDaemon
        let own: (id: String, key: String)
        let other: (id: String, key: String)
        let caller: HTTPSCaller

        init(flags: [String] = []) throws {
            daemon = try RunningDaemon(flags: flags)
            own = try daemon.firstSender
            other = try daemon.addSender()
            caller = try HTTPSCaller(daemon)
        }

        /// Asks for a message of a project with a key.
        func ask(
            _ message: String, of project: String, key: String
        ) throws -> (status: Int, json: [String: Any]) {
            let name = message.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            return try caller.ask(
                "GET", "/v1/projects/\(project)/messages/\(name)", ["Authorization": "key=\(key)"])
        }

        /// Asks for a message of the first sender. Returns the milestones of the only one.
        func milestones(_ message: String) throws -> [String] {
            MessageLookupTests.milestones(try ask(message, of: own.id, key: own.key).json)
        }

        /// Sends over legacy HTTP. Returns the answer.
        func send(_ to: String, lifetime: Int = 60) throws -> [String: Any] {
            try caller.ask(
                "POST", "/fcm/send", ["Authorization": "key=\(own.key)"],
                body: ["to": to, "data": ["n": "1"], "time_to_live": lifetime]
            ).json
        }
    }

    private static func milestones(_ json: [String: Any]) -> [String] {
        let messages = json["messages"] as? [[String: Any]] ?? []
        guard messages.count == 1 else { return messages.isEmpty ? [] : ["several"] }
        return (messages[0]["steps"] as? [[String: Any]] ?? []).compactMap { $0["milestone"] as? String }
    }

    /// The code and status of an error of HTTP v1.
    private static func error(_ answer: (status: Int, json: [String: Any])) -> String {
        let error = answer.json["error"] as? [String: Any]
        return "\(answer.status) \(error?["status"] as? String ?? "-")"
    }

    @Test("its messages are found by each of their IDs, also after kill -9")
    func found() throws {
        let bench = try Bench()
        let (daemon, sender) = (bench.daemon, bench.own.id)
        let device = try TestDevice(daemon, sender: sender)
        _ = try daemon.ctl("send", sender, device.token, "n=1", "--message-id", "m/1 %")
        try device.expectMessage { $0["n"] == "1" }
        try device.sendUpstream(["n": "up"])
        try eventually("it is delivered") {
            try bench.milestones("m/1 %") == ["stored", "sent", "delivered"]
        }
        device.stop()
        let sent = try bench.send(device.token)
        let result = try #require((sent["results"] as? [[String: Any]])?.first)
        let id = try #require(result["message_id"] as? String)
        try eventually("it is stored") { try bench.milestones(id) == ["stored"] }
        #expect(try bench.milestones("projects/\(sender)/messages/\(id)") == ["stored"])
        let plain = try bench.caller.ask(
            "GET", "/v1/projects/\(sender)/messages/\(id)", ["Authorization": "key=\(bench.own.key)"])
        #expect(Self.milestones(plain.json) == ["stored"], "with a plain percent sign")
        let number = try #require(try bench.send("/topics/news")["message_id"] as? Int)
        try eventually("the topic message is found") { try bench.milestones("\(number)") == ["stored"] }
        let answer = try bench.ask(id, of: sender, key: bench.own.key)
        #expect(!"\(answer.json)".contains(device.token))
        #expect(!"\(answer.json)".contains("\(device.identity.androidID)"))

        daemon.signal(SIGKILL)
        #expect(try daemon.wait() == -SIGKILL)
        let next = try RunningDaemon(continuing: daemon.scratch)
        let caller = try HTTPSCaller(next)
        let after = try caller.ask(
            "GET", "/v1/projects/\(sender)/messages/\(id)", ["Authorization": "key=\(bench.own.key)"])
        #expect(Self.milestones(after.json) == ["stored"])
    }

    @Test("another sender's message is as unknown as any, and nothing is found without the right key")
    func refused() throws {
        let bench = try Bench()
        let device = try TestDevice(bench.daemon, sender: bench.own.id)
        _ = try bench.daemon.ctl("send", bench.own.id, device.token, "n=1", "--message-id", "mine")
        try eventually("canary: it is found") { try !bench.milestones("mine").isEmpty }
        let foreign = try bench.ask("mine", of: bench.other.id, key: bench.other.key)
        let absent = try bench.ask("absent", of: bench.other.id, key: bench.other.key)
        #expect(Self.error(foreign) == "404 NOT_FOUND")
        #expect(foreign.json as NSDictionary == absent.json as NSDictionary)
        let (own, other) = (bench.own, bench.other)
        #expect(Self.error(try bench.ask("mine", of: own.id, key: other.key)) == "403 PERMISSION_DENIED")
        #expect(Self.error(try bench.ask("mine", of: own.id, key: "wrong")) == "401 UNAUTHENTICATED")
        let open = try bench.caller.ask("GET", "/v1/projects/\(own.id)/messages/mine")
        #expect(Self.error(open) == "401 UNAUTHENTICATED")
        _ = try bench.daemon.ctl("senders", "suspend", own.id)
        let suspended = try bench.ask("mine", of: own.id, key: own.key)
        #expect(Self.error(suspended) == "401 UNAUTHENTICATED" && "\(suspended.json)".contains("suspended"))
        _ = try bench.daemon.ctl("senders", "resume", own.id)
        #expect(try !bench.milestones("mine").isEmpty)
    }

    @Test("a sender that asks too often is refused for a while, and others are not")
    func limit() throws {
        let bench = try Bench()
        var answer = try bench.ask("absent", of: bench.own.id, key: bench.own.key)
        var asked = 1
        while answer.status == 404, asked < 2_000 {
            answer = try bench.ask("absent", of: bench.own.id, key: bench.own.key)
            asked += 1
        }
        #expect(Self.error(answer) == "429 RESOURCE_EXHAUSTED", "after \(asked)")
        #expect(asked > 300)
        #expect(try bench.ask("absent", of: bench.other.id, key: bench.other.key).status == 404)
        try eventually("it may ask again") {
            try bench.ask("absent", of: bench.own.id, key: bench.own.key).status == 404
        }
    }

    @Test(
        "a service account asks for its own project",
        .enabled(if: TestPaths.hasPython, "run Scripts/bootstrap --tests first"))
    func account() throws {
        let bench = try Bench()
        let file = bench.daemon.directory.appendingPathComponent("account.json").path
        let account = try bench.daemon.ctl("service-accounts", "add", bench.own.id, "--out", file)
        let device = try TestDevice(bench.daemon, sender: bench.own.id)
        device.stop()
        let driver = try Driver(
            "ordered_http2.py", [String(bench.daemon.port("https")), bench.daemon.authority, file],
            secret: bench.own.key)
        try driver.expect(event: "ready")
        func ask(_ method: String, _ path: String, _ body: Any = NSNull()) throws -> (
            status: Int, json: [String: Any]
        ) {
            try driver.command(["do": "send", "requests": [[method, path, body]], "at_once": 1])
            let answers = try driver.expect(event: "sent")["answers"] as? [[Any]]
            let answer = try #require(answers?.first)
            return (answer.first as? Int ?? 0, answer.last as? [String: Any] ?? [:])
        }
        let message: [String: Any] = ["token": device.token, "data": ["n": "1"]]
        let sent = try ask("POST", "/v1/projects/\(bench.own.id)/messages:send", ["message": message])
        let name = try #require(sent.json["name"] as? String)
        try eventually("it is found by the name that v1 has returned") {
            Self.milestones(try ask("GET", "/v1/\(name)").json) == ["stored"]
        }
        let id = try #require(name.split(separator: "/").last)
        let foreign = try ask("GET", "/v1/projects/\(bench.other.id)/messages/\(id)")
        #expect(Self.error(foreign) == "403 PERMISSION_DENIED", "\(account)")
    }

    @Test("messages are counted by outcome and day, for their sender alone, also after kill -9")
    func totals() throws {
        let bench = try Bench()
        let device = try TestDevice(bench.daemon, sender: bench.own.id)
        _ = try bench.send(device.token)
        try device.expectMessage { $0["n"] == "1" }
        try device.sendUpstream(["n": "up"])
        device.stop()
        for _ in 0..<3 { _ = try bench.send(device.token) }
        _ = try bench.send("nonsense")
        func counts(
            _ caller: HTTPSCaller, _ sender: (id: String, key: String), days: Int = 2
        ) throws -> [String: Int] {
            let answer = try caller.ask(
                "GET", "/v1/projects/\(sender.id)/deliveryData?days=\(days)",
                ["Authorization": "key=\(sender.key)"])
            #expect(answer.status == 200, "\(answer)")
            // Midnight may pass.
            return (answer.json["deliveryData"] as? [[String: Any]] ?? []).reduce(into: [:]) { sums, day in
                for (name, count) in day["data"] as? [String: String] ?? [:] where count != "0" {
                    sums[name, default: 0] += Int(count) ?? 0
                }
            }
        }
        let expected = [
            "countMessagesAccepted": 4, "countMessagesDelivered": 1, "countMessagesRefused": 1,
        ]
        try eventually("all are counted") { try counts(bench.caller, bench.own) == expected }
        #expect(try counts(bench.caller, bench.other).isEmpty)
        let wrong = try bench.caller.ask(
            "GET", "/v1/projects/\(bench.own.id)/deliveryData?days=0",
            ["Authorization": "key=\(bench.own.key)"])
        #expect(Self.error(wrong) == "400 INVALID_ARGUMENT")
        let stranger = try bench.caller.ask(
            "GET", "/v1/projects/\(bench.own.id)/deliveryData", ["Authorization": "key=\(bench.other.key)"])
        #expect(Self.error(stranger) == "403 PERMISSION_DENIED")
        func operatorCounts(_ words: String...) throws -> Int {
            let result = try Tool.run(
                "ccsctl", ["--socket", bench.daemon.controlSocket, "--json", "messages", "totals"] + words)
            let days = result.object?["days"] as? [[String: Any]] ?? []
            return days.reduce(0) { $0 + ((($1["messages"] as? [String: Int])?["accepted"]) ?? 0) }
        }
        #expect(try operatorCounts() == 4)
        #expect(try operatorCounts("--sender", bench.other.id) == 0)

        bench.daemon.signal(SIGKILL)
        #expect(try bench.daemon.wait() == -SIGKILL)
        let next = try RunningDaemon(continuing: bench.daemon.scratch)
        let after = try counts(try HTTPSCaller(next), bench.own)
        #expect(after == expected)
    }

    @Test("without a history the answer names what the operator can set")
    func off() throws {
        let bench = try Bench(flags: ["--history-hours", "0"])
        let answer = try bench.ask("m", of: bench.own.id, key: bench.own.key)
        #expect(Self.error(answer) == "501 UNIMPLEMENTED" && "\(answer.json)".contains("history_hours"))
    }
}
