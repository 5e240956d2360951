import Basics
import Delivery
import Testing
import Wire

@testable import Sessions

/// `/batch`: many messages in one request, in the form of the generic client and async-firebase (http 8.8).
@Suite struct HTTPBatchTests {
    private static let id = PersistentID(sequence: SequenceNumber(7), salt: 9)
    private static let target = RegistrationName(device: DeviceID(1 << 60), number: RegistrationNumber(3))
    private static let token = String(decoding: HTTPHarness.seal.token(for: target), as: UTF8.self)
    private static let bearer: String = {
        let token = AccessToken(
            sender: HTTPHarness.sender, account: HTTPHarness.seal.mark(ofKeyID: "0a1b2c"),
            expiresAt: 1_795_156_966_123 + 60_000)
        return "Bearer " + String(decoding: HTTPHarness.seal.text(of: token), as: UTF8.self)
    }()

    /// Returns a part; lines end in LF alone, as clients write them.
    private static func part(
        _ contentID: String?, _ body: String, authorization: String? = bearer, end: String = "\n",
        request: String = "POST /v1/projects/lab-project/messages:send?alt=json HTTP/1.1"
    ) -> String {
        ([
            "Content-Type: application/http", "MIME-Version: 1.0", "Content-Transfer-Encoding: binary",
        ] + (contentID.map { ["Content-ID: \($0)"] } ?? []) + [
            "", request, "Content-Type: application/json; UTF-8", "MIME-Version: 1.0",
        ] + (authorization.map { ["authorization: \($0)"] } ?? []) + [
            "content-length: \(body.utf8.count)", "Content-Length: \(body.utf8.count)",
            "Host: fcm.googleapis.com",
            "", body,
        ]).joined(separator: end) + end
    }

    private static func request(
        _ parts: [String], authorization: String? = nil, end: String = "\n",
        type: String = "multipart/mixed; boundary=\"===============12==\""
    ) -> String {
        let body = parts.map { "--===============12==\(end)\($0)" }.joined() + "--===============12==--"
        return "POST /batch HTTP/1.1\r\nHost: fcm.googleapis.com\r\n"
            + (authorization.map { "Authorization: \($0)\r\n" } ?? "")
            + "Content-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private static func message(_ token: String = token, _ number: Int = 1) -> String {
        #"{"message":{"token":"\#(token)","data":{"n":"\#(number)"}}}"#
    }

    private static func submissions(_ harness: HTTPHarness) -> [Submission] {
        harness.events.compactMap {
            if case .device(_, .submitted(let submission)) = $0 { submission } else { nil }
        }
    }

    private static func answered(_ id: String?, _ status: String, _ body: String, extra: String = "")
        -> String
    {
        "--batch_ccsd\r\nContent-Type: application/http\r\n" + (id.map { "Content-ID: \($0)\r\n" } ?? "")
            + "\r\nHTTP/1.1 \(status)\r\nContent-Type: application/json; charset=UTF-8\r\n"
            + "Content-Length: \(body.utf8.count)\r\n\(extra)\r\n\(body)\r\n"
    }

    @Test(
        "Each part is answered under its ID, in order, when all results are known", arguments: ["\n", "\r\n"])
    func parts(end: String) {
        let harness = HTTPTokenTests.harness()
        harness.send(
            Self.request(
                [
                    Self.part("<00ff + 1>", Self.message(), end: end),
                    Self.part("<00ff + 2>", Self.message("nonsense"), end: end),
                    Self.part("0a0b", Self.message(Self.token, 3), end: end),
                    Self.part(nil, Self.message(Self.token, 4), end: end),
                ], end: end))
        let sent = Self.submissions(harness)
        #expect(sent.count == 3 && sent.allSatisfy { $0.target == Self.target && !$0.content.body.isEmpty })
        #expect(sent.allSatisfy { $0.content.isForSeveral })
        guard sent.count == 3 else { return }
        harness.perform(.submission(requestID: sent[1].requester.requestID, .refused(.notRegistered)))
        harness.perform(
            .submission(requestID: sent[2].requester.requestID, .accepted(id: Self.id, canonical: nil)))
        #expect(harness.takeSent().isEmpty, "not before all results are known")
        harness.perform(
            .submission(requestID: sent[0].requester.requestID, .accepted(id: Self.id, canonical: nil)))
        let text = harness.takeSent()
        #expect(text.contains("Content-Type: multipart/mixed; boundary=batch_ccsd\r\n"))
        let name = #"{"name":"projects/lab-project/messages/\#(Self.id.text)"}"#
        func refused(_ refusal: Refusal) -> String {
            String(decoding: V1Error(refusal).response.body, as: UTF8.self)
        }
        let expected =
            Self.answered("<response-00ff + 1>", "200 OK", name)
            + Self.answered("<response-00ff + 2>", "400 Bad Request", refused(.invalidToken))
            + Self.answered("response-0a0b", "404 Not Found", refused(.notRegistered))
            + Self.answered(nil, "200 OK", name) + "--batch_ccsd--\r\n"
        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n") && text.hasSuffix("\r\n\r\n" + expected))
    }

    @Test("Each part is authorised by itself, or by the whole request when it has no credentials")
    func authorization() {
        let harness = HTTPTokenTests.harness()
        harness.send(
            Self.request(
                [
                    Self.part("<1>", Self.message(), authorization: nil),
                    Self.part("<2>", Self.message(), authorization: "Bearer other"),
                ], authorization: Self.bearer))
        #expect(Self.submissions(harness).count == 1)
        let other = HTTPTokenTests.harness()
        other.send(
            Self.request([
                Self.part("<1>", Self.message(), authorization: nil),
                Self.part(
                    "<2>", Self.message(), request: "POST /v1/projects/other-one/messages:send HTTP/1.1"),
                Self.part(
                    "<3>", Self.message(), request: "GET /v1/projects/lab-project/messages:send HTTP/1.1"),
                Self.part("<4>", Self.message(), request: "POST /fcm/send HTTP/1.1"),
                Self.part("<5>", Self.message(), request: "nonsense"), "Content-ID: <6>\n",
            ]))
        let text = other.takeSent()
        #expect(other.events.isEmpty)
        for (id, status) in [(1, "401"), (2, "403"), (3, "400"), (4, "400"), (5, "400"), (6, "400")] {
            #expect(
                text.contains(
                    "Content-ID: <response-\(id)>\r\n\r\nHTTP/1.1 \(status) "), "part \(id): \(text)")
        }
    }

    @Test(
        "A part may contain an absolute URL of any host, and lack the version, as the SDKs for Node, Java and .NET write it",
        arguments: [
            "POST https://fcm.googleapis.com/v1/projects/lab-project/messages:send HTTP/1.1",
            "POST https://fcm.googleapis.com/v1/projects/lab-project/messages:send",
            "POST /v1/projects/lab-project/messages:send",
            "POST /v1/projects/lab-project/messages:send?alt=json",
            "POST HTTPS://push.example.org:8443/v1/projects/lab-project/messages:send?alt=json HTTP/1.0",
            "POST http://[::1]/v1/projects/lab-project/messages:send HTTP/2",
        ])
    func requestLines(line: String) {
        let harness = HTTPTokenTests.harness()
        harness.send(
            Self.request([Self.part("<1>", Self.message(), end: "\r\n", request: line)], end: "\r\n"))
        #expect(Self.submissions(harness).map(\.target) == [Self.target])
    }

    @Test(
        "A part with an invalid request line is never answered as a deleted token",
        arguments: [
            "POST", "POST  ", "", "POST https://fcm.googleapis.com HTTP/1.1",
            "POST ftp://fcm.googleapis.com/v1/projects/lab-project/messages:send HTTP/1.1",
            "POST /v1/projects/lab-project/messages:send FTP/1.1",
            "POST /v1/projects/lab-project/messages:send HTTP/1.1 x",
            "POST https://fcm.googleapis.com/v1/projects/lab-project/messages:send#a HTTP/1.1",
            "DELETE https://fcm.googleapis.com/v1/projects/lab-project/messages:send HTTP/1.1",
            "POST https://fcm.googleapis.com/v1/projects/lab-project/messages HTTP/1.1",
        ])
    func unreadable(line: String) {
        let harness = HTTPTokenTests.harness()
        harness.send(Self.request([Self.part("<1>", Self.message(), request: line)]))
        let text = harness.takeSent()
        #expect(harness.events.isEmpty && text.contains("\r\n\r\nHTTP/1.1 400 Bad Request\r\n"), "\(text)")
        #expect(text.contains("INVALID_ARGUMENT") && text.contains("invalid request line of a part"))
        #expect(!text.contains("UNREGISTERED") && !text.contains("NOT_FOUND"))
    }

    @Test("An invalid batch is refused as a whole")
    func wrong() {
        let part = Self.part("<1>", Self.message())
        let many = Array(repeating: "\nGET / HTTP/1.1\n\n", count: Limits.HTTP.batchParts + 1)
        let requests = [
            Self.request([part], type: "application/json"), Self.request([part], type: "multipart/mixed"),
            Self.request([part], type: "multipart/mixed; boundary=other"), Self.request([]),
            Self.request(many),
            Self.request([
                Self.part(String(repeating: "x", count: Limits.HTTP.contentIDBytes + 1), Self.message())
            ]
            ),
            Self.request([part]).replacing("12==--", with: "12==xx"),
        ]
        for request in requests {
            let harness = HTTPTokenTests.harness()
            harness.send(request)
            let answer = HTTPTokenTests.answer(harness)
            #expect(answer.status == "400" && answer.body.contains("INVALID_ARGUMENT"), "\(answer)")
            #expect(harness.events.isEmpty)
        }
        let harness = HTTPTokenTests.harness()
        harness.send(Self.request(Array(many.dropFirst())))
        #expect(HTTPTokenTests.answer(harness).status == "200", "canary: the limit itself is accepted")
        let named = HTTPTokenTests.harness()
        let id = String(repeating: "x", count: Limits.HTTP.contentIDBytes)
        named.send(Self.request([Self.part(id, Self.message())]))
        #expect(named.events.count == 1, "the longest ID of a part is accepted")
    }
}
