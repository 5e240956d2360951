import Basics
import Glibc
import Testing

@testable import NATSClient
@testable import Transport

/// A server that sends what a test wants. It reads and writes only when the test calls for it.
private final class RawServer {
    private let socket: ListeningSocket
    private var peer: Int32 = -1
    private(set) var received: [UInt8] = []
    private(set) var isEnded = false
    let name: String

    init(_ name: String) throws {
        self.name = name
        socket = try ListeningSocket(tcp: .loopback(port: 0))
    }

    deinit { hangUp() }

    var address: NATSServerAddress { NATSServerAddress(host: "127.0.0.1", port: socket.address.port) }

    /// Describes itself, `more` being further members of the description.
    func describe(_ more: String = "") {
        send("INFO {\"server_name\":\"\(name)\",\"max_payload\":2097152,\"headers\":true\(more)}\r\n")
    }

    func send(_ text: String) { _ = Glibc.send(peer, text, text.utf8.count, Int32(MSG_NOSIGNAL)) }

    /// Accepts a client, if one waits.
    func accept() -> Bool {
        var entry = pollfd(fd: socket.descriptor.number, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, 0) == 1 else { return false }
        hangUp()
        peer = Glibc.accept(socket.descriptor.number, nil, nil)
        (received, isEnded) = ([], false)
        return peer >= 0
    }

    /// Reads what is there.
    func read() {
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        let size = buffer.count
        while true {
            let count = recv(peer, &buffer, size, Int32(MSG_DONTWAIT))
            guard count > 0 else {
                isEnded = isEnded || count == 0 || errno != EAGAIN
                return
            }
            received += buffer[..<count]
        }
    }

    /// Closes the connection.
    func hangUp() {
        if peer >= 0 { close(peer) }
        peer = -1
    }
}

/// What a connection does about servers that come and go, with servers that the test plays.
@Suite("connections to servers that come and go") struct ConnectionTests {
    /// Lets a client log in to one of the servers. Returns that server.
    private func login(_ test: TestClient, _ servers: [RawServer]) throws -> RawServer {
        var server: RawServer?
        try test.run("a client connects") {
            server = servers.first { $0.accept() }
            return server != nil
        }
        let found = try #require(server)
        found.describe()
        try test.run("the client logs in") {
            found.read()
            return String(decoding: found.received, as: UTF8.self).contains("PING\r\n")
        }
        found.send("PONG\r\n")
        #expect(try test.connected() == found.name)
        return found
    }

    private func client(_ servers: [RawServer]) throws -> TestClient {
        try TestClient(NATSSettings(servers: servers.map(\.address), name: "tests"))
    }

    @Test(
        "servers that accept a login and close at once are asked again after a wait, not one after the other")
    func flapping() throws {
        let servers = try ["a", "b", "c"].map { try RawServer($0) }
        let test = try client(servers)
        for _ in 1...4 {
            let server = try login(test, servers)
            let lost = Now.read().monotonic
            server.hangUp()
            _ = try test.disconnected()
            try test.run("a client connects again") {
                servers.contains { server in
                    guard server.accept() else { return false }
                    server.hangUp()
                    return true
                }
            }
            // The first wait is at least half of the shortest one.
            let wait = Now.read().monotonic.milliseconds(since: lost)
            #expect(wait >= Limits.NATSConnection.retryMilliseconds / 2)
            _ = try test.attemptFailed()
        }
    }

    @Test("a server that is left is asked last, each time")
    func left() throws {
        let servers = try ["a", "b", "c"].map { try RawServer($0) }
        let test = try client(servers)
        var last = try login(test, servers)
        // Often: one that is not asked last would still be another one in two of three new rounds.
        for _ in 1...40 {
            try test.jetStream.leave()
            #expect(try test.disconnected() == .left)
            let next = try login(test, servers)
            #expect(next !== last)
            last = next
        }
    }

    @Test("a server in lame duck mode gets what was published before it is left")
    func lameDuck() throws {
        let server = try RawServer("a")
        let test = try client([server])
        _ = try login(test, [server])
        // More than the sockets hold: most of it waits in the client when the time is over.
        let payload = [UInt8](repeating: 0x61, count: 1 << 20)
        for _ in 1...24 { #expect(try test.jetStream.publish(payload, to: "s")) }
        server.describe(",\"ldm\":true")
        #expect(try test.disconnected() == .lameDuck)
        try test.run("everything is sent") {
            server.read()
            return server.isEnded
        }
        #expect(server.received.count { $0 == 0x61 } >= 24 << 20)
    }

    @Test("a connection whose server never sends a word, or sends it twice, is given up or goes on")
    func words() throws {
        let server = try RawServer("a")
        let test = try client([server])
        try test.run("a client connects") { server.accept() }
        #expect(try test.attemptFailed() == .timedOut, "no INFO")
        try test.run("a client connects") { server.accept() }
        server.describe()
        #expect(try test.attemptFailed() == .timedOut, "no answer to the login")
        let found = try login(test, [server])
        // Again, late, and for a stranger.
        found.send("PONG\r\nPONG\r\n")
        found.describe()
        found.send("MSG stranger 99 2\r\nhi\r\nPING\r\n")
        try test.run("the ping is answered") {
            found.read()
            return String(decoding: found.received, as: UTF8.self).contains("PONG\r\n")
        }
        #expect(try test.jetStream.isConnected)
    }
}
