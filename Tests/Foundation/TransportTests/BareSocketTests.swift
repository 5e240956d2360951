import Basics
import Glibc
import Testing

@testable import Transport

/// A plain listener on a UNIX-domain socket, and a bare socket connected to it.
///
/// Bytes written on one end are available on the other at once, and a full socket stays full until it is read, so one turn
/// shows what is done.
final class BareLine {
    let reactor: Reactor
    let scratch: Scratch
    let server = Recorder()
    let accepted: Connection
    /// The peer's socket, non-blocking.
    let peer: Int32

    init(pace: PaceSettings = PaceSettings()) throws {
        scratch = try Scratch()
        reactor = try Reactor(index: 0)
        let (server, path) = (server, "\(scratch.path)/socket")
        try reactor.listen(on: ListeningSocket(unixPath: path), name: "bare", tls: nil, pace: pace) { _ in
            server
        }
        let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
        let result = SocketAddress.unix(path: path).withSocketAddress { connect(number, $0, $1) }
        #expect(result == 0 && reactor.turns { server.opened == 1 })
        accepted = try #require(server.connections.first)
        peer = number
    }

    deinit {
        reactor.end()
        close(peer)
    }

    /// Sends bytes from the peer. Returns how many the socket accepted.
    func send(_ bytes: [UInt8]) -> Int { Glibc.send(peer, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }

    /// Returns what the peer receives next; empty at the end of stream, `nil` if nothing is available.
    func received() -> [UInt8]? {
        var room = [UInt8](repeating: 0, count: 64)
        let count = read(peer, &room, room.count)
        return count < 0 ? nil : Array(room.prefix(count))
    }

    /// Fills the socket towards the peer, so that it accepts nothing more.
    func fill() {
        let zeros = [UInt8](repeating: 0, count: 65_536)
        while Glibc.send(accepted.socket, zeros, zeros.count, Int32(MSG_NOSIGNAL)) > 0 {}
    }

    /// Runs turns that do not wait.
    func turn(_ times: Int = 1) {
        for _ in 0..<times { reactor.turn(waitMilliseconds: 0) }
    }
}

/// The behaviour turn by turn, against a socket under the test's control.
@Suite struct BareSocketTests {
    /// Returns a bare socket connected to a listener.
    private func connected(_ loop: Loopback) throws -> Int32 {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let result = loop.address.withSocketAddress { connect(socket, $0, $1) }
        try #require(result == 0)
        return socket
    }

    /// Resets a connection, and waits until the other end has received the reset.
    private func reset(_ socket: Int32, seenAt other: Int32) {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        close(socket)
        var poller = pollfd(fd: other, events: 0, revents: 0)
        #expect(poll(&poller, 1, 60_000) == 1 && Int32(poller.revents) & Int32(POLLERR) != 0)
    }

    @Test("the peer's end of stream is reported once when every event of the socket repeats it")
    func endToldOnce() throws {
        let line = try BareLine()
        line.server.keepsOpenAtEnd = true
        #expect(shutdown(line.peer, Int32(SHUT_WR)) == 0)
        #expect(line.reactor.turns { line.server.inputEnds == 1 })
        // A socket that was full and is read becomes writable: an event, which repeats the peer's end of stream.
        line.accepted.send([UInt8](repeating: 1, count: 400_000))
        var total = 0
        #expect(
            line.reactor.turns {
                while let bytes = line.received(), !bytes.isEmpty { total += bytes.count }
                return total == 400_000
            })
        for _ in 0..<3 { line.reactor.turn(waitMilliseconds: 5) }
        #expect(line.server.inputEnds == 1)
    }

    @Test("bytes beyond the share of a turn are read in later turns when the peer sends nothing more")
    func share() throws {
        var pace = PaceSettings()
        pace.readBytesPerTurn = 1
        let line = try BareLine(pace: pace)
        let bytes = (0..<150_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try #require(line.send(bytes) == bytes.count)
        line.turn()
        #expect(line.server.received.count < bytes.count, "canary: the share must be enforced")
        line.turn(3)
        // Not compared within the expectation, which would compute the difference for a long time.
        let isWhole = line.server.received == bytes
        #expect(isWhole)
    }

    @Test("the peer's end of stream is reported when it arrives with the last bytes")
    func endWithBytes() throws {
        let line = try BareLine()
        #expect(line.send(Array("hi".utf8)) == 2)
        shutdown(line.peer, Int32(SHUT_WR))
        line.turn(2)
        #expect(line.server.received == Array("hi".utf8) && line.server.inputEnds == 1)
    }

    @Test("a closed connection has ended its output and discards input when the peer has not closed")
    func lingers() throws {
        var pace = PaceSettings()
        pace.lingerMilliseconds = 3_600_000
        let line = try BareLine(pace: pace)
        line.accepted.send("goodbye")
        line.accepted.close(.idle)
        line.turn()
        #expect(line.server.closed == [.idle] && line.reactor.connectionCount == 1)
        #expect(line.received() == Array("goodbye".utf8))
        #expect(line.received() == [])
        #expect(line.send([1, 2, 3]) == 3)
        shutdown(line.peer, Int32(SHUT_WR))
        line.turn(2)
        #expect(line.reactor.connectionCount == 0 && line.server.closed == [.idle])
    }

    @Test(
        "a connection is closed when one byte more than the limit waits for a peer that reads nothing"
    )
    func outboundLimit() throws {
        var pace = PaceSettings()
        pace.outboundBytes = 100_000
        let line = try BareLine(pace: pace)
        line.fill()
        line.accepted.send([UInt8](repeating: 7, count: pace.outboundBytes))
        line.turn(2)
        #expect(line.accepted.isOpen && line.accepted.outboundCount == pace.outboundBytes)
        line.accepted.send([7])
        line.turn()
        #expect(line.server.closed == [.slowConsumer])
    }

    @Test("a reset is reported as a reset when it arrives between epoll and the read")
    func resetInTurn() throws {
        let loop = try Loopback(tls: false)
        let socket = try connected(loop)
        #expect(loop.reactor.turns { loop.server.opened == 1 })
        let accepted = try #require(loop.server.connections.first)
        reset(socket, seenAt: accepted.socket)
        accepted.readable(loop.reactor.now)
        loop.reactor.turn(waitMilliseconds: 0)
        #expect(loop.server.closed == [.peerReset])
        #expect(loop.server.failures == ["Connection reset by peer"])
    }

    @Test("a stale event of a closed connection is ignored when another connection has its slot")
    func staleEvent() throws {
        let loop = try Loopback(tls: false)
        let first = try connected(loop)
        #expect(loop.reactor.turns { loop.server.opened == 1 })
        let gone = try #require(loop.server.connections.first)
        // As if a child process were being started: the socket, and epoll's watch on it, outlive our descriptor.
        let copy = dup(gone.socket)
        defer { close(copy) }
        gone.abort(.operatorRequest)
        #expect(loop.reactor.turns { loop.reactor.connectionCount == 0 })
        let second = try connected(loop)
        defer { close(second) }
        #expect(loop.reactor.turns { loop.server.opened == 2 })
        let next = try #require(loop.server.connections.last)
        #expect(next.id.slot == gone.id.slot && next.id != gone.id)
        reset(first, seenAt: copy)
        #expect(write(second, "hi", 2) == 2)
        #expect(loop.reactor.turns { loop.server.received.count == 2 || loop.server.closed.count == 2 })
        #expect(next.isOpen && !next.peerHungUp)
        #expect(loop.server.closed == [.operatorRequest])
    }

    /// The record of an empty ClientHello, which OpenSSL answers with an alert.
    private static let emptyHello: [UInt8] = [22, 3, 1, 0, 4, 1, 0, 0, 0]

    @Test("the peer receives an alert when its handshake fails")
    func alert() throws {
        let loop = try Loopback()
        let socket = try connected(loop)
        defer { close(socket) }
        #expect(write(socket, Self.emptyHello, Self.emptyHello.count) == Self.emptyHello.count)
        #expect(loop.reactor.turns { !loop.server.closed.isEmpty })
        #expect(loop.server.closed == [.handshakeFailed])
        var room = [UInt8](repeating: 0, count: 64)
        #expect(read(socket, &room, room.count) == 7)
        // An alert of two bytes: fatal, decode_error.
        #expect(room[0] == 21 && Array(room[3..<7]) == [0, 2, 2, 50])
    }

    @Test("a failed handshake is reported as a reset when the peer has reset before the alert")
    func alertToNobody() throws {
        let loop = try Loopback()
        let socket = try connected(loop)
        #expect(loop.reactor.turns { loop.reactor.connectionCount == 1 })
        let accepted = try #require(loop.reactor.connections.first.flatMap { $0 })
        #expect(write(socket, Self.emptyHello, Self.emptyHello.count) == Self.emptyHello.count)
        reset(socket, seenAt: accepted.socket)
        #expect(loop.reactor.turns { !loop.server.closed.isEmpty })
        #expect(loop.server.closed == [.peerReset])
    }
}
