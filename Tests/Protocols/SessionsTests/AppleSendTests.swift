import Basics
import Delivery
import Testing
import Wire

@testable import Sessions

/// What a message holds for iOS apps, from the text of the app server to the content for the core (apns 3.2).
@Suite("messages for iOS apps") struct AppleSendTests {
    private static let target = RegistrationName(device: DeviceID(1 << 60), number: RegistrationNumber(3))
    private static let token = String(decoding: HTTPHarness.seal.token(for: target), as: UTF8.self)

    /// Returns the content of a message of XMPP or `ccsctl send`.
    private static func content(xmpp members: String) throws -> MessageContent {
        let text = Array("{\"to\":\"\(token)\",\"message_id\":\"m\",\(members)}".utf8)
        let payload = try AppServerPayload(text.raw)
        var translator = PayloadTranslator()
        var to: [UInt8] = []
        return try translator.sendRequest(
            payload, messageID: [], to: &to, sender: HTTPHarness.sender, seal: HTTPHarness.seal,
            rules: MessageRules()
        ).content
    }

    /// Returns the content of a message of legacy HTTP.
    private static func content(legacy members: String) throws -> MessageContent {
        let payload = try AppServerPayload(Array("{\(members)}".utf8).raw)
        return MessageContent(try DownstreamMessage(legacy: payload), messageID: [], body: [])
    }

    private static let optionRows: [(String, Bool, String?)] = [
        (#""data":{"a":"1"}"#, false, nil), (#""data":{},"mutable_content":true"#, false, nil),
        (#""data":{},"priority":"high""#, false, nil), (#""notification":{"title":"t"}"#, true, nil),
        (#""notification":{},"priority":"high""#, true, #"{"headers":{"apns-priority":"10"}}"#),
        (#""notification":{},"priority":"normal""#, true, #"{"headers":{"apns-priority":"5"}}"#),
        (
            #""notification":{},"mutable_content":true"#, true,
            #"{"payload":{"aps":{"mutable-content":1}}}"#
        ),
        (#""content_available":true"#, false, #"{"payload":{"aps":{"content-available":1}}}"#),
        (
            #""notification":{},"priority":"high","mutable_content":true,"content_available":true"#, true,
            #"{"headers":{"apns-priority":"10"},"payload":{"aps":{"content-available":1,"mutable-content":1}}}"#
        ),
    ]

    @Test("the options of XMPP and legacy HTTP become an apns object", arguments: Self.optionRows)
    func options(members: String, isNotification: Bool, apns: String?) throws {
        for content in [try Self.content(xmpp: members), try Self.content(legacy: members)] {
            #expect(content.isNotification == isNotification, "\(members)")
            #expect(content.apns.map { String(decoding: $0, as: UTF8.self) } == apns, "\(members)")
            #expect(content.apnsLifetimeSeconds == nil, "the same for all platforms")
        }
    }

    private static func send(v1 members: String) throws -> HTTPHarness {
        let access = AccessToken(
            sender: HTTPHarness.sender, account: HTTPHarness.seal.mark(ofKeyID: "0a1b2c"),
            expiresAt: 1_795_156_966_123 + 60_000)
        let bearer = String(decoding: HTTPHarness.seal.text(of: access), as: UTF8.self)
        let body = "{\"message\":{\"token\":\"\(token)\",\(members)}}"
        let harness = HTTPTokenTests.harness()
        harness.send(
            "POST /v1/projects/lab-project/messages:send HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer \(bearer)\r\n"
                + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        return harness
    }

    private static func content(v1 members: String) throws -> MessageContent {
        let harness = try send(v1: members)
        let event = try #require(harness.events.first)
        guard case .device(_, .submitted(let submission)) = event else {
            throw V1Error(.internalError, "\(event)")
        }
        return submission.content
    }

    @Test("a message of HTTP v1 keeps the common fields and the lifetime of iOS apart from Android's")
    func v1() throws {
        let plain = try Self.content(v1: #""data":{"a":"1"},"android":{"ttl":"5s"}"#)
        #expect(!plain.isNotification && plain.apns == nil && plain.lifetimeSeconds == 5)
        #expect(plain.apnsLifetimeSeconds == Limits.Message.lifetimeSeconds)
        let shown = try Self.content(
            v1:
                #""notification":{"title":"t"},"android":{"priority":"normal","notification":{"title":"u"}},"apns":{"headers":{"apns-expiration":"0"}}"#
        )
        #expect(shown.isNotification && shown.apnsLifetimeSeconds == 0 && shown.lifetimeSeconds > 0)
        #expect(
            shown.apns
                == Array(
                    #"{"headers":{"apns-expiration":"0"},"common":{"v1":true,"notification":{"title":"t"}}}"#
                        .utf8))
        #expect(try Self.content(v1: #""android":{"notification":{"title":"t"}}"#).apns == nil)
        let later = try Self.content(
            v1:
                #""sendAt":"2100-01-01T00:00:00Z","apns":{"headers":{"apns-expiration":"4102444900"}}"#
        )
        #expect(later.sendAt == 4_102_444_800_000 && later.apnsLifetimeSeconds == 100, "from its time on")
    }

    @Test("common data that Android replaces is checked like other data")
    func data() throws {
        for data in [
            #""from":"x""#, #""k":"\#(String(repeating: "x", count: Limits.Message.payloadBytes))""#,
        ] {
            let harness = try Self.send(
                v1: #""notification":{"title":"t"},"data":{\#(data)},"android":{"data":{"a":"1"}}"#)
            #expect(harness.events.isEmpty)
            #expect(HTTPTokenTests.answer(harness).status == "400")
        }
    }
}
