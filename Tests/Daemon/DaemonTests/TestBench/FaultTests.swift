import Basics
import ClientProtocol
import Foundation
import Testing
import Wire

/// Faults on purpose, as app servers meet them over each interface.
@Suite("Faults", .serialized)
struct FaultTests {
    private typealias Object = [String: Any]

    /// A daemon with a sender and a virtual device.
    private struct Bench {
        let daemon: RunningDaemon
        let sender: (id: String, key: String)
        let device: String
        let token: String

        init(_ daemon: RunningDaemon? = nil) throws {
            self.daemon = try daemon ?? RunningDaemon(flags: ["--test-bench"])
            sender = try self.daemon.firstSender
            let made = try self.daemon.ctl("virtual-devices", "add", sender.id, "org.example.app")
            device = try #require(made["device"] as? String)
            token = try #require(made["token"] as? String)
        }

        func add(_ words: String...) throws {
            let result = try Tool.run(
                "ccsctl", ["--socket", daemon.controlSocket, "faults", "add"] + words)
            #expect(result.code == 0, "\(result)")
        }

        /// The IDs that the inbox of the device has, each with whether it is repeated.
        func inbox(wait seconds: Int = 0, after number: Int = 0) throws -> [String] {
            let page = try daemon.ctl(
                "virtual-devices", "messages", device, "--after", "\(number)", "--wait", "\(seconds)")
            return try #require(page["messages"] as? [[String: Any]]).compactMap { row in
                guard let id = (row["data"] as? [String: Any])?["id"] as? String else { return nil }
                return row["repeated"] as? Bool == true ? "\(id) repeated" : id
            }
        }
    }

    @Test("the next messages over XMPP get the chosen error, and later ones arrive")
    func refusesOverXMPP() throws {
        let bench = try Bench()
        let server = try TestAppServer(bench.daemon, sender: bench.sender)
        let errors = [
            "DEVICE_UNREGISTERED", "BAD_REGISTRATION", "SERVICE_UNAVAILABLE",
            "DEVICE_MESSAGE_RATE_EXCEEDED", "INTERNAL_SERVER_ERROR", "CONNECTION_DRAINING", "INVALID_JSON",
            "TOPICS_MESSAGE_RATE_EXCEEDED", "INVALID_APNS_CREDENTIAL",
        ]
        for (number, error) in errors.enumerated() {
            try bench.add("refuse", "--token", bench.token, "--error", error, "--count", "2")
            #expect(try server.send("\(number)a", to: bench.token) == error)
            #expect(try server.send("\(number)b", to: bench.token) == error)
        }
        #expect(try server.send("last", to: bench.token) == "ACK")
        #expect(try bench.inbox(wait: 20) == ["last"])
        // A retry with the same ID is no repetition where a retry helps.
        try bench.add("refuse", "--sender", bench.sender.id, "--error", "SERVICE_UNAVAILABLE")
        #expect(try server.send("retried", to: bench.token) == "SERVICE_UNAVAILABLE")
        #expect(try server.send("retried", to: bench.token, again: true) == "ACK")
        let listed = try #require(try bench.daemon.ctl("faults", "list")["faults"] as? [Object])
        #expect(listed.count == errors.count + 1)
        #expect(listed.first?["reason"] as? String == "not_registered")
        #expect(listed.allSatisfy { $0["remaining"] as? Int == 0 })
        #expect(try bench.daemon.ctl("faults", "clear")["removed"] as? Int == errors.count + 1)
        server.end()
    }

    @Test("legacy HTTP answers with its error for the same fault")
    func refusesOverLegacyHTTP() throws {
        let bench = try Bench()
        let caller = try HTTPSCaller(bench.daemon)
        func send() throws -> (status: Int, json: Object) {
            try caller.ask(
                "POST", "/fcm/send", ["Authorization": "key=\(bench.sender.key)"],
                body: ["registration_ids": [bench.token], "data": ["id": "x"]])
        }
        for (error, word) in [
            ("DEVICE_UNREGISTERED", "NotRegistered"), ("InvalidRegistration", "InvalidRegistration"),
            ("DEVICE_MESSAGE_RATE_EXCEEDED", "DeviceMessageRateExceeded"), ("UNAVAILABLE", "Unavailable"),
        ] {
            try bench.add("refuse", "--token", bench.token, "--error", error)
            let answer = try send()
            #expect(answer.status == 200)
            #expect((answer.json["results"] as? [Object])?.first?["error"] as? String == word, "\(answer)")
        }
        #expect(try send().json["success"] as? Int == 1)
    }

    @Test("a refusal names its own Retry-After over HTTP, and the list shows the token as it was given")
    func namesRetryAfter() throws {
        let bench = try Bench()
        let caller = try HTTPSCaller(bench.daemon)
        func send() throws -> HTTPAnswer {
            var call = HTTPCall("POST", "/fcm/send")
            call.headers.append(("Authorization", Redacted("key=\(bench.sender.key)")))
            call.add("Content-Type", "application/x-www-form-urlencoded")
            call.body = Array("registration_id=\(bench.token)&data.id=x".utf8)
            return try caller.make(call)
        }
        try bench.add(
            "refuse", "--token", bench.token, "--error", "SERVICE_UNAVAILABLE", "--retry-after", "7")
        let refused = try send()
        #expect(refused.status == 503 && refused.header("retry-after") == "7", "\(refused)")
        try bench.add("refuse", "--token", bench.token, "--error", "SERVICE_UNAVAILABLE")
        let usual = try send()
        #expect(usual.status == 503 && usual.header("retry-after") != "7")
        #expect(try send().status == 200)
        let listed = try #require(try bench.daemon.ctl("faults", "list")["faults"] as? [Object])
        #expect(listed.map { $0["retry_after"] as? Int } == [7, nil])
        #expect(listed.allSatisfy { $0["token"] as? String == bench.token })
        let wrong = try Tool.run(
            "ccsctl",
            [
                "--socket", bench.daemon.controlSocket, "faults", "add", "drop", "--token", bench.token,
                "--retry-after", "7",
            ])
        #expect(wrong.code != 0 && wrong.errors.contains("retry_after is only for"), "\(wrong)")
    }

    @Test("HTTP v1 answers with its error, which firebase-admin reports")
    func refusesOverV1() throws {
        let v1 = try V1Bench(.firebaseAdmin, flags: ["--test-bench"])
        let bench = try Bench(v1.daemon)
        try bench.add("refuse", "--token", bench.token, "--error", "UNREGISTERED")
        let refused = try v1.send(bench.token)
        #expect("\(refused)".contains(v1.library.exception(for: .unregistered)), "\(refused)")
        try bench.add("refuse", "--token", bench.token, "--error", "SENDER_ID_MISMATCH")
        let foreign = try v1.send(bench.token)
        #expect("\(foreign)".contains(v1.library.exception(for: .senderMismatch)), "\(foreign)")
        #expect(try v1.send(bench.token)["name"] is String)
    }

    @Test("a dropped message is acknowledged and never arrives, a delayed one later than the next")
    func dropsAndDelays() throws {
        let bench = try Bench()
        let server = try TestAppServer(bench.daemon, sender: bench.sender)
        try bench.add("drop", "--token", bench.token)
        #expect(try server.send("dropped", to: bench.token) == "ACK")
        let audit = try bench.daemon.ctl("audit")
        #expect(audit["holds"] as? Bool == true)
        #expect((audit["downstream"] as? Object)?["accepted"] as? Int == 0, "it was not taken in")
        try bench.add("delay", "--token", bench.token, "--milliseconds", "1500")
        let start = Date()
        try server.post("delayed", to: bench.token)
        #expect(try server.send("next", to: bench.token) == "ACK")
        #expect(Date().timeIntervalSince(start) < 1.4, "canary: the next message is not delayed")
        #expect(try bench.inbox(wait: 20) == ["next"])
        #expect(try server.answer(to: "delayed") == "ACK")
        #expect(Date().timeIntervalSince(start) >= 1.5)
        #expect(try bench.inbox(wait: 20, after: 1) == ["delayed"])
        server.end()
    }

    @Test("a duplicated message arrives twice with the same ID, and is acknowledged once")
    func duplicates() throws {
        let bench = try Bench()
        let server = try TestAppServer(bench.daemon, sender: bench.sender)
        try bench.add("duplicate", "--sender", bench.sender.id)
        #expect(try server.send("twice", to: bench.token) == "ACK")
        #expect(try server.send("once", to: bench.token) == "ACK")
        try eventually("all are there") { try bench.inbox().count == 3 }
        #expect(try bench.inbox() == ["twice", "twice repeated", "once"])
        try eventually("nothing waits") {
            try (bench.daemon.ctl("messages", "list", bench.device)["messages"] as? [Object])?.isEmpty == true
        }
        let audit = try bench.daemon.ctl("audit")
        #expect(audit["holds"] as? Bool == true)
        #expect((audit["downstream"] as? Object)?["delivered"] as? Int == 2)
        server.end()
    }

    @Test("without test_bench, and with what does not fit together, a fault is refused")
    func refusals() throws {
        let off = try RunningDaemon()
        let sender = try off.firstSender
        func run(_ daemon: RunningDaemon, _ words: [String]) throws -> Tool {
            try Tool.run("ccsctl", ["--socket", daemon.controlSocket, "faults"] + words)
        }
        for words in [["add", "drop", "--sender", sender.id], ["list"], ["clear"], ["remove", "1"]] {
            let refused = try run(off, words)
            #expect(refused.code != 0 && refused.errors.contains("the test bench is off"), "\(refused)")
        }
        let bench = try Bench()
        let id = bench.sender.id
        for (words, text) in [
            (["drop"], "either token or sender_id"),
            (["drop", "--sender", id, "--token", bench.token], "either token or sender_id"),
            (["drop", "--token", "x"], "invalid token"), (["drop", "--sender", "77"], "77"),
            (["refuse", "--sender", id], "needs an error"),
            (["refuse", "--sender", id, "--error", "X"], "unknown error \"X\""),
            (["drop", "--sender", id, "--error", "Unavailable"], "error is only for"),
            (["delay", "--sender", id], "needs milliseconds"),
            (["drop", "--sender", id, "--milliseconds", "5"], "milliseconds is only for"),
        ] {
            let refused = try run(bench.daemon, ["add"] + words)
            #expect(refused.code != 0 && refused.errors.contains(text), "\(words): \(refused)")
        }
        let unknown = try run(bench.daemon, ["remove", "9"])
        #expect(unknown.code != 0 && unknown.errors.contains("unknown fault 9"), "\(unknown)")
    }
}
