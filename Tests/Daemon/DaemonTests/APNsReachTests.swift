import Client
import Foundation
import Testing
import Wire

/// Messages to iOS apps from every interface and to every kind of target, against a mock of Apple (apns 4.1).
@Suite("APNs reach", .serialized, .enabled(if: TestPaths.hasPython, "run Scripts/bootstrap --tests first"))
struct APNsReachTests {
    /// Connects an app server over XMPP.
    private func xmpp(_ bench: AppleBench) throws -> Driver {
        let server = try Driver(
            "slixmpp_app_server.py", [String(bench.daemon.port("app_server")), bench.sender.id],
            secret: bench.sender.key)
        try server.expect(event: "connected")
        return server
    }

    /// Sends a notification over XMPP. Returns the error of a NACK, or `ACK`.
    private func send(_ id: String, to token: String, over server: Driver, _ more: [String: Any] = [:]) throws
        -> String
    {
        let message: [String: Any] = [
            "to": token, "message_id": id, "notification": ["body": "hello"], "data": ["n": id],
        ]
        try server.send(message.merging(more) { $1 })
        let answer = try server.expectJSON("the answer to \(id)") {
            $0["message_id"] as? String == id && ["ack", "nack"].contains($0["message_type"] as? String)
        }
        guard answer["message_type"] as? String == "nack" else { return "ACK" }
        #expect((answer["error_description"] as? String)?.isEmpty == false, "\(answer)")
        return try #require(answer["error"] as? String, "\(answer)")
    }

    @Test("over XMPP, each kind of answer of Apple becomes the ACK or NACK of the specification")
    func answers() throws {
        let bench = try AppleBench()
        let future = String(Int(Date().timeIntervalSince1970) + 3_600, radix: 16)
        let now: [String: Any] = ["time_to_live": 0]
        let rows: [(prefix: String, more: [String: Any], answer: String)] = [
            ("00", [:], "ACK"), ("00", now, "ACK"),
            ("0410" + future, [:], "DEVICE_UNREGISTERED"), ("1410" + future, now, "DEVICE_UNREGISTERED"),
            // However old: no app has reported these tokens, which are imported.
            ("041000000001", now, "DEVICE_UNREGISTERED"),
            ("0400", [:], "DEVICE_UNREGISTERED"), ("1400", [:], "BAD_REGISTRATION"),
            ("0413", [:], "INVALID_JSON"),
            ("00", ["notification": ["body": "b", "badge": "many"]], "INVALID_JSON"),
            ("0429", now, "DEVICE_MESSAGE_RATE_EXCEEDED"), ("0429", [:], "ACK"),
            ("0503", now, "SERVICE_UNAVAILABLE"), ("0503", [:], "ACK"),
            ("bad1", now, "SERVICE_UNAVAILABLE"), ("bad1", [:], "ACK"),
            // The last one: Apple refuses the credential, and so all messages.
            ("3403", [:], "INVALID_APNS_CREDENTIAL"),
        ]
        let devices = rows.indices.map { AppleBench.deviceToken(rows[$0].prefix, $0) }
        let tokens = try bench.register(devices)
        let invalid: [String: Any] = ["to": tokens[0], "notification": ["body": "b", "badge": "many"]]
        #expect(try bench.request([["POST", "/fcm/send", invalid]]).first?.word == "InvalidParameters")
        let server = try xmpp(bench)
        for (at, row) in rows.enumerated() {
            let answer = try send("m-\(at)", to: tokens[at], over: server, row.more)
            #expect(answer == row.answer, "\(row.prefix) \(row.more)")
        }
        // The invalid badge is refused without Apple.
        #expect(bench.apple.requests(to: devices[8]).isEmpty)
        try eventually("the requests are logged") { bench.apple.requests(to: devices[15]).count == 1 }
        #expect(bench.apple.requests.allSatisfy { $0["lint"] == nil }, "\(bench.apple.requests)")
    }

    @Test("a requested receipt reports that Apple has the message; a refused message has none")
    func receipts() throws {
        let bench = try AppleBench()
        let tokens = try bench.register(["00", "1400"].map { AppleBench.deviceToken($0) })
        let server = try xmpp(bench)
        let wanted: [String: Any] = ["delivery_receipt_requested": true]
        #expect(try send("m-1", to: tokens[1], over: server, wanted) == "BAD_REGISTRATION")
        #expect(try send("m-2", to: tokens[0], over: server, wanted) == "ACK")
        let receipt = try server.expectJSON("the receipt") { $0["message_type"] as? String == "receipt" }
        #expect(receipt["message_id"] as? String == "dr2:m-2")
        let facts = try #require(receipt["data"] as? [String: Any])
        #expect(facts["message_status"] as? String == "MESSAGE_SENT_TO_APNS")
        #expect(facts["original_message_id"] as? String == "m-2")
        #expect(facts["device_registration_id"] as? String == tokens[0])
    }

    /// Two iPhones and an Android device of one sender, with the messages that each must get.
    private final class Audience {
        let bench: AppleBench
        let phones = [1, 2].map { AppleBench.deviceToken("00", $0) }
        let tokens: [String]
        let android: TestDevice
        private var expected: [[String]] = [[], []]

        init(_ bench: AppleBench) throws {
            self.bench = bench
            tokens = try bench.register(phones)
            android = try TestDevice(bench.daemon, sender: bench.sender.id)
        }

        /// The registration tokens of all.
        var all: [String] { tokens + [android.token] }

        /// Waits until the Android device and iPhones have got a message; at the end others must not have it.
        func expect(_ n: String, phones numbers: [Int] = [0, 1]) throws {
            try android.expectMessage { $0["n"] == n }
            for number in numbers {
                expected[number].append(n)
                try eventually("iPhone \(number) gets \(n)") { found(number).last == n }
            }
        }

        private func found(_ number: Int) -> [String] {
            bench.apple.requests(to: phones[number]).compactMap {
                ($0["payload"] as? [String: Any])?["n"] as? String
            }
        }

        /// Checks that nothing else has come, neither a second copy nor a message for others.
        func check() {
            #expect((0..<2).map(found) == expected)
            #expect(bench.apple.requests.allSatisfy { $0["lint"] == nil }, "\(bench.apple.requests)")
        }
    }

    /// Sends a notification with data over legacy HTTP. Returns the JSON of the answer.
    private func post(_ n: String, _ target: [String: Any], _ bench: AppleBench) throws -> [String: Any] {
        let content: [String: Any] = ["notification": ["body": "b"], "data": ["n": n]]
        let answer = try #require(
            try bench.request([["POST", "/fcm/send", target.merging(content) { $1 }]]).first)
        #expect(answer.status == 200, "\(n): \(answer)")
        return answer.json
    }

    @Test("topics and conditions reach iPhones and Android devices alike, over every interface")
    func topics() throws {
        let bench = try AppleBench()
        let audience = try Audience(bench)
        try bench.subscribe(audience.all, to: "news")
        try bench.subscribe([audience.tokens[0], audience.android.token], to: "sport")
        #expect(try post("1", ["to": "/topics/news"], bench)["message_id"] is Int)
        try audience.expect("1")
        _ = try post("2", ["condition": "'news' in topics && 'sport' in topics"], bench)
        try audience.expect("2", phones: [0])
        let v1: [String: Any] = [
            "topic": "news", "notification": ["body": "b"], "data": ["n": "3"],
        ]
        let answers = try bench.request([
            ["POST", "/v1/projects/\(bench.sender.id)/messages:send", ["message": v1]]
        ])
        #expect(answers.first?.messageID != nil, "\(answers)")
        try audience.expect("3")
        let server = try xmpp(bench)
        #expect(try send("4", to: "/topics/news", over: server) == "ACK")
        try audience.expect("4")
        audience.check()
        let payload = bench.apple.requests(to: audience.phones[0]).first?["payload"] as? [String: Any]
        #expect(payload?["from"] as? String == "/topics/news", "\(payload ?? [:])")
    }

    @Test("a group and several tokens reach iPhones and Android devices alike, with an answer for each")
    func several() throws {
        let bench = try AppleBench()
        let audience = try Audience(bench)
        let refused = try bench.register([AppleBench.deviceToken("1400", 3)])
        let mixed = audience.tokens + refused + [audience.android.token]
        let answer = try post("1", ["registration_ids": mixed], bench)
        #expect(answer["success"] as? Int == 3 && answer["failure"] as? Int == 1, "\(answer)")
        let results = try #require(answer["results"] as? [[String: Any]])
        #expect(results.map { $0["error"] as? String } == [nil, nil, "MismatchSenderId", nil])
        #expect(results.map { $0["message_id"] is String } == [true, true, false, true])
        try audience.expect("1")
        let group = try bench.createGroup(of: audience.all, by: audience.android)
        let sent = try post("2", ["to": group], bench)
        #expect(sent["success"] as? Int == 3 && sent["failure"] as? Int == 0, "\(sent)")
        try audience.expect("2")
        let server = try xmpp(bench)
        #expect(try send("3", to: group, over: server) == "ACK")
        try audience.expect("3")
        audience.check()
        #expect(try bench.count("pending") == 0)
    }

    @Test("a trace shows the path of messages to Apple, without their content")
    func trace() throws {
        let bench = try AppleBench()
        // Apple refuses the first attempt as busy.
        let tokens = try bench.register(["f101", "1400"].map { AppleBench.deviceToken($0) })
        let steps = try bench.trace(tokens[0], until: "forwarded") {
            let answer = try bench.send(tokens[0], body: "hush-hush")
            #expect(answer.messageID != nil, "\(answer)")
        }
        #expect(
            steps == [
                "stored", "accepted", "sent apns", "deferred apns_unavailable 503 ServiceUnavailable",
                "sent apns", "forwarded",
            ])
        let refusal = try bench.trace(tokens[1], until: "discarded") {
            let answer = try bench.send(tokens[1], body: "hush-hush")
            #expect(answer.word == "MismatchSenderId", "\(answer)")
        }
        #expect(
            refusal == [
                "stored", "accepted", "sent apns", "refused apns_mismatch 400 DeviceTokenNotForTopic",
                "discarded",
            ])
    }
}
