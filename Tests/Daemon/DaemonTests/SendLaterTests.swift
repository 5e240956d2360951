import Foundation
import Testing

/// App servers have messages sent later, over XMPP and HTTP: on time, once, also after a kill, unless they are cancelled.
@Suite(
    "App servers send later", .serialized,
    .enabled(if: TestPaths.hasPython, "run Scripts/bootstrap --tests first"))
struct SendLaterTests {
    private static func time(in seconds: Double) -> String {
        ISO8601DateFormatter().string(from: Date(timeIntervalSinceNow: seconds))
    }

    private static func message(_ id: String, to target: String, in seconds: Double) -> [String: Any] {
        ["to": target, "message_id": id, "data": ["id": id], "send_at": time(in: seconds)]
    }

    /// The IDs of the scheduled messages of a sender, up to a number.
    private func scheduled(
        _ daemon: RunningDaemon, _ sender: String, upTo limit: Int = 10
    ) throws -> [String] {
        let answer = try daemon.ctl("messages", "scheduled", "--sender", sender, "--limit", "\(limit)")
        return (answer["messages"] as? [[String: Any]] ?? []).compactMap { $0["message_id"] as? String }
    }

    @Test("over XMPP a message is sent when it is due, also after kill -9, and another is cancelled before")
    func overXMPP() throws {
        let daemon = try RunningDaemon()
        let own = try daemon.firstSender
        let device = try TestDevice(daemon, sender: own.id)
        let server = try BareAppServer(daemon, own)
        let token = device.token
        var far = Self.message("m-3", to: token, in: 2_500_000)
        let sent = try server.exchange(
            [
                Self.message("m-1", to: token, in: 8), Self.message("m-2", to: token, in: 3_600), far,
                Self.message("m-4", to: "/topics/news", in: 8), Self.message("m-5", to: token, in: -5),
            ])
        #expect(
            sent == [
                "m-1": "ack", "m-2": "ack", "m-3": "INVALID_JSON", "m-4": "INVALID_JSON", "m-5": "ack",
            ])
        #expect(try device.expectMessage { _ in true }["id"] == "m-5", "its time is over")
        #expect(try scheduled(daemon, own.id) == ["m-1", "m-2"])
        try eventually("the history has it") { try daemon.steps(of: "m-1") == ["stored", "scheduled"] }
        device.stop()
        daemon.signal(SIGKILL)
        #expect(try daemon.wait() == -SIGKILL)

        let next = try RunningDaemon(continuing: daemon.scratch)
        try device.start(next)
        #expect(try scheduled(next, own.id).last == "m-2" && scheduled(next, own.id, upTo: 1).count == 1)
        #expect(try device.expectMessage { $0["id"] == "m-1" }["id"] == "m-1")
        try device.sendUpstream(["n": "up"])
        try eventually("it is delivered") {
            try next.steps(of: "m-1") == ["stored", "scheduled", "released", "sent", "delivered"]
        }
        let again = try BareAppServer(next, own)
        far["message_type"] = "cancel"
        far["cancel_message_id"] = "m-2"
        #expect(try again.exchange([far]) == ["m-3": "ack"])
        #expect(try scheduled(next, own.id).isEmpty)
        try eventually("it is cancelled") {
            try next.steps(of: "m-2") == ["stored", "scheduled", "cancelled"]
        }
    }

    @Test("scheduled messages are listed for their project, page by page")
    func overHTTP() throws {
        let daemon = try RunningDaemon()
        let own = try daemon.firstSender
        let other = try daemon.addSender()
        let devices = [
            try TestDevice(daemon, sender: own.id), try TestDevice(daemon, sender: own.id),
            try TestDevice(daemon, sender: other.id),
        ]
        let caller = try HTTPSCaller(daemon)
        func send(_ targets: [String], in seconds: Double, as sender: (id: String, key: String)) throws
            -> [String]
        {
            let sent = try caller.ask(
                "POST", "/fcm/send", ["Authorization": "key=\(sender.key)"],
                body: [
                    "registration_ids": targets, "data": ["n": "\(seconds)"],
                    "send_at": Self.time(in: seconds),
                ])
            #expect(sent.status == 200, "\(sent)")
            return (sent.json["results"] as? [[String: Any]] ?? []).compactMap { $0["message_id"] as? String }
        }
        let late = try send([devices[0].token, devices[1].token], in: 7_200, as: own)
        let early = try send([devices[0].token], in: 3_600, as: own)
        _ = try send([devices[2].token], in: 60, as: other)
        func list(
            _ query: String, _ sender: (id: String, key: String), project: String? = nil
        ) throws -> (status: Int, json: [String: Any]) {
            try caller.ask(
                "GET", "/v1/projects/\(project ?? sender.id)/scheduledMessages\(query)",
                ["Authorization": "key=\(sender.key)"])
        }
        for size in [1, 2, 3, 100] {
            var (found, mark): ([[String: Any]], String?) = ([], "")
            while let next = mark {
                let answer = try list("?pageSize=\(size)&pageToken=\(next)", own)
                let rows = answer.json["messages"] as? [[String: Any]] ?? []
                #expect(answer.status == 200 && rows.count <= size, "\(answer)")
                found += rows
                mark = answer.json["nextPageToken"] as? String
            }
            let names = found.compactMap {
                ($0["name"] as? String)?.split(separator: "/").last.map(String.init)
            }
            #expect(names.first == early.first && Set(names.dropFirst()) == Set(late), "\(found)")
            #expect(found.first?["token"] as? String == devices[0].token && found.first?["messageId"] == nil)
        }
        #expect((try list("", other).json["messages"] as? [Any])?.count == 1)
        #expect(try list("", other, project: own.id).status == 403 && list("?pageToken=x", own).status == 400)
        #expect(try list("", (own.id, "wrong")).status == 401)
        let name = early[0].addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let token = devices[0].token.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let cancelled = try caller.ask(
            "DELETE", "/v1/projects/\(own.id)/registrations/\(token)/messages/\(name)",
            ["Authorization": "key=\(own.key)"])
        #expect(cancelled.status == 200)
        #expect((try list("", own).json["messages"] as? [Any])?.count == 2)
        #expect(try daemon.ctl("audit")["holds"] as? Bool ?? true)
    }
}
