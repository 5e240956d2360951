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
    private var answeredPings = 0
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
        (received, isEnded, answeredPings) = ([], false, 0)
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

    /// What the client has sent, as text.
    var words: String { String(decoding: received, as: UTF8.self) }

    /// Reads what is there, and answers the pings.
    func serve() {
        read()
        let pings = words.ranges(of: "PING\r\n").count
        while answeredPings < pings {
            send("PONG\r\n")
            answeredPings += 1
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
            found.serve()
            return found.words.contains("PING\r\n")
        }
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
            return found.words.contains("PONG\r\n")
        }
        #expect(try test.jetStream.isConnected)
    }

    // MARK: Returns

    /// A client that could not reach the server that it prefers, uses another one, and has begun to try a return.
    private func away() throws -> (test: TestClient, home: RawServer, other: RawServer) {
        let (home, other) = (try RawServer("home"), try RawServer("other"))
        var settings = NATSSettings(servers: [other.address, home.address], name: "tests")
        settings.preferred = [home.address]
        let test = try TestClient(settings)
        try test.run("the preferred server is tried first") { home.accept() }
        home.hangUp()
        _ = try test.attemptFailed()
        _ = try login(test, [other])
        let since = Now.read().monotonic
        try test.run("a return is tried") {
            other.serve()
            return home.accept()
        }
        #expect(Now.read().monotonic.milliseconds(since: since) >= 1_900)
        #expect(try test.jetStream.server?.name == "other" && test.takeEvents().isEmpty)
        return (test, home, other)
    }

    /// Lets the second connection log in, and passes a message to it. Returns the subject on which it comes back.
    private func subject(_ test: TestClient, _ home: RawServer, _ other: RawServer) throws -> Substring {
        home.describe()
        var inbox: Substring?
        try test.run("the message to the second connection") {
            home.serve()
            other.serve()
            inbox = other.words.firstMatch(of: /PUB (_INBOX\.[A-Z0-9a-z]+)\.there 0\r\n\r\n/)?.1
            return inbox != nil
        }
        let found = try #require(inbox)
        #expect(other.words.contains("SUB \(found).back 0\r\n"))
        try test.run("the second connection waits for it") {
            home.serve()
            return home.words.contains("SUB \(found).there 0\r\n")
        }
        #expect(!home.words.contains("PUB"))
        home.send("MSG \(found).there 0 0\r\n\r\n")
        try test.run("the message comes back") {
            home.serve()
            other.serve()
            return home.words.contains("PUB \(found).back 0\r\n\r\n")
        }
        return "\(found).back"
    }

    @Test("a client returns once a message has passed between the servers, and what it has published arrives")
    func returns() throws {
        let (test, home, other) = try away()
        let subject = try subject(test, home, other)
        let payload = [UInt8](repeating: 0x61, count: 1 << 20)
        for _ in 1...24 { #expect(try test.jetStream.publish(payload, to: "s")) }
        other.send("MSG stranger 0 0\r\n\r\nPING\r\nMSG \(subject) 0 0\r\n\r\nMSG s 9 2\r\nhi\r\n")
        try test.next("what has arrived is reported before") { if case .message = $0 { true } else { nil } }
        #expect(try test.disconnected() == .returned)
        #expect(try test.connected() == "home")
        try test.run("everything is sent") {
            home.serve()
            other.read()
            return other.isEnded
        }
        #expect(other.received.count { $0 == 0x61 } >= 24 << 20)
        #expect(try test.jetStream.publish([1], to: "after"))
        try test.run("the preferred server is used") {
            home.serve()
            return home.words.contains("PUB after 1\r\n")
        }
    }

    @Test(
        "a preferred server that is silent, has no way to the others, fails or leaves is left alone without a word"
    )
    func failedReturns() throws {
        for words in [
            nil, "", "MSG a 0 0\r\n\r\n-ERR 'Stale Connection'\r\n",
            "INFO {\"max_payload\":9,\"ldm\":true}\r\n",
        ] {
            let (test, home, other) = try away()
            if let words {
                _ = try subject(test, home, other)
                home.send(words)
            }
            try test.run("the second connection is given up") {
                if words == nil { home.read() } else { home.serve() }
                other.serve()
                return home.isEnded
            }
            try test.run("so is its subscription") {
                other.serve()
                return other.words.contains("UNSUB 0\r\n")
            }
            #expect(try test.jetStream.server?.name == "other" && test.takeEvents().isEmpty)
        }
    }

    @Test("a stop ends a return, and so does the loss of the connection; then the preferred server is first")
    func endedReturns() throws {
        let (stopped, home, other) = try away()
        _ = try subject(stopped, home, other)
        try stopped.jetStream.stop()
        #expect(try stopped.disconnected() == .stopped)
        try stopped.run("both connections end") {
            home.read()
            other.read()
            return home.isEnded && other.isEnded
        }
        #expect(stopped.takeEvents().isEmpty)
        let (lost, own, last) = try away()
        _ = try subject(lost, own, last)
        last.hangUp()
        #expect("\(try lost.disconnected())".hasPrefix("closed"))
        try lost.run("the second connection ends, and another one is made") {
            own.read()
            return own.isEnded && own.accept()
        }
        own.describe()
        try lost.run("the client logs in") {
            own.serve()
            return try lost.jetStream.isConnected
        }
        #expect(try lost.connected() == "home")
    }
}
