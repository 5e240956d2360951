import Basics
import Client
import ClientProtocol
import ClientSupport
import Testing
import Transport
import Wire

@Suite struct LoopbackTests {
    private func ok(_ body: String) -> [UInt8] {
        Array("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8)
    }

    @Test("Requests use one connection, one after the other")
    func requests() throws {
        let server = try ScriptedServer { [self] _, request in
            ok(String(decoding: request.prefix { $0 != 0x0D }, as: UTF8.self))
        }
        let client = HTTPClient(reactor: server.reactor, endpoint: server.endpoint)
        #expect(try client.answer(to: HTTPCall("GET", "/a")).text == "GET /a HTTP/1.1")
        #expect(try client.answer(to: HTTPCall("GET", "/b")).text == "GET /b HTTP/1.1")
        #expect(server.accepted == 1)
    }

    @Test("A reused connection that the server closes is reopened; a new one is not")
    func reopened() throws {
        var seen = 0
        let server = try ScriptedServer { [self] _, _ in
            seen += 1
            return seen == 2 ? nil : ok("fine")
        }
        let client = HTTPClient(reactor: server.reactor, endpoint: server.endpoint)
        #expect(try client.answer(to: HTTPCall("GET", "/")).text == "fine")
        #expect(try client.answer(to: HTTPCall("GET", "/")).text == "fine")
        #expect(server.accepted == 2)
        let silent = try ScriptedServer { _, _ in nil }
        let other = HTTPClient(reactor: silent.reactor, endpoint: silent.endpoint)
        #expect(throws: ClientError.self) { try other.answer(to: HTTPCall("GET", "/")) }
        #expect(silent.accepted == 1)
    }

    @Test("Enrolment checks in, registers and returns the token")
    func enrolment() throws {
        let server = try ScriptedServer { [self] _, request in
            let text = String(decoding: request, as: UTF8.self)
            guard text.hasPrefix("POST /checkin ") else { return ok("token=abc") }
            var body = ByteBuffer()
            CheckInResponse(time: 1, androidID: 5, securityToken: 6).append(to: &body)
            return Array("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body.copied()
        }
        let outcome = try DeviceEnrolment.run(
            nil, DeviceCalls.App(category: "a", sender: "1"), reactor: server.reactor,
            endpoint: server.endpoint)
        #expect(outcome.token == "abc" && outcome.identity.androidID == 5)
        #expect(outcome.identity.securityToken.revealed == 6)
    }

    @Test("A refused registration is reported (canary for the case above)")
    func refused() throws {
        let server = try ScriptedServer { [self] _, _ in ok("Error=INVALID_SENDER") }
        #expect(throws: ClientError.self) {
            try DeviceEnrolment.run(
                nil, DeviceCalls.App(category: "a", sender: "1"), reactor: server.reactor,
                endpoint: server.endpoint)
        }
    }

    @Test("An app server logs in over a socket, sends, receives its ack, and ends gracefully")
    func appServer() throws {
        var turn = 0
        let server = try ScriptedServer { _, _ in
            turn += 1
            let ack = "{\"message_type\":\"ack\",\"from\":\"T\",\"message_id\":\"m\"}"
            let answers = [
                AppServerScript.header + AppServerScript.mechanisms, AppServerScript.success,
                AppServerScript.header + AppServerScript.features, AppServerScript.bound,
                AppServerScript.answer(ack), "</stream:stream>",
            ]
            return Array(answers[min(turn, answers.count) - 1].utf8)
        }
        let client = AppServerClient(
            reactor: server.reactor, endpoint: server.endpoint,
            login: AppServerLogin(sender: SenderID(1), key: Redacted([0x4B])))
        var received: [String] = []
        client.onEvent = { client, event, _ in
            switch event {
            case .ready:
                received.append("ready")
                client.send(Downstream(to: [0x54], messageID: [0x6D]))
            case .acknowledged:
                received.append("acknowledged")
                client.end()
            case .closed: received.append("closed")
            default: break
            }
        }
        try client.connect()
        let isDone = server.reactor.turn(seconds: 10) { received.last == "closed" }
        #expect(isDone && received == ["ready", "acknowledged", "closed"])
    }

    @Test("A device sends waiting messages after each login until they are stored")
    func device() throws {
        var frames = 0
        let server = try ScriptedServer { server, bytes in
            // The first connection answers the login, and is closed when the message arrives.
            if server.accepted == 1, bytes[0] != MCS.version { return nil }
            var out = ByteBuffer()
            if bytes[0] == MCS.version {
                out.append(byte: MCS.version)
                MCS.LoginResponse().append(to: &out)
            } else {
                frames += 1
                MCS.IqStanza(.streamAck, lastStreamIDReceived: 2).append(to: &out)
            }
            return out.copied()
        }
        let client = DeviceClient(
            reactor: server.reactor, endpoint: server.endpoint, identity: DeviceBench.identity)
        client.reconnects = true
        var stored: [[UInt8]] = []
        client.onEvent = { _, event, _ in
            if case .upstreamStored(let id, _) = event { stored.append(id) }
        }
        client.send(Upstream(sender: SenderID(1), category: [0x61], messageID: [0x6D], persistentID: [0x70]))
        try client.connect()
        #expect(server.reactor.turn(seconds: 10) { !stored.isEmpty })
        #expect(stored == [[0x70]] && client.waitingUpstream == 0)
        #expect(server.accepted == 2 && frames == 1)
        client.close()
    }

    @Test("A refused connection is reported")
    func nobody() throws {
        let reactor = try Reactor(index: 0)
        let socket = try ListeningSocket(tcp: .loopback(port: 0))
        let address = socket.address
        _ = consume socket
        let client = HTTPClient(reactor: reactor, endpoint: Endpoint(address: address, tls: nil))
        #expect(throws: ClientError.self) { try client.answer(to: HTTPCall("GET", "/")) }
    }
}
