import Foundation
import Testing
import Wire

/// The time of a server for tests, which an operator moves forward.
@Suite("A test clock", .serialized)
struct TestClockTests {
    private typealias Object = [String: Any]
    private static let flags = ["--test-clock", "--test-bench"]

    private func advance(_ daemon: RunningDaemon, _ duration: String) throws {
        let answer = try daemon.ctl("clock", "advance", duration)
        #expect(answer["advanced_seconds"] as? Int != nil, "\(answer)")
    }

    private func figure(_ daemon: RunningDaemon, _ name: String) throws -> Int {
        let audit = try daemon.ctl("audit")
        #expect(audit["holds"] as? Bool == true, "\(audit)")
        return (audit["downstream"] as? Object)?[name] as? Int ?? -1
    }

    /// The rows of a table that a command answers with.
    private func rows(_ answer: Object, _ name: String) -> [Object] { answer[name] as? [Object] ?? [] }

    private func addDevice(_ daemon: RunningDaemon, _ sender: String) throws -> (id: String, token: String) {
        let made = try daemon.ctl("virtual-devices", "add", sender, "org.example.app")
        return (
            try #require(made["device"] as? String), try #require(made["token"] as? String, "\(made)")
        )
    }

    private func refusal(_ flags: [String], _ data: URL? = nil) throws -> Tool {
        let scratch = try Scratch()
        let folder = data ?? scratch.url.appendingPathComponent("data")
        let ports = ["app-server", "app-server-preproduction", "device", "https"].flatMap {
            ["--\($0)-port", "0"]
        }
        return try Tool.run("ccsd", ["--data-directory", folder.path] + ports + flags)
    }

    @Test("messages live as long as they were sent for, up to four weeks, and connections outlive an advance")
    func lifetimes() throws {
        let daemon = try RunningDaemon(flags: Self.flags, reactors: 2)
        let sender = try daemon.firstSender
        let device = try addDevice(daemon, sender.id)
        let online = try addDevice(daemon, sender.id)
        let server = try TestAppServer(daemon, sender: sender)
        _ = try daemon.ctl("virtual-devices", "change", device.id, "--connection", "offline")
        for (text, seconds) in [("day", "86400"), ("month", "2419200")] {
            _ = try daemon.ctl("send", sender.id, device.token, "id=\(text)", "--time-to-live", seconds)
        }
        try advance(daemon, "23h")
        #expect(try figure(daemon, "pending") == 2, "canary: an hour is left")
        try advance(daemon, "61m")
        try eventually("the message of a day has expired", seconds: Patience.seconds) {
            try figure(daemon, "expired") == 1
        }
        #expect(try figure(daemon, "pending") == 1)
        // What was sent before stays connected, and what is sent now has its whole lifetime.
        #expect(try server.send("later", to: online.token) == "ACK")
        let inbox = try daemon.ctl("virtual-devices", "messages", online.id, "--wait", "20")
        #expect((rows(inbox, "messages").first?["data"] as? Object)?["id"] as? String == "later")
        try advance(daemon, "28d")
        try eventually("the longest lifetime has ended", seconds: Patience.seconds) {
            try figure(daemon, "expired") == 2
        }
        #expect(try server.send("last", to: online.token) == "ACK", "both connections are the same")
        #expect(try daemon.ctl("clock", "show")["in_doubt"] as? Bool == false)
        #expect(!daemon.words.contains("event=clock_in_doubt"))
        server.end()
    }

    @Test("a device expires by its age, an old key with its overlap, and rates are replenished")
    func ages() throws {
        let daemon = try RunningDaemon(
            flags: Self.flags + ["--device-messages-per-minute", "1", "--device-messages-per-hour", "2"])
        let sender = try daemon.firstSender
        let device = try addDevice(daemon, sender.id)
        let server = try TestAppServer(daemon, sender: sender)
        #expect(try server.send("1", to: device.token) == "ACK")
        #expect(try server.send("2", to: device.token) == "DEVICE_MESSAGE_RATE_EXCEEDED")
        try advance(daemon, "1m")
        #expect(try server.send("3", to: device.token) == "ACK")
        try advance(daemon, "1m")
        #expect(try server.send("4", to: device.token) == "DEVICE_MESSAGE_RATE_EXCEEDED", "of the hour")
        try advance(daemon, "1h")
        #expect(try server.send("5", to: device.token) == "ACK")
        server.end()

        _ = try daemon.ctl("senders", "rotate-key", sender.id, "--overlap-seconds", "3600")
        try TestAppServer(daemon, sender: sender).end()
        try advance(daemon, "3601s")
        #expect(throws: (any Error).self, "the old key has ended") {
            _ = try TestAppServer(daemon, sender: sender)
        }

        _ = try daemon.ctl("virtual-devices", "change", device.id, "--connection", "offline")
        try advance(daemon, "269d")
        #expect(try daemon.ctl("audit")["devices"] as? Int == 1, "canary: a device lives 270 days")
        try advance(daemon, "2d")
        try eventually("the device has expired", seconds: Patience.seconds) {
            try daemon.ctl("audit")["devices"] as? Int == 0
        }
    }

    @Test("a restart continues with the time, and without test_clock the data directory is refused")
    func restart() throws {
        let first = try RunningDaemon(flags: Self.flags)
        #expect(first.words.contains("event=test_clock"))
        let sender = try first.firstSender
        let device = try addDevice(first, sender.id)
        _ = try first.ctl("virtual-devices", "change", device.id, "--connection", "offline")
        try advance(first, "28d")
        _ = try first.ctl("send", sender.id, device.token, "id=kept", "--time-to-live", "3600")
        let before = try #require(try first.ctl("clock", "show")["time"] as? String)
        // Not orderly: the time is in the store since the answer.
        first.signal(SIGKILL)
        _ = try first.wait()

        let data = first.directory.appendingPathComponent("data")
        let refused = try refusal([], data)
        #expect(refused.code == 78, "\(refused)")
        #expect(refused.errors.contains("was advanced by 2419200 s, but test_clock is not set"))
        #expect(refused.errors.contains("test_clock: true"), "it names what to do")

        let daemon = try RunningDaemon(continuing: first.scratch, flags: Self.flags)
        let clock = try daemon.ctl("clock", "show")
        #expect((clock["test_clock"] as? Object)?["advanced_seconds"] as? Int == 2_419_200)
        #expect(clock["in_doubt"] as? Bool == false && !daemon.words.contains("event=clock_in_doubt"))
        #expect(try #require(clock["time"] as? String) >= before)
        #expect(try figure(daemon, "pending") == 1, "nothing has expired by the restart")
        _ = try daemon.ctl("virtual-devices", "change", device.id, "--connection", "online")
        let inbox = try daemon.ctl("virtual-devices", "messages", device.id, "--wait", "20")
        let row = try #require(rows(inbox, "messages").first)
        #expect(try #require(row["received_at"] as? String) >= before, "the server's time")
        let status = try Tool.run("ccsctl", ["--socket", daemon.controlSocket, "status"])
        #expect(status.output.contains("test clock   28 d"), "\(status)")
    }

    @Test("only a server on loopback, alone and with test_clock can be moved, only forward, and by operators")
    func refusals() throws {
        let open = try refusal(["--test-clock", "--listen-address", "0.0.0.0"])
        #expect(open.code == 78 && open.errors.contains("needs all listeners on loopback"), "\(open)")
        let node = try refusal(["--test-clock", "--cluster-directory", "/nowhere"])
        #expect(node.code == 78 && node.errors.contains("cannot be used in a cluster"), "\(node)")
        let off = try RunningDaemon()
        let without = try Tool.run("ccsctl", ["--socket", off.controlSocket, "clock", "advance", "1d"])
        #expect(without.code == 1 && without.errors.contains("set test_clock to true"), "\(without)")
        #expect(try off.ctl("clock", "show")["test_clock"] is NSNull)
        #expect(!off.words.contains("event=test_clock"))

        let bench = try OperatorAPIBench(flags: ["--test-clock"])
        for wrong in ["-1d", "0s", "1y", "", "11w2", "3651d"] {
            let refused = try Tool.run(
                "ccsctl", ["--socket", bench.daemon.controlSocket, "clock", "advance", "--", wrong])
            #expect(refused.code != 0, "\(wrong): \(refused)")
        }
        #expect(
            try bench.ask("POST", "/operator/v1/clock/advance", as: "victor", body: #"{"duration":"1d"}"#)
                .status == 403)
        let moved = try bench.ask("POST", "/operator/v1/clock/advance", body: #"{"duration":"4w"}"#)
        #expect(moved.status == 200 && moved.json["advanced_seconds"]?.integer == 2_419_200, "\(moved)")
        #expect(
            bench.daemon.words.contains("command=\"clock advance\" arguments=\"duration=2419200s\" result=ok")
        )
        // A token of an hour is one by the machine's time, so that the operator is not locked out.
        try bench.add("short", role: "operator", "--expires", "1h")
        _ = try bench.ask("POST", "/operator/v1/clock/advance", body: #"{"duration":"1d"}"#)
        #expect(try bench.ask("GET", "/operator/v1/clock", as: "short").status == 200)
        #expect(try bench.ask("GET", "/operator/v1/top").json["test_clock"]?["time"]?.text != nil)
    }
}
