import Basics
import Testing

@testable import Transport

/// A listener without TLS that greets, and passes all bytes on to the TLS listener of a loopback and back: to a client, a server whose
/// TLS starts after its greeting.
private final class GreetingServer {
    let loop: Loopback
    let address: SocketAddress
    private let front = Recorder()
    private let back = Recorder()

    init() throws {
        loop = try Loopback()
        loop.server.onBytes = { $0.send($1) }
        let socket = try ListeningSocket(tcp: .loopback(port: 0))
        address = socket.address
        let (front, back, reactor, target) = (front, back, loop.reactor, loop.address)
        try reactor.listen(on: socket, name: "greeting", tls: nil) { _ in front }
        front.onOpen = { connection in
            connection.send("hello")
            let upstream = try? reactor.connect(to: target, delegate: back)
            front.onBytes = { upstream?.send($1) }
            back.onBytes = { connection.send($1) }
        }
    }
}

@Suite struct UpgradeTests {
    @Test("TLS starts on a connection that was open without it, and the connection opens again")
    func upgrade() throws {
        let server = try GreetingServer()
        let owner = Recorder()
        let trusted = try #require(server.loop.client)
        owner.onBytes = { connection, bytes in
            guard connection.isPlain else { return }
            #expect(bytes == Array("hello".utf8))
            #expect(throws: Never.self) { try connection.startTLS(trusted) }
        }
        let connection = try server.loop.reactor.connect(to: server.address, delegate: owner)
        #expect(server.loop.reactor.turns { owner.opened == 2 })
        #expect(connection.tlsVersion == "TLSv1.3" && connection.isOpen)
        connection.send("secret")
        #expect(server.loop.reactor.turns { owner.received == Array("hellosecret".utf8) })
        #expect(server.loop.server.received == Array("secret".utf8))
    }

    @Test("a certificate that is not trusted, or for another name, ends the connection")
    func untrusted() throws {
        let server = try GreetingServer()
        let scratch = try Scratch()
        let stranger = try scratch.authority()
        let cases = [
            (try TLSClientSettings(trust: .file(stranger.authorityFile)), "127.0.0.1"),
            (try #require(server.loop.client), "other.example"),
        ]
        for (settings, name) in cases {
            let owner = Recorder()
            owner.onBytes = { connection, _ in
                #expect(throws: Never.self) { try connection.startTLS(settings, serverName: name) }
            }
            _ = try server.loop.reactor.connect(to: server.address, delegate: owner)
            #expect(server.loop.reactor.turns { !owner.closed.isEmpty })
            #expect(owner.closed == [.handshakeFailed] && owner.opened == 1)
        }
    }

    @Test("a peer that does not answer the handshake is given up at the deadline")
    func silentPeer() throws {
        let loop = try Loopback(tls: false)
        var pace = PaceSettings.outgoing
        pace.handshakeMilliseconds = 200
        let owner = Recorder()
        let connection = try loop.reactor.connect(to: loop.address, pace: pace, delegate: owner)
        #expect(loop.reactor.turns { owner.opened == 1 })
        try connection.startTLS(try TLSClientSettings(trust: .anyone))
        #expect(loop.reactor.turns { !owner.closed.isEmpty })
        #expect(owner.closed == [.handshakeDeadline])
    }

    @Test("names are looked up on other threads, and reported in turns of the reactor")
    func lookups() throws {
        let reactor = try Reactor(index: 0)
        var found: [String: Result<[SocketAddress], TransportError>] = [:]
        for name in ["127.0.0.1", "localhost", "no-such-host.invalid"] {
            reactor.lookUp(name, port: 7) { found[name] = $0 }
        }
        #expect(found.isEmpty)
        #expect(reactor.turns { found.count == 3 })
        #expect(try found["127.0.0.1"]?.get() == [.loopback(port: 7)])
        #expect(try found["localhost"]?.get().contains { $0.port == 7 } == true)
        #expect(throws: TransportError.self) { try found["no-such-host.invalid"]?.get() }
        #expect(reactor.lookups.isEmpty)
        reactor.end()
    }
}
