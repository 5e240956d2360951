import Basics
import Delivery
import Testing
import Wire

@testable import Sessions

@Suite struct HTTPGroupTests {
    private static let group = GroupName(sender: HTTPDesk.sender, number: 77)
    private static let key = String(decoding: HTTPDesk.seal.groupKey(of: group), as: UTF8.self)

    private static func name(_ number: UInt64) -> RegistrationName {
        RegistrationName(device: DeviceID(600_000_000_000_000_001), number: RegistrationNumber(number))
    }

    private static func token(_ number: UInt64) -> String {
        String(decoding: HTTPDesk.seal.token(for: name(number)), as: UTF8.self)
    }

    private static func request(
        _ line: String, _ body: String = "", project: String? = "1234567890", key: String = "key=good-key"
    ) -> String {
        "\(line) HTTP/1.1\r\nHost: fcm.googleapis.com\r\nAuthorization: \(key)\r\n"
            + (project.map { "project_id: \($0)\r\n" } ?? "")
            + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private static func change(_ body: String) -> String { request("POST /fcm/notification", body) }

    private static func submissions(_ desk: HTTPDesk) -> [Submission] {
        desk.events.compactMap {
            if case .device(_, .submitted(let submission)) = $0 { submission } else { nil }
        }
    }

    private static func requests(_ desk: HTTPDesk) -> [GroupRequest] {
        desk.events.compactMap { if case .group(_, .requested(let request)) = $0 { request } else { nil } }
    }

    private static func answer(_ desk: HTTPDesk) -> (status: String, body: String) {
        let text = desk.taken()
        let parts = text.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
        return (
            text.split(separator: " ").dropFirst().first.map(String.init) ?? "",
            parts.count == 2 ? String(parts[1]) : ""
        )
    }

    private static func record(_ members: UInt64...) -> GroupRecord {
        GroupRecord(
            name: group, label: Array("appUser-Chris".utf8), members: members.map(name), createdAt: 0)
    }

    @Test("A group is made of the tokens that are real; one that was replaced counts as its successor")
    func create() throws {
        let desk = HTTPDesk()
        desk.send(
            Self.change(
                "{\"operation\":\"create\",\"notification_key_name\":\"appUser-Chris\",\"registration_ids\":"
                    + "[\"\(Self.token(1))\",\"\(Self.token(2))\",\"no\",\"\(Self.token(3))\"]}"))
        let looked = Self.submissions(desk)
        #expect(looked.map(\.target.number.number) == [1, 2, 3])
        #expect(
            looked.allSatisfy { $0.content.isDryRun && $0.content.body.isEmpty },
            "nobody may be sent anything")
        desk.perform(
            .submission(requestID: looked[0].requester.requestID, .accepted(id: nil, canonical: Self.name(9)))
        )
        desk.perform(.submission(requestID: looked[1].requester.requestID, .refused(.notRegistered)))
        #expect(Self.requests(desk).isEmpty, "not before all are known")
        desk.perform(.submission(requestID: looked[2].requester.requestID, .refused(.deviceRateExceeded)))
        let request = try #require(Self.requests(desk).first)
        guard case .create(let label, let members) = request.operation else {
            Issue.record("another operation")
            return
        }
        #expect(label == Array("appUser-Chris".utf8))
        #expect(members == [Self.name(9), Self.name(3)])
        #expect(request.sender == HTTPDesk.sender)
        #expect(desk.taken().isEmpty)
        desk.perform(.reply(requestID: try #require(request.requester).requestID, .group(Self.record(9, 3))))
        let answer = Self.answer(desk)
        #expect(answer.status == "200" && answer.body == "{\"notification_key\":\"\(Self.key)\"}")
    }

    @Test("Members are added with the key, and removed without being looked at")
    func addAndRemove() throws {
        let desk = HTTPDesk()
        desk.send(
            Self.change(
                "{\"operation\":\"remove\",\"notification_key\":\"\(Self.key)\",\"registration_ids\":[\"\(Self.token(1))\"]}"
            ))
        guard case .remove(77, nil, let members)? = Self.requests(desk).first?.operation else {
            Issue.record("no removal")
            return
        }
        #expect(members == [Self.name(1)] && Self.submissions(desk).isEmpty)
        desk.perform(.reply(requestID: 1, .group(Self.record())))
        #expect(Self.answer(desk).body == "{\"notification_key\":\"\(Self.key)\"}")
        desk.send(
            Self.change(
                "{\"operation\":\"add\",\"notification_key\":\"\(Self.key)\",\"notification_key_name\":\"n\","
                    + "\"registration_ids\":[\"\(Self.token(1))\"]}"))
        desk.perform(
            .submission(
                requestID: try #require(Self.submissions(desk).first).requester.requestID,
                .accepted(id: nil, canonical: nil)))
        guard case .add(77, let label?, [Self.name(1)])? = Self.requests(desk).last?.operation else {
            Issue.record("no addition")
            return
        }
        #expect(label == Array("n".utf8))
    }

    @Test(
        "What is wrong is told in `error`, in the words that clients look for",
        arguments: [
            ("{", "the body is no JSON"), ("{}", "operation must be create, add or remove"),
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
        let foreign = HTTPDesk.seal.groupKey(of: GroupName(sender: SenderID(5), number: 1))
        let desk = HTTPDesk()
        desk.send(
            Self.change(body.replacing("FOREIGN", with: String(decoding: foreign, as: UTF8.self))))
        let answer = Self.answer(desk)
        #expect(answer.status == "400")
        #expect(answer.body.hasPrefix("{\"error\":\"") && answer.body.contains(text))
        #expect(desk.events.isEmpty)
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
            (.unavailable, "503", "the server cannot take it now, try again"),
        ])
    func refusals(refusal: GroupRefusal, status: String, text: String) {
        let desk = HTTPDesk()
        desk.send(Self.request("GET /gcm/notification?notification_key_name=appUser-Chris"))
        desk.perform(.reply(requestID: 1, .groupRefused(refusal)))
        let answer = Self.answer(desk)
        #expect(answer.status == status && answer.body == "{\"error\":\"\(text)\"}")
    }

    @Test("A key is found by its name; the members are shown by the key")
    func show() {
        let desk = HTTPDesk()
        desk.send(Self.request("GET /fcm/notification?notification_key_name=appUser-Chris", "{}"))
        desk.perform(.reply(requestID: 1, .group(Self.record(1))))
        #expect(Self.answer(desk).body == "{\"notification_key\":\"\(Self.key)\"}")
        desk.send(Self.request("GET /fcm/notification?notification_key=\(Self.key)"))
        desk.perform(.reply(requestID: 2, .group(Self.record(1, 2))))
        #expect(
            Self.answer(desk).body
                == "{\"notification_key_name\":\"appUser-Chris\",\"registration_ids\":[\"\(Self.token(1))\",\"\(Self.token(2))\"]}"
        )
    }

    @Test("Without the key, or with a project that is not the key's, nothing is asked of the core")
    func authorization() {
        for (project, key, status) in [
            (nil, "key=good-key", "400"), ("5", "key=good-key", "401"), ("1234567890", "key=bad", "401"),
        ] as [(String?, String, String)] {
            let desk = HTTPDesk()
            desk.send(
                Self.request("GET /fcm/notification?notification_key_name=n", project: project, key: key))
            #expect(Self.answer(desk).status == status)
            #expect(desk.events.isEmpty)
        }
    }

    @Test("A token of which nothing can be said now makes the whole change worth another try")
    func retry() throws {
        let desk = HTTPDesk()
        desk.send(
            Self.change(
                "{\"operation\":\"create\",\"notification_key_name\":\"n\",\"registration_ids\":[\"\(Self.token(1))\"]}"
            ))
        desk.perform(
            .submission(
                requestID: try #require(Self.submissions(desk).first).requester.requestID,
                .refused(.unavailable)))
        #expect(Self.answer(desk).status == "503")
        #expect(Self.requests(desk).isEmpty)
    }

    private static func send(_ extra: String = "") -> String {
        let body = "{\"to\":\"\(key)\",\"data\":{\"a\":\"b\"}\(extra)}"
        return "POST /fcm/send HTTP/1.1\r\nHost: fcm.googleapis.com\r\nAuthorization: key=good-key\r\n"
            + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    @Test(
        "A send to a group is told apart from one to tokens by what its answer lacks",
        arguments: [
            (3, [], "200", "{\"success\":3,\"failure\":0}"),
            (1, [2, 3], "200", "{\"success\":1,\"failure\":2,\"failed_registration_ids\":[\"T2\",\"T3\"]}"),
            (0, [], "200", "{\"success\":0,\"failure\":0}"),
        ] as [(Int, [UInt64], String, String)])
    func sends(success: Int, failed: [UInt64], status: String, body: String) throws {
        let desk = HTTPDesk()
        desk.send(Self.send())
        guard case .group(_, .submitted(let sent))? = desk.events.first else {
            Issue.record("nothing was submitted")
            return
        }
        #expect(sent.group == Self.group && sent.sender == HTTPDesk.sender)
        desk.perform(
            .submission(
                requestID: sent.requester.requestID,
                .group(
                    GroupAnswer(
                        success: success,
                        failed: failed.map { (member: Self.name($0), refusal: Refusal.notRegistered) }))))
        let answer = Self.answer(desk)
        #expect(answer.status == status)
        #expect(
            answer.body
                == body.replacing("T2", with: Self.token(2)).replacing("T3", with: Self.token(3)))
    }

    @Test(
        "Where no member is reached: 503 if trying again may help, else what is wrong, as for a token",
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
            failed: refusals.enumerated().map { (member: Self.name(UInt64($0) + 1), refusal: $1) })
        let desk = HTTPDesk()
        desk.send(Self.send())
        desk.perform(.submission(requestID: 1, .group(answer)))
        let told = Self.answer(desk)
        #expect(told.status == status && told.body.hasSuffix(body), "\(told)")
        let isRetryable = refusals.contains { $0.isRetryable }
        #expect(desk.session.groupResult(answer) == .refused(answer.refusal ?? .unavailable))
        #expect(answer.refusal?.isRetryable == isRetryable, "the same as v1")
    }

    @Test("A group that is gone is answered as a token that is")
    func gone() {
        let desk = HTTPDesk()
        desk.send(Self.send())
        desk.perform(.submission(requestID: 1, .refused(.notRegistered)))
        #expect(Self.answer(desk).body.hasSuffix("\"results\":[{\"error\":\"NotRegistered\"}]}"))
    }
}
