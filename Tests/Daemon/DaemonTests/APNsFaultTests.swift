import Foundation
import Testing

/// The real daemon against a mock of Apple that refuses, goes away or stalls (apns 4.1, 7.1).
@Suite("APNs faults", .serialized, .enabled(if: TestPaths.hasPython, "run Scripts/bootstrap --tests first"))
struct APNsFaultTests {
    /// What app servers get for an answer of Apple.
    struct Row: CustomTestStringConvertible {
        var prefix: String
        var legacy: String?
        var v1: String
        var verdict: String?

        init(_ prefix: String, _ legacy: String?, _ v1: String, _ verdict: String?) {
            self.prefix = prefix
            self.legacy = legacy
            self.v1 = v1
            self.verdict = verdict
        }

        var testDescription: String { prefix }
    }

    /// Sends now-or-never messages over both interfaces, each to a device token of its own.
    private func check(_ row: Row, _ bench: AppleBench, bundle: String = AppleMock.bundle) throws {
        let devices = [1, 2].map { AppleBench.deviceToken(row.prefix, $0) }
        let tokens = try bench.register(devices, bundle: bundle)
        let legacy = try bench.send(tokens[0], lifetime: 0)
        #expect(legacy.status == 200 && legacy.word == row.legacy, "\(row.prefix): \(legacy)")
        #expect((legacy.messageID != nil) == (row.legacy == nil), "\(row.prefix): \(legacy)")
        let v1 = try bench.sendV1(tokens[1], isNowOrNever: true)
        #expect(v1.code == row.v1 && v1.verdict == row.verdict, "\(row.prefix): \(v1)")
    }

    private static let auth = (word: "InvalidApnsCredential", code: "401 THIRD_PARTY_AUTH_ERROR")

    @Test("each answer of Apple about a message or a device becomes the error of the specification")
    func answers() throws {
        let bench = try AppleBench()
        let future = String(Int(Date().timeIntervalSince1970) + 3_600, radix: 16)
        let (busy, unavailable) = ("Unavailable", "503 UNAVAILABLE")
        let rows = [
            Row("0400", "NotRegistered", "400 INVALID_ARGUMENT", "400 BadDeviceToken"),
            Row("1400", "MismatchSenderId", "403 SENDER_ID_MISMATCH", "400 DeviceTokenNotForTopic"),
            Row("0410" + future, "NotRegistered", "404 UNREGISTERED", "410 Unregistered"),
            Row("1410" + future, "NotRegistered", "404 UNREGISTERED", "410 ExpiredToken"),
            Row("0413", "MessageTooBig", "400 INVALID_ARGUMENT", "413 PayloadTooLarge"),
            Row("0429", "DeviceMessageRateExceeded", "429 QUOTA_EXCEEDED", "429 TooManyRequests"),
            Row("0500", busy, unavailable, "500 InternalServerError"),
            Row("0503", busy, unavailable, "503 ServiceUnavailable"),
            // Without a reason of Apple's, something else may have answered.
            Row("bad1", busy, unavailable, "400 "), Row("bad4", busy, unavailable, "200 "),
            Row("f101", busy, unavailable, "503 ServiceUnavailable"),
            Row("d1a00300", nil, "200 -", nil), Row("bad3", nil, "200 -", nil),
            Row("5e700005", nil, "200 -", nil), Row("60a0", nil, "200 -", nil),
            Row("60a3", nil, "200 -", nil), Row("9d", nil, "200 -", nil),
        ]
        for row in rows { try check(row, bench) }
        let topic = Row("2400", Self.auth.word, Self.auth.code, "400 TopicDisallowed")
        try check(topic, bench, bundle: "com.example.other")
        try check(Row("00", nil, "200 -", nil), bench)
    }

    @Test(
        "a refused credential is reported as such, and the registration lives",
        arguments: [
            Row("1403", auth.word, auth.code, "403 InvalidProviderToken"),
            Row("2403", auth.word, auth.code, "403 BadEnvironmentKeyInToken"),
            Row("3403", auth.word, auth.code, "403 Forbidden"),
            Row("5403", auth.word, auth.code, "403 BadCertificate"),
        ])
    func credential(row: Row) throws {
        let bench = try AppleBench()
        try check(row, bench)
        #expect(try bench.feedback().items.isEmpty)
    }

    @Test("a provider token or key that Apple refuses on a new connection is reported with its verdict")
    func coldRefusal() throws {
        try check(Row("4403", Self.auth.word, Self.auth.code, "403 UnrelatedKeyIdInToken"), AppleBench())
        try check(Row("0403", "Unavailable", "503 UNAVAILABLE", "403 ExpiredProviderToken"), AppleBench())
    }

    @Test("after an expired provider token the message goes over a new connection")
    func expired() throws {
        let bench = try AppleBench()
        let devices = [1, 2].map { AppleBench.deviceToken("77", $0) }
        let tokens = try bench.register(devices)
        #expect(try bench.send(tokens[0]).messageID != nil)
        try bench.apple.control(
            "POST", "/rule",
            ["prefix": "77", "status": 403, "reason": "ExpiredProviderToken", "times": 1])
        #expect(try bench.send(tokens[1], lifetime: 0).messageID != nil)
        try eventually("both are logged") { bench.apple.requests(to: devices[1]).count == 2 }
        let requests = bench.apple.requests(to: devices[1])
        #expect(requests.map { $0["status"] as? Int } == [403, 200])
        #expect(requests[0]["conn"] as? Int != requests[1]["conn"] as? Int)
    }

    @Test(
        "an answer that ends connections, or none, is Unavailable for a now-or-never message",
        arguments: [
            "1429", "1503", "60a1", "60a2", "7e50", "7e57", "7e5c", "dead", "bad0", "bad2",
        ])
    func lost(prefix: String) throws {
        let bench = try AppleBench()
        let tokens = try bench.register([1, 2, 3].map { AppleBench.deviceToken(prefix, $0) })
        let legacy = try bench.send(tokens[0], lifetime: 0)
        #expect(legacy.word == "Unavailable", "\(legacy)")
        let v1 = try bench.sendV1(tokens[1], isNowOrNever: true)
        #expect(v1.code == "503 UNAVAILABLE", "\(v1)")
        let stored = try bench.send(tokens[2])
        #expect(stored.messageID != nil, "\(stored)")
        #expect(try bench.count("pending") == 1)
    }

    @Test("f102: a message that Apple refuses twice as busy is delivered by the third attempt")
    func flaky() throws {
        let bench = try AppleBench()
        let device = AppleBench.deviceToken("f102", 1)
        #expect(try bench.send(try bench.register([device])[0]).messageID != nil)
        try eventually("the third attempt is made") { bench.apple.requests(to: device).count == 3 }
        #expect(bench.apple.requests(to: device).map { $0["status"] as? Int } == [503, 503, 200])
        try eventually("it is forwarded") { try bench.count("forwarded") == 1 }
    }

    @Test("messages that wait while Apple refuses connections are delivered after kill -9 and a restart")
    func killed() throws {
        let bench = try AppleBench()
        let devices = (0..<20).map { AppleBench.deviceToken("00", $0) }
        let tokens = try bench.register(devices)
        try bench.apple.refuse(true)
        let answers = try bench.request(tokens.map { AppleBench.legacy($0) }, atOnce: 20)
        #expect(answers.allSatisfy { $0.messageID != nil }, "\(answers)")
        #expect(try bench.count("pending") == 20)
        try bench.restart { try bench.apple.refuse(false) }
        try eventually("all are forwarded") { try bench.count("forwarded") == 20 }
        #expect(try bench.count("pending") == 0)
        for device in devices {
            #expect(bench.apple.requests(to: device).map { $0["status"] as? Int } == [200])
        }
    }

    @Test("connections that break under load lose nothing; duplicates are among the unanswered alone")
    func broken() throws {
        let port = UInt16(try RunningDaemon.freePort())
        let bench = try AppleBench(AppleMock(["--latency-ms", "20"]), flags: ["--admin-port", "\(port)"])
        // Each of three requests breaks the connection of about a hundred.
        try bench.apple.control("POST", "/rule", ["prefix": "aa", "action": "60a2", "times": 3])
        let devices = (0..<400).map { AppleBench.deviceToken($0 % 130 == 75 ? "aa" : "00", $0) }
        let tokens = try bench.register(devices)
        let answers = try bench.request(tokens.map { AppleBench.legacy($0) }, atOnce: 100)
        #expect(answers.allSatisfy { $0.messageID != nil }, "\(answers.filter { $0.messageID == nil })")
        try eventually("all are forwarded") { try bench.count("forwarded") == devices.count }
        #expect(try bench.count("pending") == 0)
        let accepted = bench.apple.requests.filter { $0["status"] as? Int == 200 }
        let counts = Dictionary(grouping: accepted) { $0["token"] as? String ?? "" }.mapValues(\.count)
        #expect(devices.allSatisfy { counts[$0, default: 0] >= 1 })
        let unanswered = try bench.answers("unanswered", port: port)
        #expect(unanswered >= 3, "canary: requests were in flight when connections broke")
        #expect(accepted.count - devices.count <= unanswered, "\(counts.filter { $1 > 1 })")
        #expect(bench.apple.requests.count { $0["reason"] as? String == "60a2" } == 3)
    }

    /// For how long Apple refuses connections: `CCS_REFUSED_SECONDS=300` is the acceptance check of the specification.
    private static let refusedSeconds =
        ProcessInfo.processInfo.environment["CCS_REFUSED_SECONDS"].flatMap { Double($0) } ?? 0

    @Test("while Apple refuses connections, the pauses between attempts double; then all is delivered")
    func refusing() throws {
        let bench = try AppleBench()
        let devices = (0..<50).map { AppleBench.deviceToken("00", $0) }
        let tokens = try bench.register(devices)
        try bench.apple.refuse(true)
        let earlier = bench.apple.events("open").count
        let answers = try bench.request(tokens.map { AppleBench.legacy($0) }, atOnce: 50)
        #expect(answers.allSatisfy { $0.messageID != nil }, "\(answers.filter { $0.messageID == nil })")
        func attempts() -> [Double] {
            bench.apple.events("open").dropFirst(earlier).compactMap { $0["ts"] as? Double }
        }
        let start = Date()
        let seconds = Self.refusedSeconds
        try eventually("there are three attempts in \(seconds) s", seconds: seconds + Patience.seconds) {
            attempts().count >= 3 && start.timeIntervalSinceNow <= -seconds
        }
        let times = attempts()
        #expect(times.count <= 10, "\(times)")
        try bench.apple.refuse(false)
        try eventually("all are forwarded") { try bench.count("forwarded") == devices.count }
        // The mock notes the time of an attempt before it aborts it, so a pause cannot look too short; the clock may be slewed.
        for (at, pause) in zip(times.dropFirst(), times).prefix(2).map({ $0 - $1 }).enumerated() {
            #expect(pause >= Double(1 << at) * 0.99, "\(times)")
        }
        #expect(devices.allSatisfy { bench.apple.requests(to: $0).count == 1 })
        #expect(try bench.count("pending") == 0)
    }

    @Test("dead: a request without an answer is given up, and leaves others on its connection unharmed")
    func dead() throws {
        let bench = try AppleBench()
        let devices = [AppleBench.deviceToken("dead")] + (1...20).map { AppleBench.deviceToken("00", $0) }
        let tokens = try bench.register(devices)
        try bench.apple.control("POST", "/reset")
        let start = Date()
        let answers = try bench.request(
            tokens[1...].map { AppleBench.legacy($0) } + [AppleBench.legacy(tokens[0], lifetime: 0)]
                + tokens[1...].map { AppleBench.legacy($0) }, atOnce: 100)
        #expect(start.timeIntervalSinceNow > -15, "an answer within 15 seconds")
        #expect(answers[20].word == "Unavailable", "\(answers[20])")
        #expect(answers.count { $0.messageID != nil } == 40, "\(answers)")
        try eventually("the request is given up") { bench.apple.events("client-reset").count == 1 }
        #expect(try bench.apple.stats["connections"] as? Int == 1)
        let times = bench.apple.events("client-reset").compactMap { $0["ts"] as? Double }
        let first = bench.apple.requests.compactMap { $0["ts"] as? Double }.min()
        let span = try #require(times.first) - #require(first)
        #expect((14.9...15 + Patience.seconds).contains(span), "given up after \(span) s")
        #expect(try bench.send(tokens[1]).messageID != nil)
        #expect(try bench.apple.stats["connections"] as? Int == 1, "the connection goes on")
    }

    @Test("GOAWAY under load loses and duplicates nothing", arguments: ["60a0", "60a1", "60a3"])
    func goaway(prefix: String) throws {
        let bench = try AppleBench(AppleMock(["--latency-ms", "20"]))
        let devices = (0..<400).map { AppleBench.deviceToken($0 % 150 == 75 ? prefix : "00", $0) }
        let tokens = try bench.register(devices)
        let answers = try bench.request(tokens.map { AppleBench.legacy($0) }, atOnce: 100)
        #expect(answers.allSatisfy { $0.messageID != nil }, "\(answers.filter { $0.messageID == nil })")
        // The mock never answers a request with 60a1.
        let answered = devices.filter { prefix != "60a1" || !$0.hasPrefix(prefix) }
        try eventually("all others are forwarded") { try bench.count("forwarded") == answered.count }
        #expect(try bench.count("pending") == devices.count - answered.count)
        let accepted = bench.apple.requests.filter { $0["status"] as? Int == 200 }
        let counts = Dictionary(grouping: accepted) { $0["token"] as? String ?? "" }.mapValues(\.count)
        #expect(answered.allSatisfy { counts[$0] == 1 }, "\(counts.filter { $1 > 1 })")
        #expect(!bench.apple.events("goaway").isEmpty, "canary: the mock sent GOAWAY")
    }
}
