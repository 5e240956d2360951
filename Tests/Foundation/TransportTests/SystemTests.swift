import Basics
import Glibc
import Synchronization
import Testing

@testable import Transport

@Suite struct SystemTests {
    @Test("an address keeps its value as text")
    func addresses() throws {
        #expect(SocketAddress(literal: "127.0.0.1", port: 5_235)?.description == "127.0.0.1:5235")
        #expect(SocketAddress(literal: "::1", port: 1)?.description == "[::1]:1")
        #expect(SocketAddress(literal: "2001:db8::ff00:42:8329", port: 1)?.host == "2001:db8::ff00:42:8329")
        #expect(SocketAddress(literal: "localhost", port: 1) == nil)
        #expect(SocketAddress(literal: "1.2.3", port: 1) == nil)
        #expect(SocketAddress.loopback(port: 1).host == "127.0.0.1")
    }

    @Test("IPv6 works like IPv4, with the peer's address")
    func ipv6() throws {
        let reactor = try Reactor(index: 3)
        defer { reactor.end() }
        let any = try #require(SocketAddress(literal: "::1", port: 0))
        let socket = try ListeningSocket(tcp: any)
        let address = socket.address
        let (server, owner) = (Recorder(), Recorder())
        try reactor.listen(on: socket, name: "six", tls: nil) { _ in server }
        _ = try reactor.connect(to: address, delegate: owner)
        #expect(reactor.turns { server.opened == 1 && owner.opened == 1 })
        let accepted = try #require(server.connections.first)
        #expect(accepted.peer.host == "::1")
        #expect(accepted.listener == "six")
        #expect(accepted.id.reactor == 3)
        #expect(owner.connections.first?.listener == .outgoing)
    }

    @Test("a listener on :: accepts IPv4 too, and its peers have IPv4 addresses")
    func dualStack() throws {
        let reactor = try Reactor(index: 0)
        defer { reactor.end() }
        let any = try #require(SocketAddress(literal: "::", port: 0))
        let socket = try ListeningSocket(tcp: any)
        let port = socket.address.port
        let (server, owner) = (Recorder(), Recorder())
        try reactor.listen(on: socket, name: "all", tls: nil) { _ in server }
        _ = try reactor.connect(to: .loopback(port: port), delegate: owner)
        #expect(reactor.turns { server.opened == 1 })
        #expect(server.connections.first?.peer.host == "127.0.0.1")
    }

    @Test("the kernel detects a dead peer of an accepted connection by itself", arguments: [false, true])
    func deadPeer(isInherited: Bool) throws {
        let reactor = try Reactor(index: 0)
        defer { reactor.end() }
        var socket = try ListeningSocket(tcp: .loopback(port: 0))
        if isInherited {
            // As systemd makes it: a plain listening socket.
            let plain = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            _ = SocketAddress.loopback(port: 0).withSocketAddress { bind(plain, $0, $1) }
            _ = listen(plain, 1)
            socket = try ListeningSocket(inherited: Descriptor(owning: plain))
        }
        let address = socket.address
        let (server, owner) = (Recorder(), Recorder())
        try reactor.listen(on: socket, name: "one", tls: nil) { _ in server }
        _ = try reactor.connect(to: address, delegate: owner)
        #expect(reactor.turns { server.opened == 1 && owner.opened == 1 })
        let tcp = Int32(IPPROTO_TCP)
        for connection in server.connections + owner.connections {
            func value(_ level: Int32, _ option: Int32) -> Int {
                var value: Int32 = -1
                var length = socklen_t(MemoryLayout<Int32>.size)
                return getsockopt(connection.socket, level, option, &value, &length) == 0 ? Int(value) : -1
            }
            #expect(value(tcp, TCP_USER_TIMEOUT) == Limits.Connection.peerSilenceSeconds * 1_000)
            #expect(value(SOL_SOCKET, SO_KEEPALIVE) == 1)
            #expect(value(tcp, TCP_KEEPIDLE) == Limits.Connection.tcpKeepaliveSeconds)
            #expect(
                value(tcp, TCP_KEEPINTVL) * value(tcp, TCP_KEEPCNT) == Limits.Connection.peerSilenceSeconds)
            #expect(value(tcp, TCP_NODELAY) == 1)
        }
        // Canary: a socket without our options has none of them.
        let plain = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(plain) }
        var (silence, length) = (Int32(-1), socklen_t(MemoryLayout<Int32>.size))
        #expect(getsockopt(plain, tcp, TCP_USER_TIMEOUT, &silence, &length) == 0 && silence == 0)
    }

    @Test("two reactors share a port until they stop listening")
    func sharedPort() throws {
        let first = try ListeningSocket(tcp: .loopback(port: 0))
        let port = first.address.port
        #expect(port != 0)
        let second = try ListeningSocket(tcp: .loopback(port: port))
        #expect(second.address.port == port)
        let reactor = try Reactor(index: 0)
        defer { reactor.end() }
        try reactor.listen(on: first, name: "one", tls: nil) { _ in Recorder() }
        try reactor.listen(on: second, name: "two", tls: nil) { _ in Recorder() }
        reactor.stopListening("one")
        let owner = Recorder()
        _ = try reactor.connect(to: .loopback(port: port), delegate: owner)
        #expect(reactor.turns { owner.opened == 1 })
        reactor.stopListening()
        let late = Recorder()
        _ = try reactor.connect(to: .loopback(port: port), delegate: late)
        #expect(reactor.turns { !late.closed.isEmpty })
        #expect(late.closed == [.connectFailed])
    }

    @Test("a listener that is held accepts nothing until it is released, and then what has waited")
    func heldListener() throws {
        let socket = try ListeningSocket(tcp: .loopback(port: 0))
        let address = socket.address
        let reactor = try Reactor(index: 0)
        defer { reactor.end() }
        let (accepted, early, late) = (Recorder(), Recorder(), Recorder())
        try reactor.listen(on: socket, name: "clients", tls: nil) { _ in accepted }
        _ = try reactor.connect(to: address, delegate: early)
        #expect(reactor.turns { accepted.opened == 1 && early.opened == 1 })
        reactor.holdListening("clients")
        reactor.holdListening("clients")
        _ = try reactor.connect(to: address, delegate: late)
        #expect(reactor.turns { late.opened == 1 }, "the system completes the connection")
        for _ in 0..<3 { reactor.turn(waitMilliseconds: 0) }
        #expect(accepted.opened == 1 && early.closed.isEmpty)
        reactor.releaseListening("others")
        for _ in 0..<3 { reactor.turn(waitMilliseconds: 0) }
        #expect(accepted.opened == 1)
        reactor.releaseListening("clients")
        #expect(reactor.turns { accepted.opened == 2 })
    }

    @Test("a reactor keeps its connections when it stops listening, and others keep the socket")
    func stopShared() throws {
        let first = try ListeningSocket(tcp: .loopback(port: 0))
        let address = first.address
        let second = try first.duplicated()
        let (one, two) = (try Reactor(index: 0), try Reactor(index: 1))
        defer {
            one.end()
            two.end()
        }
        let (early, late, owner) = (Recorder(), Recorder(), Recorder())
        try one.listen(on: first, name: "one", tls: nil) { _ in early }
        _ = try one.connect(to: address, delegate: owner)
        #expect(one.turns { early.opened == 1 && owner.opened == 1 })
        try two.listen(on: second, name: "two", tls: nil) { _ in late }
        one.stopListening()
        let next = Recorder()
        _ = try two.connect(to: address, delegate: next)
        #expect(two.turns { next.opened == 1 && late.opened == 1 })
        early.connections.first?.send("still here")
        #expect(one.turns { owner.received == Array("still here".utf8) })
    }

    @Test("a UNIX-domain listener is private, reports its peer, and replaces only stale sockets")
    func unixSocket() throws {
        let scratch = try Scratch()
        let path = "\(scratch.path)/socket"
        do { _ = try ListeningSocket(unixPath: path) }  // Leaves a stale socket behind.
        let socket = try ListeningSocket(unixPath: path)
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        let reactor = try Reactor(index: 0)
        defer { reactor.end() }
        let (server, owner) = (Recorder(), Recorder())
        try reactor.listen(on: socket, name: "control", tls: nil) { _ in server }
        _ = try reactor.connect(to: .unix(path: path), delegate: owner)
        #expect(reactor.turns { server.opened == 1 })
        let peer = server.connections.first?.peerCredentials
        #expect(peer?.user == getuid() && peer?.process == getpid())
        let busy = #expect(throws: TransportError.self) { _ = try ListeningSocket(unixPath: path) }
        #expect(busy?.code == EADDRINUSE)
        let file = "\(scratch.path)/server.pem"
        try SmallFile.replace(file, with: [1], mode: 0o600)
        #expect(throws: TransportError.self) { _ = try ListeningSocket(unixPath: file) }
        #expect(try SmallFile.read(file) == [1])
        let long = #expect(throws: TransportError.self) {
            _ = try ListeningSocket(unixPath: "/tmp/" + String(repeating: "x", count: 200))
        }
        #expect(long?.detail.contains("too long") == true)
    }

    @Test("a socket is not stale when its server is too busy to accept")
    func fullBacklog() throws {
        let scratch = try Scratch()
        let path = "\(scratch.path)/socket"
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue)
        let server = socket(AF_UNIX, kind, 0)
        defer { close(server) }
        #expect(SocketAddress.unix(path: path).withSocketAddress { bind(server, $0, $1) } == 0)
        #expect(listen(server, 0) == 0)
        var waiting: [Int32] = []
        defer { for socket in waiting { close(socket) } }
        var isTaken = true
        while isTaken, waiting.count < 100 {
            let client = socket(AF_UNIX, kind, 0)
            waiting.append(client)
            isTaken = SocketAddress.unix(path: path).withSocketAddress { connect(client, $0, $1) } == 0
        }
        try #require(!isTaken && errno == EAGAIN)
        let busy = #expect(throws: TransportError.self) { _ = try ListeningSocket(unixPath: path) }
        #expect(busy?.code == EADDRINUSE)
        #expect(access(path, F_OK) == 0)
    }

    @Test("a stopped listener does not wake its reactor when connections arrive at another")
    func stoppedListener() throws {
        let (one, two) = (try Reactor(index: 0), try Reactor(index: 1))
        defer {
            one.end()
            two.end()
        }
        let first = try ListeningSocket(tcp: .loopback(port: 0))
        let address = first.address
        let second = try first.duplicated()
        try one.listen(on: first, name: "one", tls: nil) { _ in Recorder() }
        try two.listen(on: second, name: "two", tls: nil) { _ in Recorder() }
        one.stopListening()
        _ = try two.connect(to: address, delegate: Recorder())
        // The connection waits for the second reactor, which does not turn; the first has nothing to do.
        var turns = 0
        let end = Now.read().monotonic.advanced(milliseconds: 200)
        while Now.read().monotonic < end {
            one.turn(waitMilliseconds: 1_000)
            turns += 1
        }
        #expect(turns < 20)
    }

    @Test("a busy port is reported with address and reason")
    func busyPort() throws {
        let plain = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(plain) }
        _ = SocketAddress.loopback(port: 0).withSocketAddress { bind(plain, $0, $1) }
        _ = listen(plain, 1)
        let port = SocketAddress.filled { getsockname(plain, $0, $1) }.address.port
        let error = #expect(throws: TransportError.self) {
            _ = try ListeningSocket(tcp: .loopback(port: port))
        }
        #expect(error?.description == "cannot listen on 127.0.0.1:\(port): Address already in use")
    }

    @Test("inherited sockets are taken with their names when they are for this process")
    func inherited() throws {
        let own = String(getpid())
        let full = ["LISTEN_PID": own, "LISTEN_FDS": "3", "LISTEN_FDNAMES": "device:app_server:"]
        let entries = InheritedSockets.entries { full[$0] }
        #expect(entries.map(\.name) == ["device", "app_server", "unknown"])
        #expect(entries.map(\.descriptor) == [3, 4, 5])
        #expect(InheritedSockets.entries { ["LISTEN_PID": "1", "LISTEN_FDS": "3"][$0] }.isEmpty)
        #expect(InheritedSockets.entries { ["LISTEN_PID": own, "LISTEN_FDS": "-1"][$0] }.isEmpty)
        let socket = try ListeningSocket(tcp: .loopback(port: 0))
        let twin = try ListeningSocket(inherited: Descriptor(owning: dup(socket.descriptor.number)))
        #expect(twin.address == socket.address)
        #expect(try socket.duplicated().address == socket.address)
    }

    @Test("all wake-ups arrive when many come at once from other threads")
    func wakes() throws {
        final class Woken: ReactorDelegate {
            let inbox: Inbox
            var seen = 0
            var turnsEnded = 0
            init(_ inbox: Inbox) { self.inbox = inbox }
            func reactorWoke(_ reactor: Reactor, now: Now) {
                seen += inbox.count.exchange(0, ordering: .sequentiallyConsistent)
                if seen == 20_000 { reactor.stop() }
            }
            func reactorTurnEnded(_ reactor: Reactor, now: Now) { turnsEnded += 1 }
        }
        final class Inbox: Sendable { let count = Atomic<Int>(0) }
        let inbox = Inbox()
        let reactor = try Reactor(index: 0)
        let delegate = Woken(inbox)
        reactor.delegate = delegate
        let handle = reactor.handle
        let threads = try (0..<4).map { number in
            try Transport.Thread(name: "waker \(number)") {
                for _ in 0..<5_000 {
                    inbox.count.add(1, ordering: .sequentiallyConsistent)
                    handle.wake()
                }
            }
        }
        reactor.run()
        threads.forEach { $0.join() }
        #expect(delegate.seen == 20_000)
        #expect(delegate.turnsEnded <= 20_001)
    }

    @Test("systemd receives notifications on paths and abstract names", arguments: ["path", "abstract"])
    func notify(kind: String) throws {
        let scratch = try Scratch()
        let path = kind == "path" ? "\(scratch.path)/socket" : "@\(scratch.path)"
        let socket = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(socket) }
        #expect(SocketAddress.unix(path: path).withSocketAddress { bind(socket, $0, $1) } == 0)
        let environment = [
            "NOTIFY_SOCKET": path, "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": String(getpid()),
        ]
        let notify = SystemdNotify { environment[$0] }
        #expect(notify.isWanted)
        #expect(notify.watchdogMilliseconds == 15_000)
        notify.ready(status: "listening\nREADY=0")
        notify.alive()
        notify.stopping(status: "draining")
        var received: [String] = []
        for _ in 0..<3 {
            var room = [UInt8](repeating: 0, count: 256)
            let count = recv(socket, &room, room.count, Int32(MSG_DONTWAIT))
            received.append(String(decoding: room.prefix(max(0, count)), as: UTF8.self))
        }
        #expect(
            received == ["READY=1\nSTATUS=listening READY=0", "WATCHDOG=1", "STOPPING=1\nSTATUS=draining"])
        #expect(SystemdNotify { _ in nil }.isWanted == false)
        #expect(
            SystemdNotify { ["WATCHDOG_USEC": "1000000", "WATCHDOG_PID": "1"][$0] }.watchdogMilliseconds
                == nil)
    }

    @Test("SHA-256 agrees with FIPS 180-4")
    func digest() {
        #expect(
            Hex.text(Digest.sha256(Array("abc".utf8)))
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(
            Hex.text(Digest.sha256([]))
                == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        let twoBlocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"
        #expect(
            Hex.text(Digest.sha256(Array(twoBlocks.utf8)))
                == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
    }

    @Test("random bytes differ and have the requested length")
    func random() {
        let drawn = (0..<100).map { _ in SecureRandom.bytes(32) }
        #expect(Set(drawn).count == 100 && drawn.allSatisfy { $0.count == 32 })
        #expect(Set((0..<100).map { _ in SecureRandom.number() }).count == 100)
        #expect(SecureRandom.bytes(0).isEmpty)
    }
}
