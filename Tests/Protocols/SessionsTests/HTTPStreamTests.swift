import Basics
import Testing
import Wire

@testable import Sessions

/// Requests that the host answers: at once, much later, or with a stream that ends with the connection.
@Suite struct HTTPStreamTests {
    private static let prefix = "/operator/v1"

    private func bench() -> HTTPHarness {
        HTTPHarness(isAdministrative: true, hostPrefixes: [Self.prefix])
    }

    private func get(_ path: String, _ headers: String = "") -> String {
        "GET \(path) HTTP/1.1\r\nHost: localhost\r\n\(headers)\r\n"
    }

    private static func isOperation(_ page: HostRequest?) -> Bool {
        if case .operation? = page?.question { true } else { false }
    }

    @Test("requests below the prefix are the host's, with all of their headers; others are not")
    func routing() throws {
        let bench = bench()
        bench.send(get("/operator/v1/status?a=b", "Authorization: Bearer x\r\n"))
        let page = try #require(bench.pages.first)
        #expect(Self.isOperation(page) && bench.sent.isEmpty)
        #expect(page.request?.header("authorization") == Array("Bearer x".utf8))
        #expect(page.request?.query == Array("a=b".utf8))
        let off = HTTPHarness(isAdministrative: true)
        off.send(get("/operator/v1/status"))
        #expect(off.pages.isEmpty && off.sent.hasPrefix("HTTP/1.1 404"))
        let services = HTTPHarness()
        services.send(get("/operator/v1/status"))
        #expect(services.pages.isEmpty && services.sent.hasPrefix("HTTP/1.1 404"), "not on the public port")
    }

    @Test("the host may take as long as it needs for an answer")
    func patience() throws {
        let bench = bench()
        bench.send(get("/operator/v1/backup"))
        bench.pass(seconds: 3_000)
        #expect(bench.sent.isEmpty && bench.close == nil)
        bench.answerPage(try #require(bench.pages.first).requestID, "{}")
        #expect(bench.sent.hasPrefix("HTTP/1.1 200") && bench.close == nil)
    }

    @Test("a stream has no length, and ends with the connection")
    func stream() throws {
        let bench = bench()
        bench.send(get("/operator/v1/top/stream"))
        let id = try #require(bench.pages.first).requestID
        bench.stream(id, "one\n")
        let head = bench.takeSent()
        #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n") && head.hasSuffix("\r\n\r\none\n"))
        #expect(
            head.contains("Content-Type: text/event-stream\r\n") && head.contains("Connection: close\r\n"))
        #expect(!head.contains("Content-Length") && !head.contains("Transfer-Encoding"))
        bench.pass(seconds: 3_000)
        bench.stream(id, "two\n")
        #expect(bench.takeSent() == "two\n" && bench.close == nil && bench.isReading)
        bench.stream(id, "three\n", isLast: true)
        #expect(bench.takeSent() == "three\n" && bench.close == .responseComplete)
        #expect(bench.responses.map(\.status) == [.ok])
        bench.stream(id, "four\n")
        #expect(bench.sent.isEmpty, "nothing follows the end")
    }

    @Test("answers before a stream come first, and requests behind it are not read")
    func order() throws {
        let bench = bench()
        bench.send(get("/operator/v1/a") + get("/operator/v1/b"))
        let ids = bench.pages.map(\.requestID)
        bench.stream(ids[1], "stream")
        #expect(bench.sent.isEmpty)
        bench.send(get("/operator/v1/c") + "GET /operator/v1/")
        #expect(bench.pages.count == 2)
        bench.answerPage(ids[0], "first")
        let sent = bench.takeSent()
        #expect(sent.contains("first") && sent.hasSuffix("stream"))
        for _ in 0..<5 { bench.pass(seconds: 40) }
        #expect(
            bench.sent.isEmpty && bench.close == nil, "an incomplete request behind a stream has no deadline")
        #expect(bench.session.deadline > bench.now.monotonic)
    }

    @Test("a congested stream is written once the peer reads again")
    func congestion() throws {
        let bench = bench()
        bench.send(get("/operator/v1/a"))
        let id = try #require(bench.pages.first).requestID
        bench.stream(id, "one")
        bench.congested(true)
        _ = bench.takeSent()
        bench.stream(id, "two", isLast: true)
        #expect(bench.sent.isEmpty && bench.close == nil)
        bench.congested(false)
        #expect(bench.sent == "two" && bench.close == .responseComplete)
    }

    @Test("a long body is read only if the host admits the request by its head", arguments: [true, false])
    func longBody(isAdmitted: Bool) throws {
        let bench = bench()
        var heads = 0
        bench.checkHeads { head in
            heads += 1
            return isAdmitted && head.header("authorization") != nil
        }
        let size = Limits.OperatorAPI.unauthenticatedBodyBytes
        let head =
            "POST /operator/v1/import HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer x\r\nContent-Length: \(3 * size)\r\n\r\n"
        bench.send(head + String(repeating: " ", count: size))
        #expect(heads == 0 && bench.close == nil, "a short part is read without a check")
        bench.send(" ")
        #expect(heads == 1)
        guard isAdmitted else {
            #expect(bench.sent.hasPrefix("HTTP/1.1 413") && bench.close == .tooLarge && bench.pages.isEmpty)
            return
        }
        bench.send(String(repeating: " ", count: 2 * size - 1))
        #expect(heads == 1 && bench.pages.first?.request?.body.count == 3 * size)
    }
}
