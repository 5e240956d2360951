import Basics
import Delivery
import Testing
import Wire

@testable import Sessions

/// `messages:send`: authorization, events for the core, and answers (http 8.1 to 8.6).
@Suite struct HTTPMessagesTests {
    private static let id = PersistentID(sequence: SequenceNumber(7), salt: 9)
    private static let target = RegistrationName(device: DeviceID(1 << 60), number: RegistrationNumber(3))
    private static let token = String(decoding: HTTPHarness.seal.token(for: target), as: UTF8.self)

    private static func access(_ account: UInt64 = HTTPHarness.seal.mark(ofKeyID: "0a1b2c")) -> String {
        let token = AccessToken(
            sender: HTTPHarness.sender, account: account, expiresAt: 1_795_156_966_123 + 60_000)
        return "Bearer " + String(decoding: HTTPHarness.seal.text(of: token), as: UTF8.self)
    }

    private static func request(
        _ body: String, project: String = "lab-project", authorization: String? = access()
    ) -> String {
        "POST /v1/projects/\(project)/messages:send?alt=json HTTP/1.1\r\nHost: fcm.googleapis.com\r\n"
            + (authorization.map { "Authorization: \($0)\r\n" } ?? "") + "X-GOOG-API-FORMAT-VERSION: 2\r\n"
            + "Content-Type: application/json; UTF-8\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private static func submission(_ harness: HTTPHarness) throws -> Submission {
        guard harness.events.count == 1, case .device(_, .submitted(let submission)) = harness.events[0]
        else {
            throw V1Error(.internalError, "\(harness.events)")
        }
        return submission
    }

    @Test("A message is passed to the core, and its name is returned when it is on disk")
    func sent() throws {
        let harness = HTTPTokenTests.harness()
        harness.send(
            Self.request(
                #"{"message":{"token":"\#(Self.token)","data":{"a":"b"},"notification":{"title":"t"},"android":{"ttl":"9.9s","priority":"normal"}}}"#
            ))
        let sent = try Self.submission(harness)
        #expect(sent.target == Self.target && sent.sender == HTTPHarness.sender && !sent.content.isDryRun)
        #expect(sent.content.lifetimeSeconds == 9 && sent.content.priority == .normal)
        #expect(sent.content.collapseKey == MessageContent.appCollapseKey)
        var pairs: [String] = []
        try AppData.forEach(in: sent.content.body.raw) { key, value in
            pairs.append(
                String(decoding: [UInt8](copying: key) + [0x3D] + [UInt8](copying: value), as: UTF8.self))
        }
        #expect(pairs == ["a=b", "gcm.notification.title=t", "gcm.n.e=1"])
        #expect(harness.takeSent().isEmpty, "not before it is on disk")
        harness.perform(
            .submission(requestID: sent.requester.requestID, .accepted(id: Self.id, canonical: nil)))
        let answer = HTTPTokenTests.answer(harness)
        #expect(answer.status == "200")
        #expect(answer.body == #"{"name":"projects/lab-project/messages/\#(Self.id.text)"}"#)
    }

    @Test(
        "Fields without an effect here are validated: analytics, direct boot, narrow links, proxies"
    )
    func withoutEffect() throws {
        let plain = HTTPTokenTests.harness()
        plain.send(
            Self.request(#"{"message":{"token":"\#(Self.token)","notification":{"title":"t"}}}"#))
        let harness = HTTPTokenTests.harness()
        harness.send(
            Self.request(
                #"{"message":{"token":"\#(Self.token)","fcm_options":{"analytics_label":"a.b~%"},"#
                    + #""android":{"direct_boot_ok":true,"bandwidth_constrained_ok":true,"#
                    + #""restricted_satellite_ok":true,"fcm_options":{"analyticsLabel":"x"},"#
                    + #""notification":{"title":"t","proxy":"DENY","bypass_proxy_notification":true}}}}"#))
        #expect(try Self.submission(harness).content.body == Self.submission(plain).content.body)
        for wrong in [
            #""android":{"direct_boot_ok":"yes"}"#, #""fcm_options":{"analytics_label":"a b"}"#,
            #""android":{"notification":{"proxy":"MAYBE"}}"#,
        ] {
            let other = HTTPTokenTests.harness()
            other.send(Self.request(#"{"message":{"token":"\#(Self.token)",\#(wrong)}}"#))
            #expect(HTTPTokenTests.answer(other).status == "400", "\(wrong)")
        }
    }

    @Test(
        "Topics, with and without their prefix, and conditions become targets",
        arguments: [
            (#""topic":"a""#, 0xAAAA_AAAA), (#""topic":"/topics/a""#, 0xAAAA_AAAA),
            (#""condition":"!('a' in topics)""#, 0x5555_5555),
        ])
    func topics(_ target: String, _ truth: UInt32) throws {
        let harness = HTTPTokenTests.harness()
        harness.send(Self.request(#"{"message":{\#(target),"data":{"a":"b"},"android":{"ttl":"9s"}}}"#))
        guard harness.events.count == 1, case .topic(_, .submitted(let sent)) = harness.events[0] else {
            Issue.record("\(harness.events)")
            return
        }
        #expect(sent.target.topics.map(\.bytes) == [[0x61]] && sent.target.truth == truth)
        #expect(sent.content.lifetimeSeconds == 9 && sent.sender == HTTPHarness.sender)
        harness.perform(
            .submission(requestID: sent.requester.requestID, .accepted(id: Self.id, canonical: nil)))
        let answer = HTTPTokenTests.answer(harness)
        #expect(answer.body == #"{"name":"projects/lab-project/messages/\#(Self.id.text)"}"#)
    }

    @Test(
        "A notification is urgent and collapses by default, data is neither; an FID's field accepts a token too"
    )
    func defaults() throws {
        let harness = HTTPTokenTests.harness()
        harness.send(Self.request(#"{"message":{"fid":"\#(Self.token)"}}"#, project: "1234567890"))
        let plain = try Self.submission(harness)
        #expect(plain.content.priority == .normal && plain.content.collapseKey == nil)
        #expect(plain.content.lifetimeSeconds == Limits.Message.lifetimeSeconds)
        let other = HTTPTokenTests.harness()
        other.send(Self.request(#"{"message":{"token":"\#(Self.token)","notification":{}}}"#))
        #expect(try Self.submission(other).content.priority == .high)
    }

    @Test("A message with validate_only is checked by the core and answered with the ID of the real service")
    func dryRun() throws {
        let harness = HTTPTokenTests.harness()
        harness.send(Self.request(#"{"message":{"token":"\#(Self.token)"},"validate_only":true}"#))
        let looked = try Self.submission(harness)
        #expect(looked.content.isDryRun)
        harness.perform(
            .submission(requestID: looked.requester.requestID, .accepted(id: nil, canonical: nil)))
        #expect(
            HTTPTokenTests.answer(harness).body
                == #"{"name":"projects/lab-project/messages/fake_message_id"}"#)
    }

    @Test(
        "Refusals of the core have their status and error code",
        arguments: [
            (Refusal.notRegistered, "404", "UNREGISTERED"),
            (.senderMismatch, "403", "SENDER_ID_MISMATCH"), (.deviceRateExceeded, "429", "QUOTA_EXCEEDED"),
            (.unavailable, "503", "UNAVAILABLE"),
        ])
    func refused(refusal: Refusal, status: String, word: String) throws {
        let harness = HTTPTokenTests.harness()
        harness.send(Self.request(#"{"message":{"token":"\#(Self.token)"}}"#))
        harness.perform(
            .submission(requestID: try Self.submission(harness).requester.requestID, .refused(refusal)))
        let answer = HTTPTokenTests.answer(harness)
        #expect(answer.status == status)
        #expect(
            answer.body.contains(
                #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\#(word)"}"#))
    }

    @Test("A message without a reply in time is reported as unavailable")
    func late() throws {
        let harness = HTTPTokenTests.harness()
        harness.send(Self.request(#"{"message":{"token":"\#(Self.token)"}}"#))
        harness.pass(seconds: Limits.HTTP.answerDeadlineSeconds)
        let answer = HTTPTokenTests.answer(harness)
        #expect(answer.status == "503" && answer.body.contains(#""status":"UNAVAILABLE""#))
    }

    @Test("A group's key in place of a token gets one answer for all members")
    func groups() throws {
        let key = String(
            decoding: HTTPHarness.seal.groupKey(of: GroupName(sender: HTTPHarness.sender, number: 4)),
            as: UTF8.self
        )
        let outcomes: [(GroupAnswer, String)] = [
            (GroupAnswer(success: 1, failed: [(TokenName(Self.target), .notRegistered)]), "200"),
            (GroupAnswer(success: 0, failed: [(TokenName(Self.target), .notRegistered)]), "404"),
            (
                GroupAnswer(
                    success: 0,
                    failed: [
                        (TokenName(Self.target), .notRegistered), (TokenName(Self.target), .unavailable),
                    ]), "503"
            ),
        ]
        for (outcome, status) in outcomes {
            let harness = HTTPTokenTests.harness()
            harness.send(Self.request(#"{"message":{"token":"\#(key)"}}"#))
            guard case .group(_, .submitted(let sent))? = harness.events.first else {
                Issue.record("\(harness.events)")
                return
            }
            #expect(sent.group == GroupName(sender: HTTPHarness.sender, number: 4))
            harness.perform(.submission(requestID: sent.requester.requestID, .group(outcome)))
            let answer = HTTPTokenTests.answer(harness)
            #expect(answer.status == status)
            #expect((status == "200") == answer.body.hasPrefix(#"{"name":"projects/lab-project/messages/0:"#))
        }
    }

    @Test("A request gets 401 without a valid token, and 403 for another project")
    func unauthorized() {
        let body = #"{"message":{"token":"\#(Self.token)"}}"#
        for authorization in [nil, "Bearer", "Bearer x", "key=good-key", Self.access(5)] {
            let harness = HTTPTokenTests.harness()
            harness.send(Self.request(body, authorization: authorization))
            let answer = HTTPTokenTests.answer(harness)
            #expect(answer.status == "401" && answer.body.contains(#""status":"UNAUTHENTICATED""#))
            #expect(!answer.body.contains("ACCESS_TOKEN_EXPIRED") && harness.events.isEmpty)
        }
        for project in ["other-project", "01234567890", "ccs-1234567890", "77", "ccs-77"] {
            let harness = HTTPTokenTests.harness()
            harness.send(Self.request(body, project: project))
            let answer = HTTPTokenTests.answer(harness)
            #expect(answer.status == "403" && answer.body.contains("SENDER_ID_MISMATCH"))
            #expect(answer.body.contains(#""status":"PERMISSION_DENIED""#) && harness.events.isEmpty)
        }
        let harness = HTTPTokenTests.harness()
        harness.now.wall += 60_000
        harness.send(Self.request(body))
        let answer = HTTPTokenTests.answer(harness)
        #expect(answer.status == "401" && answer.body.contains(#""reason":"ACCESS_TOKEN_EXPIRED""#))
    }

    @Test("Invalid messages are refused without the core", arguments: Self.wrong)
    func early(message: String, status: String, text: String) {
        let harness = HTTPTokenTests.harness()
        harness.send(Self.request(#"{"message":{\#(message)}}"#))
        let answer = HTTPTokenTests.answer(harness)
        #expect(answer.status == status)
        #expect(answer.body.contains(text), "\(answer.body)")
        #expect(harness.events.isEmpty)
    }

    private static let wrong: [(String, String, String)] = [
        (#""token":"ABC""#, "400", "The registration token is not a valid FCM registration token"),
        (#""token":"""#, "400", "The registration token is not a valid FCM registration token"),
        (#""data":{"a":"b"}"#, "400", "Recipient of the message is not set."),
        (#""token":"\#(token)","data":{"from":"x"}"#, "400", "Invalid data payload key: from"),
        (#""token":"\#(token)","data":{"google.x":"x"}"#, "400", "Invalid data payload key: google.x"),
        (
            #""token":"\#(token)","data":{"k":"\#(String(repeating: "x", count: Limits.Message.payloadBytes))"}"#,
            "400",
            #""message":"The message is too big: 4097 bytes of keys and values, expected at most 4096","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"INVALID_ARGUMENT"},{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"message.data","#
        ),
        (#""topic":"a b""#, "400", "Invalid topic name"),
        (#""topic":"/topics/""#, "400", "Invalid topic name"),
        (#""condition":"'a' in""#, "400", "Invalid condition"),
        (
            #""topic":"news","data":{"k":"\#(String(repeating: "x", count: Limits.Topic.payloadBytes))"}"#,
            "400", "The message is too big: 2049 bytes"
        ),
        (#""token":"\#(token)","extra":1"#, "400", "Unknown name"),
    ]
}
