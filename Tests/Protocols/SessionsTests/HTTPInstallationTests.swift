import Basics
import Delivery
import Testing
import Wire
import WireSupport

@testable import Sessions

@Suite struct HTTPInstallationTests {
    private func create(_ body: String, project: String = "my-project") -> String {
        "POST /v1/projects/\(project)/installations HTTP/1.1\r\nHost: x\r\nx-goog-api-key: k\r\nContent-Type: text/plain\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private func answer(_ body: String) throws -> JSONValue {
        let harness = HTTPHarness()
        harness.send(create(body))
        try harness.install()
        let text = harness.takeSent()
        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(text.contains("Content-Type: application/json; charset=UTF-8\r\n"))
        return try JSONValue(parsing: text.components("\r\n\r\n").1)
    }

    @Test("The answer has the shape that clients parse strictly")
    func shape() throws {
        let json = try answer(
            "{\"fid\":\"cGFzc3dvcmQ_aGVsbG8tdw\",\"appId\":\"1:2:web:3\",\"authVersion\":\"FIS_v2\"}")
        #expect(json["name"]?.text == "projects/my-project/installations/cGFzc3dvcmQ_aGVsbG8tdw")
        #expect(json["fid"]?.text == "cGFzc3dvcmQ_aGVsbG8tdw")
        #expect(json["authToken"]?["expiresIn"]?.text == "604800s")
        let refresh = try #require(json["refreshToken"]?.text)
        let access = try #require(json["authToken"]?["token"]?.text)
        #expect(refresh.utf8.count == 86 && access.utf8.count == 86 && refresh != access)
        let fid = Array("cGFzc3dvcmQ_aGVsbG8tdw".utf8)
        let read = HTTPHarness.seal.installationToken(Array(access.utf8).raw)
        #expect(
            read
                == InstallationToken(
                    purpose: .access, installation: fid, sender: SenderID(2),
                    expiresAt: 1_795_156_966_123 + 604_800_000,
                    mark: InstallationRecord.mark(of: HTTPHarness.digest(Array(refresh.utf8)))))
        #expect(json.members?.map(\.key) == ["name", "fid", "refreshToken", "authToken"])
    }

    @Test(
        "Installation IDs are normalised",
        arguments: [
            ("abc+/abc+/abc+/abc+/abcd==", "abc-_abc-_abc-_abc-_ab"),
            ("cGFzc3dvcmQ_aGVsbG8tdw", "cGFzc3dvcmQ_aGVsbG8tdw"),
        ])
    func normalised(sent: String, fid: String) throws {
        #expect(try answer("{\"fid\":\"\(sent)\"}")["fid"]?.text == fid)
    }

    @Test(
        "A request without a valid ID gets a fresh one",
        arguments: [
            "{}", "{\"fid\":\"\"}", "{\"fid\":5}", "{\"fid\":\"short\"}",
            "{\"fid\":\"<script>alert(1)</script>\"}",
        ])
    func fresh(body: String) throws {
        let fid = try #require(try answer(body)["fid"]?.text)
        #expect(fid.utf8.count == 22)
        let decoded = Base64.bytes(Array((fid.dropLast() + "A").utf8).raw)
        let bytes = try #require(decoded)
        #expect(bytes[0] >> 4 == 7)
    }

    @Test("Tokens are never repeated")
    func unique() throws {
        let harness = HTTPHarness()
        harness.send(create("{}") + create("{}"))
        try harness.install()
        let text = harness.takeSent()
        let tokens = text.matches(of: /"refreshToken":"([^"]*)"/).map { String($0.1) }
        #expect(tokens.count == 2 && tokens[0] != tokens[1])
    }

    @Test(
        "An error has the form of Google's",
        arguments: [
            ("not json", "invalid body: expected JSON"), ("[]", "invalid body: expected a JSON object"),
        ])
    func wrong(body: String, reason: String) {
        let harness = HTTPHarness()
        harness.send(create(body))
        let text = harness.takeSent()
        let json = "{\"error\":{\"code\":400,\"message\":\"\(reason)\",\"status\":\"INVALID_ARGUMENT\"}}"
        #expect(text == HTTPHarness.answer("400 Bad Request", "application/json; charset=UTF-8", json))
    }

    @Test("A project that would need escaping is refused (canary: a plain one is not)")
    func project() throws {
        let harness = HTTPHarness()
        harness.send(create("{}", project: "a%22b"))
        let text = harness.takeSent()
        #expect(text.hasPrefix("HTTP/1.1 400 "))
        harness.send(create("{}", project: "example.com:p"))
        try harness.install()
        let second = harness.takeSent()
        #expect(second.hasPrefix("HTTP/1.1 200 "))
    }

    private static func token(_ purpose: InstallationToken.Purpose) -> String {
        let token = InstallationToken(
            purpose: purpose, installation: Array("cGFzc3dvcmQ_aGVsbG8tdw".utf8), sender: HTTPHarness.sender,
            expiresAt: .max, mark: 1)
        return String(decoding: HTTPHarness.seal.text(of: token), as: UTF8.self)
    }

    @Test(
        "The installation in the path must be that of the token",
        arguments: [
            ("POST", "dGFzc3dvcmQ_aGVsbG8tdw/topicSubscriptions/news:subscribe", "403 Forbidden"),
            ("POST", "dGFzc3dvcmQ_aGVsbG8tdw/topicSubscriptions/news:unsubscribe", "403 Forbidden"),
            ("DELETE", "dGFzc3dvcmQ_aGVsbG8tdw", "404 Not Found"),
            ("DELETE", "cGFzc3dvcmQ_aGVsbG8tdw", ""),
        ])
    func path(method: String, rest: String, status: String) {
        let harness = HTTPHarness()
        harness.send(
            "\(method) /v1/projects/p/registrations/\(rest) HTTP/1.1\r\nHost: x\r\n"
                + "x-goog-firebase-installations-auth: \(Self.token(.access))\r\nContent-Length: 0\r\n\r\n")
        let answer = harness.takeSent()
        #expect(answer.hasPrefix(status.isEmpty ? "" : "HTTP/1.1 \(status)\r\n"), "\(answer)")
        #expect(harness.events.isEmpty != status.isEmpty, "canary: its own ID is accepted")
    }

    @Test(
        "The refresh token of one installation is refused for another",
        arguments: [("POST", "/authTokens:generate"), ("DELETE", "")])
    func foreignRefresh(method: String, rest: String) {
        let harness = HTTPHarness()
        harness.send(
            "\(method) /v1/projects/p/installations/dGFzc3dvcmQ_aGVsbG8tdw\(rest) HTTP/1.1\r\nHost: x\r\n"
                + "Authorization: FIS_v2 \(Self.token(.refresh))\r\nContent-Length: 0\r\n\r\n")
        let answer = harness.takeSent()
        #expect(answer.hasPrefix("HTTP/1.1 404 Not Found\r\n"), "\(answer)")
        #expect(harness.events.isEmpty)
    }

    @Test(
        "A client whose ID is taken gets the tokens of a fresh one, and keeps both when it has the refresh token"
    )
    func taken() throws {
        let harness = HTTPHarness()
        let fid = "cGFzc3dvcmQ_aGVsbG8tdw"
        harness.send(create("{\"fid\":\"\(fid)\"}"))
        guard case .installation(_, .requested(let request))? = harness.events.last,
            case .create(let offer) = request.action
        else {
            Issue.record("\(harness.events)")
            return
        }
        let other = try #require(offer.other)
        #expect(request.installation == Array(fid.utf8) && other.id != request.installation)
        #expect(offer.shown == nil && offer.device == nil)
        harness.perform(
            .reply(
                requestID: request.requester.requestID,
                .installation(HTTPHarness.record(other.id, other.refresh), registrations: 0)))
        let fresh = try JSONValue(parsing: harness.takeSent().components("\r\n\r\n").1)
        #expect(fresh["fid"]?.text == String(decoding: other.id, as: UTF8.self))
        let token = try #require(fresh["refreshToken"]?.text)
        #expect(HTTPHarness.seal.installationToken(Array(token.utf8).raw)?.installation == other.id)
        harness.send(
            "POST /v1/projects/p/installations HTTP/1.1\r\nHost: x\r\nAuthorization: FIS_v2 \(Self.token(.refresh))\r\nContent-Length: 32\r\n\r\n{\"fid\":\"\(fid)\"}"
        )
        guard case .installation(_, .requested(let second))? = harness.events.last,
            case .create(let again) = second.action
        else {
            Issue.record("\(harness.events)")
            return
        }
        let digest = HTTPHarness.digest(Array(Self.token(.refresh).utf8))
        #expect(again.shown == digest)
        harness.perform(
            .reply(
                requestID: second.requester.requestID,
                .installation(HTTPHarness.record(second.installation, digest), registrations: 1)))
        let kept = try JSONValue(parsing: harness.takeSent().components("\r\n\r\n").1)
        #expect(kept["fid"]?.text == fid && kept["refreshToken"]?.text == Self.token(.refresh))
    }

    @Test(
        "a malformed project name is refused on every path that has one",
        arguments: [
            "POST /v1/projects/a~b/installations",
            "POST /v1/projects/a~b/installations/cGFzc3dvcmQ_aGVsbG8tdw/authTokens:generate",
            "DELETE /v1/projects/a~b/installations/cGFzc3dvcmQ_aGVsbG8tdw",
            "POST /v1/projects/a~b/registrations",
            "PATCH /v1/projects/a~b/registrations/token", "DELETE /v1/projects/a~b/registrations/token",
        ])
    func malformedProject(start: String) {
        let harness = HTTPHarness()
        harness.send(
            "\(start) HTTP/1.1\r\nHost: x\r\nx-goog-api-key: k\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
        )
        let text = harness.takeSent()
        #expect(text.hasPrefix("HTTP/1.1 400") && harness.events.isEmpty, "\(text)")
    }
}
