import Foundation
import Testing

/// App servers take back messages that wait, over XMPP and HTTP, and only their own.
@Suite(
    "App servers cancel messages", .serialized,
    .enabled(if: TestPaths.hasPython, "run Scripts/bootstrap --tests first"))
struct MessageCancelTests {
    /// The steps of a message to a device: a receipt has the ID of its message.
    private func steps(_ daemon: RunningDaemon, _ id: String) throws -> [String] {
        try daemon.steps(of: id, kind: "downstream")
    }

    private static func message(_ id: String, to token: String) -> [String: Any] {
        ["to": token, "message_id": id, "data": ["id": id], "delivery_receipt_requested": true]
    }

    private static func cancel(_ id: String, to token: String, as request: String) -> [String: Any] {
        ["message_type": "cancel", "message_id": request, "to": token, "cancel_message_id": id]
    }

    @Test(
        "a cancelled message is neither delivered nor receipted, also after kill -9; a delivered one is unknown"
    )
    func overXMPP() throws {
        let daemon = try RunningDaemon()
        let own = try daemon.firstSender
        let device = try TestDevice(daemon, sender: own.id)
        device.stop()
        let server = try BareAppServer(daemon, own)
        let token = device.token
        let sent = try server.exchange(
            [
                Self.message("m-1", to: token), Self.message("m-2", to: token),
                Self.cancel("m-1", to: token, as: "c-1"),
            ])
        #expect(sent == ["m-1": "ack", "m-2": "ack", "c-1": "ack"])
        #expect(try steps(daemon, "m-1") == ["stored", "cancelled"], "the history has it at once")
        daemon.signal(SIGKILL)
        #expect(try daemon.wait() == -SIGKILL)

        let next = try RunningDaemon(continuing: daemon.scratch)
        let again = try BareAppServer(next, own)
        var wrong = ["m-1", "m", "0:1%0", "\u{0}x", String(repeating: "x", count: 1_024)]
            .enumerated().map { Self.cancel($1, to: token, as: "w-\($0)") }
        wrong.append(Self.cancel(String(repeating: "x", count: 1_025), to: token, as: "w-5"))
        wrong.append(Self.cancel("m-2", to: "nonsense", as: "w-6"))
        wrong.append(Self.cancel("m-2", to: token, as: "w-7").merging(["dry_run": true]) { $1 })
        #expect(
            try again.exchange(wrong) == [
                "w-0": "UNKNOWN_MESSAGE", "w-1": "UNKNOWN_MESSAGE", "w-2": "UNKNOWN_MESSAGE",
                "w-3": "INVALID_JSON", "w-4": "UNKNOWN_MESSAGE", "w-5": "INVALID_JSON",
                "w-6": "BAD_REGISTRATION", "w-7": "INVALID_JSON",
            ])
        try device.start(next)
        #expect(try device.expectMessage { _ in true }["id"] == "m-2")
        let late = try again.exchange([Self.cancel("m-2", to: token, as: "c-2")])
        // By then the device has acknowledged it, or not.
        #expect(["MESSAGE_SENT", "UNKNOWN_MESSAGE"].contains(late["c-2"]), "\(late)")
        try device.sendUpstream(["n": "up"])
        try eventually("it is delivered") { try steps(next, "m-2").contains("delivered") }
        let gone = try again.exchange([Self.cancel("m-2", to: token, as: "c-3")])
        #expect(gone["c-3"] == "UNKNOWN_MESSAGE")
        #expect(try steps(next, "m-1") == ["stored", "cancelled"])
        try again.driver.command(["do": "receipts", "count": 1])
        #expect(try again.driver.expect(event: "receipts")["of"] as? [String] == ["m-2"])
        #expect(try next.ctl("audit")["holds"] as? Bool == true)
    }

    @Test("after kill -9 during a cancellation the message is cancelled or delivered, as it was confirmed")
    func kills() throws {
        var daemon = try RunningDaemon()
        let own = try daemon.firstSender
        let device = try TestDevice(daemon, sender: own.id)
        device.stop()
        var confirmed = 0
        for round in 0..<6 {
            let server = try BareAppServer(daemon, own)
            let ids = (0..<40).map { "m-\(round)-\($0)" }
            let messages = ids.map { Self.message($0, to: device.token) }
            #expect(try server.exchange(messages).values.allSatisfy { $0 == "ack" })
            let requests = ids.map { Self.cancel($0, to: device.token, as: "c\($0)") }
            try server.driver.command(["do": "exchange", "stanzas": requests, "count": round * 8])
            _ = try server.driver.expect(event: "answered")
            daemon.signal(SIGKILL)
            #expect(try daemon.wait() == -SIGKILL)
            try server.driver.command(["do": "rest"])
            let answers = try server.driver.expect(event: "answered")["answers"] as? [String: String] ?? [:]
            daemon = try RunningDaemon(continuing: daemon.scratch)
            try device.start(daemon)
            _ = try daemon.ctl("send", own.id, device.token, "id=last-\(round)")
            var received: Set<String> = []
            while !received.contains("last-\(round)") {
                received.insert(try device.expectMessage { _ in true }["id"] ?? "")
            }
            try device.sendUpstream(["n": "up"])
            device.stop()
            let cancelled = ids.filter { answers["c\($0)"] == "ack" }
            confirmed += cancelled.count
            #expect(received.isDisjoint(with: cancelled))
            for id in ids {
                let steps = try steps(daemon, id)
                #expect(!(steps.contains("cancelled") && steps.contains("delivered")), "\(id): \(steps)")
            }
        }
        #expect(confirmed > 0, "canary")
        #expect(try daemon.ctl("audit")["holds"] as? Bool == true)
    }

    /// The code and status of an error of HTTP v1.
    private static func error(_ answer: (status: Int, json: [String: Any])) -> String {
        let error = answer.json["error"] as? [String: Any]
        return "\(answer.status) \(error?["status"] as? String ?? "-")"
    }

    @Test(
        "over HTTP a message is cancelled by the ID of its answer, and another sender's is as unknown as none"
    )
    func overHTTP() throws {
        let daemon = try RunningDaemon()
        let own = try daemon.firstSender
        let other = try daemon.addSender()
        let device = try TestDevice(daemon, sender: own.id)
        let caller = try HTTPSCaller(daemon)
        func cancel(
            _ id: String, as sender: (id: String, key: String), project: String? = nil, token: String? = nil
        ) throws -> (status: Int, json: [String: Any]) {
            let token =
                (token ?? device.token).addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            let name = id.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            return try caller.ask(
                "DELETE", "/v1/projects/\(project ?? sender.id)/registrations/\(token)/messages/\(name)",
                ["Authorization": "key=\(sender.key)"])
        }
        func send(lifetime: Int = 60) throws -> String {
            let sent = try caller.ask(
                "POST", "/fcm/send", ["Authorization": "key=\(own.key)"],
                body: ["to": device.token, "data": ["n": "1"], "time_to_live": lifetime]
            ).json
            let result = try #require((sent["results"] as? [[String: Any]])?.first)
            return try #require(result["message_id"] as? String)
        }
        let seen = try send()
        _ = try device.expectMessage { $0["n"] == "1" }
        let late = try cancel(seen, as: own)
        #expect(["409 ALREADY_EXISTS", "404 NOT_FOUND"].contains(Self.error(late)), "\(late)")
        try device.sendUpstream(["n": "up"])
        device.stop()
        let id = try send()
        let foreign = try cancel(id, as: other)
        let absent = try cancel("absent", as: other)
        #expect(Self.error(foreign) == "404 NOT_FOUND")
        #expect(foreign.json as NSDictionary == absent.json as NSDictionary)
        #expect(try cancel(seen, as: own).json as NSDictionary == absent.json as NSDictionary, "delivered")
        #expect(Self.error(try cancel(id, as: other, project: own.id)) == "403 PERMISSION_DENIED")
        #expect(Self.error(try cancel(id, as: (own.id, "wrong"))) == "401 UNAUTHENTICATED")
        #expect(Self.error(try cancel(id, as: own, token: "nonsense")) == "400 INVALID_ARGUMENT")
        #expect(
            Self.error(try cancel(String(repeating: "x", count: 1_025), as: own)) == "400 INVALID_ARGUMENT")
        let short = try send(lifetime: 1)
        #expect(try cancel(id, as: own).status == 200)
        #expect(Self.error(try cancel(id, as: own)) == "404 NOT_FOUND", "twice")
        try eventually("the other one expires") { Self.error(try cancel(short, as: own)) == "404 NOT_FOUND" }
        try eventually("both have an end") {
            try steps(daemon, id).last == "cancelled"
                && ["expired", "cancelled"].contains(try steps(daemon, short).last)
        }
    }

    @Test(
        "a message takes the place of one that waits, also after kill -9, and not of one that was delivered")
    func replaced() throws {
        let daemon = try RunningDaemon()
        let own = try daemon.firstSender
        let device = try TestDevice(daemon, sender: own.id)
        device.stop()
        let token = device.token
        var second = Self.message("m-3", to: token)
        second["replace_message_id"] = "m-1"
        var absent = Self.message("m-4", to: token)
        absent["replace_message_id"] = "m-9"
        let sent = try BareAppServer(daemon, own).exchange(
            [Self.message("m-1", to: token), Self.message("m-2", to: token), second, absent])
        #expect(sent == ["m-1": "ack", "m-2": "ack", "m-3": "ack", "m-4": "UNKNOWN_MESSAGE"])
        try eventually("the history has them") {
            try steps(daemon, "m-1") == ["stored", "cancelled"] && steps(daemon, "m-3") == ["stored"]
        }
        daemon.signal(SIGKILL)
        #expect(try daemon.wait() == -SIGKILL)

        let next = try RunningDaemon(continuing: daemon.scratch)
        let caller = try HTTPSCaller(next)
        func send(replacing id: String, _ n: String) throws -> String {
            let answer = try caller.ask(
                "POST", "/fcm/send", ["Authorization": "key=\(own.key)"],
                body: ["to": token, "data": ["id": n], "replace_message_id": id])
            let result = (answer.json["results"] as? [[String: Any]])?.first
            return result?["error"] as? String ?? "\(answer.status)"
        }
        #expect(
            try send(replacing: "m-2", "h-1") == "200" && send(replacing: "m-2", "h-2") == "UnknownMessage")
        try device.start(next)
        #expect(try device.expectMessage { _ in true }["id"] == "m-3")
        #expect(try device.expectMessage { _ in true }["id"] == "h-1")
        try device.sendUpstream(["n": "up"])
        try eventually("it is delivered") { try steps(next, "m-3").contains("delivered") }
        #expect(try send(replacing: "m-3", "h-3") == "UnknownMessage")
        try eventually("each has its end") { try steps(next, "m-2").last == "cancelled" }
    }

    @Test("topics and their subscribers are listed for their project, page by page")
    func topics() throws {
        let daemon = try RunningDaemon()
        let own = try daemon.firstSender
        let other = try daemon.addSender()
        let caller = try HTTPSCaller(daemon)
        let devices = try (0..<3).map { _ in try TestDevice(daemon, sender: own.id) }
        let stranger = try TestDevice(daemon, sender: other.id)
        func subscribe(_ device: TestDevice, _ topic: String, _ key: String) throws {
            let answer = try caller.ask(
                "POST", "/iid/v1/\(device.token)/rel/topics/\(topic)", ["Authorization": "key=\(key)"])
            #expect(answer.status == 200, "\(answer)")
        }
        for device in devices { try subscribe(device, "news", own.key) }
        for topic in ["a", "b~%25", "c"] { try subscribe(devices[0], topic, own.key) }
        try subscribe(stranger, "news", other.key)
        func list(
            _ path: String, _ sender: (id: String, key: String), project: String? = nil
        ) throws -> (status: Int, json: [String: Any]) {
            try caller.ask(
                "GET", "/v1/projects/\(project ?? sender.id)/topics\(path)",
                ["Authorization": "key=\(sender.key)"])
        }
        /// Reads all pages.
        func all(_ path: String, _ list: String, _ member: String, size: Int) throws -> [String] {
            var (found, mark): ([String], String?) = ([], "")
            while let next = mark {
                let query = "?pageSize=\(size)&pageToken=\(next)"
                let answer = try caller.ask(
                    "GET", "/v1/projects/\(own.id)/topics\(path)\(query)", ["Authorization": "key=\(own.key)"]
                )
                let rows = answer.json[list] as? [[String: Any]] ?? []
                #expect(answer.status == 200 && (1...size).contains(rows.count), "\(answer)")
                found += rows.compactMap { $0[member] as? String }
                mark = (answer.json["nextPageToken"] as? String)?
                    .addingPercentEncoding(withAllowedCharacters: .alphanumerics)
            }
            return found
        }
        for size in [1, 2, 3, 4, 100] {
            #expect(try all("", "topics", "topicName", size: size) == ["a", "b~%", "c", "news"])
        }
        let tokens = Set(devices.map(\.token))
        for size in [1, 2, 3, 500] {
            let found = try all("/news/subscribers", "subscribers", "token", size: size)
            #expect(Set(found) == tokens && found.count == 3)
        }
        #expect(try all("/b~%25/subscribers", "subscribers", "token", size: 9) == [devices[0].token])
        #expect((try list("", other).json["topics"] as? [Any])?.count == 1)
        for topic in ["a", "nowhere"] {
            let empty = try list("/\(topic)/subscribers", other)
            #expect(empty.status == 200 && empty.json.isEmpty, "\(empty)")
        }
        #expect(Self.error(try list("", other, project: own.id)) == "403 PERMISSION_DENIED")
        #expect(Self.error(try list("", (own.id, "wrong"))) == "401 UNAUTHENTICATED")
        for (path, bound) in [("?pageSize=101", "0 to 100"), ("/news/subscribers?pageSize=501", "0 to 500")] {
            let answer = try list(path, own)
            #expect(Self.error(answer) == "400 INVALID_ARGUMENT" && "\(answer.json)".contains(bound))
        }
        for path in [
            "?pageSize=-1", "?pageSize=x", "?pageToken=%20", "/news/subscribers?pageToken=x",
            "/%20/subscribers",
        ] {
            #expect(Self.error(try list(path, own)) == "400 INVALID_ARGUMENT", "\(path)")
        }
        try isLimited { try list("", other) }
        #expect(try list("", own).status == 200, "only the sender that asks too often is refused")
    }

    /// Asks until it is refused for its rate.
    private func isLimited(_ ask: () throws -> (status: Int, json: [String: Any])) throws {
        var answer = try ask()
        var asked = 0
        while answer.status == 200, asked < 2_000 { (answer, asked) = (try ask(), asked + 1) }
        #expect(Self.error(answer) == "429 RESOURCE_EXHAUSTED" && asked > 250, "after \(asked)")
    }
}
