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

    private static func sent(_ desk: HTTPDesk) -> [TopicSubmission] {
        desk.events.compactMap {
            if case .topic(_, .submitted(let submission)) = $0 { submission } else { nil }
        }
    }

    private static func body(_ bytes: Int) -> String {
        "{\"to\":\"/topics/news\",\"data\":{\"k\":\"\(String(repeating: "x", count: bytes - 1))\"}}"
    }

    @Test("A topic takes half of what a token takes")
    func size() {
        let desk = HTTPDesk()
        desk.send(Self.request(Self.body(Limits.Topic.payloadBytes + 1)))
        #expect(Self.sent(desk).isEmpty)
        #expect(desk.taken().hasSuffix("{\"error\":\"MessageTooBig\"}"))
        desk.send(Self.request(Self.body(Limits.Topic.payloadBytes)))
        #expect(Self.sent(desk).count == 1, "canary: one byte less is taken")
    }

    @Test("An operator may let topics take as much as a token, in every way of sending")
    func largerSize() throws {
        func change(_ settings: inout SessionSettings) {
            settings.rules.topicPayloadBytes = Limits.Message.payloadBytes
        }
        let desk = HTTPDesk(change)
        let form = "to=/topics/news&data.k=\(String(repeating: "x", count: Limits.Message.payloadBytes - 1))"
        for bytes in [Limits.Message.payloadBytes, Limits.Message.payloadBytes + 1] {
            desk.send(Self.request(Self.body(bytes)))
        }
        for text in [form, form + "x"] {
            desk.send(Self.request(text, type: "application/x-www-form-urlencoded"))
        }
        #expect(Self.sent(desk).count == 2)
        let modern = HTTPTokenTests.desk(settings: change)
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

    @Test("By the letter of the legacy reference a condition has two operators; HTTP v1 keeps to its own")
    func strictConditions() throws {
        func change(_ settings: inout SessionSettings) { settings.rules.strictConditions = true }
        func condition(_ tests: Int) -> String {
            (0..<tests).map { "'t\($0)' in topics" }.joined(separator: " || ")
        }
        let desk = HTTPDesk(change)
        desk.send(Self.request("{\"condition\":\"\(condition(4))\"}"))
        #expect(desk.taken().hasSuffix("InvalidParameters: Invalid condition\n"))
        desk.send(Self.request("{\"condition\":\"\(condition(3))\"}"))
        #expect(Self.sent(desk).count == 1)
        let lenient = HTTPDesk()
        lenient.send(Self.request("{\"condition\":\"\(condition(5))\"}"))
        #expect(Self.sent(lenient).count == 1, "canary: without the switch five topics are taken")
        let modern = HTTPTokenTests.desk(settings: change)
        let body = "{\"message\":{\"condition\":\"\(condition(5))\"}}"
        modern.send(
            "POST /v1/projects/lab-project/messages:send HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "
                + "\(try HTTPTokenTests.token(modern))\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        #expect(Self.sent(modern).count == 1)
    }

    @Test("What the core is told, and that nothing is answered before it has")
    func submission() throws {
        let desk = HTTPDesk()
        desk.send(
            Self.request(
                "{\"condition\":\"'a' in topics || 'b' in topics\",\"collapse_key\":\"k\",\"time_to_live\":9,"
                    + "\"restricted_package_name\":\"app\",\"priority\":\"high\"}"))
        let sent = try #require(Self.sent(desk).first)
        #expect(
            sent.target
                == TopicTarget(
                    topics: ["a", "b"].compactMap { TopicName(Array($0.utf8)) }, truth: 0xEEEE_EEEE))
        #expect(sent.sender == HTTPDesk.sender && sent.content.lifetimeSeconds == 9)
        #expect(sent.content.collapseKey == Array("k".utf8) && sent.content.priority == .high)
        #expect(sent.content.restrictedPackage == Array("app".utf8))
        #expect(desk.taken().isEmpty)
        let id = PersistentID(sequence: SequenceNumber(5_735_927_389_175_849_184), salt: 1)
        desk.perform(.submission(requestID: sent.requester.requestID, .accepted(id: id, canonical: nil)))
        #expect(desk.taken().hasSuffix("\r\n\r\n{\"message_id\":5735927389175849184}"))
    }

    @Test("A form is told by its status that the server cannot take it now; JSON by a word")
    func unavailable() throws {
        let desk = HTTPDesk()
        desk.send(Self.request("to=/topics/a", type: "application/x-www-form-urlencoded"))
        desk.send(Self.request("{\"to\":\"/topics/a\"}"))
        for sent in Self.sent(desk) {
            desk.perform(.submission(requestID: sent.requester.requestID, .refused(.unavailable)))
        }
        let text = desk.taken()
        #expect(text.hasPrefix("HTTP/1.1 503 "))
        #expect(text.hasSuffix("{\"error\":\"Unavailable\"}"))
    }
}
