import Basics
import Delivery
import Testing
import Wire

@testable import Sessions

/// `messages:send`: who may send, what the core is told, and what it answers (http 8.1 to 8.6).
@Suite struct HTTPMessagesTests {
    private static let id = PersistentID(sequence: SequenceNumber(7), salt: 9)
    private static let target = RegistrationName(device: DeviceID(1 << 60), number: RegistrationNumber(3))
    private static let token = String(decoding: HTTPDesk.seal.token(for: target), as: UTF8.self)

    private static func access(_ account: UInt64 = HTTPDesk.seal.mark(ofKeyID: "0a1b2c")) -> String {
        let token = AccessToken(
            sender: HTTPDesk.sender, account: account, expiresAt: 1_795_156_966_123 + 60_000)
        return "Bearer " + String(decoding: HTTPDesk.seal.text(of: token), as: UTF8.self)
    }

    private static func request(
        _ body: String, project: String = "lab-project", authorization: String? = access()
    ) -> String {
        "POST /v1/projects/\(project)/messages:send?alt=json HTTP/1.1\r\nHost: fcm.googleapis.com\r\n"
            + (authorization.map { "Authorization: \($0)\r\n" } ?? "") + "X-GOOG-API-FORMAT-VERSION: 2\r\n"
            + "Content-Type: application/json; UTF-8\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private static func submission(_ desk: HTTPDesk) throws -> Submission {
        guard desk.events.count == 1, case .device(_, .submitted(let submission)) = desk.events[0] else {
            throw V1Error(.internalError, "\(desk.events)")
        }
        return submission
    }

    @Test("A message is told to the core, and its name is told once it is on disk")
    func sent() throws {
        let desk = HTTPTokenTests.desk()
        desk.send(
            Self.request(
                #"{"message":{"token":"\#(Self.token)","data":{"a":"b"},"notification":{"title":"t"},"android":{"ttl":"9.9s","priority":"normal"}}}"#
            ))
        let sent = try Self.submission(desk)
        #expect(sent.target == Self.target && sent.sender == HTTPDesk.sender && !sent.content.isDryRun)
        #expect(sent.content.lifetimeSeconds == 9 && sent.content.priority == .normal)
        #expect(sent.content.collapseKey == MessageContent.appCollapseKey)
        var pairs: [String] = []
        try AppData.forEach(in: sent.content.body.raw) { key, value in
            pairs.append(
                String(decoding: [UInt8](copying: key) + [0x3D] + [UInt8](copying: value), as: UTF8.self))
        }
        #expect(pairs == ["a=b", "gcm.notification.title=t", "gcm.n.e=1"])
        #expect(desk.taken().isEmpty, "not before it is on disk")
        desk.perform(.submission(requestID: sent.requester.requestID, .accepted(id: Self.id, canonical: nil)))
        let answer = HTTPTokenTests.answer(desk)
        #expect(answer.status == "200")
        #expect(answer.body == #"{"name":"projects/lab-project/messages/\#(Self.id.text)"}"#)
    }

    @Test(
        "What has no meaning here is checked and has no effect: analytics, direct boot, narrow links, proxies"
    )
    func withoutEffect() throws {
        let plain = HTTPTokenTests.desk()
        plain.send(
            Self.request(#"{"message":{"token":"\#(Self.token)","notification":{"title":"t"}}}"#))
        let desk = HTTPTokenTests.desk()
        desk.send(
            Self.request(
                #"{"message":{"token":"\#(Self.token)","fcm_options":{"analytics_label":"a.b~%"},"#
                    + #""android":{"direct_boot_ok":true,"bandwidth_constrained_ok":true,"#
                    + #""restricted_satellite_ok":true,"fcm_options":{"analyticsLabel":"x"},"#
                    + #""notification":{"title":"t","proxy":"DENY","bypass_proxy_notification":true}}}}"#))
        #expect(try Self.submission(desk).content.body == Self.submission(plain).content.body)
        for wrong in [
            #""android":{"direct_boot_ok":"yes"}"#, #""fcm_options":{"analytics_label":"a b"}"#,
            #""android":{"notification":{"proxy":"MAYBE"}}"#,
        ] {
            let other = HTTPTokenTests.desk()
            other.send(Self.request(#"{"message":{"token":"\#(Self.token)",\#(wrong)}}"#))
            #expect(HTTPTokenTests.answer(other).status == "400", "\(wrong)")
        }
    }

    @Test(
        "Topics, with and without their prefix, and conditions",
        arguments: [
            (#""topic":"a""#, 0xAAAA_AAAA), (#""topic":"/topics/a""#, 0xAAAA_AAAA),
            (#""condition":"!('a' in topics)""#, 0x5555_5555),
        ])
    func topics(_ target: String, _ truth: UInt32) throws {
        let desk = HTTPTokenTests.desk()
        desk.send(Self.request(#"{"message":{\#(target),"data":{"a":"b"},"android":{"ttl":"9s"}}}"#))
        guard desk.events.count == 1, case .topic(_, .submitted(let sent)) = desk.events[0] else {
            Issue.record("\(desk.events)")
            return
        }
        #expect(sent.target.topics.map(\.bytes) == [[0x61]] && sent.target.truth == truth)
        #expect(sent.content.lifetimeSeconds == 9 && sent.sender == HTTPDesk.sender)
        desk.perform(.submission(requestID: sent.requester.requestID, .accepted(id: Self.id, canonical: nil)))
        let answer = HTTPTokenTests.answer(desk)
        #expect(answer.body == #"{"name":"projects/lab-project/messages/\#(Self.id.text)"}"#)
    }

    @Test(
        "Defaults: a notification is urgent and collapses, data is neither; an FID's place takes a token too")
    func defaults() throws {
        let desk = HTTPTokenTests.desk()
        desk.send(Self.request(#"{"message":{"fid":"\#(Self.token)"}}"#, project: "1234567890"))
        let plain = try Self.submission(desk)
        #expect(plain.content.priority == .normal && plain.content.collapseKey == nil)
        #expect(plain.content.lifetimeSeconds == Limits.Message.lifetimeSeconds)
        let other = HTTPTokenTests.desk()
        other.send(Self.request(#"{"message":{"token":"\#(Self.token)","notification":{}}}"#))
        #expect(try Self.submission(other).content.priority == .high)
    }

    @Test("validate_only is looked at by the core, and told with the id of the real service")
    func dryRun() throws {
        let desk = HTTPTokenTests.desk()
        desk.send(Self.request(#"{"message":{"token":"\#(Self.token)"},"validate_only":true}"#))
        let looked = try Self.submission(desk)
        #expect(looked.content.isDryRun)
        desk.perform(.submission(requestID: looked.requester.requestID, .accepted(id: nil, canonical: nil)))
        #expect(
            HTTPTokenTests.answer(desk).body == #"{"name":"projects/lab-project/messages/fake_message_id"}"#)
    }

    @Test(
        "What the core refuses",
        arguments: [
            (Refusal.notRegistered, "404", "UNREGISTERED"),
            (.senderMismatch, "403", "SENDER_ID_MISMATCH"), (.deviceRateExceeded, "429", "QUOTA_EXCEEDED"),
            (.unavailable, "503", "UNAVAILABLE"),
        ])
    func refused(refusal: Refusal, status: String, word: String) throws {
        let desk = HTTPTokenTests.desk()
        desk.send(Self.request(#"{"message":{"token":"\#(Self.token)"}}"#))
        desk.perform(.submission(requestID: try Self.submission(desk).requester.requestID, .refused(refusal)))
        let answer = HTTPTokenTests.answer(desk)
        #expect(answer.status == status)
        #expect(
            answer.body.contains(
                #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\#(word)"}"#))
    }

    @Test("Of what the core says nothing in time, it is said to be worth another try")
    func late() throws {
        let desk = HTTPTokenTests.desk()
        desk.send(Self.request(#"{"message":{"token":"\#(Self.token)"}}"#))
        desk.pass(seconds: Limits.HTTP.answerDeadlineSeconds)
        let answer = HTTPTokenTests.answer(desk)
        #expect(answer.status == "503" && answer.body.contains(#""status":"UNAVAILABLE""#))
    }

    @Test("A group's key in place of a token: one answer for all members")
    func groups() throws {
        let key = String(
            decoding: HTTPDesk.seal.groupKey(of: GroupName(sender: HTTPDesk.sender, number: 4)), as: UTF8.self
        )
        let outcomes: [(GroupAnswer, String)] = [
            (GroupAnswer(success: 1, failed: [(Self.target, .notRegistered)]), "200"),
            (GroupAnswer(success: 0, failed: [(Self.target, .notRegistered)]), "404"),
            (
                GroupAnswer(
                    success: 0, failed: [(Self.target, .notRegistered), (Self.target, .unavailable)]), "503"
            ),
        ]
        for (outcome, status) in outcomes {
            let desk = HTTPTokenTests.desk()
            desk.send(Self.request(#"{"message":{"token":"\#(key)"}}"#))
            guard case .group(_, .submitted(let sent))? = desk.events.first else {
                Issue.record("\(desk.events)")
                return
            }
            #expect(sent.group == GroupName(sender: HTTPDesk.sender, number: 4))
            desk.perform(.submission(requestID: sent.requester.requestID, .group(outcome)))
            let answer = HTTPTokenTests.answer(desk)
            #expect(answer.status == status)
            #expect((status == "200") == answer.body.hasPrefix(#"{"name":"projects/lab-project/messages/0:"#))
        }
    }

    @Test("Who may not send: 401 without a token that counts, 403 for another project")
    func unauthorized() {
        let body = #"{"message":{"token":"\#(Self.token)"}}"#
        for authorization in [nil, "Bearer", "Bearer x", "key=good-key", Self.access(5)] {
            let desk = HTTPTokenTests.desk()
            desk.send(Self.request(body, authorization: authorization))
            let answer = HTTPTokenTests.answer(desk)
            #expect(answer.status == "401" && answer.body.contains(#""status":"UNAUTHENTICATED""#))
            #expect(!answer.body.contains("ACCESS_TOKEN_EXPIRED") && desk.events.isEmpty)
        }
        for project in ["other-project", "01234567890", "ccs-1234567890", "77", "ccs-77"] {
            let desk = HTTPTokenTests.desk()
            desk.send(Self.request(body, project: project))
            let answer = HTTPTokenTests.answer(desk)
            #expect(answer.status == "403" && answer.body.contains("SENDER_ID_MISMATCH"))
            #expect(answer.body.contains(#""status":"PERMISSION_DENIED""#) && desk.events.isEmpty)
        }
        let desk = HTTPTokenTests.desk()
        desk.now.wall += 60_000
        desk.send(Self.request(body))
        let answer = HTTPTokenTests.answer(desk)
        #expect(answer.status == "401" && answer.body.contains(#""reason":"ACCESS_TOKEN_EXPIRED""#))
    }

    @Test("What is refused before the core hears of it", arguments: Self.wrong)
    func early(message: String, status: String, text: String) {
        let desk = HTTPTokenTests.desk()
        desk.send(Self.request(#"{"message":{\#(message)}}"#))
        let answer = HTTPTokenTests.answer(desk)
        #expect(answer.status == status)
        #expect(answer.body.contains(text), "\(answer.body)")
        #expect(desk.events.isEmpty)
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
            #"{"error":{"code":400,"message":"Request contains an invalid argument.","status":"INVALID_ARGUMENT"}}"#
        ),
        (#""topic":"a b""#, "400", "Invalid topic name"),
        (#""topic":"/topics/""#, "400", "Invalid topic name"),
        (#""condition":"'a' in""#, "400", "Invalid condition"),
        (
            #""topic":"news","data":{"k":"\#(String(repeating: "x", count: Limits.Topic.payloadBytes))"}"#,
            "400", "INVALID_ARGUMENT"
        ),
        (#""token":"\#(token)","extra":1"#, "400", "Unknown name"),
    ]
}
