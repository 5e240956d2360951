import Basics
import Client
import ClientProtocol
import ClientSupport
import Testing
import Wire

@testable import Transport

/// A client with servers that close, abort, or send malformed answers.
@Suite struct HTTPClientEdgeTests {
    private func ok(_ body: String, _ header: String = "") -> [UInt8] {
        Array("HTTP/1.1 200 OK\r\n\(header)Content-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8)
    }

    /// The open connections of a server's reactor.
    private func open(_ server: ScriptedServer) -> [Connection] {
        server.reactor.connections.compactMap { $0 }.filter(\.isOpen)
    }

    /// Closes the connections of a server once its current output is sent.
    private func endSoon(_ server: ScriptedServer) {
        let reactor = server.reactor
        reactor.schedule(at: reactor.now.monotonic.advanced(milliseconds: 1)) { [self, unowned server] _ in
            for connection in open(server) where connection.delegate === server {
                connection.close(.responseComplete)
            }
        }
    }

    private func answer(_ client: HTTPClient, _ method: String = "GET") throws(ClientError) -> HTTPAnswer {
        try client.answer(to: HTTPCall(method, "/"), seconds: 10)
    }

    @Test("The Host header is the name of the server, if it has one")
    func host() throws {
        let server = try ScriptedServer { [self] _, request in
            ok(String(decoding: request, as: UTF8.self))
        }
        let endpoint = Endpoint(address: server.address, serverName: "push.example", tls: nil)
        let client = HTTPClient(reactor: server.reactor, endpoint: endpoint)
        #expect(try answer(client).text == "GET / HTTP/1.1\r\nHost: push.example\r\n\r\n")
        let other = HTTPClient(reactor: server.reactor, endpoint: server.endpoint)
        #expect(try answer(other).text == "GET / HTTP/1.1\r\nHost: \(server.address)\r\n\r\n")
    }

    @Test("The answer to HEAD has no body even if it has a Content-Length")
    func head() throws {
        let server = try ScriptedServer { [self] _, request in
            request.first == UInt8(ascii: "H")
                ? Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n".utf8) : ok("fine")
        }
        let client = HTTPClient(reactor: server.reactor, endpoint: server.endpoint)
        #expect(try answer(client, "HEAD").body.isEmpty)
        #expect(try answer(client).text == "fine")
        #expect(server.accepted == 1)
    }

    @Test("After an answer that closes, waiting calls use another connection")
    func closing() throws {
        let server = try ScriptedServer { [self] _, _ in ok("fine", "Connection: close\r\n") }
        let client = HTTPClient(reactor: server.reactor, endpoint: server.endpoint)
        var answers: [String] = []
        for _ in 0..<3 {
            client.send(HTTPCall("GET", "/")) { answers.append((try? $0.get().text) ?? "failed") }
        }
        #expect(server.reactor.turn(seconds: 10) { answers.count == 3 })
        #expect(answers == ["fine", "fine", "fine"] && server.accepted == 3)
    }

    @Test("A body may end with the connection")
    func endedBody() throws {
        let server = try ScriptedServer { [self] server, _ in
            endSoon(server)
            return Array("HTTP/1.1 200 OK\r\n\r\nfine".utf8)
        }
        let client = HTTPClient(reactor: server.reactor, endpoint: server.endpoint)
        #expect(try answer(client).text == "fine")
    }

    @Test("A truncated answer is an error, and does not affect the next one")
    func half() throws {
        var seen = 0
        let server = try ScriptedServer { [self] server, _ in
            seen += 1
            guard seen == 1 else { return ok("fine") }
            endSoon(server)
            return Array("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf".utf8)
        }
        let client = HTTPClient(reactor: server.reactor, endpoint: server.endpoint)
        #expect(throws: ClientError.self) { try answer(client) }
        #expect(try answer(client).text == "fine")
        #expect(server.accepted == 2)
    }

    @Test("The connection is closed after a malformed answer")
    func nonsense() throws {
        var seen = 0
        let server = try ScriptedServer { [self] _, _ in
            seen += 1
            return seen == 1 ? Array("nonsense\r\n\r\n".utf8) : ok("fine")
        }
        let client = HTTPClient(reactor: server.reactor, endpoint: server.endpoint)
        #expect(throws: ClientError.self) { try answer(client) }
        #expect(try answer(client).text == "fine")
        #expect(server.accepted == 2)
    }

    /// The number of connections other than the listening socket's.
    private func clients(_ server: ScriptedServer) -> Int {
        open(server).count { $0.delegate !== server }
    }

    @Test("Enrolment checks in with the identity it has, and leaves no connection", arguments: [true, false])
    func enrolment(isKnown: Bool) throws {
        var asked: [UInt8] = []
        let server = try ScriptedServer { [self] _, request in
            let text = String(decoding: request, as: UTF8.self)
            guard text.hasPrefix("POST /checkin ") else { return ok(isKnown ? "token=abc" : "Error=NO") }
            guard let end = text.firstRange(of: "\r\n\r\n") else { return nil }
            asked = Array(request.dropFirst(text[..<end.upperBound].utf8.count))
            var body = ByteBuffer()
            CheckInResponse(time: 1, androidID: 5, securityToken: 6).append(to: &body)
            return Array("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body.copied()
        }
        let identity = DeviceIdentity(androidID: 5, securityToken: Redacted(6))
        let outcome = Result { () throws(ClientError) in
            try DeviceEnrolment.run(
                isKnown ? identity : nil, DeviceCalls.App(category: "a", sender: "1"),
                reactor: server.reactor, endpoint: server.endpoint)
        }
        let token = try? outcome.get().token
        #expect(token == (isKnown ? "abc" : nil))
        let request = try CheckInRequest(decoding: asked.raw)
        #expect(request.androidID == (isKnown ? 5 : 0) && request.securityToken == (isKnown ? 6 : 0))
        #expect(server.reactor.turn(seconds: 10) { clients(server) == 0 })
    }
}
