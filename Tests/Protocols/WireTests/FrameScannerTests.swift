import Basics
import Testing

@testable import Wire

/// Frames that the HTTP/2 session drops are counted nevertheless.
@Suite("Dropped HTTP/2 frames") struct FrameScannerTests {
    private static func frame(_ type: UInt8, _ count: Int, stream: UInt8 = 0) -> [UInt8] {
        [UInt8(count >> 16 & 255), UInt8(count >> 8 & 255), UInt8(count & 255), type, 0, 0, 0, 0, stream]
            + Array(repeating: 0, count: count)
    }

    @Test("frames are counted for any split, and only those of unknown types show no life")
    func splits() {
        let stream = HTTP2Preface.bytes + Self.frame(4, 0) + Self.frame(0x2A, 300) + Self.frame(6, 8)
        for step in [1, 2, 5, 9, 10, 100, stream.count] {
            var scanner = FrameScanner(ofClient: true)
            var at = 0
            while at < stream.count {
                let end = min(at + step, stream.count)
                _ = scanner.scan(Array(stream[at..<end]).raw)
                at = end
            }
            #expect(scanner.frames == 3, "\(step)")
        }
        var scanner = FrameScanner(ofClient: false)
        let silence = Self.frame(0x2A, 20).map { scanner.scan([$0].raw) }
        #expect(!silence.contains(true))
        let life = Self.frame(6, 8).map { scanner.scan([$0].raw) }
        #expect(life.suffix(9).allSatisfy { $0 }, "from the end of the header on: \(life)")
    }

    @Test("a client that sends only frames of unknown types is ended as a flood")
    func server() {
        let connection = HTTP2Connection()
        var budget = FrameBudget(now: Instant(nanoseconds: 0))
        connection.receive((HTTP2Preface.bytes + Self.frame(4, 0)).raw, at: 0)
        let isFirstCharged = budget.charge(connection.takeTally(), now: Instant(nanoseconds: 0))
        #expect(isFirstCharged)
        let unknown = Array(repeating: Self.frame(0x2A, 3), count: 500).flatMap { $0 }
        var charged = 0
        while charged < 10 {
            connection.receive(unknown.raw, at: 0)
            charged += 1
            guard budget.charge(connection.takeTally(), now: Instant(nanoseconds: 0)) else { break }
        }
        #expect(charged == Limits.HTTP2.idleFrames / 500 + 1 || charged == Limits.HTTP2.idleFrames / 500)
        #expect(connection.failure == nil, "canary: the session itself takes them")
    }

    @Test("a server that sends only frames of unknown types is asked by PING, and ends as silent")
    func client() {
        func at(_ seconds: Int) -> Instant { Instant(nanoseconds: Int64(seconds) * 1_000_000_000) }
        let connection = HTTP2ClientConnection(authority: "a", now: at(0))
        connection.receive(Self.frame(4, 0).raw, now: at(0))
        var second = 0
        while connection.failure == nil, second < 3 * Limits.HTTP2Client.idlePingSeconds {
            second += 1
            connection.receive(Self.frame(0x2A, 3).raw, now: at(second))
            if connection.deadline <= at(second) { connection.wake(now: at(second)) }
            var out = ByteBuffer()
            connection.write(upTo: 65_536, to: &out)
        }
        #expect(connection.failure == .silent)
        let due = Limits.HTTP2Client.idlePingSeconds + Limits.HTTP2Client.pongSeconds
        #expect((due...due + 1).contains(second), "\(second)")
    }
}
