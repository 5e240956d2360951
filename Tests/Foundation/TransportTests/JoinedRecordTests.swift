import Basics
import Testing

@testable import Transport

@Suite("Joined records")
struct JoinedRecordTests {
    private static func loopback() throws -> Loopback {
        var pace = PaceSettings()
        pace.joinsRecords = true
        return try Loopback(pace: pace)
    }

    @Test("the owner gets all records that have arrived in one call when its listener joins them")
    func joined() throws {
        let loop = try Self.loopback()
        let connection = try loop.connect(Recorder())
        for number in 0..<200 { connection.send("record \(number) ") }
        let sent = (0..<200).flatMap { Array("record \($0) ".utf8) }
        #expect(loop.reactor.turns { loop.server.received.count == sent.count })
        #expect(loop.server.received == sent)
        #expect(loop.server.chunks.count < 20)
    }

    @Test("a call passes at most 16 KiB when records are joined")
    func bounded() throws {
        let loop = try Self.loopback()
        let connection = try loop.connect(Recorder())
        let records = (0..<40).map { [UInt8](repeating: UInt8($0), count: 1_000 + $0 * 300) }
        for record in records { connection.send(record) }
        let count = records.reduce(0) { $0 + $1.count }
        #expect(loop.reactor.turns { loop.server.received.count == count })
        #expect(loop.server.received == records.flatMap { $0 })
        #expect(loop.server.chunks.allSatisfy { $0.count <= TLSStaging.plainBytes })
    }

    @Test("no bytes are lost when the owner stops reading at each call, and the end of the peer follows them")
    func stopsAtEach() throws {
        let loop = try Self.loopback()
        loop.server.onBytes = { connection, _ in connection.isReading = false }
        let connection = try loop.connect(Recorder())
        let accepted = try #require(loop.server.connections.first)
        let records = (0..<30).map { [UInt8](repeating: UInt8($0), count: 3_000) }
        for record in records { connection.send(record) }
        connection.close(.peerClosed)
        #expect(loop.reactor.turns { !loop.server.chunks.isEmpty })
        for _ in 0..<5 { loop.reactor.turn(waitMilliseconds: 1) }
        #expect(loop.server.chunks.count == 1 && loop.server.closed.isEmpty && loop.server.inputEnds == 0)
        #expect(
            loop.reactor.turns {
                if loop.server.closed.isEmpty { accepted.isReading = true }
                return !loop.server.closed.isEmpty
            })
        #expect(loop.server.received == records.flatMap { $0 })
        #expect(loop.server.closed == [.peerClosed])
    }

    @Test("the end of the peer follows its last bytes when both arrive together")
    func end() throws {
        let loop = try Self.loopback()
        var atEnd = 0
        loop.server.onInputEnd = { _ in atEnd = loop.server.received.count }
        let connection = try loop.connect(Recorder())
        connection.send("first")
        connection.send("last")
        connection.close(.peerClosed)
        #expect(loop.reactor.turns { !loop.server.closed.isEmpty })
        #expect(loop.server.received == Array("firstlast".utf8))
        #expect(atEnd == 9)
    }

    @Test("canary: records arrive one by one when the listener does not join them")
    func canary() throws {
        let loop = try Loopback()
        let connection = try loop.connect(Recorder())
        for number in 0..<200 { connection.send("record \(number) ") }
        #expect(loop.reactor.turns { loop.server.chunks.count == 200 })
    }
}
