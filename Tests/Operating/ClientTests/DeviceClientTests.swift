import Basics
import Client
import ClientProtocol
import ClientSupport
import Testing
import Transport
import Wire

/// A device over a socket: what it retains across connections, and when it reconnects.
@Suite struct DeviceClientTests {
    private func newClient(_ server: ScriptedServer, received: [[UInt8]] = []) -> DeviceClient {
        DeviceClient(
            reactor: server.reactor, endpoint: server.endpoint, identity: DeviceBench.identity,
            received: received)
    }

    private func message(_ id: [UInt8]) -> Upstream {
        Upstream(sender: SenderID(1), category: [0x61], messageID: [0x6D], persistentID: id)
    }

    @Test("A device has one connection, and is ready from login until its end")
    func ready() throws {
        let script = DeviceScript(DeviceScript.greeting)
        let server = try ScriptedServer { script.respond($1) }
        let client = newClient(server)
        try client.connect()
        try client.connect()
        #expect(!client.isReady)
        #expect(server.reactor.turn(seconds: 10) { client.isReady })
        #expect(server.accepted == 1)
        client.abort()
        #expect(server.reactor.turn(seconds: 10) { !client.isConnected })
        #expect(!client.isReady)
    }

    @Test("A message is sent immediately if possible; only one with an ID waits to be stored")
    func upstream() throws {
        let script = DeviceScript(DeviceScript.greeting)
        let server = try ScriptedServer { script.respond($1) }
        let client = newClient(server)
        try client.connect()
        #expect(server.reactor.turn(seconds: 10) { client.isReady })
        client.send(message([]))
        #expect(client.waitingUpstream == 0)
        client.send(message([0x70]))
        #expect(client.waitingUpstream == 1)
        #expect(server.reactor.turn(seconds: 10) { script.messages.count == 2 })
        #expect(script.messages.map(\.persistentID) == [nil, [0x70]])
        client.close()
    }

    @Test("A message that the server refuses is not sent again at the next login")
    func refused() throws {
        let script = DeviceScript { frame in
            guard case .dataMessage(let sent) = frame else { return DeviceScript.greeting(frame) }
            let pairs = [
                ("message_type", "send_error"),
                ("message_id", String(decoding: sent.id ?? [], as: UTF8.self)),
            ]
            return [.dataMessage(DeviceScript.message("", pairs))]
        }
        let server = try ScriptedServer { script.respond($1) }
        let client = newClient(server)
        try client.connect()
        #expect(server.reactor.turn(seconds: 10) { client.isReady })
        client.send(message([0x70]))
        #expect(client.waitingUpstream == 1)
        #expect(server.reactor.turn(seconds: 10) { client.waitingUpstream == 0 })
        client.close()
    }

    @Test("The idle state is reported at login, and immediately when it changes")
    func idle() throws {
        let script = DeviceScript(DeviceScript.greeting)
        let server = try ScriptedServer { script.respond($1) }
        let client = newClient(server)
        client.setIdle(true)
        try client.connect()
        #expect(server.reactor.turn(seconds: 10) { client.isReady })
        #expect(script.logins.map(\.status) == [1])
        client.setIdle(false)
        #expect(server.reactor.turn(seconds: 10) { script.heartbeats == 1 })
        guard case .heartbeatPing(let sign)? = script.frames.last else {
            Issue.record("\(script.frames)")
            return
        }
        #expect(sign.status == 0)
        client.close()
    }

    @Test("Heartbeats are sent automatically at their interval")
    func heartbeats() throws {
        let script = DeviceScript(DeviceScript.greeting)
        let server = try ScriptedServer { script.respond($1) }
        let client = newClient(server)
        client.heartbeatSeconds = 1
        try client.connect()
        #expect(server.reactor.turn(seconds: 20) { script.heartbeats == 2 })
        client.close()
    }

    @Test("A device with replays lists all received IDs once at each login")
    func replays() throws {
        let id = Array("p".utf8)
        let script = DeviceScript { frame in
            guard case .loginRequest = frame else { return nil }
            let message = DeviceScript.message("p")
            return [
                .loginResponse(MCS.LoginResponse()), .dataMessage(message), .dataMessage(message),
            ]
        }
        let server = try ScriptedServer { script.respond($1) }
        let client = newClient(server, received: [[1]])
        client.replays = true
        client.reconnects = true
        try client.connect()
        #expect(server.reactor.turn(seconds: 10) { script.logins.count == 2 })
        #expect(script.logins.map(\.receivedIDs) == [[[1]], [[1], id]])
        #expect(client.unconfirmed == [[1], id])
        client.abort()
        #expect(server.reactor.turn(seconds: 10) { !client.isConnected })
    }

    @Test("A device that was closed or refused does not reconnect")
    func ended() throws {
        let script = DeviceScript(DeviceScript.greeting)
        let server = try ScriptedServer { script.respond($1) }
        // The last one loses its connection, and is closed while it waits for the next attempt.
        let endings: [(DeviceClient) -> Void] = [
            { $0.close() }, { $0.abort() }, { _ in }, { $0.dropConnection() },
        ]
        for (at, ending) in endings.enumerated() {
            script.answer = { frame in
                guard at == 2 else { return DeviceScript.greeting(frame) }
                var response = MCS.LoginResponse()
                response.error = MCS.ErrorInfo(code: 401)
                return [.loginResponse(response)]
            }
            let client = newClient(server)
            client.reconnects = true
            client.onEvent = { client, event, _ in if case .loggedIn = event { ending(client) } }
            try client.connect()
            let before = server.accepted
            #expect(server.reactor.turn(seconds: 10) { server.accepted > before && !client.isConnected })
            if at == 3 { client.close() }
        }
        let isBack = server.reactor.turn(seconds: 1) { server.accepted > endings.count }
        #expect(!isBack)
    }

    @Test("A device that is asked to reconnect waits first")
    func asked() throws {
        let script = DeviceScript { frame in
            guard case .loginRequest = frame else { return [] }
            return [.loginResponse(MCS.LoginResponse()), .close(MCS.Close())]
        }
        let server = try ScriptedServer { script.respond($1) }
        let client = newClient(server)
        client.reconnects = true
        var closed: Instant?
        client.onEvent = { _, event, now in
            if case .closed = event, closed == nil { closed = now.monotonic }
        }
        try client.connect()
        #expect(server.reactor.turn(seconds: 20) { script.logins.count == 2 })
        let end = try #require(closed)
        let waited = server.reactor.now.monotonic.milliseconds(since: end)
        #expect(waited >= Limits.Client.reconnectAfterCloseMilliseconds)
        client.abort()
        #expect(server.reactor.turn(seconds: 10) { !client.isConnected })
    }
}
