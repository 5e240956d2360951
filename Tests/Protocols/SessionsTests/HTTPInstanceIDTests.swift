import Basics
import Delivery
import Testing
import Wire
import WireSupport

@testable import Sessions

/// What the transcripts of Instance ID do not cover: limits, authorization, deadlines, platforms (http 7).
@Suite struct HTTPInstanceIDTests {
    private static let name = RegistrationName(
        device: DeviceID(600_000_000_000_000_001), number: RegistrationNumber(1))
    private static let token = String(decoding: HTTPHarness.seal.token(for: name), as: UTF8.self)

    private static func request(_ line: String, _ body: String = "", key: String = "key=good-key") -> String {
        "\(line) HTTP/1.1\r\nHost: iid.googleapis.com\r\nAuthorization: \(key)\r\n"
            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private static func batch(_ tokens: Int) -> String {
        let list = Array(repeating: "\"\(token)\"", count: tokens).joined(separator: ",")
        return request(
            "POST /iid/v1:batchAdd", "{\"to\":\"/topics/news\",\"registration_tokens\":[\(list)]}")
    }

    private static func asked(_ harness: HTTPHarness) -> [TokenRequest] {
        harness.events.compactMap { if case .device(_, .token(let request)) = $0 { request } else { nil } }
    }

    private static func report(
        category: String = "app", apns: String = "", topics: [Subscription] = []
    ) -> TokenReport {
        var registration = Registration(
            name: name, category: Array(category.utf8), subtype: [], senderText: [],
            sender: HTTPHarness.sender, createdAt: 0)
        registration.apnsToken = Array(apns.utf8)
        return TokenReport(registration: registration, topics: topics)
    }

    @Test("Up to a thousand tokens are accepted, each with the sender's authority")
    func limit() {
        let harness = HTTPHarness()
        harness.send(Self.batch(1_000))
        let asked = Self.asked(harness)
        #expect(asked.count == 1_000)
        #expect(asked.allSatisfy { $0.sender == HTTPHarness.sender && $0.name == Self.name })
        #expect(Set(asked.map(\.requester.requestID)).count == 1_000)
        for request in asked.dropLast() {
            harness.perform(.reply(requestID: request.requester.requestID, .token(Self.report())))
        }
        #expect(harness.takeSent().isEmpty, "not before all results are known")
        harness.perform(.reply(requestID: asked[999].requester.requestID, .tokenRefused(.notRegistered)))
        let body = HTTPTokenTests.answer(harness).body
        #expect(
            body == "{\"results\":[" + String(repeating: "{},", count: 999) + "{\"error\":\"NOT_FOUND\"}]}")
        let other = HTTPHarness()
        other.send(Self.batch(1_001))
        let answer = HTTPTokenTests.answer(other)
        #expect(answer.status == "400" && answer.body.contains("registration_tokens: expected at most 1000"))
        #expect(other.events.isEmpty)
    }

    private static func imports(_ tokens: Int) -> String {
        let list = (0..<tokens).map { "\"\(10_000 + $0)abc\"" }.joined(separator: ",")
        return request(
            "POST /iid/v1:batchImport",
            "{\"application\":\"com.example.ios\",\"apns_tokens\":[\(list)]}")
    }

    @Test("Up to a hundred APNs tokens are accepted, and those without a reply in time are reported")
    func imports() {
        let harness = HTTPHarness()
        harness.send(Self.imports(100))
        let asked = harness.events.compactMap {
            if case .installation(_, .requested(let request)) = $0 { request } else { nil }
        }
        #expect(asked.count == 100 && Set(asked.map(\.installation)).count == 100)
        let devices = asked.compactMap { request -> DeviceID? in
            guard case .apple(let address) = request.action, address.isImport else { return nil }
            return address.freshDevice
        }
        #expect(Set(devices.map(\.number)).count == 100)
        #expect(devices.allSatisfy { $0.number >= 1 << 59 && $0.number < 1 << 63 })
        harness.perform(.reply(requestID: asked[99].requester.requestID, .registered(TokenName(Self.name))))
        #expect(harness.takeSent().isEmpty, "not before all results are known")
        harness.pass(seconds: Limits.HTTP.answerDeadlineSeconds + 1)
        let body = HTTPTokenTests.answer(harness).body
        #expect(body.ranges(of: "Internal Server Error").count == 99)
        #expect(body.contains("\"status\":\"OK\",\"registration_token\":\"\(Self.token)\""))
        let again = HTTPHarness()
        again.send(Self.imports(100))
        let places = again.events.compactMap {
            if case .installation(_, .requested(let request)) = $0 { request.installation } else { nil }
        }
        #expect(places == asked.map(\.installation), "the same tokens have the same keys")
        let other = HTTPHarness()
        other.send(Self.imports(101))
        let answer = HTTPTokenTests.answer(other)
        #expect(answer.status == "400" && answer.body.contains("1 to 100 tokens"))
        #expect(other.events.isEmpty)
    }

    @Test(
        "A batch of which nothing was done is refused as a whole, with Retry-After, when changes are too frequent"
    )
    func rate() throws {
        let harness = HTTPHarness()
        harness.send(Self.batch(2))
        for request in Self.asked(harness) {
            harness.perform(.reply(requestID: request.requester.requestID, .tokenRefused(.rateExceeded)))
        }
        let whole = harness.takeSent()
        #expect(whole.hasPrefix("HTTP/1.1 429 ") && whole.contains("\r\nRetry-After: 1\r\n"))
        #expect(whole.hasSuffix("{\"error\":\"RESOURCE_EXHAUSTED\"}"))
        let other = HTTPHarness()
        other.send(Self.batch(2))
        let asked = Self.asked(other)
        other.perform(.reply(requestID: asked[0].requester.requestID, .token(Self.report())))
        other.perform(.reply(requestID: asked[1].requester.requestID, .tokenRefused(.rateExceeded)))
        #expect(HTTPTokenTests.answer(other).body == "{\"results\":[{},{\"error\":\"RESOURCE_EXHAUSTED\"}]}")
        let one = HTTPHarness()
        one.send(Self.request("POST /iid/v1/\(Self.token)/rel/topics/news"))
        one.perform(.reply(requestID: 1, .tokenRefused(.rateExceeded)))
        #expect(one.takeSent().contains("\r\nRetry-After: 1\r\n"))
        let modern = HTTPTokenTests.harness()
        modern.send(
            Self.request(
                "POST /v1/projects/lab-project/registrations/\(Self.token)/topicSubscriptions?topic_name=a",
                key: "Bearer \(try HTTPTokenTests.token(modern))"))
        _ = modern.takeSent()
        modern.perform(.reply(requestID: 2, .tokenRefused(.rateExceeded)))
        let text = modern.takeSent()
        #expect(text.hasPrefix("HTTP/1.1 429 ") && text.contains("\r\nRetry-After: 1\r\n"))
        #expect(text.contains("RESOURCE_EXHAUSTED") && text.contains("QUOTA_EXCEEDED"))
    }

    @Test("Nothing is passed to the core without a key, and access tokens need their header")
    func authorization() {
        for line in [
            "GET /iid/info/\(Self.token)", "POST /iid/v1/\(Self.token)/rel/topics/news",
            "DELETE /iid/v1/\(Self.token)/rel/topics/news", "POST /iid/v1:batchAdd",
            "POST /iid/v1:batchRemove", "POST /iid/v1:batchImport",
        ] {
            for key in ["key=bad", "Bearer x", ""] {
                let harness = HTTPHarness()
                harness.send(Self.request(line, key: key))
                #expect(HTTPTokenTests.answer(harness).status == "401", "\(line)")
                #expect(harness.events.isEmpty)
            }
        }
    }

    @Test("A reply that is not in time is reported, in a batch only for its tokens")
    func late() {
        let harness = HTTPHarness()
        harness.send(Self.batch(2))
        harness.perform(.reply(requestID: Self.asked(harness)[1].requester.requestID, .token(Self.report())))
        harness.pass(seconds: Limits.HTTP.answerDeadlineSeconds + 1)
        #expect(
            HTTPTokenTests.answer(harness).body == "{\"results\":[{\"error\":\"DEADLINE_EXCEEDED\"},{}]}")
        let other = HTTPHarness()
        other.send(Self.request("GET /iid/info/\(Self.token)"))
        other.pass(seconds: Limits.HTTP.answerDeadlineSeconds + 1)
        let text = other.takeSent()
        #expect(text.hasPrefix("HTTP/1.1 503 ") && text.contains("\r\nRetry-After: 10\r\n"))
    }

    @Test(
        "The platform depends on how the app registered",
        arguments: [
            ("app", "", "ANDROID"), ("com.example.ios", "p_01", "IOS"), ("com.chrome.linux", "", "CHROME"),
        ])
    func platform(category: String, apns: String, platform: String) throws {
        let harness = HTTPHarness()
        harness.send(Self.request("GET /iid/info/\(Self.token)"))
        harness.perform(.reply(requestID: 1, .token(Self.report(category: category, apns: apns))))
        let json = try JSONValue(parsing: HTTPTokenTests.answer(harness).body)
        #expect(json["platform"]?.text == platform && json["application"]?.text == category)
        #expect(json["authorizedEntity"]?.text == "1234567890" && json["rel"] == nil)
    }

    @Test(
        "A valid version of an app is stored as sent, and shown by /iid/info",
        arguments: [
            ("app_ver=36&X-app_ver=1", "36"), ("X-app_ver=36", "36"), ("", ""), ("app_ver=1%0A", ""),
            ("app_ver=%FF", ""), ("app_ver=\(String(repeating: "1", count: 65))", ""),
        ])
    func version(form: String, kept: String) throws {
        let harness = HTTPHarness()
        harness.send(
            HTTPHarness.register(
                "app=a&sender=123&device=600000000000000001" + (form.isEmpty ? "" : "&\(form)"))
        )
        guard case .device(_, .register(let request))? = harness.events.first else {
            Issue.record("expected a registration")
            return
        }
        #expect(request.appVersion == Array(kept.utf8))
        var report = Self.report()
        report.registration.appVersion = request.appVersion
        let other = HTTPHarness()
        other.send(Self.request("GET /iid/info/\(Self.token)"))
        other.perform(.reply(requestID: 1, .token(report)))
        let json = try JSONValue(parsing: HTTPTokenTests.answer(other).body)
        #expect(json["applicationVersion"]?.text == kept)
    }

    @Test("A wrong method and a body that is not JSON are reported in `error`")
    func faults() {
        let harness = HTTPHarness()
        harness.send(Self.request("PATCH /iid/v1:batchAdd", "{}"))
        let answer = HTTPTokenTests.answer(harness)
        #expect(answer.status == "405")
        #expect(answer.body == "{\"error\":\"The path does not accept this method.\"}")
        harness.send(Self.request("POST /iid/v1:batchAdd", "{"))
        #expect(HTTPTokenTests.answer(harness).body.hasPrefix("{\"error\":\"invalid JSON at byte "))
    }

    @Test(
        "HTTP v1 names the invalid field, and passes nothing to the core",
        arguments: [
            ("POST", "TOKEN/topicSubscriptions", "topic_name"),
            ("POST", "TOKEN/topicSubscriptions?topic_name=a+b", "topic_name"),
            ("GET", "TOKEN/topicSubscriptions?pageSize=-1", "page_size"),
            ("GET", "TOKEN/topicSubscriptions?pageToken=a+b", "page_token"),
            ("GET", "nonsense/topicSubscriptions", "not a valid FCM registration token"),
        ])
    func version1(method: String, path: String, text: String) throws {
        let harness = HTTPTokenTests.harness()
        let bearer = "Bearer \(try HTTPTokenTests.token(harness))"
        let line =
            "\(method) /v1/projects/lab-project/registrations/"
            + path.replacing("TOKEN", with: Self.token.replacing(":", with: "%3A"))
        harness.send(Self.request(line, key: bearer))
        let answer = HTTPTokenTests.answer(harness)
        #expect(answer.status == "400" && answer.body.contains(text))
        harness.send(Self.request(line))
        #expect(HTTPTokenTests.answer(harness).status == "401", "v1 does not accept server keys")
        #expect(harness.events.isEmpty)
    }

    @Test("Pages of a list have the requested size, within the limit")
    func pages() throws {
        let topics = (0..<2_000).compactMap { TopicName(Array("t\($0)".utf8)) }
        let report = Self.report(
            topics: topics.map {
                Subscription(name: Self.name, sender: HTTPHarness.sender, topic: $0, since: 0)
            })
        for (query, count) in [
            ("", 1_000), ("?pageSize=5000", 2_000), ("?pageSize=0", 1_000), ("?pageSize=7", 7),
        ] {
            let harness = HTTPTokenTests.harness()
            let bearer = "Bearer \(try HTTPTokenTests.token(harness))"
            harness.send(
                Self.request(
                    "GET /v1/projects/lab-project/registrations/\(Self.token)/topicSubscriptions\(query)",
                    key: bearer))
            harness.perform(
                .reply(requestID: try #require(Self.asked(harness).first).requester.requestID, .token(report))
            )
            let json = try JSONValue(parsing: HTTPTokenTests.answer(harness).body)
            #expect(json["topicSubscriptions"]?.elements?.count == count)
            #expect((json["nextPageToken"] == nil) == (count == 2_000))
        }
    }
}
