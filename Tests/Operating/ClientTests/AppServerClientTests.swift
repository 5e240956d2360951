import Basics
import Client
import ClientProtocol
import ClientSupport
import Testing
import Transport

/// An app server over a socket: when it may send, and when it reconnects.
@Suite struct AppServerClientTests {
    private static let message = Downstream(to: [0x54], messageID: [0x6D])
    private static let ack = AppServerScript.answer("{\"message_type\":\"ack\",\"message_id\":\"m\"}")

    private func newClient(_ server: ScriptedServer) -> AppServerClient {
        AppServerClient(
            reactor: server.reactor, endpoint: server.endpoint,
            login: AppServerLogin(sender: SenderID(1), key: Redacted([0x4B])))
    }

    @Test("A client has one connection, and sends on it from login until its end")
    func ready() throws {
        let script = AppServerScript { _ in Self.ack }
        let server = try ScriptedServer { script.respond($1, $0) }
        let client = newClient(server)
        var early: [Bool] = []
        script.onTurn = { _ in early.append(client.isReady || client.send(Self.message)) }
        try client.connect()
        try client.connect()
        #expect(server.reactor.turn(seconds: 10) { client.isReady })
        #expect(server.accepted == 1)
        #expect(early == [false, false, false, false])
        script.onTurn = { _ in }
        #expect(client.send(Self.message) && client.outstanding == 1)
        #expect(server.reactor.turn(seconds: 10) { client.outstanding == 0 })
        client.abort()
        #expect(server.reactor.turn(seconds: 10) { !client.isConnected })
        #expect(!client.isReady && !client.send(Self.message))
    }

    @Test("A client with reconnects logs in again after a loss")
    func again() throws {
        let script = AppServerScript { _ in nil }
        let server = try ScriptedServer { script.respond($1, $0) }
        let client = newClient(server)
        client.reconnects = true
        var ready = 0
        var acknowledged = 0
        client.onEvent = { client, event, _ in
            switch event {
            case .ready:
                ready += 1
                client.send(Self.message)
            case .acknowledged: acknowledged += 1
            case .closed: script.answer = { _ in Self.ack }
            default: break
            }
        }
        try client.connect()
        #expect(server.reactor.turn(seconds: 10) { acknowledged == 1 })
        #expect(ready == 2 && server.accepted == 2)
        client.abort()
        #expect(server.reactor.turn(seconds: 10) { !client.isConnected })
    }

    @Test("A client does not reconnect after end or abort, not even while it waits for the next attempt")
    func ended() throws {
        let script = AppServerScript { $0 == "</stream:stream>" ? "</stream:stream>" : nil }
        let server = try ScriptedServer { script.respond($1, $0) }
        let endings: [(AppServerClient) -> Void] = [
            { $0.end() }, { $0.abort() }, { $0.send(Self.message) },
        ]
        for (at, ending) in endings.enumerated() {
            let client = newClient(server)
            client.reconnects = true
            client.onEvent = { client, event, _ in if case .ready = event { ending(client) } }
            try client.connect()
            let before = server.accepted
            #expect(server.reactor.turn(seconds: 10) { server.accepted > before && !client.isConnected })
            // The last one is now waiting for its next attempt.
            if at == 2 { client.end() }
        }
        let isBack = server.reactor.turn(seconds: 1) { server.accepted > endings.count }
        #expect(!isBack)
    }
}
