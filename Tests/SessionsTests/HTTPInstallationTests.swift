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
        let desk = HTTPDesk()
        desk.send(create(body))
        try desk.install()
        let text = desk.taken()
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
        let read = HTTPDesk.seal.installationToken(Array(access.utf8).raw)
        #expect(
            read
                == InstallationToken(
                    purpose: .access, installation: fid, sender: SenderID(2),
                    expiresAt: 1_795_156_966_123 + 604_800_000,
                    mark: InstallationRecord.mark(of: HTTPDesk.digest(Array(refresh.utf8)))))
        #expect(json.members?.map(\.key) == ["name", "fid", "refreshToken", "authToken"])
    }

    @Test(
        "Installation ids are put into their proper form",
        arguments: [
            ("abc+/abc+/abc+/abc+/abcd==", "abc-_abc-_abc-_abc-_ab"),
            ("cGFzc3dvcmQ_aGVsbG8tdw", "cGFzc3dvcmQ_aGVsbG8tdw"),
        ])
    func normalised(sent: String, fid: String) throws {
        #expect(try answer("{\"fid\":\"\(sent)\"}")["fid"]?.text == fid)
    }

    @Test(
        "Where there is no proper id, a fresh one is made",
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

    @Test("Tokens are never the same twice")
    func unique() throws {
        let desk = HTTPDesk()
        desk.send(create("{}") + create("{}"))
        try desk.install()
        let text = desk.taken()
        let tokens = text.matches(of: /"refreshToken":"([^"]*)"/).map { String($0.1) }
        #expect(tokens.count == 2 && tokens[0] != tokens[1])
    }

    @Test(
        "What is wrong is told as Google tells it",
        arguments: [("not json", "The body is no JSON."), ("[]", "The body is no JSON object.")])
    func wrong(body: String, reason: String) {
        let desk = HTTPDesk()
        desk.send(create(body))
        let text = desk.taken()
        let json = "{\"error\":{\"code\":400,\"message\":\"\(reason)\",\"status\":\"INVALID_ARGUMENT\"}}"
        #expect(text == HTTPDesk.answer("400 Bad Request", "application/json; charset=UTF-8", json))
    }

    @Test("A project that would need escaping is refused (canary: a plain one is not)")
    func project() throws {
        let desk = HTTPDesk()
        desk.send(create("{}", project: "a%22b"))
        let text = desk.taken()
        #expect(text.hasPrefix("HTTP/1.1 400 "))
        desk.send(create("{}", project: "example.com:p"))
        try desk.install()
        let second = desk.taken()
        #expect(second.hasPrefix("HTTP/1.1 200 "))
    }

    private static func token(_ purpose: InstallationToken.Purpose) -> String {
        let token = InstallationToken(
            purpose: purpose, installation: Array("cGFzc3dvcmQ_aGVsbG8tdw".utf8), sender: HTTPDesk.sender,
            expiresAt: .max, mark: 1)
        return String(decoding: HTTPDesk.seal.text(of: token), as: UTF8.self)
    }

    @Test(
        "The installation of the path must be that of the token",
        arguments: [
            ("POST", "dGFzc3dvcmQ_aGVsbG8tdw/topicSubscriptions/news:subscribe", "403 Forbidden"),
            ("POST", "dGFzc3dvcmQ_aGVsbG8tdw/topicSubscriptions/news:unsubscribe", "403 Forbidden"),
            ("DELETE", "dGFzc3dvcmQ_aGVsbG8tdw", "404 Not Found"),
            ("DELETE", "cGFzc3dvcmQ_aGVsbG8tdw", ""),
        ])
    func path(method: String, rest: String, status: String) {
        let desk = HTTPDesk()
        desk.send(
            "\(method) /v1/projects/p/registrations/\(rest) HTTP/1.1\r\nHost: x\r\n"
                + "x-goog-firebase-installations-auth: \(Self.token(.access))\r\nContent-Length: 0\r\n\r\n")
        let answer = desk.taken()
        #expect(answer.hasPrefix(status.isEmpty ? "" : "HTTP/1.1 \(status)\r\n"), "\(answer)")
        #expect(desk.events.isEmpty != status.isEmpty, "canary: its own id is taken")
    }

    @Test(
        "The refresh token of one installation does nothing for another",
        arguments: [("POST", "/authTokens:generate"), ("DELETE", "")])
    func foreignRefresh(method: String, rest: String) {
        let desk = HTTPDesk()
        desk.send(
            "\(method) /v1/projects/p/installations/dGFzc3dvcmQ_aGVsbG8tdw\(rest) HTTP/1.1\r\nHost: x\r\n"
                + "Authorization: FIS_v2 \(Self.token(.refresh))\r\nContent-Length: 0\r\n\r\n")
        let answer = desk.taken()
        #expect(answer.hasPrefix("HTTP/1.1 404 Not Found\r\n"), "\(answer)")
        #expect(desk.events.isEmpty)
    }

    @Test(
        "Whose id is taken gets the tokens of the fresh one; who shows the refresh token of the id keeps both"
    )
    func taken() throws {
        let desk = HTTPDesk()
        let fid = "cGFzc3dvcmQ_aGVsbG8tdw"
        desk.send(create("{\"fid\":\"\(fid)\"}"))
        guard case .installation(_, .requested(let request))? = desk.events.last,
            case .create(let offer) = request.action
        else {
            Issue.record("\(desk.events)")
            return
        }
        let other = try #require(offer.other)
        #expect(request.installation == Array(fid.utf8) && other.id != request.installation)
        #expect(offer.shown == nil && offer.device == nil)
        desk.perform(
            .reply(
                requestID: request.requester.requestID,
                .installation(HTTPDesk.record(other.id, other.refresh), registrations: 0)))
        let fresh = try JSONValue(parsing: desk.taken().components("\r\n\r\n").1)
        #expect(fresh["fid"]?.text == String(decoding: other.id, as: UTF8.self))
        let token = try #require(fresh["refreshToken"]?.text)
        #expect(HTTPDesk.seal.installationToken(Array(token.utf8).raw)?.installation == other.id)
        desk.send(
            "POST /v1/projects/p/installations HTTP/1.1\r\nHost: x\r\nAuthorization: FIS_v2 \(Self.token(.refresh))\r\nContent-Length: 32\r\n\r\n{\"fid\":\"\(fid)\"}"
        )
        guard case .installation(_, .requested(let second))? = desk.events.last,
            case .create(let again) = second.action
        else {
            Issue.record("\(desk.events)")
            return
        }
        let digest = HTTPDesk.digest(Array(Self.token(.refresh).utf8))
        #expect(again.shown == digest)
        desk.perform(
            .reply(
                requestID: second.requester.requestID,
                .installation(HTTPDesk.record(second.installation, digest), registrations: 1)))
        let kept = try JSONValue(parsing: desk.taken().components("\r\n\r\n").1)
        #expect(kept["fid"]?.text == fid && kept["refreshToken"]?.text == Self.token(.refresh))
    }
}
