import Basics
import Glibc
import Testing

@testable import Transport

/// Connections through a proxy.
@Suite struct ProxyTests {
    private static let header = Array("PROXY TCP4 192.0.2.1 198.51.100.2 56324 5235\r\n".utf8)
    private static let client = SocketAddress.ipv4(0xc000_0201, port: 56_324)

    /// A listener that trusts loopback as a proxy by default.
    private func loopback(pace: PaceSettings = PaceSettings(), proxies: [String] = ["127.0.0.0/8"]) throws
        -> Loopback
    {
        let loop = try Loopback(pace: pace)
        loop.reactor.changeListeners(
            anonymousPerAddress: pace.anonymousPerAddress, proxies: proxies.compactMap { AddressNetwork($0) })
        return loop
    }

    /// Returns a socket connected to the listener.
    private func connected(_ loop: Loopback) throws -> Int32 {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let result = loop.address.withSocketAddress { connect(socket, $0, $1) }
        try #require(result == 0)
        return socket
    }

    /// Continues with TLS over a socket, and waits until both ends are open.
    private func openTLS(_ loop: Loopback, over socket: Int32) throws {
        let owner = Recorder()
        _ = try loop.reactor.connect(
            over: Descriptor(owning: socket), to: loop.address, tls: #require(loop.client), delegate: owner)
        #expect(loop.reactor.turns { owner.opened == 1 && loop.server.opened == 1 })
    }

    @Test(
        "the peer is the client in the header, however the header is split; TLS follows unchanged",
        arguments: [header, ProxyHeaderTests.binary(0x21, 0x11, ProxyHeaderTests.four)], [1, 7, 1_000])
    func introduced(header: [UInt8], piece: Int) throws {
        let loop = try loopback()
        let socket = try connected(loop)
        for start in stride(from: 0, to: header.count, by: piece) {
            let part = Array(header[start..<min(start + piece, header.count)])
            #expect(write(socket, part, part.count) == part.count)
            loop.reactor.turn(waitMilliseconds: 1)
        }
        try openTLS(loop, over: socket)
        #expect(loop.server.connections.first?.peer == Self.client)
    }

    @Test("the peer is the proxy when it connects for itself")
    func local() throws {
        let loop = try loopback()
        let socket = try connected(loop)
        let header = ProxyHeaderTests.binary(0x20, 0, [])
        #expect(write(socket, header, header.count) == header.count)
        try openTLS(loop, over: socket)
        #expect(loop.server.connections.first?.peer.host == "127.0.0.1")
    }

    @Test("a connection ends with its own reason when the header is missing or malformed")
    func malformed() throws {
        let loop = try loopback()
        let owner = Recorder()
        _ = try loop.reactor.connect(to: loop.address, tls: loop.client, delegate: owner)
        #expect(loop.reactor.turns { loop.server.closed == [.proxyHeader] })
        #expect(loop.server.opened == 0)
        #expect(loop.server.failures.first?.contains("PROXY") == true)
    }

    @Test("a header is not accepted when it comes from any other address")
    func unbelieved() throws {
        let loop = try loopback(proxies: ["192.0.2.0/24"])
        let socket = try connected(loop)
        defer { close(socket) }
        #expect(write(socket, Self.header, Self.header.count) == Self.header.count)
        #expect(loop.reactor.turns { !loop.server.closed.isEmpty })
        #expect(loop.server.closed == [.handshakeFailed])
    }

    @Test("header and handshake share one deadline when bytes trickle in")
    func deadline() throws {
        var pace = PaceSettings()
        pace.handshakeMilliseconds = 60
        let loop = try loopback(pace: pace)
        let socket = try connected(loop)
        defer { close(socket) }
        var sent = 0
        #expect(
            loop.reactor.turns {
                if sent < Self.header.count - 1 {
                    sent += send(socket, [Self.header[sent]], 1, Int32(MSG_NOSIGNAL))
                }
                return !loop.server.closed.isEmpty
            })
        #expect(loop.server.closed == [.handshakeDeadline])
    }

    @Test("a health check that connects and closes ends normally")
    func healthCheck() throws {
        let loop = try loopback()
        close(try connected(loop))
        #expect(loop.reactor.turns { loop.server.closed == [.peerClosed] })
    }

    @Test("unauthenticated connections count by the client's address, not the proxy's")
    func strangers() throws {
        var pace = PaceSettings()
        pace.anonymousPerAddress = 2
        let loop = try loopback(pace: pace)
        var full: [SocketAddress] = []
        loop.reactor.report = { if case .refused(_, let client, .addressFull) = $0 { full.append(client) } }
        var sockets: [Int32] = []
        defer { for socket in sockets { close(socket) } }
        func come(from host: String) throws {
            let socket = try connected(loop)
            sockets.append(socket)
            let header = Array("PROXY TCP4 \(host) 198.51.100.2 5 5235\r\n".utf8)
            #expect(write(socket, header, header.count) == header.count)
            for _ in 0..<5 { loop.reactor.turn(waitMilliseconds: 1) }
        }
        for host in ["192.0.2.1", "192.0.2.1", "192.0.2.2", "192.0.2.3"] { try come(from: host) }
        #expect(loop.server.closed.isEmpty && full.isEmpty)
        try come(from: "192.0.2.1")
        #expect(loop.reactor.turns { loop.server.closed == [.tooManyConnections] })
        #expect(full == [.ipv4(0xc000_0201, port: 5)])
        // The oldest one was closed for the newest. Another one closes, and a further one is admitted.
        close(sockets.remove(at: 1))
        #expect(loop.reactor.turns { loop.server.closed == [.tooManyConnections, .peerClosed] })
        try come(from: "192.0.2.1")
        #expect(loop.server.closed.count == 2)
    }

    @Test("the owner is notified of the client before TLS, and can refuse it")
    func refused() throws {
        let loop = try loopback()
        loop.server.onProxyHeader = { $0.abort(.tooManyLogins) }
        let socket = try connected(loop)
        defer { close(socket) }
        #expect(write(socket, Self.header, Self.header.count) == Self.header.count)
        #expect(loop.reactor.turns { !loop.server.closed.isEmpty })
        #expect(loop.server.closed == [.tooManyLogins] && loop.server.opened == 0)
    }
}
