import Basics
import Delivery
import Testing
import Wire

@testable import Sessions

@Suite struct HTTPLegacySendTests {
    private static let formType: String = "application/x-www-form-urlencoded"

    private static func token(_ number: UInt64) -> String {
        let name = RegistrationName(
            device: DeviceID(600_000_000_000_000_001), number: RegistrationNumber(number))
        return String(decoding: HTTPHarness.seal.token(for: name), as: UTF8.self)
    }

    private static func request(
        _ body: String, type: String? = "application/json", key: String? = "key=good-key",
        path: String = "/fcm/send"
    ) -> String {
        "POST \(path) HTTP/1.1\r\nHost: fcm.googleapis.com\r\n"
            + (key.map { "Authorization: \($0)\r\n" } ?? "") + (type.map { "Content-Type: \($0)\r\n" } ?? "")
            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private static func submissions(_ harness: HTTPHarness) -> [Submission] {
        harness.events.compactMap {
            if case .device(_, .submitted(let submission)) = $0 { submission } else { nil }
        }
    }

    /// Returns the status and body of the only answer.
    private static func answer(_ harness: HTTPHarness) -> (status: String, body: String) {
        let text = harness.takeSent()
        let parts = text.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
        let status = text.split(separator: " ").dropFirst().first.map(String.init) ?? ""
        return (status, parts.count == 2 ? String(parts[1]) : "")
    }

    private static let id = PersistentID(sequence: SequenceNumber(7), salt: 9)

    @Test("Each recipient is submitted, and the results are in the order of the request")
    func several() throws {
        let harness = HTTPHarness()
        harness.send(
            Self.request(
                "{\"registration_ids\":[\"\(Self.token(1))\",\"ABC\",\"\(Self.token(2))\",\"\(Self.token(3))\"],"
                    + "\"data\":{\"a\":\"b\"},\"time_to_live\":60,\"collapse_key\":\"k\"}"))
        let sent = Self.submissions(harness)
        #expect(sent.map(\.target.number.number) == [1, 2, 3] && sent.allSatisfy { $0.content.isForSeveral })
        #expect(
            sent.allSatisfy {
                $0.sender == HTTPHarness.sender && $0.content.lifetimeSeconds == 60
                    && !$0.content.wantsReceipt
            })
        #expect(
            sent.allSatisfy { $0.content.collapseKey == Array("k".utf8) && $0.content.priority == .normal })
        #expect(harness.takeSent().isEmpty, "not before all results are known")
        harness.perform(.submission(requestID: sent[2].requester.requestID, .refused(.notRegistered)))
        harness.perform(
            .submission(
                requestID: sent[1].requester.requestID,
                .accepted(
                    id: Self.id,
                    canonical: TokenName(
                        RegistrationName(
                            device: DeviceID(600_000_000_000_000_001), number: RegistrationNumber(9))))))
        #expect(harness.takeSent().isEmpty)
        harness.perform(
            .submission(requestID: sent[0].requester.requestID, .accepted(id: Self.id, canonical: nil)))
        let answer = Self.answer(harness)
        #expect(answer.status == "200")
        let tail =
            ",\"success\":2,\"failure\":2,\"canonical_ids\":1,\"results\":[{\"message_id\":\"\(Self.id.text)\"},"
            + "{\"error\":\"InvalidRegistration\"},{\"message_id\":\"\(Self.id.text)\",\"registration_id\":"
            + "\"\(Self.token(9))\"},{\"error\":\"NotRegistered\"}]}"
        #expect(answer.body.hasPrefix("{\"multicast_id\":"))
        #expect(answer.body.hasSuffix(tail))
        let number = answer.body.dropFirst("{\"multicast_id\":".count).prefix { $0 != "," }
        #expect(try #require(Int64(number)) > 0)
    }

    @Test(
        "A request that is invalid as a whole is refused with the text of the real service",
        arguments: [
            ("{", "JSON_PARSING_ERROR: "), ("[]", "JSON_PARSING_ERROR: The message must be a JSON object"),
            ("{\"data\":{}}", "Missing \"registration_ids\" field\n"),
            (
                "{\"to\":\"a\",\"registration_ids\":[\"b\"]}",
                "Must use either \"registration_ids\" field or \"to\", not both\n"
            ),
            (
                "{\"to\":\"a\",\"condition\":\"'x' in topics\"}",
                "Must use only one of \"to\", \"registration_ids\" and \"condition\"\n"
            ),
            ("{\"registration_ids\":\"a\"}", "\"registration_ids\" field is not a JSON array\n"),
            ("{\"registration_ids\":[]}", "\"registration_ids\" field cannot be empty\n"),
            (
                "{\"registration_ids\":[1]}",
                "Field \"registration_ids\" must be a JSON array of strings: 1\n"
            ),
            ("{\"to\":[\"e9F\"]}", "Field \"to\" must be a JSON string: [\"e9F\"]\n"),
            (
                "{\"to\":\"a\",\"time_to_live\":\"abc\"}",
                "Field \"time_to_live\" must be a JSON java.lang.Number: abc\n"
            ),
            (
                "{\"to\":\"a\",\"time_to_live\":2419201}",
                "Invalid value (2419201) for \"time_to_live\": must be between 0 and 2419200\n"
            ),
            ("{\"to\":\"a\",\"data\":{\"from\":\"x\"}}", "\"data\" key \"from\" is a reserved keyword\n"),
            (
                "{\"registration_ids\":[" + Array(repeating: "\"a\"", count: 1_001).joined(separator: ",")
                    + "]}", "Number of messages on bulk (1001) exceeds maximum allowed (1000)\n"
            ),
        ])
    func wholeFaults(body: String, text: String) {
        let harness = HTTPHarness()
        harness.send(Self.request(body))
        let answer = Self.answer(harness)
        #expect(answer.status == "400")
        #expect(text.hasSuffix("\n") ? answer.body == text : answer.body.hasPrefix(text))
        #expect(harness.events.isEmpty)
    }

    @Test(
        "The answer without a valid key is 401 with the word that clients look for",
        arguments: [nil, "key=bad", "key=", "Basic eDp5", "AidLogin 1:2", "good-key"])
    func unauthorized(key: String?) {
        let harness = HTTPHarness()
        harness.send(Self.request("{\"to\":\"\(Self.token(1))\"}", key: key))
        let answer = Self.answer(harness)
        #expect(answer.status == "401")
        #expect(answer.body.contains("Unauthorized"))
        #expect(harness.events.isEmpty)
    }

    @Test("Every form of the key is accepted", arguments: ["key=good-key", "key= good-key", "key:good-key"])
    func keyForms(key: String) {
        let harness = HTTPHarness()
        harness.send(Self.request("{\"to\":\"\(Self.token(1))\"}", key: key, path: "/gcm/send"))
        #expect(Self.submissions(harness).count == 1)
    }

    @Test("A payload that is too large is reported to each recipient that is otherwise valid")
    func tooLarge() {
        let harness = HTTPHarness()
        let text = String(repeating: "x", count: Limits.Message.payloadBytes)
        harness.send(
            Self.request(
                "{\"registration_ids\":[\"\(Self.token(1))\",\"\(Self.token(2))\",\"no\"],\"data\":{\"k\":\"\(text)\"}}"
            ))
        let looked = Self.submissions(harness)
        #expect(looked.count == 2)
        #expect(
            looked.allSatisfy { $0.content.isDryRun && $0.content.body.isEmpty }, "nothing may be delivered")
        harness.perform(
            .submission(requestID: looked[0].requester.requestID, .accepted(id: nil, canonical: nil)))
        harness.perform(.submission(requestID: looked[1].requester.requestID, .refused(.notRegistered)))
        #expect(
            Self.answer(harness).body.hasSuffix(
                "\"results\":[{\"error\":\"MessageTooBig\"},{\"error\":\"NotRegistered\"},{\"error\":\"InvalidRegistration\"}]}"
            ))
    }

    @Test("A dry run is checked by the core and answered with the ID of the real service")
    func dryRun() throws {
        let harness = HTTPHarness()
        harness.send(Self.request("{\"to\":\"\(Self.token(1))\",\"dry_run\":true}"))
        let looked = try #require(Self.submissions(harness).first)
        #expect(looked.content.isDryRun)
        harness.perform(
            .submission(requestID: looked.requester.requestID, .accepted(id: nil, canonical: nil)))
        #expect(Self.answer(harness).body.hasSuffix("[{\"message_id\":\"fake_message_id\"}]}"))
    }

    @Test("Every refusal has its error word", arguments: Self.wordsOfRefusals)
    func words(word: String, refusal: Refusal) throws {
        let harness = HTTPHarness()
        harness.send(Self.request("{\"to\":\"\(Self.token(1))\"}"))
        let requestID = try #require(Self.submissions(harness).first).requester.requestID
        harness.perform(.submission(requestID: requestID, .refused(refusal)))
        let answer = Self.answer(harness)
        #expect(answer.status == "200")
        #expect(answer.body.hasSuffix("\"results\":[{\"error\":\"\(word)\"}]}"))
    }

    private static let wordsOfRefusals: [(String, Refusal)] = [
        ("NotRegistered", .notRegistered), ("MismatchSenderId", .senderMismatch),
        ("InvalidPackageName", .packageMismatch), ("DeviceMessageRateExceeded", .deviceRateExceeded),
        ("Unavailable", .unavailable), ("Unavailable", .senderRateExceeded),
        ("InternalServerError", .internalError), ("TopicsMessageRateExceeded", .topicRateExceeded),
    ]

    @Test(
        "The answer to a form has one line, one equals sign and no line end",
        arguments: ["application/x-www-form-urlencoded;charset=UTF-8", nil])
    func plainText(type: String?) throws {
        let harness = HTTPHarness()
        harness.send(
            Self.request(
                "registration_id=\(Self.token(1))&data.a+b=c%26d&time_to_live=0&dry_run=False&delay_while_idle=1"
                    + "&collapse_key=", type: type))
        let sent = try #require(Self.submissions(harness).first)
        #expect(
            sent.content.lifetimeSeconds == 0 && !sent.content.isDryRun && sent.content.collapseKey == nil)
        var pairs: [String] = []
        try AppData.forEach(in: sent.content.body.raw) { key, value in
            pairs.append(
                String(decoding: [UInt8](copying: key) + [0x3D] + [UInt8](copying: value), as: UTF8.self))
        }
        #expect(pairs == ["a b=c&d"])
        harness.perform(
            .submission(requestID: sent.requester.requestID, .accepted(id: Self.id, canonical: nil)))
        #expect(Self.answer(harness).body == "id=\(Self.id.text)")
    }

    @Test(
        "An error in a form is reported after Error=",
        arguments: [
            ("data.a=b", "MissingRegistration"), ("registration_id=", "MissingRegistration"),
            ("registration_id=ABC", "InvalidRegistration"),
            ("registration_id=T&time_to_live=x", "InvalidTtl"),
            ("registration_id=T&time_to_live=-1", "InvalidTtl"),
            ("registration_id=T&dry_run=maybe", "InvalidParameters"),
            ("registration_id=T&data.from=x", "InvalidDataKey"),
            ("{\"to\":\"x\"}", "MissingRegistration"), ("to=%zz", "InvalidParameters"),
        ])
    func formFaults(body: String, word: String) {
        let harness = HTTPHarness()
        harness.send(
            Self.request(body.replacing("=T&", with: "=\(Self.token(1))&"), type: Self.formType))
        let answer = Self.answer(harness)
        #expect(answer.status == "200")
        #expect(answer.body == "Error=\(word)")
        #expect(harness.events.isEmpty)
    }

    @Test("In a form, unavailability is a status, and the canonical token is in the second line")
    func formOutcomes() throws {
        let harness = HTTPHarness()
        harness.send(Self.request("registration_id=\(Self.token(1))", type: Self.formType))
        harness.perform(
            .submission(
                requestID: try #require(Self.submissions(harness).last).requester.requestID,
                .refused(.unavailable)))
        #expect(Self.answer(harness).status == "503")
        harness.send(Self.request("registration_id=\(Self.token(1))", type: Self.formType))
        harness.perform(
            .submission(
                requestID: try #require(Self.submissions(harness).last).requester.requestID,
                .accepted(
                    id: Self.id,
                    canonical: TokenName(
                        RegistrationName(
                            device: DeviceID(600_000_000_000_000_001), number: RegistrationNumber(2))))))
        #expect(Self.answer(harness).body == "id=\(Self.id.text)\nregistration_id=\(Self.token(2))")
    }

    @Test("A recipient without a reply in time is reported as unavailable")
    func late() throws {
        let harness = HTTPHarness()
        harness.send(
            Self.request("{\"registration_ids\":[\"\(Self.token(1))\",\"\(Self.token(2))\"]}"))
        let first = try #require(Self.submissions(harness).first)
        harness.perform(
            .submission(requestID: first.requester.requestID, .accepted(id: Self.id, canonical: nil)))
        harness.pass(seconds: Limits.HTTP.answerDeadlineSeconds)
        #expect(
            Self.answer(harness).body.hasSuffix(
                "\"results\":[{\"message_id\":\"\(Self.id.text)\"},{\"error\":\"Unavailable\"}]}"))
    }

    @Test(
        "Requests are not read while too many recipients are unanswered, and reading continues with the answers"
    )
    func bounded() {
        let harness = HTTPHarness()
        let tokens = Array(repeating: "\"\(Self.token(1))\"", count: Limits.HTTP.recipientsPerRequest)
            .joined(separator: ",")
        let request = Self.request("{\"registration_ids\":[\(tokens)]}")
        let whole = Limits.HTTP.recipientsPerConnection / Limits.HTTP.recipientsPerRequest
        for _ in 0...whole { harness.send(request) }
        #expect(Self.submissions(harness).count == Limits.HTTP.recipientsPerConnection)
        #expect(!harness.isReading)
        for submission in Self.submissions(harness).prefix(Limits.HTTP.recipientsPerRequest) {
            harness.perform(
                .submission(requestID: submission.requester.requestID, .accepted(id: Self.id, canonical: nil))
            )
        }
        #expect(harness.takeSent().contains("\"success\":1000,\"failure\":0"))
        #expect(
            Self.submissions(harness).count == Limits.HTTP.recipientsPerConnection
                + Limits.HTTP.recipientsPerRequest)
    }

    @Test(
        "A notification without body is read by the older text, and the form of apprise's nested one is ignored"
    )
    func textAlias() throws {
        let harness = HTTPHarness()
        harness.send(
            Self.request("{\"to\":\"\(Self.token(1))\",\"notification\":{\"title\":\"t\",\"text\":\"x\"}}"))
        let sent = try #require(Self.submissions(harness).first)
        #expect(sent.content.priority == .high)
        var pairs: [String: String] = [:]
        try AppData.forEach(in: sent.content.body.raw) { key, value in
            pairs[String(decoding: [UInt8](copying: key), as: UTF8.self)] = String(
                decoding: [UInt8](copying: value), as: UTF8.self)
        }
        #expect(pairs["gcm.notification.body"] == "x" && pairs["gcm.notification.text"] == nil)
    }
}
