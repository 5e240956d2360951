import Basics
import COpenSSL
import Glibc
import Testing

@testable import Transport

@Suite struct ClosingTests {
    @Test(
        "close sends pending output, then the end of stream, and notifies the owner once",
        arguments: [true, false])
    func orderly(tls: Bool) throws {
        let loop = try Loopback(tls: tls)
        loop.server.onBytes = { connection, _ in
            connection.send("goodbye")
            connection.close(.connectionDraining)
            connection.close(.idle)
        }
        let owner = Recorder()
        let connection = try loop.connect(owner)
        connection.send("hello")
        #expect(loop.reactor.turns { !owner.closed.isEmpty && loop.reactor.connectionCount == 0 })
        #expect(owner.received == Array("goodbye".utf8))
        #expect(owner.closed == [.peerClosed])
        #expect(loop.server.closed == [.connectionDraining])
    }

    @Test("the last bytes arrive when the peer keeps sending")
    func closeAgainstTalker() throws {
        let loop = try Loopback()
        loop.server.onBytes = { connection, _ in
            guard connection.isOpen else { return }
            connection.send("that was enough")
            connection.close(.protocolViolation)
        }
        let owner = Recorder()
        let connection = try loop.connect(owner)
        for _ in 0..<50 { connection.send([UInt8](repeating: 1, count: 16_000)) }
        #expect(loop.reactor.turns { !owner.closed.isEmpty })
        #expect(owner.received == Array("that was enough".utf8))
    }

    @Test("abort notifies the owner once and drops pending output")
    func abort() throws {
        let loop = try Loopback()
        let owner = Recorder()
        let connection = try loop.connect(owner)
        connection.send("never sent")
        connection.abort(.operatorRequest)
        connection.abort(.idle)
        #expect(loop.reactor.turns { !owner.closed.isEmpty && !loop.server.closed.isEmpty })
        #expect(owner.closed == [.operatorRequest])
        #expect(loop.server.chunks.isEmpty)
        #expect(!loop.reactor.connections.contains { $0 === connection })
    }

    @Test("a connection ends when its peer vanishes", arguments: [true, false])
    func abrupt(reset: Bool) throws {
        let loop = try Loopback(tls: false)
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        _ = loop.address.withSocketAddress { connect(socket, $0, $1) }
        #expect(loop.reactor.turns { loop.server.opened == 1 })
        if reset {
            var linger = linger(l_onoff: 1, l_linger: 0)
            setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        }
        close(socket)
        #expect(loop.reactor.turns { !loop.server.closed.isEmpty })
        #expect(loop.server.closed == [reset ? .peerReset : .peerClosed])
    }

    @Test("a peer that has ended its output still gets its answer when the owner keeps the connection")
    func halfClose() throws {
        let loop = try Loopback(tls: false)
        loop.server.keepsOpenAtEnd = true
        loop.server.onInputEnd = { connection in
            connection.send("late answer")
            connection.close(.responseComplete)
        }
        let owner = Recorder()
        owner.keepsOpenAtEnd = true
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        _ = loop.address.withSocketAddress { connect(socket, $0, $1) }
        #expect(write(socket, "hi", 2) == 2)
        shutdown(socket, Int32(SHUT_WR))
        #expect(loop.reactor.turns { !loop.server.closed.isEmpty })
        var room = [UInt8](repeating: 0, count: 64)
        let count = read(socket, &room, room.count)
        #expect(Array(room.prefix(max(0, count))) == Array("late answer".utf8))
        #expect(loop.server.received == Array("hi".utf8))
        #expect(loop.server.inputEnds == 1)
    }

    @Test("a deadline that passes while closing does not make the loop spin")
    func deadlineWhileClosing() throws {
        var pace = PaceSettings()
        pace.outboundBytes = 64 << 20
        let loop = try Loopback(tls: false, pace: pace)
        let owner = Recorder()
        let connection = try loop.connect(owner)
        connection.isReading = false
        let accepted = try #require(loop.server.connections.first)
        accepted.deadline = Now.read().monotonic.advanced(milliseconds: 5)
        accepted.send([UInt8](repeating: 1, count: 16 << 20))
        accepted.close(.idle)
        var turns = 0
        let end = Now.read().monotonic.advanced(milliseconds: 60)
        while Now.read().monotonic < end {
            loop.reactor.turn(waitMilliseconds: 1_000)
            turns += 1
            if turns == 1 { loop.reactor.schedule(at: end) { _ in } }
        }
        #expect(turns < 100)
        #expect(loop.server.deadlines == 0)
    }

    @Test("the end of the reactor notifies all owners")
    func end() throws {
        let loop = try Loopback()
        let owner = Recorder()
        _ = try loop.connect(owner)
        loop.reactor.end()
        #expect(owner.closed == [.systemShutdown])
        #expect(loop.server.closed == [.systemShutdown])
        #expect(loop.reactor.connectionCount == 0)
    }

    @Test("a refused connection is closed without further notification")
    func refused() throws {
        let loop = try Loopback()
        loop.refuses = true
        let owner = Recorder()
        _ = try loop.reactor.connect(to: loop.address, tls: loop.client, delegate: owner)
        #expect(loop.reactor.turns { !owner.closed.isEmpty })
        #expect(loop.server.opened == 0 && loop.server.closed.isEmpty)
    }

    @Test("a failed connect is reported with the system's error text")
    func connectRefused() throws {
        let reactor = try Reactor(index: 0)
        defer { reactor.end() }
        let owner = Recorder()
        var port: UInt16 = 0
        do { port = try ListeningSocket(tcp: .loopback(port: 0)).address.port }
        _ = try reactor.connect(to: .loopback(port: port), delegate: owner)
        #expect(reactor.turns { !owner.closed.isEmpty })
        #expect(owner.closed == [.connectFailed])
        #expect(owner.failures == ["Connection refused"])
    }

    @Test(
        "a connection reports whether its peer is dead when a system error ends it",
        arguments: [
            (ETIMEDOUT, CloseReason.deadPeer), (EHOSTUNREACH, .deadPeer), (ECONNRESET, .peerReset),
            (EPIPE, .peerReset),
        ])
    func systemError(code: Int32, reason: CloseReason) throws {
        let loop = try Loopback(tls: false)
        let owner = Recorder()
        try loop.connect(owner).fail(code: code)
        #expect(loop.reactor.turns { !owner.closed.isEmpty })
        #expect(owner.closed == [reason] && owner.failures == [SystemCall.words(for: code)])
    }

    @Test(
        "the peer's end of stream is reported once when the owner stops and resumes reading",
        arguments: [true, false])
    func endToldOnce(tls: Bool) throws {
        let loop = try Loopback(tls: tls)
        loop.server.keepsOpenAtEnd = true
        loop.server.onInputEnd = { $0.isReading = false }
        try loop.connect(Recorder()).endOutput()
        let accepted = try #require(loop.server.connections.first)
        #expect(loop.reactor.turns { loop.server.inputEnds == 1 })
        accepted.isReading = true
        for _ in 0..<3 { loop.reactor.turn(waitMilliseconds: 0) }
        #expect(loop.server.inputEnds == 1 && accepted.isOpen)
    }

    @Test("TLS is ended by an alert before TCP when a connection is closed")
    func closeNotify() throws {
        let loop = try Loopback()
        let client = try #require(loop.client)
        // In TLS 1.2 the type of a record is readable, and the server sends nothing after its handshake.
        SSL_CTX_ctrl(client.raw, SSL_CTRL_SET_MAX_PROTO_VERSION, TLSVersion.tls12.number, nil)
        let connection = try loop.connect(Recorder())
        connection.isReading = false
        try #require(loop.server.connections.first).close(.idle)
        #expect(loop.reactor.turns { !loop.server.closed.isEmpty })
        // Checked in the socket: the owner gets the same event for the end of TLS and that of TCP.
        var room = [UInt8](repeating: 0, count: 64)
        var count = -1
        #expect(
            loop.reactor.turns {
                count = recv(connection.socket, &room, room.count, Int32(MSG_PEEK))
                return count >= 0
            })
        #expect(count > 5 && room[0] == 21 && count == 5 + Int(room[3]) << 8 + Int(room[4]))
    }
}
