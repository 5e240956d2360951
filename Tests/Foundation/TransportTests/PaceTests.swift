import Basics
import Glibc
import Testing

@testable import Transport

@Suite struct PaceTests {
    @Test(
        "a peer is dropped when it does not finish the TLS handshake in time, even if bytes trickle in",
        arguments: [false, true])
    func handshakeDeadline(trickles: Bool) throws {
        var pace = PaceSettings()
        pace.handshakeMilliseconds = 60
        let loop = try Loopback(pace: pace)
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        _ = loop.address.withSocketAddress { connect(socket, $0, $1) }
        #expect(loop.reactor.turns { loop.reactor.connectionCount == 1 })
        // The head of a ClientHello record of 512 bytes, then one byte at a time.
        let head: [UInt8] = [22, 3, 1, 2, 0]
        #expect(write(socket, head, head.count) == head.count)
        var sent = 0
        #expect(
            loop.reactor.turns {
                if trickles, sent < 400 { sent += send(socket, [1], 1, Int32(MSG_NOSIGNAL)) }
                return !loop.server.closed.isEmpty
            })
        #expect(loop.server.closed == [.handshakeDeadline])
        #expect(loop.server.opened == 0)
    }

    @Test("an outbound connection has its whole deadline when the reactor's last turn was long ago")
    func connectDeadline() throws {
        let loop = try Loopback()
        loop.reactor.turn(waitMilliseconds: 0)
        usleep(20_000)
        let before = Now.read().monotonic
        let connection = try loop.reactor.connect(to: loop.address, tls: loop.client, delegate: Recorder())
        let whole = before.advanced(milliseconds: PaceSettings.outgoing.handshakeMilliseconds)
        #expect(connection.stateDeadline >= whole)
    }

    @Test("a handshake ends when its deadline is reached, and not before")
    func handshakeInstant() throws {
        let loop = try Loopback()
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        _ = loop.address.withSocketAddress { connect(socket, $0, $1) }
        #expect(loop.reactor.turns { loop.reactor.connectionCount == 1 })
        let accepted = try #require(loop.reactor.connections.first.flatMap { $0 })
        let end = accepted.stateDeadline
        accepted.handleTimer(Now(monotonic: Instant(nanoseconds: end.nanoseconds - 1), wall: 0))
        #expect(accepted.state == .handshaking)
        accepted.handleTimer(Now(monotonic: end, wall: 0))
        loop.reactor.turn(waitMilliseconds: 0)
        #expect(loop.server.closed == [.handshakeDeadline])
    }

    @Test(
        "the owner's deadline fires in time when that of the handshake is long past",
        arguments: [true, false])
    func deadlineAfterHandshake(tls: Bool) throws {
        let loop = try Loopback(tls: tls)
        let owner = Recorder()
        let connection = try loop.connect(owner)
        let accepted = try #require(loop.server.connections.first)
        for end in [connection, accepted] {
            end.deadline = Now.read().monotonic.advanced(seconds: 3_600)
            end.handleTimer(Now(monotonic: end.deadline, wall: 0))
        }
        #expect(owner.deadlines == 1 && loop.server.deadlines == 1)
    }

    @Test("a handshake ends at once when the bytes are not TLS")
    func notTLS() throws {
        let loop = try Loopback()
        let owner = Recorder()
        owner.onOpen = { $0.send("GET / HTTP/1.1\r\n\r\n") }
        _ = try loop.reactor.connect(to: loop.address, delegate: owner)
        #expect(loop.reactor.turns { !loop.server.closed.isEmpty })
        #expect(loop.server.closed == [.handshakeFailed])
        #expect(loop.server.failures.first?.contains("http request") == true)
    }

    @Test("canary: the same handshake succeeds when it is within the deadline")
    func handshakeCanary() throws {
        var pace = PaceSettings()
        pace.handshakeMilliseconds = 60
        let loop = try Loopback(pace: pace)
        let owner = Recorder()
        let connection = try loop.connect(owner)
        let end = Now.read().monotonic.advanced(milliseconds: 120)
        while Now.read().monotonic < end { loop.reactor.turn(waitMilliseconds: 10) }
        #expect(connection.isOpen && loop.server.closed.isEmpty)
    }

    @Test("a peer that does not read is dropped when too many bytes wait for it", arguments: [true, false])
    func slowConsumerBytes(tls: Bool) throws {
        var pace = PaceSettings()
        pace.outboundBytes = 200_000
        let loop = try Loopback(tls: tls, pace: pace)
        let owner = Recorder()
        let connection = try loop.connect(owner)
        connection.isReading = false
        let accepted = try #require(loop.server.connections.first)
        var turns = 0
        #expect(
            loop.reactor.turns {
                turns += 1
                if accepted.isOpen { accepted.send([UInt8](repeating: 7, count: 100_000)) }
                return !loop.server.closed.isEmpty
            })
        #expect(loop.server.closed == [.slowConsumer])
        #expect(loop.server.congestion == [true])
    }

    @Test("a peer is dropped when it reads nothing until the write deadline")
    func slowConsumerTime() throws {
        var pace = PaceSettings()
        pace.outboundBytes = 64 << 20
        pace.writeMilliseconds = 80
        let loop = try Loopback(tls: false, pace: pace)
        let owner = Recorder()
        let connection = try loop.connect(owner)
        connection.isReading = false
        let accepted = try #require(loop.server.connections.first)
        accepted.send([UInt8](repeating: 7, count: 16 << 20))
        #expect(loop.reactor.turns { !loop.server.closed.isEmpty })
        #expect(loop.server.closed == [.slowConsumer])
        #expect(loop.server.congestion == [true])
    }

    @Test("the write deadline is postponed when a peer reads any bytes")
    func slowButAlive() throws {
        var pace = PaceSettings()
        pace.outboundBytes = 64 << 20
        let loop = try Loopback(tls: false, pace: pace)
        let owner = Recorder()
        let connection = try loop.connect(owner)
        connection.isReading = false
        let accepted = try #require(loop.server.connections.first)
        accepted.send([UInt8](repeating: 7, count: 16 << 20))
        #expect(loop.reactor.turns { loop.server.congestion == [true] })
        for _ in 0..<3 { loop.reactor.turn(waitMilliseconds: 5) }
        let (deadline, waiting) = (accepted.writeDeadline, accepted.outboundCount)
        #expect(deadline < .distantFuture && accepted.isOpen)
        connection.isReading = true
        #expect(loop.reactor.turns { accepted.outboundCount < waiting })
        #expect(accepted.writeDeadline > deadline && accepted.isOpen)
        // Pending output has the whole deadline again, but not without limit.
        let now = loop.reactor.now.monotonic
        #expect(accepted.outboundCount > 0)
        #expect(accepted.writeDeadline == now.advanced(milliseconds: pace.writeMilliseconds))
    }

    @Test("congestion is reported once at each crossing of the threshold")
    func congestion() throws {
        var pace = PaceSettings()
        pace.outboundBytes = 64 << 20
        let loop = try Loopback(pace: pace)
        let owner = Recorder()
        let connection = try loop.connect(owner)
        connection.isReading = false
        let accepted = try #require(loop.server.connections.first)
        accepted.send([UInt8](repeating: 7, count: 16 << 20))
        #expect(loop.reactor.turns { loop.server.congestion == [true] })
        connection.isReading = true
        #expect(loop.reactor.turns { loop.server.congestion == [true, false] })
        #expect(loop.reactor.turns { owner.received.count == 16 << 20 })
    }

    /// Returns why a new connection is refused; the peer must be notified of its end.
    private func refusals(_ loop: Loopback) throws -> [ConnectionRefusal] {
        var refusals: [ConnectionRefusal] = []
        loop.reactor.report = { if case .refused(_, _, let reason) = $0 { refusals.append(reason) } }
        let owner = Recorder()
        _ = try loop.reactor.connect(to: loop.address, tls: loop.client, delegate: owner)
        #expect(loop.reactor.turns { !owner.closed.isEmpty })
        return refusals
    }

    @Test("a full reactor refuses connections until one closes")
    func full() throws {
        let loop = try Loopback()
        // Both ends of a connection are on this reactor: the third one's own end is the fifth.
        loop.reactor.connectionLimit = 5
        for _ in 0..<2 { _ = try loop.connect(Recorder()) }
        #expect(try refusals(loop) == [.reactorFull])
        loop.server.connections[0].abort(.operatorRequest)
        #expect(loop.reactor.turns { loop.reactor.connectionCount == 2 })
        _ = try loop.connect(Recorder())
        #expect(loop.server.opened == 3)
    }

    @Test("a connection is refused when its listener is full and the reactor is not")
    func listenerFull() throws {
        var pace = PaceSettings()
        pace.connections = 2
        let loop = try Loopback(pace: pace)
        for _ in 0..<2 { _ = try loop.connect(Recorder()) }
        #expect(try refusals(loop) == [.listenerFull] && loop.server.opened == 2)
    }

    @Test(
        "a connection is refused when only reserved descriptors are left, but not the operator's"
    )
    func spared() throws {
        let loop = try Loopback()
        var ceiling = 0
        loop.reactor.descriptorCeiling = { ceiling }
        #expect(try refusals(loop) == [.noDescriptor])
        // A listener without TLS is the operator's.
        let (operators, own) = (Recorder(), Recorder())
        let socket = try ListeningSocket(tcp: .loopback(port: 0))
        let address = socket.address
        try loop.reactor.listen(on: socket, name: "control", tls: nil) { _ in operators }
        _ = try loop.reactor.connect(to: address, delegate: own)
        #expect(loop.reactor.turns { operators.opened == 1 })
        ceiling = .max
        _ = try loop.connect(Recorder())
        #expect(loop.server.opened == 1)
        #expect(DescriptorLimit.ceiling(of: 20_000) == 20_000 - Limits.Connection.alwaysFreeDescriptors)
        #expect(DescriptorLimit.ceiling(of: 10) == 5)
    }

    @Test(
        "a dropped connection is reported with the resource that was missing",
        arguments: [
            (EMFILE, ConnectionRefusal.noDescriptor), (ENFILE, .noDescriptor), (ENOBUFS, .noMemory),
            (ENOMEM, .noMemory),
        ])
    func missing(code: Int32, reason: ConnectionRefusal) throws {
        let loop = try Loopback()
        var reported: [ConnectionRefusal: Int] = [:]
        loop.reactor.report = {
            if case .acceptFailed(_, let reason, _, let dropped) = $0 {
                reported[reason, default: 0] += dropped
            }
        }
        let acceptor = try #require(loop.reactor.acceptors.first.flatMap { $0 })
        // Only the first accept fails; the one with the reserve descriptor is real.
        acceptor.failNext(code, count: 1)
        let owner = Recorder()
        _ = try loop.reactor.connect(to: loop.address, tls: loop.client, delegate: owner)
        #expect(loop.reactor.turns { !owner.closed.isEmpty })
        #expect(reported == [reason: 1])
    }

    @Test("a listener drops connections, pauses, reports it and accepts again when descriptors are used up")
    func noDescriptors() throws {
        let loop = try Loopback()
        var words: [String] = []
        loop.reactor.report = {
            switch $0 {
            case .acceptFailed(_, _, let code, _): words.append("failed \(code)")
            case .acceptResumed: words.append("resumed")
            case .refused: words.append("refused")
            }
        }
        let acceptor = try #require(loop.reactor.acceptors.first.flatMap { $0 })
        acceptor.failNext(EMFILE)
        let owner = Recorder()
        _ = try loop.reactor.connect(to: loop.address, tls: loop.client, delegate: owner)
        #expect(loop.reactor.turns { words.count == 1 })
        #expect(acceptor.attention == .awaitingDescriptors)
        // During the pause the waiting connection does not make the loop spin.
        var turns = 0
        let end = Now.read().monotonic.advanced(
            milliseconds: Int64(Limits.Connection.acceptPauseMilliseconds) / 2)
        while Now.read().monotonic < end {
            loop.reactor.turn(waitMilliseconds: 1_000)
            turns += 1
        }
        #expect(turns < 20)
        acceptor.acceptCall = Acceptor.systemCall
        #expect(loop.reactor.turns { owner.opened == 1 })
        #expect(words == ["failed \(EMFILE)", "resumed"])
        #expect(acceptor.attention == .watched)
    }

    @Test("waiting connections are closed and the reserve is restored when descriptors are really exhausted")
    func realExhaustion() throws {
        let loop = try Loopback()
        var dropped = 0
        loop.reactor.report = { if case .acceptFailed(_, _, _, let count) = $0 { dropped += count } }
        let waiting = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(waiting) }
        _ = loop.address.withSocketAddress { connect(waiting, $0, $1) }
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let acceptor = try #require(loop.reactor.acceptors.first.flatMap { $0 })
        // Only the first accept fails; the one with the reserve descriptor is real.
        acceptor.failNext(EMFILE, count: 1)
        #expect(loop.reactor.turns { dropped == 1 })
        var byte: UInt8 = 0
        #expect(read(waiting, &byte, 1) == 0)
        // The old number may belong to another file by now.
        var (held, null) = (stat(), stat())
        #expect(fstat(loop.reactor.reserve, &held) == 0 && stat("/dev/null", &null) == 0)
        #expect(held.st_rdev == null.st_rdev && held.st_mode & S_IFMT == S_IFCHR)
    }

    @Test("the reserve descriptor is closed for waiting connections, and not kept beside the new one")
    func reserveIsUsed() throws {
        let loop = try Loopback()
        var hasFailed = false
        loop.reactor.report = { if case .acceptFailed = $0 { hasFailed = true } }
        // A pipe in its place, whose other end shows that it was closed.
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        defer { close(ends[0]) }
        close(loop.reactor.reserve)
        loop.reactor.reserve = ends[1]
        var entry = pollfd(fd: ends[0], events: 0, revents: 0)
        #expect(poll(&entry, 1, 0) == 0, "canary: it is open")
        try #require(loop.reactor.acceptors.first.flatMap { $0 }).failNext(EMFILE, count: 1)
        let owner = Recorder()
        _ = try loop.reactor.connect(to: loop.address, tls: loop.client, delegate: owner)
        #expect(loop.reactor.turns { hasFailed })
        #expect(poll(&entry, 1, 0) == 1 && Int32(entry.revents) & POLLHUP != 0)
    }

    @Test("a listener that is stopped while descriptors are used up is not resumed")
    func stoppedMeanwhile() throws {
        let loop = try Loopback()
        var words: [String] = []
        loop.reactor.report = {
            switch $0 {
            case .acceptFailed: words.append("failed")
            case .acceptResumed: words.append("resumed")
            case .refused: words.append("refused")
            }
        }
        let acceptor = try #require(loop.reactor.acceptors.first.flatMap { $0 })
        acceptor.failNext(EMFILE, count: 1)
        let owner = Recorder()
        _ = try loop.reactor.connect(to: loop.address, tls: loop.client, delegate: owner)
        #expect(loop.reactor.turns { words == ["failed"] })
        loop.reactor.stopListening()
        // This timer fires after that of the pause.
        var isOver = false
        let pause = Int64(Limits.Connection.acceptPauseMilliseconds)
        loop.reactor.schedule(at: Now.read().monotonic.advanced(milliseconds: 2 * pause)) { _ in isOver = true
        }
        #expect(loop.reactor.turns { isOver })
        #expect(words == ["failed"] && acceptor.attention == .awaitingDescriptors)
    }

    @Test("a deadline of the owner fires once, and is postponed at no cost")
    func deadline() throws {
        let loop = try Loopback(tls: false)
        let owner = Recorder()
        let connection = try loop.connect(owner)
        let begin = Now.read().monotonic
        connection.deadline = begin.advanced(milliseconds: 30)
        connection.deadline = begin.advanced(milliseconds: 60)
        #expect(loop.reactor.turns { owner.deadlines == 1 })
        #expect(Now.read().monotonic >= begin.advanced(milliseconds: 60))
        #expect(connection.deadline == .distantFuture)
        for _ in 0..<3 { loop.reactor.turn(waitMilliseconds: 5) }
        #expect(owner.deadlines == 1)
    }

    @Test("a timer stays when its deadline is postponed, and is set again when it fires too early")
    func movedBack() throws {
        let loop = try Loopback(tls: false)
        let owner = Recorder()
        let connection = try loop.connect(owner)
        let begin = Now.read().monotonic
        connection.deadline = begin.advanced(milliseconds: 20)
        let timer = connection.timer
        connection.deadline = begin.advanced(seconds: 3_600)
        loop.reactor.arm(connection)
        #expect(connection.timer == timer && connection.armed == begin.advanced(milliseconds: 20))
        #expect(loop.reactor.turns { connection.armed != begin.advanced(milliseconds: 20) })
        #expect(connection.armed == connection.deadline && connection.timer != nil)
        #expect(owner.deadlines == 0)
    }
}

extension Acceptor {
    /// Makes the next `count` accepts fail with an error number, without a system call.
    fileprivate func failNext(_ code: Int32, count: Int = .max) {
        var left = count
        acceptCall = { listener in
            guard left > 0 else { return Acceptor.systemCall(listener) }
            left -= 1
            errno = code
            return (-1, .unix(path: ""))
        }
    }
}
