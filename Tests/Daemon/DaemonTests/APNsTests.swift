import Foundation
import Testing

/// The real daemon against a mock of Apple (apns 7.1): credentials, order, device tokens and sizes.
@Suite("APNs", .serialized, .enabled(if: TestPaths.hasPython, "run Scripts/bootstrap --tests first"))
struct APNsTests {
    @Test("a .p8 key passes its test, and a notification reaches Apple with the headers of the specification")
    func key() throws {
        let bench = try AppleBench(hasKey: false)
        #expect(try bench.addKey() == ["production": "accepted", "sandbox": "accepted"])
        let device = AppleBench.deviceToken("00", 1)
        let token = try bench.register([device])[0]
        let sent = try bench.send(token)
        #expect(sent.status == 200 && sent.messageID != nil, "\(sent)")
        try eventually("the request is logged") { bench.apple.requests(to: device).count == 1 }
        let request = bench.apple.requests(to: device)[0]
        #expect(request["env"] as? String == "production" && request["kid"] as? String == AppleMock.key)
        #expect(request["topic"] as? String == AppleMock.bundle && request["push_type"] as? String == "alert")
        #expect(["5", "10"].contains(request["priority"] as? String), "\(request)")
        #expect(request["expiration"] is String && request["apns_id"] is String, "\(request)")
        #expect(bench.apple.requests.allSatisfy { $0["lint"] == nil }, "\(bench.apple.requests)")
        #expect(try bench.count("forwarded") == 1 && bench.count("accepted") == 1)
    }

    @Test("a .p12 archive in the form that Keychain Access exports is accepted with its password, and used")
    func archive() throws {
        let bench = try AppleBench(hasKey: false)
        let password = bench.daemon.directory.appendingPathComponent("password.txt")
        try Data("secret\n".utf8).write(to: password)
        let added = try bench.daemon.ctl(
            "apns", "add", bench.apple.file("client_universal_legacy.p12"), "--password-file", password.path)
        #expect(AppleBench.tests(added) == ["production": "accepted", "sandbox": "accepted"], "\(added)")
        let device = AppleBench.deviceToken("00", 1)
        let sent = try bench.send(try bench.register([device])[0])
        #expect(sent.messageID != nil, "\(sent)")
        try eventually("the request is logged") { bench.apple.requests(to: device).count == 1 }
        #expect(bench.apple.requests(to: device)[0]["auth"] as? String == "cert")
        #expect(try bench.count("forwarded") == 1)
    }

    @Test("2,000 messages to 2,000 devices go over one connection, which starts with one stream")
    func cold() throws {
        let bench = try AppleBench(AppleMock(["--latency-ms", "50"]))
        let tokens = try bench.register((0..<2_000).map { AppleBench.deviceToken("00", $0) })
        try bench.apple.control("POST", "/reset")
        let answers = try bench.request(tokens.map { AppleBench.legacy($0) }, atOnce: 100)
        let failed = answers.filter { $0.messageID == nil }
        #expect(answers.count == 2_000 && failed.isEmpty, "\(failed.prefix(3))")
        let stats = try bench.apple.stats
        #expect(stats["connections"] as? Int == 1 && stats["refused_streams"] == nil, "\(stats)")
        #expect(stats["requests"] as? Int == 2_000 && stats["status_200"] as? Int == 2_000, "\(stats)")
        #expect(try bench.count("forwarded") == 2_000)
    }

    @Test("2,000 messages to one device go to Apple one at a time and in order")
    func order() throws {
        let bench = try AppleBench()
        let device = AppleBench.deviceToken("00", 1)
        let token = try bench.register([device])[0]
        // A thousand may wait: on a slow machine more at once would be refused.
        for first in stride(from: 0, to: 2_000, by: 500) {
            // Not notifications: those of one app replace each other while they wait.
            let answers = try bench.request(
                (first..<first + 500).map { n in
                    [
                        "POST", "/fcm/send",
                        ["to": token, "content_available": true, "data": ["n": "\(n)"]] as [String: Any],
                    ]
                }, atOnce: 300)
            let failed = answers.filter { $0.messageID == nil }
            #expect(answers.count == 500 && failed.isEmpty, "\(failed.prefix(3))")
            try eventually("all are forwarded", reaches: first + 500) { try bench.count("forwarded") }
        }
        try eventually("all are logged", reaches: 2_000) { bench.apple.requests(to: device).count }
        let requests = bench.apple.requests(to: device)
        // Only this device gets messages, so the streams of the connection are those in flight for it.
        #expect(requests.allSatisfy { $0["concurrent"] as? Int == 1 && $0["lint"] == nil })
        let found = requests.map { ($0["payload"] as? [String: Any])?["n"] as? String }
        #expect(found == (0..<2_000).map(String.init))
    }

    @Test(
        "a token survives a 410 from before its app reported it; the feedback list has one that a later 410 ended"
    )
    func ended() throws {
        let bench = try AppleBench()
        let time = Int(Date().timeIntervalSince1970) + 3_600
        let old = AppleBench.deviceToken("041000000001", 1)
        let dead = AppleBench.deviceToken("0410" + String(time, radix: 16), 2)
        let phone = try TestDevice(bench.daemon, sender: bench.sender.id)
        let tokens = [try bench.report(old, by: phone)] + (try bench.register([dead]))
        for _ in 0..<2 {
            let ignored = try bench.send(tokens[0])
            #expect(ignored.word == "Unavailable", "\(ignored)")
            #expect(try bench.send(tokens[1]).word == "NotRegistered")
        }
        let late410 = try bench.sendV1(tokens[0])
        #expect(late410.code == "503 UNAVAILABLE" && late410.verdict == "410 Unregistered", "\(late410)")
        // Apple is asked twice for each message, and once for a registration that has ended.
        try eventually("all are logged") { bench.apple.requests(to: old).count == 6 }
        #expect(bench.apple.requests(to: dead).count == 1)
        let late = try bench.sendV1(tokens[1])
        #expect(late.code == "404 UNREGISTERED" && late.verdict == "410 Unregistered", "\(late)")
        let page = try bench.feedback()
        #expect(page.items.count == 1, "\(page)")
        let item = try #require(page.items.first)
        #expect(item["apns_token"] as? String == dead && item["registration_id"] as? String == tokens[1])
        #expect(
            item["environment"] as? String == "production" && item["topic"] as? String == AppleMock.bundle)
        #expect(item["status"] as? Int == 410 && item["reason"] as? String == "Unregistered")
        #expect(item["invalid_since"] as? Int == time * 1_000 && item["seen_at"] is Int)
        #expect(try bench.feedback(since: page.next).items.isEmpty)
        // The list outlives the process.
        try bench.restart()
        #expect(try bench.feedback().items.count == 1)
        #expect(try bench.send(tokens[1]).word == "NotRegistered")
    }

    @Test("a sandbox token that was registered for production is delivered and corrected by one probe")
    func probe() throws {
        let bench = try AppleBench()
        let device = AppleBench.deviceToken("5a", 1)
        let token = try bench.register([device])[0]
        for _ in 0..<2 { #expect(try bench.send(token).messageID != nil) }
        try bench.restart()
        #expect(try bench.send(token).messageID != nil)
        try eventually("all are logged") { bench.apple.requests(to: device).count == 4 }
        let requests = bench.apple.requests(to: device)
        #expect(requests.map { $0["env"] as? String } == ["production", "sandbox", "sandbox", "sandbox"])
        #expect(requests.map { $0["status"] as? Int } == [400, 200, 200, 200])
        #expect(try bench.count("forwarded") == 3)
    }

    @Test("without a credential a message is refused over both interfaces, and nothing connects")
    func noCredential() throws {
        let bench = try AppleBench(hasKey: false)
        let token = try bench.register([AppleBench.deviceToken("00", 1)])[0]
        let legacy = try bench.send(token)
        #expect(legacy.status == 200 && legacy.word == "InvalidApnsCredential", "\(legacy)")
        let v1 = try bench.sendV1(token)
        #expect(v1.code == "401 THIRD_PARTY_AUTH_ERROR" && v1.verdict == nil, "\(v1)")
        #expect((v1.json["error"] as? [String: Any])?["status"] as? String == "UNAUTHENTICATED")
        #expect(try bench.apple.stats["connections"] == nil)
    }

    @Test(
        "a payload of 4,096 bytes is sent; one of 4,097 bytes is refused without a request",
        arguments: [false, true])
    func size(isV1: Bool) throws {
        let bench = try AppleBench()
        let device = AppleBench.deviceToken("00", 1)
        let token = try bench.register([device])[0]
        func send(_ count: Int) throws -> AppleBench.Answer {
            let body = String(repeating: "x", count: count)
            return isV1 ? try bench.sendV1(token, body: body) : try bench.send(token, body: body)
        }
        func bytes(_ number: Int) throws -> Int {
            try eventually("the request is logged") { bench.apple.requests(to: device).count == number }
            return try #require(bench.apple.requests(to: device).last?["bytes"] as? Int)
        }
        #expect(try send(1_000).messageID != nil)
        let overhead = try bytes(1) - 1_000
        #expect(try send(4_096 - overhead).messageID != nil)
        #expect(try bytes(2) == 4_096)
        let refused = try send(4_097 - overhead)
        #expect(isV1 ? refused.code == "400 INVALID_ARGUMENT" : refused.word == "MessageTooBig", "\(refused)")
        #expect(try send(1).messageID != nil)
        #expect(try bytes(3) < 4_096)
    }
}
