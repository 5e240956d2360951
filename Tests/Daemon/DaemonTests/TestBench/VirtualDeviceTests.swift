import Basics
import Foundation
import Testing

/// Devices that live in the server, between a real app server and the commands of an operator.
@Suite("Virtual devices", .serialized)
struct VirtualDeviceTests {
    private typealias Object = [String: Any]

    /// Creates a device. Returns its ID and token.
    private func add(
        _ daemon: RunningDaemon, _ sender: (id: String, key: String)
    ) throws -> (id: String, token: String) {
        let made = try daemon.ctl("virtual-devices", "add", sender.id, "org.example.app")
        let device = try #require(made["device"] as? String)
        #expect(made["connected"] as? Bool == true)
        return (device, try #require(made["token"] as? String))
    }

    private func messages(_ daemon: RunningDaemon, _ device: String, _ more: String...) throws -> [Object] {
        let words = ["--socket", daemon.controlSocket, "--json", "virtual-devices", "messages", device]
        let result = try Tool.run("ccsctl", words + more)
        return try #require(result.object?["messages"] as? [Object], "\(result)")
    }

    private func ids(_ messages: [Object]) -> [String] {
        messages.compactMap { ($0["data"] as? Object)?["id"] as? String }
    }

    @Test("an app server sends to a virtual device, and gets what the device sends")
    func conversation() throws {
        let daemon = try RunningDaemon(flags: ["--test-bench"])
        let sender = try daemon.firstSender
        let device = try add(daemon, sender)
        let server = try TestAppServer(daemon, sender: sender)
        #expect(try server.send("one", to: device.token) == "ACK")
        let first = try messages(daemon, device.id, "--wait", "20")
        #expect(ids(first) == ["one"])
        #expect(first.first?["from"] as? String == sender.id)
        #expect(first.first?["type"] as? String == "message")
        #expect(first.first?["repeated"] as? Bool == false)
        #expect(try messages(daemon, device.id, "--after", "1").isEmpty, "canary: the page begins after")

        let sent = try daemon.ctl("virtual-devices", "send", device.id, "a=b", "--message-id", "up-1")
        #expect(sent["outcome"] as? String == "stored")
        try server.expectUpstream("up-1")
        // All of it is removed once it is acknowledged, as with any other device.
        try eventually("no message waits") {
            try (daemon.ctl("messages", "list", device.id)["messages"] as? [Object])?.isEmpty == true
        }
        #expect(try daemon.ctl("audit")["holds"] as? Bool == true)
        server.end()
    }

    @Test(
        "a device that is offline gets its messages later, and one that acknowledges nothing gets them again")
    func offline() throws {
        let daemon = try RunningDaemon(flags: ["--test-bench"])
        let sender = try daemon.firstSender
        let device = try add(daemon, sender)
        let server = try TestAppServer(daemon, sender: sender)
        let off = try daemon.ctl("virtual-devices", "change", device.id, "--connection", "offline")
        #expect(off["connected"] as? Bool == false)
        #expect(try server.send("late", to: device.token) == "ACK")
        #expect(try messages(daemon, device.id, "--wait", "1").isEmpty)
        _ = try daemon.ctl(
            "virtual-devices", "change", device.id, "--connection", "online", "--acknowledgement", "never")
        #expect(ids(try messages(daemon, device.id, "--wait", "20")) == ["late"])
        _ = try daemon.ctl("virtual-devices", "change", device.id, "--connection", "offline")
        _ = try daemon.ctl("virtual-devices", "change", device.id, "--connection", "online")
        let again = try messages(daemon, device.id, "--after", "1", "--wait", "20")
        #expect(ids(again) == ["late"])
        #expect(again.first?["repeated"] as? Bool == true)
        server.end()
    }

    private func states(_ daemon: RunningDaemon, _ device: String) throws -> [String] {
        let listed = try daemon.ctl("virtual-devices", "sent", device, "--limit", "100")
        return try #require(listed["messages"] as? [Object]).compactMap { row in
            guard let id = row["message_id"] as? String, let state = row["state"] as? String else {
                return nil
            }
            return "\(id) \(state)"
        }
    }

    @Test("what a device sends while it is offline is sent after its login, with the same ID")
    func sendsLater() throws {
        let daemon = try RunningDaemon(flags: ["--test-bench"])
        let sender = try daemon.firstSender
        let device = try add(daemon, sender)
        let server = try TestAppServer(daemon, sender: sender)
        _ = try daemon.ctl("virtual-devices", "change", device.id, "--connection", "offline")
        let most = Limits.Mailbox.waitingUpstream
        for number in 1...most {
            let sent = try daemon.ctl(
                "virtual-devices", "send", device.id, "a=b", "--message-id", "up-\(number)")
            #expect(sent["outcome"] as? String == "waiting")
        }
        let refused = try Tool.run(
            "ccsctl", ["--socket", daemon.controlSocket, "virtual-devices", "send", device.id, "a=b"])
        #expect(
            refused.code != 0 && refused.errors.contains("wait to be sent, which is the most"), "\(refused)")
        #expect(try states(daemon, device.id) == (1...most).map { "up-\($0) waiting" })
        _ = try daemon.ctl("virtual-devices", "change", device.id, "--connection", "online")
        for number in 1...most { try server.expectUpstream("up-\(number)") }
        try eventually("the outcomes are known") {
            try states(daemon, device.id) == (1...most).map { "up-\($0) stored" }
        }
        // A device that connects again sends nothing again.
        _ = try daemon.ctl("virtual-devices", "change", device.id, "--acknowledgement", "never")
        _ = try daemon.ctl("virtual-devices", "send", device.id, "a=b", "--message-id", "last")
        try server.expectUpstream("last")
        let one = try daemon.ctl("virtual-devices", "sent", device.id, "--message-id", "last")
        #expect((one["messages"] as? [Object])?.first?["number"] as? Int == most + 1)
        #expect(server.upstream.count == most + 1, "\(server.upstream)")
        server.end()
    }

    @Test("virtual devices outlive a restart; an unregistered one is refused, a removed one is forgotten")
    func lifetime() throws {
        let first = try RunningDaemon(flags: ["--test-bench"])
        let sender = try first.firstSender
        let device = try add(first, sender)
        first.signal(SIGTERM)
        #expect(try first.wait() == 0)
        let file = first.scratch.url.appendingPathComponent("data/virtual-devices.json").path
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o600, "the file has the secrets of the devices")

        let daemon = try RunningDaemon(continuing: first.scratch, flags: ["--test-bench"])
        let server = try TestAppServer(daemon, sender: sender)
        #expect(try server.send("kept", to: device.token) == "ACK")
        #expect(ids(try messages(daemon, device.id, "--wait", "20")) == ["kept"])
        let gone = try daemon.ctl("virtual-devices", "unregister", device.id)
        #expect(gone["token"] is NSNull)
        #expect(try server.send("refused", to: device.token) == "DEVICE_UNREGISTERED")
        _ = try daemon.ctl("virtual-devices", "remove", device.id)
        #expect(try (daemon.ctl("virtual-devices", "list")["devices"] as? [Object])?.isEmpty == true)
        let unknown = try Tool.run(
            "ccsctl", ["--socket", daemon.controlSocket, "virtual-devices", "messages", device.id])
        #expect(unknown.code != 0 && unknown.errors.contains("unknown virtual device"), "\(unknown)")
        server.end()
    }

    @Test(
        "a device that the server has forgotten is shown as such, and cannot go online or send, only be removed"
    )
    func forgotten() throws {
        let daemon = try RunningDaemon(flags: ["--test-bench"])
        let sender = try daemon.firstSender
        let (offline, online) = (try add(daemon, sender), try add(daemon, sender))
        func run(_ words: String...) throws -> Tool {
            try Tool.run("ccsctl", ["--socket", daemon.controlSocket] + words)
        }
        func row(_ id: String) throws -> Object? {
            try (daemon.ctl("virtual-devices", "list")["devices"] as? [Object])?
                .first { $0["device"] as? String == id }
        }
        _ = try daemon.ctl("virtual-devices", "change", offline.id, "--connection", "offline")
        for device in [offline, online] {
            #expect(try row(device.id)?["forgotten"] as? Bool == false)
            #expect(try run("devices", "forget", device.id, "--yes").code == 0)
        }
        for _ in 0..<2 {
            let refused = try run("virtual-devices", "change", offline.id, "--connection", "online")
            #expect(refused.code == 1 && refused.errors.contains("the server has forgotten"), "\(refused)")
            #expect(refused.errors.contains("virtual-devices remove \(offline.id)"), "\(refused)")
        }
        try eventually("the device that was online is refused at its next login") {
            try row(online.id)?["forgotten"] as? Bool == true
        }
        for device in [offline, online] {
            let row = try row(device.id)
            #expect(row?["forgotten"] as? Bool == true && row?["online"] as? Bool == false)
            #expect(row?["connected"] as? Bool == false && row?["token"] is NSNull)
            let sent = try run("virtual-devices", "send", device.id, "a=b")
            #expect(sent.code == 1 && sent.errors.contains("the server has forgotten"), "\(sent)")
            #expect(try run("virtual-devices", "remove", device.id).code == 0)
        }
    }

    @Test(
        "an app that is installed again has a new token; the earlier one leads to it, and its answer has that"
    )
    func reinstalls() throws {
        let daemon = try RunningDaemon(flags: ["--test-bench"])
        let sender = try daemon.firstSender
        let device = try add(daemon, sender)
        let again = try daemon.ctl("virtual-devices", "reinstall", device.id)
        let token = try #require(again["token"] as? String)
        #expect(token != device.token && token.contains(":APA91b"))
        let caller = try HTTPSCaller(daemon)
        func send(_ id: String, to token: String) throws -> Object? {
            let answer = try caller.ask(
                "POST", "/fcm/send", ["Authorization": "key=\(sender.key)"],
                body: ["registration_ids": [token], "data": ["id": id]])
            return (answer.json["results"] as? [Object])?.first
        }
        #expect(try send("old", to: device.token)?["registration_id"] as? String == token)
        let direct = try send("new", to: token)
        #expect(
            direct?["message_id"] != nil && direct?["registration_id"] == nil, "\(String(describing: direct))"
        )
        #expect(ids(try messages(daemon, device.id, "--wait", "20", "--count", "2")) == ["old", "new"])
        // One that was uninstalled is installed anew, under a token of its own.
        _ = try daemon.ctl("virtual-devices", "unregister", device.id)
        #expect(try send("gone", to: token)?["error"] as? String == "NotRegistered")
        let anew = try daemon.ctl("virtual-devices", "reinstall", device.id)["token"] as? String
        #expect(anew != nil && anew != token)
        #expect(try send("anew", to: anew ?? "")?["message_id"] != nil)
    }

    @Test("when a device is settled, all that was acknowledged before is in its inbox")
    func settles() throws {
        let daemon = try RunningDaemon(flags: ["--test-bench"], reactors: 2)
        let sender = try daemon.firstSender
        let device = try add(daemon, sender)
        let server = try TestAppServer(daemon, sender: sender)
        func settle(_ more: String...) throws -> Tool {
            try Tool.run(
                "ccsctl",
                ["--socket", daemon.controlSocket, "--json", "virtual-devices", "settle", device.id] + more)
        }
        let empty = try settle()
        #expect(empty.code == 0 && empty.object?["settled"] as? Bool == true, "\(empty)")
        for round in 1...20 {
            #expect(try server.send("m\(round)", to: device.token) == "ACK")
            let settled = try settle()
            #expect(settled.object?["settled"] as? Bool == true && settled.object?["waiting"] as? Int == 0)
            #expect(settled.object?["received"] as? Int == round, "\(settled)")
        }
        // What a device without acknowledgements has received waits in the store, and is not on its way.
        _ = try daemon.ctl("virtual-devices", "change", device.id, "--acknowledgement", "never")
        #expect(try server.send("kept", to: device.token) == "ACK")
        #expect(try settle().object?["received"] as? Int == 21)
        _ = try daemon.ctl("virtual-devices", "change", device.id, "--connection", "offline")
        #expect(try server.send("late", to: device.token) == "ACK")
        let offline = try settle()
        #expect(offline.code == 0 && offline.object?["settled"] as? Bool == true)
        #expect(offline.object?["waiting"] as? Int == 1, "\(offline)")
        let unknown = try Tool.run(
            "ccsctl", ["--socket", daemon.controlSocket, "virtual-devices", "settle", "1"])
        #expect(unknown.code != 0 && unknown.errors.contains("unknown virtual device"), "\(unknown)")
        server.end()
    }

    @Test("one command removes all devices, recorders and faults")
    func reset() throws {
        let daemon = try RunningDaemon(flags: ["--test-bench"])
        let sender = try daemon.firstSender
        let devices = [try add(daemon, sender), try add(daemon, sender), try add(daemon, sender)]
        _ = try daemon.ctl("recorders", "add", sender.id)
        _ = try daemon.ctl("faults", "add", "drop", "--sender", sender.id)
        _ = try daemon.ctl("faults", "add", "drop", "--token", devices[0].token)
        let removed = try daemon.ctl("test-bench", "reset")
        #expect(removed["devices"] as? Int == 3 && removed["recorders"] as? Int == 1, "\(removed)")
        #expect(removed["faults"] as? Int == 2)
        #expect(try (daemon.ctl("virtual-devices", "list")["devices"] as? [Object])?.isEmpty == true)
        #expect(try (daemon.ctl("recorders", "list")["recorders"] as? [Object])?.isEmpty == true)
        #expect(try (daemon.ctl("faults", "list")["faults"] as? [Object])?.isEmpty == true)
        let server = try TestAppServer(daemon, sender: sender)
        #expect(try server.send("gone", to: devices[1].token) == "DEVICE_UNREGISTERED")
        server.end()
        let again = try daemon.ctl("test-bench", "reset")
        #expect(again["devices"] as? Int == 0 && again["faults"] as? Int == 0)
        #expect(try add(daemon, sender).token != devices[0].token, "new ones can be made")
    }

    @Test("without test_bench there are no virtual devices")
    func off() throws {
        let daemon = try RunningDaemon()
        let sender = try daemon.firstSender
        let refused = try Tool.run(
            "ccsctl",
            ["--socket", daemon.controlSocket, "virtual-devices", "add", sender.id, "org.example.app"])
        #expect(refused.code != 0 && refused.errors.contains("the test bench is off"), "\(refused)")
        #expect(refused.errors.contains("test_bench"), "it names the key")
    }
}
