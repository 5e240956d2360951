import Basics
import Glibc
import Testing

@testable import Transport

@Suite struct EchoTests {
    @Test("each side receives what the other sends", arguments: [true, false])
    func echo(tls: Bool) throws {
        let loop = try Loopback(tls: tls)
        loop.server.onBytes = { $0.send($1) }
        let owner = Recorder()
        let connection = try loop.connect(owner)
        connection.send("hello")
        #expect(loop.reactor.turns { owner.received.count == 5 })
        #expect(owner.received == Array("hello".utf8))
        #expect(connection.isPlain == !tls)
        #expect(connection.tlsVersion == (tls ? "TLSv1.3" : nil))
    }

    @Test("a connection works when TLS starts on a socket that was connected before")
    func takenOver() throws {
        let loop = try Loopback()
        loop.server.onBytes = { $0.send($1) }
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #expect(loop.address.withSocketAddress { connect(number, $0, $1) } == 0)
        let owner = Recorder()
        let connection = try loop.reactor.connect(
            over: Descriptor(owning: number), to: loop.address, tls: try #require(loop.client),
            delegate: owner)
        #expect(loop.reactor.turns { owner.opened == 1 })
        connection.send("hello")
        #expect(loop.reactor.turns { owner.received == Array("hello".utf8) })
        #expect(connection.tlsVersion == "TLSv1.3" && fcntl(number, F_GETFL) & O_NONBLOCK != 0)
        connection.close(.operatorRequest)
        #expect(loop.reactor.turns { !owner.closed.isEmpty && !loop.server.closed.isEmpty })
    }

    @Test("a channel binding is equal on both ends, distinct for each channel, and absent without TLS")
    func channelBinding() throws {
        let loop = try Loopback()
        let owner = Recorder()
        let first = try loop.connect(owner)
        let second = try loop.connect(owner)
        let bindings = try [first, second].map { try #require($0.channelBinding) }
        #expect(bindings == loop.server.connections.map(\.channelBinding))
        #expect(bindings[0] != bindings[1] && bindings[0].count == 32)
        #expect(try Loopback(tls: false).connect(owner).channelBinding == nil)
    }

    @Test("records arrive one by one when many are sent in one turn")
    func records() throws {
        let loop = try Loopback()
        let sizes = [1, 2, 15, 16, 17, 1_000, 16_383, 16_384, 1, 500] + Array(1...200)
        let records = sizes.map { [UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: $0) }
        loop.server.onOpen = { connection in records.forEach { connection.send($0) } }
        let owner = Recorder()
        _ = try loop.connect(owner)
        #expect(loop.reactor.turns { owner.received.count == sizes.reduce(0, +) })
        #expect(owner.chunks == records)
    }

    @Test("a record arrives complete in several when it is over 16 KiB")
    func longRecord() throws {
        let loop = try Loopback()
        let long = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        loop.server.onOpen = { $0.send(long) }
        let owner = Recorder()
        _ = try loop.connect(owner)
        #expect(loop.reactor.turns { owner.received.count == long.count })
        #expect(owner.received == long)
        #expect(owner.chunks.allSatisfy { $0.count <= 16_384 })
        #expect(owner.chunks.count == 7)
    }

    @Test("canary: the boundaries are lost when records have no ends")
    func boundariesCanary() throws {
        let loop = try Loopback()
        loop.server.onOpen = { connection in
            connection.outbox.bytes.append("one")
            connection.outbox.bytes.append("two")
            connection.setNeedsFlush()
        }
        let owner = Recorder()
        _ = try loop.connect(owner)
        #expect(loop.reactor.turns { owner.received.count == 6 })
        #expect(owner.chunks == [Array("onetwo".utf8)])
    }

    @Test("megabytes arrive when both directions are used at once", arguments: [true, false])
    func bulk(tls: Bool) throws {
        var pace = PaceSettings()
        pace.outboundBytes = 64 << 20
        let loop = try Loopback(tls: tls, pace: pace)
        let block = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        var atServer = 0
        var atClient = 0
        loop.server.onBytes = {
            atServer += $1.count; _ = $0
        }
        loop.server.onOpen = { connection in for _ in 0..<400 { connection.send(block) } }
        let owner = Recorder()
        owner.onBytes = {
            atClient += $1.count; _ = $0
        }
        let connection = try loop.reactor.connect(
            to: loop.address, tls: loop.client, pace: pace, delegate: owner)
        for _ in 0..<400 { connection.send(block) }
        #expect(loop.reactor.turns { atServer == 4_000_000 && atClient == 4_000_000 })
        #expect(Array(owner.received.prefix(10_000)) == block)
        #expect(Array(owner.received.suffix(10_000)) == block)
        #expect(connection.outboundCount == 0)
    }

    @Test("reading stops at the record at which the owner stops it, and resumes after it")
    func backPressure() throws {
        let loop = try Loopback()
        loop.server.onBytes = { connection, _ in connection.isReading = false }
        let owner = Recorder()
        let connection = try loop.connect(owner)
        for number in 0..<10 { connection.send("record \(number)") }
        #expect(loop.reactor.turns { !loop.server.chunks.isEmpty })
        for _ in 0..<5 { loop.reactor.turn(waitMilliseconds: 1) }
        #expect(loop.server.chunks == [Array("record 0".utf8)])
        loop.server.onBytes = { _, _ in }
        let accepted = try #require(loop.server.connections.first)
        accepted.isReading = true
        #expect(loop.reactor.turns { loop.server.chunks.count == 10 })
        #expect(loop.server.chunks.last == Array("record 9".utf8))
    }

    @Test("no bytes are lost when the owner stops reading at each record")
    func stopsAtEach() throws {
        let loop = try Loopback()
        loop.server.onBytes = { connection, _ in connection.isReading = false }
        let owner = Recorder()
        let connection = try loop.connect(owner)
        let accepted = try #require(loop.server.connections.first)
        // More than OpenSSL's buffer of one record, in one piece.
        let records = (0..<4).map { [UInt8](repeating: UInt8($0), count: 16_000) }
        for record in records { connection.send(record) }
        #expect(
            loop.reactor.turns {
                accepted.isReading = true
                // More follows, so that a gap shows as a record that cannot be decrypted.
                connection.send(records[0])
                return loop.server.chunks.count >= records.count || !loop.server.closed.isEmpty
            })
        #expect(Array(loop.server.chunks.prefix(records.count)) == records && loop.server.closed.isEmpty)
    }

    @Test("TLS messages are sent after pending output when the peer does not read")
    func sealedBehind() throws {
        var pace = PaceSettings()
        pace.outboundBytes = 64 << 20
        let loop = try Loopback(pace: pace)
        let (owner, size) = (Recorder(), 16 << 20)
        let connection = try loop.connect(owner)
        connection.isReading = false
        let accepted = try #require(loop.server.connections.first)
        accepted.send([UInt8](repeating: 7, count: size))
        loop.reactor.turn(waitMilliseconds: 0)
        #expect(accepted.outboundCount > 0, "canary: the socket must not accept everything")
        // As a response to a TLS message of the peer: encrypted outside of the outbox.
        let answer = Array("answer".utf8)
        #expect(answer.withUnsafeBytes { accepted.tls.seal($0) })
        accepted.sendSealed(loop.reactor.now)
        accepted.send("after")
        var count = 0
        owner.onBytes = { count += $1.count }
        connection.isReading = true
        #expect(loop.reactor.turns { count == size + 11 || !owner.closed.isEmpty })
        #expect(owner.closed.isEmpty && owner.chunks.suffix(2) == [answer, Array("after".utf8)])
    }

    @Test("an outbox keeps its memory while the connection is busy, and frees it when it is idle")
    func warmth() throws {
        let loop = try Loopback()
        let owner = Recorder()
        let connection = try loop.connect(owner)
        connection.send("one")
        #expect(loop.reactor.turns { loop.server.received.count == 3 })
        #expect(connection.isWarm)
        connection.send("two")
        #expect(loop.reactor.turns { loop.server.received.count == 6 })
        connection.send([UInt8](repeating: 1, count: 100_000))
        #expect(loop.reactor.turns { loop.server.received.count == 100_006 })
        #expect(loop.reactor.turns { !connection.isWarm })
        #expect(loop.reactor.warm.isEmpty)
        connection.send("three")
        #expect(loop.reactor.turns { loop.server.received.count == 100_011 })
    }

    @Test("a reactor serves a thousand connections at once")
    func thousand() throws {
        DescriptorLimit.raise()
        let loop = try Loopback()
        loop.server.onBytes = { $0.send($1) }
        let owners = (0..<1_000).map { _ in Recorder() }
        // A hundred handshakes at a time, so that none exceeds its deadline on a busy machine.
        for first in stride(from: 0, to: owners.count, by: 100) {
            for number in first..<first + 100 {
                owners[number].onOpen = { $0.send("number \(number)") }
                _ = try loop.reactor.connect(to: loop.address, tls: loop.client, delegate: owners[number])
            }
            #expect(loop.reactor.turns { owners[first..<first + 100].allSatisfy { !$0.received.isEmpty } })
        }
        for (number, owner) in owners.enumerated() {
            #expect(owner.received == Array("number \(number)".utf8))
        }
        #expect(loop.reactor.connectionCount == 2_000)
        let ids = Set(owners.compactMap { $0.connections.first?.id })
        #expect(ids.count == 1_000)
    }
}
