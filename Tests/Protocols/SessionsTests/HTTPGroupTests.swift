import Basics
import Delivery
import Testing
import Wire

@testable import Sessions

@Suite struct HTTPGroupTests {
    private static let group = GroupName(sender: HTTPHarness.sender, number: 77)
    private static let key = String(decoding: HTTPHarness.seal.groupKey(of: group), as: UTF8.self)

    private static func name(_ number: UInt64) -> RegistrationName {
        RegistrationName(device: DeviceID(600_000_000_000_000_001), number: RegistrationNumber(number))
    }

    private static func token(_ number: UInt64) -> String {
        String(decoding: HTTPHarness.seal.token(for: name(number)), as: UTF8.self)
    }

    private static func request(
        _ line: String, _ body: String = "", project: String? = "1234567890", key: String = "key=good-key"
    ) -> String {
        "\(line) HTTP/1.1\r\nHost: fcm.googleapis.com\r\nAuthorization: \(key)\r\n"
            + (project.map { "project_id: \($0)\r\n" } ?? "")
            + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private static func change(_ body: String) -> String { request("POST /fcm/notification", body) }

    private static func submissions(_ harness: HTTPHarness) -> [Submission] {
        harness.events.compactMap {
            if case .device(_, .submitted(let submission)) = $0 { submission } else { nil }
        }
    }

    private static func requests(_ harness: HTTPHarness) -> [GroupRequest] {
        harness.events.compactMap { if case .group(_, .requested(let request)) = $0 { request } else { nil } }
    }

    private static func answer(_ harness: HTTPHarness) -> (status: String, body: String) {
        let text = harness.takeSent()
        let parts = text.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
        return (
            text.split(separator: " ").dropFirst().first.map(String.init) ?? "",
            parts.count == 2 ? String(parts[1]) : ""
        )
    }

    private static func record(_ members: UInt64...) -> GroupRecord {
        GroupRecord(
            name: group, label: Array("appUser-Chris".utf8), members: members.map { TokenName(name($0)) },
            createdAt: 0)
    }

    @Test("A group is created from the valid tokens, and a replaced one counts as its successor")
    func create() throws {
        let harness = HTTPHarness()
        harness.send(
            Self.change(
                "{\"operation\":\"create\",\"notification_key_name\":\"appUser-Chris\",\"registration_ids\":"
                    + "[\"\(Self.token(1))\",\"\(Self.token(2))\",\"no\",\"\(Self.token(3))\"]}"))
        let looked = Self.submissions(harness)
        #expect(looked.map(\.target.number.number) == [1, 2, 3])
        #expect(
            looked.allSatisfy { $0.content.isDryRun && $0.content.body.isEmpty },
            "no message may be sent")
        harness.perform(
            .submission(
                requestID: looked[0].requester.requestID,
                .accepted(id: nil, canonical: TokenName(Self.name(9))))
        )
        harness.perform(.submission(requestID: looked[1].requester.requestID, .refused(.notRegistered)))
        #expect(Self.requests(harness).isEmpty, "not before all results are known")
        harness.perform(.submission(requestID: looked[2].requester.requestID, .refused(.deviceRateExceeded)))
        let request = try #require(Self.requests(harness).first)
        guard case .create(let label, let members) = request.operation else {
            Issue.record("unexpected operation")
            return
        }
        #expect(label == Array("appUser-Chris".utf8))
        #expect(members == [TokenName(Self.name(9)), TokenName(Self.name(3))])
        #expect(request.sender == HTTPHarness.sender)
        #expect(harness.takeSent().isEmpty)
        harness.perform(
            .reply(requestID: try #require(request.requester).requestID, .group(Self.record(9, 3))))
        let answer = Self.answer(harness)
        #expect(answer.status == "200" && answer.body == "{\"notification_key\":\"\(Self.key)\"}")
    }

    @Test("Members are added with the key, and removed without a check")
    func addAndRemove() throws {
        let harness = HTTPHarness()
        harness.send(
            Self.change(
                "{\"operation\":\"remove\",\"notification_key\":\"\(Self.key)\",\"registration_ids\":[\"\(Self.token(1))\"]}"
            ))
        guard case .remove(77, nil, let members)? = Self.requests(harness).first?.operation else {
            Issue.record("expected a removal")
            return
        }
        #expect(members == [TokenName(Self.name(1))] && Self.submissions(harness).isEmpty)
        harness.perform(.reply(requestID: 1, .group(Self.record())))
        #expect(Self.answer(harness).body == "{\"notification_key\":\"\(Self.key)\"}")
        harness.send(
            Self.change(
                "{\"operation\":\"add\",\"notification_key\":\"\(Self.key)\",\"notification_key_name\":\"n\","
                    + "\"registration_ids\":[\"\(Self.token(1))\"]}"))
        harness.perform(
            .submission(
                requestID: try #require(Self.submissions(harness).first).requester.requestID,
                .accepted(id: nil, canonical: nil)))
        guard case .add(77, let label?, [TokenName(Self.name(1))])? = Self.requests(harness).last?.operation
        else {
            Issue.record("expected an addition")
            return
        }
        #expect(label == Array("n".utf8))
    }

    @Test(
        "An error is reported in `error`, in the words that clients look for",
        arguments: [
            ("{", "invalid JSON at byte"), ("{}", "operation must be create, add or remove"),
            (
                "{\"operation\":\"create\",\"registration_ids\":[\"a\"]}",
                "notification_key_name must be given"
            ),
            (
                "{\"operation\":\"create\",\"notification_key_name\":\"n\"}",
                "registration_ids must be an array of 1 to 20 tokens"
            ),
            (
                "{\"operation\":\"create\",\"notification_key_name\":\"n\",\"registration_ids\":[\"a\"]}",
                "no valid registration ids"
            ),
            (
                "{\"operation\":\"create\",\"notification_key_name\":\"n\",\"registration_ids\":["
                    + Array(repeating: "\"a\"", count: 21).joined(separator: ",") + "]}",
                "a group has at most 20 registration ids"
            ),
            ("{\"operation\":\"add\",\"registration_ids\":[\"a\"]}", "notification_key must be given"),
            (
                "{\"operation\":\"add\",\"notification_key\":\"x\",\"registration_ids\":[\"a\"]}",
                "Error decrypting GroupToken"
            ),
            (
                "{\"operation\":\"remove\",\"notification_key\":\"FOREIGN\",\"registration_ids\":[\"a\"]}",
                "notification_key not found"
            ),
        ])
    func faults(body: String, text: String) {
        let foreign = HTTPHarness.seal.groupKey(of: GroupName(sender: SenderID(5), number: 1))
        let harness = HTTPHarness()
        harness.send(
            Self.change(body.replacing("FOREIGN", with: String(decoding: foreign, as: UTF8.self))))
        let answer = Self.answer(harness)
        #expect(answer.status == "400")
        #expect(answer.body.hasPrefix("{\"error\":\"") && answer.body.contains(text))
        #expect(harness.events.isEmpty)
    }

    @Test(
        "Refusals of the core have the words of the real service",
        arguments: [
            (GroupRefusal.labelTaken, "400", "notification_key already exists"),
            (.notFound, "400", "notification_key not found"),
            (
                .labelMismatch, "400",
                "notification_key_name doesn't match the group name of the notification_key"
            ),
            (.unavailable, "503", "the server is unavailable, try again"),
        ])
    func refusals(refusal: GroupRefusal, status: String, text: String) {
        let harness = HTTPHarness()
        harness.send(Self.request("GET /gcm/notification?notification_key_name=appUser-Chris"))
        harness.perform(.reply(requestID: 1, .groupRefused(refusal)))
        let answer = Self.answer(harness)
        #expect(answer.status == status && answer.body == "{\"error\":\"\(text)\"}")
    }

    @Test("A key is found by its name, and the members by the key")
    func show() {
        let harness = HTTPHarness()
        harness.send(Self.request("GET /fcm/notification?notification_key_name=appUser-Chris", "{}"))
        harness.perform(.reply(requestID: 1, .group(Self.record(1))))
        #expect(Self.answer(harness).body == "{\"notification_key\":\"\(Self.key)\"}")
        harness.send(Self.request("GET /fcm/notification?notification_key=\(Self.key)"))
        harness.perform(.reply(requestID: 2, .group(Self.record(1, 2))))
        #expect(
            Self.answer(harness).body
                == "{\"notification_key_name\":\"appUser-Chris\",\"registration_ids\":[\"\(Self.token(1))\",\"\(Self.token(2))\"]}"
        )
    }

    @Test("Nothing is passed to the core without the key, or with another project than the key's")
    func authorization() {
        for (project, key, status) in [
            (nil, "key=good-key", "400"), ("5", "key=good-key", "401"), ("1234567890", "key=bad", "401"),
        ] as [(String?, String, String)] {
            let harness = HTTPHarness()
            harness.send(
                Self.request("GET /fcm/notification?notification_key_name=n", project: project, key: key))
            #expect(Self.answer(harness).status == status)
            #expect(harness.events.isEmpty)
        }
    }

    @Test("A group change must be retried when a token cannot be checked now")
    func retry() throws {
        let harness = HTTPHarness()
        harness.send(
            Self.change(
                "{\"operation\":\"create\",\"notification_key_name\":\"n\",\"registration_ids\":[\"\(Self.token(1))\"]}"
            ))
        harness.perform(
            .submission(
                requestID: try #require(Self.submissions(harness).first).requester.requestID,
                .refused(.unavailable)))
        #expect(Self.answer(harness).status == "503")
        #expect(Self.requests(harness).isEmpty)
    }

    private static func send(_ extra: String = "") -> String {
        let body = "{\"to\":\"\(key)\",\"data\":{\"a\":\"b\"}\(extra)}"
        return "POST /fcm/send HTTP/1.1\r\nHost: fcm.googleapis.com\r\nAuthorization: key=good-key\r\n"
            + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    @Test(
        "The answer to a send to a group has no multicast_id, unlike one to tokens",
        arguments: [
            (3, [], "200", "{\"success\":3,\"failure\":0}"),
            (1, [2, 3], "200", "{\"success\":1,\"failure\":2,\"failed_registration_ids\":[\"T2\",\"T3\"]}"),
            (0, [], "200", "{\"success\":0,\"failure\":0}"),
        ] as [(Int, [UInt64], String, String)])
    func sends(success: Int, failed: [UInt64], status: String, body: String) throws {
        let harness = HTTPHarness()
        harness.send(Self.send())
        guard case .group(_, .submitted(let sent))? = harness.events.first else {
            Issue.record("no message was submitted")
            return
        }
        #expect(sent.group == Self.group && sent.sender == HTTPHarness.sender)
        harness.perform(
            .submission(
                requestID: sent.requester.requestID,
                .group(
                    GroupAnswer(
                        success: success,
                        failed: failed.map {
                            (member: TokenName(Self.name($0)), refusal: Refusal.notRegistered)
                        }))))
        let answer = Self.answer(harness)
        #expect(answer.status == status)
        #expect(
            answer.body
                == body.replacing("T2", with: Self.token(2)).replacing("T3", with: Self.token(3)))
    }

    @Test(
        "A send that reaches no member gets 503 if a retry can help, else the error, as for a token",
        arguments: [
            ([.notRegistered, .notRegistered], "200", "\"results\":[{\"error\":\"NotRegistered\"}]}"),
            ([.notRegistered, .unavailable], "503", "No member of the group was reached, try again.\n"),
            ([.deviceRateExceeded], "503", "No member of the group was reached, try again.\n"),
            ([.notRegistered, .senderMismatch], "200", "\"results\":[{\"error\":\"MismatchSenderId\"}]}"),
            ([.packageMismatch], "200", "\"results\":[{\"error\":\"InvalidPackageName\"}]}"),
        ] as [([Refusal], String, String)])
    func noneReached(refusals: [Refusal], status: String, body: String) {
        let answer = GroupAnswer(
            success: 0,
            failed: refusals.enumerated().map { (member: TokenName(Self.name(UInt64($0) + 1)), refusal: $1) })
        let harness = HTTPHarness()
        harness.send(Self.send())
        harness.perform(.submission(requestID: 1, .group(answer)))
        let response = Self.answer(harness)
        #expect(response.status == status && response.body.hasSuffix(body), "\(response)")
        let isRetryable = refusals.contains { $0.isRetryable }
        #expect(harness.session.groupResult(answer) == .refused(answer.refusal ?? .unavailable))
        #expect(answer.refusal?.isRetryable == isRetryable, "the same as in v1")
    }

    @Test("A deleted group is answered like a deleted token")
    func gone() {
        let harness = HTTPHarness()
        harness.send(Self.send())
        harness.perform(.submission(requestID: 1, .refused(.notRegistered)))
        #expect(Self.answer(harness).body.hasSuffix("\"results\":[{\"error\":\"NotRegistered\"}]}"))
    }
}
