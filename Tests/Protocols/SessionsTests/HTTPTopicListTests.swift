import Basics
import Delivery
import Testing
import Wire

@testable import Sessions

/// What app servers ask about topics and their subscribers, an extension of HTTP v1.
@Suite struct HTTPTopicListTests {
    private static let own = "\(HTTPHarness.sender.number)"
    private static let seal = AppServerHarness.seal

    private func ask(_ path: String, key: String? = "key=good-key") -> HTTPHarness {
        let harness = HTTPHarness { $0.seal = Self.seal }
        let authorization = key.map { "Authorization: \($0)\r\n" } ?? ""
        harness.send("GET /v1/projects/\(path) HTTP/1.1\r\nHost: x\r\n\(authorization)\r\n")
        return harness
    }

    private func queries(_ harness: HTTPHarness) -> [TopicListQuery] {
        harness.pages.compactMap { if case .topics(let query) = $0.question { query } else { nil } }
    }

    private static func query(_ subject: TopicListQuery.Subject, _ limit: Int) -> TopicListQuery {
        TopicListQuery(sender: HTTPHarness.sender, project: Array(own.utf8), subject, limit: limit)
    }

    private static func topic(_ name: String) throws -> TopicName {
        try #require(TopicName(Array(name.utf8)))
    }

    private static func name(_ number: UInt64) -> TokenName {
        TokenName(RegistrationName(device: DeviceID(1 << 60 | number), number: RegistrationNumber(number)))
    }

    private static func token(_ name: TokenName) -> String {
        String(decoding: seal.token(for: name), as: UTF8.self)
    }

    @Test("pages are asked for from their start, or behind the end of the one before")
    func pages() throws {
        let own = Self.own
        let news = try Self.topic("news")
        for whole in ["", "?pageSize=0"] {
            #expect(queries(ask("\(own)/topics\(whole)")) == [Self.query(.topics(after: nil), 100)])
        }
        #expect(
            queries(ask("\(own)/topics?pageSize=7&pageToken=news")) == [
                Self.query(.topics(after: news), 7)
            ])
        #expect(
            queries(ask("\(own)/topics/b~%2525/subscribers?page_size=500")) == [
                Self.query(.subscribers(of: try Self.topic("b~%25"), after: nil), 500)
            ])
        let token = Self.token(Self.name(3)).replacing(":", with: "%3A")
        #expect(
            queries(ask("\(own)/topics/news/subscribers?pageToken=\(token)")) == [
                Self.query(.subscribers(of: news, after: Self.name(3).registration), 500)
            ])
    }

    @Test(
        "a wrong page or topic is refused with its field, and nothing is asked",
        arguments: [
            ("?pageSize=101", "0 to 100"), ("?pageSize=-1", "pageSize"),
            ("?pageSize=x", "pageSize"), ("?pageToken=%20", "pageToken"), ("?pageToken=%f", "query"),
            ("/news/subscribers?pageSize=501", "0 to 500"),
            ("/news/subscribers?pageToken=news", "pageToken"), ("/%20/subscribers", "topic"),
        ])
    func wrong(_ path: String, _ named: String) {
        let harness = ask("\(Self.own)/topics\(path)")
        let answer = harness.takeSent()
        #expect(queries(harness).isEmpty)
        #expect(answer.hasPrefix("HTTP/1.1 400 ") && answer.contains(named), "\(answer)")
    }

    @Test("without the credentials of the project nothing is asked")
    func refused() {
        for (path, key, status) in [
            ("\(Self.own)/topics", nil, "401"), ("\(Self.own)/topics", "key=wrong", "401"),
            ("7/topics", "key=good-key", "403"), ("7/topics/news/subscribers", "key=good-key", "403"),
        ] {
            let harness = ask(path, key: key)
            #expect(queries(harness).isEmpty && harness.sent.hasPrefix("HTTP/1.1 \(status) "))
        }
    }

    @Test("a page names the next one if more was read than fits")
    func answers() throws {
        func body(_ response: HTTPResponse) -> String { String(decoding: response.body, as: UTF8.self) }
        let topics = Self.query(.topics(after: nil), 1)
        let (a, b) = (try Self.topic("a"), try Self.topic("b"))
        let first = #"{"topics":[{"name":"projects/\#(Self.own)/topics/a","topicName":"a"}]"#
        #expect(body(topics.response(topics: [a])) == first + "}")
        #expect(body(topics.response(topics: [a, b])) == first + #","nextPageToken":"a"}"#)
        #expect(body(topics.response(topics: [])) == "{}")
        let subscribers = Self.query(.subscribers(of: a, after: nil), 1)
        let names = [Self.name(1), Self.name(2)]
        let token = Self.token(names[0])
        #expect(
            body(subscribers.response(subscribers: names, seal: Self.seal))
                == #"{"subscribers":[{"token":"\#(token)"}],"nextPageToken":"\#(token)"}"#)
        let last = ScheduledMessage(
            dueAt: 5, device: DeviceID(987_654_321), sequence: SequenceNumber(7), sender: HTTPHarness.sender)
        let scheduled = body(
            Self.query(.scheduled(after: nil), 1).response(scheduled: [], next: last, seal: Self.seal))
        #expect(scheduled.hasPrefix(#"{"nextPageToken":"5-7-"#))
        #expect(!scheduled.contains("987654321"), "the ID of a device is half of its login")
    }
}
