import Basics
import Delivery
import HTTP2Peer
import Testing
import Wire

@testable import Sessions

/// What web pages of other origins may call, and what browsers learn of it (Fetch, 3.2 and 3.3).
@Suite struct CrossOriginTests {
    private static let page = "https://app.example.com"

    /// A path of an endpoint, with values for its parameters.
    private static func path(_ endpoint: HTTPEndpoint) -> String {
        endpoint.path.replacing("{project}", with: "p").replacing("{topic}", with: "news")
            .replacing("{installation}", with: "dGFzc3dvcmQ_aGVsbG8tdw").replacing(
                "{registration}", with: "r"
            )
            .replacing("{token}", with: "t").replacing("{bundle}", with: "b").replacing(
                "{account}", with: "a")
    }

    private static func preflight(_ path: String, _ method: String, from origin: String? = page) -> String {
        "OPTIONS \(path) HTTP/1.1\r\nHost: ccsd\r\n" + (origin.map { "Origin: \($0)\r\n" } ?? "")
            + "Access-Control-Request-Method: \(method)\r\nAccess-Control-Request-Headers: x-goog-api-key\r\n\r\n"
    }

    /// Sends a request to a session with these origins. Returns the head of the answer, in lower case.
    private static func head(_ request: String, _ origins: [String] = ["*"]) -> String {
        let harness = HTTPHarness { $0.pageOrigins = PageOrigins(origins) }
        harness.send(request)
        return String(harness.takeSent().lowercased().prefix { $0 != "{" })
    }

    @Test(
        "A preflight to each service for devices and web push permits its method, and asks for no credential")
    func preflights() {
        let endpoints = HTTPEndpoint.services.filter(\.isForPages)
        #expect(endpoints.count == 16)
        for endpoint in endpoints {
            let head = Self.head(Self.preflight(Self.path(endpoint), endpoint.method.rawValue))
            #expect(head.hasPrefix("http/1.1 200 ok\r\n"), "\(endpoint.path)")
            #expect(head.contains("\r\naccess-control-allow-origin: *\r\n"), "\(endpoint.path)")
            #expect(
                head.contains("access-control-max-age: 3600\r\n") && head.contains("content-length: 0\r\n"))
            let methods = head.split(separator: "\r\n").first { $0.hasPrefix("access-control-allow-methods") }
            #expect(methods?.contains(endpoint.method.rawValue.lowercased()) == true, "\(endpoint.path)")
            #expect(!head.contains("allow-credentials") && !head.contains("vary:"))
            for name in [
                "authorization", "x-goog-api-key", "x-firebase-client", "x-goog-firebase-installations-auth",
                "content-type", "ttl", "*",
            ] {
                #expect(head.contains(" \(name),") || head.contains(" \(name)\r\n"), "\(name)")
            }
        }
    }

    @Test("The interfaces for app servers answer no preflight, and permit no page to read their answers")
    func appServers() {
        let endpoints = HTTPEndpoint.services.filter { !$0.isForPages }
        #expect(
            endpoints.contains { $0.action == .sendMessage }
                && endpoints.contains { $0.action == .legacySend })
        for endpoint in endpoints {
            let path = Self.path(endpoint)
            let head = Self.head(Self.preflight(path, endpoint.method.rawValue))
            #expect(head.hasPrefix("http/1.1 405 ") && !head.contains("access-control"), "\(path)")
            let refused = Self.head(
                "\(endpoint.method.rawValue) \(path) HTTP/1.1\r\nHost: ccsd\r\nOrigin: \(Self.page)\r\n"
                    + "Content-Length: 0\r\n\r\n")
            #expect(!refused.contains("access-control"), "\(path)")
        }
    }

    @Test("A page may read an answer, a refusal, an answer that comes later and one that times out")
    func answers() throws {
        let origin = "Origin: \(Self.page)\r\n"
        let harness = HTTPHarness()
        harness.send(
            HTTPHarness.register("app=a.b&device=600000000000000001&sender=123", headers: origin))
        harness.perform(.reply(requestID: 1, .registered(TokenName(HTTPSessionTests.name(1)))))
        let later = harness.takeSent()
        #expect(later.contains("Access-Control-Allow-Origin: *\r\nAccess-Control-Expose-Headers: Location"))
        harness.send(
            HTTPHarness.register("app=a.b&device=600000000000000001&sender=123", headers: origin))
        harness.pass(seconds: Limits.HTTP.answerDeadlineSeconds + 1)
        let late = harness.takeSent()
        #expect(!late.isEmpty && late.contains("Access-Control-Allow-Origin: *\r\n"))
        for (request, status) in [
            ("POST /v1/projects/p/installations HTTP/1.1\r\nContent-Length: 2\r\n\(origin)\r\n{]", "400"),
            ("POST /v1/projects/p/registrations HTTP/1.1\r\nContent-Length: 2\r\n\(origin)\r\n{}", "400"),
            ("GET /v1/projects/p/registrations HTTP/1.1\r\n\(origin)\r\n", "405"),
            ("POST /fcm/send/no-token HTTP/1.1\r\nContent-Length: 0\r\n\(origin)\r\n", "4"),
        ] {
            let head = Self.head(request.replacing("HTTP/1.1\r\n", with: "HTTP/1.1\r\nHost: ccsd\r\n"))
            #expect(head.hasPrefix("http/1.1 \(status)"), "\(head)")
            #expect(head.contains("\r\naccess-control-allow-origin: *\r\n"), "\(request)")
        }
    }

    @Test("A page may also read the refusal of a request that was not read as a whole")
    func unread() {
        let path = "/v1/projects/p/registrations"
        let origin = "Host: ccsd\r\nOrigin: \(Self.page)\r\n"
        for (request, status) in [
            ("POST \(path) HTTP/1.1\r\n\(origin)Content-Length: 9999999\r\n\r\n", "413"),
            ("POST \(path) HTTP/1.1\r\n\(origin)Transfer-Encoding: chunked\r\n\r\nx\r\n", "400"),
            (
                "POST \(path) HTTP/1.1\r\n\(origin)A: \(String(repeating: "a", count: Limits.HTTP.requestHeadBytes))",
                "431"
            ),
            ("POST \(path) HTTP/1.1\r\n\(origin)TTL: 1\r\nTTL: 1\r\n\r\n", "400"),
        ] {
            let head = Self.head(request)
            #expect(head.hasPrefix("http/1.1 \(status)"), "\(head)")
            #expect(head.contains("\r\naccess-control-allow-origin: *\r\n"), "\(head)")
        }
        let harness = HTTPHarness()
        harness.send("POST \(path) HTTP/1.1\r\n\(origin)Content-Length: 9\r\n\r\n{")
        harness.pass(seconds: Limits.HTTP.requestDeadlineSeconds + 1)
        let late = harness.takeSent()
        #expect(late.hasPrefix("HTTP/1.1 408 ") && late.contains("Access-Control-Allow-Origin: *\r\n"))
    }

    @Test("A client that is no page gets the answer that it always got")
    func noPage() {
        let harness = HTTPHarness()
        harness.send(HTTPHarness.register("app=a.b&device=600000000000000001&sender=123"))
        harness.perform(.reply(requestID: 1, .registered(TokenName(HTTPSessionTests.name(1)))))
        #expect(!harness.takeSent().contains("Access-Control"))
        let plain = "OPTIONS /checkin HTTP/1.1\r\nHost: ccsd\r\n"
        #expect(Self.head(plain + "\r\n").hasPrefix("http/1.1 405 "))
        #expect(Self.head(plain + "Origin: \(Self.page)\r\n\r\n").hasPrefix("http/1.1 405 "), "no preflight")
    }

    @Test("Listed origins are repeated exactly, others are refused, and each answer varies by the origin")
    func listed() {
        let origins = [Self.page, "http://localhost:8080"]
        func asked(_ origin: String?) -> String {
            Self.head(Self.preflight("/v1/projects/p/installations", "POST", from: origin), origins)
        }
        for origin in origins {
            let head = asked(origin)
            #expect(head.hasPrefix("http/1.1 200 ok") && head.contains("vary: origin\r\n"))
            #expect(
                head.contains(
                    "access-control-allow-origin: \(origin)\r\naccess-control-allow-methods: post\r\n"))
        }
        for origin in [
            "https://app.example.com:444", "http://app.example.com", "https://evil.example", "null",
        ] {
            let head = asked(origin)
            #expect(head.hasPrefix("http/1.1 403 ") && head.contains("vary: origin\r\n"), "\(origin)")
            #expect(!head.contains("access-control"), "\(origin)")
            #expect(head.contains("invalid origin: expected one of the origins in cors_origins"))
        }
        let refused = Self.head(
            "POST /v1/projects/p/registrations HTTP/1.1\r\nHost: ccsd\r\nContent-Length: 2\r\n\r\n{}", origins
        )
        #expect(refused.contains("vary: origin\r\n") && !refused.contains("access-control"))
    }

    @Test("With no origins a preflight is an unknown method, and answers permit nothing")
    func none() {
        let head = Self.head(Self.preflight("/v1/projects/p/installations", "POST"), [])
        #expect(head.hasPrefix("http/1.1 405 ") && !head.contains("access-control") && !head.contains("vary"))
    }

    @Test("Over HTTP/2 preflights and refusals are answered alike")
    func http2() {
        let scene = HTTP2Scene()
        scene.send(
            HTTP2Frames.headers(
                1,
                HTTP2Frames.request(
                    "OPTIONS", "/v1/projects/p/installations",
                    [("origin", Self.page), ("access-control-request-method", "POST")]), ends: true))
        scene.send(
            HTTP2Frames.headers(
                3, HTTP2Frames.request("POST", "/v1/projects/p/registrations", [("origin", Self.page)]))
                + HTTP2Frames.data(3, Array("{}".utf8), ends: true))
        for (stream, status) in [(1, "200"), (3, "400")] as [(UInt32, String)] {
            let answer = scene.peer.answers[stream]
            #expect(answer?.status == status)
            #expect(answer?.headers["access-control-allow-origin"] == "*", "\(String(describing: answer))")
        }
    }
}
