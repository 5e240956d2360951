import Basics
import Client
import ClientProtocol
import ClientSupport
import Testing
import Wire

@testable import Transport

/// Servers that never answer: each client gives them up after `Limits.Client.answerSeconds`.
@Suite("Deadlines of clients") struct ClientDeadlineTests {
    /// The client's end of the only connection, once it has sent something.
    private func connection(_ server: ScriptedServer, _ heard: () -> Int) throws -> Connection {
        #expect(server.reactor.turn(seconds: 10) { heard() > 0 })
        let all = server.reactor.connections.compactMap { $0 }
        return try #require(all.first { $0.delegate !== server })
    }

    private func expectDeadline(_ connection: Connection, since start: Instant, _ server: ScriptedServer) {
        let waited = connection.deadline.milliseconds(since: start)
        let most = server.reactor.now.monotonic.milliseconds(since: start)
        let whole = Int64(Limits.Client.answerSeconds) * 1_000
        #expect(waited >= whole && waited <= whole + most)
    }

    /// Reports the deadline as the reactor does when it has come.
    private func pass(_ connection: Connection) {
        connection.delegate?.connectionDeadline(connection, now: Now.read())
    }

    @Test("a device whose login is not answered gives up")
    func device() throws {
        var heard = 0
        let server = try ScriptedServer { _, _ in
            heard += 1
            return []
        }
        let client = DeviceClient(
            reactor: server.reactor, endpoint: server.endpoint, identity: DeviceBench.identity)
        var closed: CloseReason?
        client.onEvent = { _, event, _ in if case .closed(let reason, _) = event { closed = reason } }
        let start = Now.read().monotonic
        try client.connect()
        let connection = try connection(server) { heard }
        expectDeadline(connection, since: start, server)
        pass(connection)
        #expect(server.reactor.turn(seconds: 10) { closed != nil })
        #expect(closed == .loginDeadline)
    }

    @Test("a device that is logged in has no deadline without heartbeats")
    func idleDevice() throws {
        let script = DeviceScript(DeviceScript.greeting)
        let server = try ScriptedServer { script.respond($1) }
        let client = DeviceClient(
            reactor: server.reactor, endpoint: server.endpoint, identity: DeviceBench.identity)
        try client.connect()
        #expect(server.reactor.turn(seconds: 10) { client.isReady })
        #expect(try connection(server) { 1 }.deadline == .distantFuture)
    }

    @Test("an app server whose login is not answered gives up; one that is logged in has no deadline")
    func appServer() throws {
        var heard = 0
        let server = try ScriptedServer { _, _ in
            heard += 1
            return []
        }
        func client(_ server: ScriptedServer) -> AppServerClient {
            AppServerClient(
                reactor: server.reactor, endpoint: server.endpoint,
                login: AppServerLogin(sender: SenderID(1), key: Redacted([0x4B])))
        }
        let silent = client(server)
        var closed: CloseReason?
        silent.onEvent = { _, event, _ in if case .closed(let reason, _) = event { closed = reason } }
        let start = Now.read().monotonic
        try silent.connect()
        let first = try connection(server) { heard }
        expectDeadline(first, since: start, server)
        pass(first)
        #expect(server.reactor.turn(seconds: 10) { closed != nil })
        #expect(closed == .loginDeadline)

        let script = AppServerScript { _ in "" }
        let answering = try ScriptedServer { script.respond($1, $0) }
        let ready = client(answering)
        try ready.connect()
        #expect(answering.reactor.turn(seconds: 10) { ready.isReady })
        let second = try connection(answering) { 1 }
        #expect(second.deadline == .distantFuture)
        pass(second)
        #expect(ready.isReady)
    }

    @Test("a call that is not answered fails; an answered one leaves no deadline")
    func call() throws {
        var heard = 0
        let server = try ScriptedServer { _, _ in
            heard += 1
            return heard == 1 ? Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8) : []
        }
        let client = HTTPClient(reactor: server.reactor, endpoint: server.endpoint)
        _ = try client.answer(to: HTTPCall("GET", "/"))
        let connection = try connection(server) { heard }
        #expect(connection.deadline == .distantFuture)
        var failure: ClientError?
        let start = server.reactor.now.monotonic
        client.send(HTTPCall("GET", "/")) { if case .failure(let error) = $0 { failure = error } }
        #expect(server.reactor.turn(seconds: 10) { heard == 2 })
        expectDeadline(connection, since: start, server)
        pass(connection)
        #expect(failure != nil)
    }
}
