import Basics
import Delivery
import Testing
import Wire

@testable import Sessions

/// Legacy sends to topics and conditions (http 2.4).
@Suite struct HTTPTopicSendTests {
    private static func request(_ body: String, type: String = "application/json") -> String {
        "POST /fcm/send HTTP/1.1\r\nHost: fcm.googleapis.com\r\nAuthorization: key=good-key\r\n"
            + "Content-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private static func sent(_ harness: HTTPHarness) -> [TopicSubmission] {
        harness.events.compactMap {
            if case .topic(_, .submitted(let submission)) = $0 { submission } else { nil }
        }
    }

    private static func body(_ bytes: Int) -> String {
        "{\"to\":\"/topics/news\",\"data\":{\"k\":\"\(String(repeating: "x", count: bytes - 1))\"}}"
    }

    @Test("The limit of a topic's payload is half that of a token's")
    func size() {
        let harness = HTTPHarness()
        harness.send(Self.request(Self.body(Limits.Topic.payloadBytes + 1)))
        #expect(Self.sent(harness).isEmpty)
        #expect(harness.takeSent().hasSuffix("{\"error\":\"MessageTooBig\"}"))
        harness.send(Self.request(Self.body(Limits.Topic.payloadBytes)))
        #expect(Self.sent(harness).count == 1, "canary: one byte less is accepted")
    }

    @Test("A configured limit gives topics the payload of a token in every interface")
    func largerSize() throws {
        func change(_ settings: inout SessionSettings) {
            settings.rules.topicPayloadBytes = Limits.Message.payloadBytes
        }
        let harness = HTTPHarness(change)
        let form = "to=/topics/news&data.k=\(String(repeating: "x", count: Limits.Message.payloadBytes - 1))"
        for bytes in [Limits.Message.payloadBytes, Limits.Message.payloadBytes + 1] {
            harness.send(Self.request(Self.body(bytes)))
        }
        for text in [form, form + "x"] {
            harness.send(Self.request(text, type: "application/x-www-form-urlencoded"))
        }
        #expect(Self.sent(harness).count == 2)
        let modern = HTTPTokenTests.harness(settings: change)
        let bearer = try HTTPTokenTests.token(modern)
        for bytes in [Limits.Message.payloadBytes, Limits.Message.payloadBytes + 1] {
            let value = String(repeating: "x", count: bytes - 1)
            for target in ["\"topic\":\"news\"", "\"condition\":\"'a' in topics\""] {
                let body = "{\"message\":{\(target),\"data\":{\"k\":\"\(value)\"}}}"
                modern.send(
                    "POST /v1/projects/lab-project/messages:send HTTP/1.1\r\nHost: x\r\n"
                        + "Authorization: Bearer \(bearer)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                )
            }
        }
        #expect(Self.sent(modern).count == 2)
    }

    @Test("With strict conditions a condition has two operators, except in HTTP v1")
    func strictConditions() throws {
        func change(_ settings: inout SessionSettings) { settings.rules.strictConditions = true }
        func condition(_ tests: Int) -> String {
            (0..<tests).map { "'t\($0)' in topics" }.joined(separator: " || ")
        }
        let harness = HTTPHarness(change)
        harness.send(Self.request("{\"condition\":\"\(condition(4))\"}"))
        #expect(harness.takeSent().hasSuffix("InvalidParameters: Invalid condition\n"))
        harness.send(Self.request("{\"condition\":\"\(condition(3))\"}"))
        #expect(Self.sent(harness).count == 1)
        let lenient = HTTPHarness()
        lenient.send(Self.request("{\"condition\":\"\(condition(5))\"}"))
        #expect(Self.sent(lenient).count == 1, "canary: without the switch five topics are accepted")
        let modern = HTTPTokenTests.harness(settings: change)
        let body = "{\"message\":{\"condition\":\"\(condition(5))\"}}"
        modern.send(
            "POST /v1/projects/lab-project/messages:send HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "
                + "\(try HTTPTokenTests.token(modern))\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        #expect(Self.sent(modern).count == 1)
    }

    @Test("A message to a topic is passed to the core and answered after its reply")
    func submission() throws {
        let harness = HTTPHarness()
        harness.send(
            Self.request(
                "{\"condition\":\"'a' in topics || 'b' in topics\",\"collapse_key\":\"k\",\"time_to_live\":9,"
                    + "\"restricted_package_name\":\"app\",\"priority\":\"high\"}"))
        let sent = try #require(Self.sent(harness).first)
        #expect(
            sent.target
                == TopicTarget(
                    topics: ["a", "b"].compactMap { TopicName(Array($0.utf8)) }, truth: 0xEEEE_EEEE))
        #expect(sent.sender == HTTPHarness.sender && sent.content.lifetimeSeconds == 9)
        #expect(sent.content.collapseKey == Array("k".utf8) && sent.content.priority == .high)
        #expect(sent.content.restrictedPackage == Array("app".utf8))
        #expect(harness.takeSent().isEmpty)
        let id = PersistentID(sequence: SequenceNumber(5_735_927_389_175_849_184), salt: 1)
        harness.perform(.submission(requestID: sent.requester.requestID, .accepted(id: id, canonical: nil)))
        #expect(harness.takeSent().hasSuffix("\r\n\r\n{\"message_id\":5735927389175849184}"))
    }

    @Test("Unavailability is a status for a form, and a word in JSON")
    func unavailable() throws {
        let harness = HTTPHarness()
        harness.send(Self.request("to=/topics/a", type: "application/x-www-form-urlencoded"))
        harness.send(Self.request("{\"to\":\"/topics/a\"}"))
        for sent in Self.sent(harness) {
            harness.perform(.submission(requestID: sent.requester.requestID, .refused(.unavailable)))
        }
        let text = harness.takeSent()
        #expect(text.hasPrefix("HTTP/1.1 503 "))
        #expect(text.hasSuffix("{\"error\":\"Unavailable\"}"))
    }
}
