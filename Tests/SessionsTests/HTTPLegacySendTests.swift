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
        return String(decoding: HTTPDesk.seal.token(for: name), as: UTF8.self)
    }

    private static func request(
        _ body: String, type: String? = "application/json", key: String? = "key=good-key",
        path: String = "/fcm/send"
    ) -> String {
        "POST \(path) HTTP/1.1\r\nHost: fcm.googleapis.com\r\n"
            + (key.map { "Authorization: \($0)\r\n" } ?? "") + (type.map { "Content-Type: \($0)\r\n" } ?? "")
            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private static func submissions(_ desk: HTTPDesk) -> [Submission] {
        desk.events.compactMap {
            if case .device(_, .submitted(let submission)) = $0 { submission } else { nil }
        }
    }

    /// Status and body of the only answer.
    private static func answer(_ desk: HTTPDesk) -> (status: String, body: String) {
        let text = desk.taken()
        let parts = text.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
        let status = text.split(separator: " ").dropFirst().first.map(String.init) ?? ""
        return (status, parts.count == 2 ? String(parts[1]) : "")
    }

    private static let id = PersistentID(sequence: SequenceNumber(7), salt: 9)

    @Test("Each recipient is submitted, and the results stand in the order of the request")
    func several() throws {
        let desk = HTTPDesk()
        desk.send(
            Self.request(
                "{\"registration_ids\":[\"\(Self.token(1))\",\"ABC\",\"\(Self.token(2))\",\"\(Self.token(3))\"],"
                    + "\"data\":{\"a\":\"b\"},\"time_to_live\":60,\"collapse_key\":\"k\"}"))
        let sent = Self.submissions(desk)
        #expect(sent.map(\.target.number.number) == [1, 2, 3])
        #expect(
            sent.allSatisfy {
                $0.sender == HTTPDesk.sender && $0.content.lifetimeSeconds == 60 && !$0.content.wantsReceipt
            })
        #expect(
            sent.allSatisfy { $0.content.collapseKey == Array("k".utf8) && $0.content.priority == .normal })
        #expect(desk.taken().isEmpty, "not before all are known")
        desk.perform(.submission(requestID: sent[2].requester.requestID, .refused(.notRegistered)))
        desk.perform(
            .submission(
                requestID: sent[1].requester.requestID,
                .accepted(
                    id: Self.id,
                    canonical: RegistrationName(
                        device: DeviceID(600_000_000_000_000_001), number: RegistrationNumber(9)))))
        #expect(desk.taken().isEmpty)
        desk.perform(
            .submission(requestID: sent[0].requester.requestID, .accepted(id: Self.id, canonical: nil)))
        let answer = Self.answer(desk)
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
        "A request that is wrong as a whole is refused with the text of the real service",
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
        let desk = HTTPDesk()
        desk.send(Self.request(body))
        let answer = Self.answer(desk)
        #expect(answer.status == "400")
        #expect(text.hasSuffix("\n") ? answer.body == text : answer.body.hasPrefix(text))
        #expect(desk.events.isEmpty)
    }

    @Test(
        "Without a valid key the answer is 401 with the word that clients look for",
        arguments: [nil, "key=bad", "key=", "Basic eDp5", "AidLogin 1:2", "good-key"])
    func unauthorized(key: String?) {
        let desk = HTTPDesk()
        desk.send(Self.request("{\"to\":\"\(Self.token(1))\"}", key: key))
        let answer = Self.answer(desk)
        #expect(answer.status == "401")
        #expect(answer.body.contains("Unauthorized"))
        #expect(desk.events.isEmpty)
    }

    @Test("Every form of the key is taken", arguments: ["key=good-key", "key= good-key", "key:good-key"])
    func keyForms(key: String) {
        let desk = HTTPDesk()
        desk.send(Self.request("{\"to\":\"\(Self.token(1))\"}", key: key, path: "/gcm/send"))
        #expect(Self.submissions(desk).count == 1)
    }

    @Test("A payload that is too large is told to each recipient that could have had it")
    func tooLarge() {
        let desk = HTTPDesk()
        let text = String(repeating: "x", count: Limits.Message.payloadBytes)
        desk.send(
            Self.request(
                "{\"registration_ids\":[\"\(Self.token(1))\",\"\(Self.token(2))\",\"no\"],\"data\":{\"k\":\"\(text)\"}}"
            ))
        let looked = Self.submissions(desk)
        #expect(looked.count == 2)
        #expect(
            looked.allSatisfy { $0.content.isDryRun && $0.content.body.isEmpty }, "nothing may be delivered")
        desk.perform(
            .submission(requestID: looked[0].requester.requestID, .accepted(id: nil, canonical: nil)))
        desk.perform(.submission(requestID: looked[1].requester.requestID, .refused(.notRegistered)))
        #expect(
            Self.answer(desk).body.hasSuffix(
                "\"results\":[{\"error\":\"MessageTooBig\"},{\"error\":\"NotRegistered\"},{\"error\":\"InvalidRegistration\"}]}"
            ))
    }

    @Test("A dry run is checked by the core, and told with the id of the real service")
    func dryRun() throws {
        let desk = HTTPDesk()
        desk.send(Self.request("{\"to\":\"\(Self.token(1))\",\"dry_run\":true}"))
        let looked = try #require(Self.submissions(desk).first)
        #expect(looked.content.isDryRun)
        desk.perform(.submission(requestID: looked.requester.requestID, .accepted(id: nil, canonical: nil)))
        #expect(Self.answer(desk).body.hasSuffix("[{\"message_id\":\"fake_message_id\"}]}"))
    }

    @Test("Every refusal has its word", arguments: Self.wordsOfRefusals)
    func words(word: String, refusal: Refusal) throws {
        let desk = HTTPDesk()
        desk.send(Self.request("{\"to\":\"\(Self.token(1))\"}"))
        let requestID = try #require(Self.submissions(desk).first).requester.requestID
        desk.perform(.submission(requestID: requestID, .refused(refusal)))
        let answer = Self.answer(desk)
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
        "A form: one line, one equals sign, no line end",
        arguments: ["application/x-www-form-urlencoded;charset=UTF-8", nil])
    func plainText(type: String?) throws {
        let desk = HTTPDesk()
        desk.send(
            Self.request(
                "registration_id=\(Self.token(1))&data.a+b=c%26d&time_to_live=0&dry_run=False&delay_while_idle=1"
                    + "&collapse_key=", type: type))
        let sent = try #require(Self.submissions(desk).first)
        #expect(
            sent.content.lifetimeSeconds == 0 && !sent.content.isDryRun && sent.content.collapseKey == nil)
        var pairs: [String] = []
        try AppData.forEach(in: sent.content.body.raw) { key, value in
            pairs.append(
                String(decoding: [UInt8](copying: key) + [0x3D] + [UInt8](copying: value), as: UTF8.self))
        }
        #expect(pairs == ["a b=c&d"])
        desk.perform(.submission(requestID: sent.requester.requestID, .accepted(id: Self.id, canonical: nil)))
        #expect(Self.answer(desk).body == "id=\(Self.id.text)")
    }

    @Test(
        "What is wrong with a form is told behind Error=",
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
        let desk = HTTPDesk()
        desk.send(
            Self.request(body.replacing("=T&", with: "=\(Self.token(1))&"), type: Self.formType))
        let answer = Self.answer(desk)
        #expect(answer.status == "200")
        #expect(answer.body == "Error=\(word)")
        #expect(desk.events.isEmpty)
    }

    @Test("In a form, being unavailable is a status; the canonical token stands in the second line")
    func formOutcomes() throws {
        let desk = HTTPDesk()
        desk.send(Self.request("registration_id=\(Self.token(1))", type: Self.formType))
        desk.perform(
            .submission(
                requestID: try #require(Self.submissions(desk).last).requester.requestID,
                .refused(.unavailable)))
        #expect(Self.answer(desk).status == "503")
        desk.send(Self.request("registration_id=\(Self.token(1))", type: Self.formType))
        desk.perform(
            .submission(
                requestID: try #require(Self.submissions(desk).last).requester.requestID,
                .accepted(
                    id: Self.id,
                    canonical: RegistrationName(
                        device: DeviceID(600_000_000_000_000_001), number: RegistrationNumber(2)))))
        #expect(Self.answer(desk).body == "id=\(Self.id.text)\nregistration_id=\(Self.token(2))")
    }

    @Test("Of whom the core says nothing in time, it is said to be worth another try")
    func late() throws {
        let desk = HTTPDesk()
        desk.send(
            Self.request("{\"registration_ids\":[\"\(Self.token(1))\",\"\(Self.token(2))\"]}"))
        let first = try #require(Self.submissions(desk).first)
        desk.perform(
            .submission(requestID: first.requester.requestID, .accepted(id: Self.id, canonical: nil)))
        desk.pass(seconds: Limits.HTTP.answerDeadlineSeconds)
        #expect(
            Self.answer(desk).body.hasSuffix(
                "\"results\":[{\"message_id\":\"\(Self.id.text)\"},{\"error\":\"Unavailable\"}]}"))
    }

    @Test("With too many recipients unanswered no request is read, and reading goes on with the answers")
    func bounded() {
        let desk = HTTPDesk()
        let tokens = Array(repeating: "\"\(Self.token(1))\"", count: Limits.HTTP.recipientsPerRequest)
            .joined(separator: ",")
        let request = Self.request("{\"registration_ids\":[\(tokens)]}")
        let whole = Limits.HTTP.recipientsPerConnection / Limits.HTTP.recipientsPerRequest
        for _ in 0...whole { desk.send(request) }
        #expect(Self.submissions(desk).count == Limits.HTTP.recipientsPerConnection)
        #expect(!desk.isReading)
        for submission in Self.submissions(desk).prefix(Limits.HTTP.recipientsPerRequest) {
            desk.perform(
                .submission(requestID: submission.requester.requestID, .accepted(id: Self.id, canonical: nil))
            )
        }
        #expect(desk.taken().contains("\"success\":1000,\"failure\":0"))
        #expect(
            Self.submissions(desk).count == Limits.HTTP.recipientsPerConnection
                + Limits.HTTP.recipientsPerRequest)
    }

    @Test(
        "A notification without body is read by the older text; apprise's nested one is passed over in form")
    func textAlias() throws {
        let desk = HTTPDesk()
        desk.send(
            Self.request("{\"to\":\"\(Self.token(1))\",\"notification\":{\"title\":\"t\",\"text\":\"x\"}}"))
        let sent = try #require(Self.submissions(desk).first)
        #expect(sent.content.priority == .high)
        var pairs: [String: String] = [:]
        try AppData.forEach(in: sent.content.body.raw) { key, value in
            pairs[String(decoding: [UInt8](copying: key), as: UTF8.self)] = String(
                decoding: [UInt8](copying: value), as: UTF8.self)
        }
        #expect(pairs["gcm.notification.body"] == "x" && pairs["gcm.notification.text"] == nil)
    }
}
