import Basics
import HTTP2Peer
import Testing

@testable import Wire

/// Servers that violate the protocol or attack the client.
@Suite struct HTTP2ClientHostileTests {
    typealias Desk = HTTP2ClientDesk
    typealias Frames = HTTP2Frames

    /// A connection with one request in flight.
    private func asking() -> Desk {
        let desk = Desk()
        desk.send()
        return desk
    }

    @Test(
        "A body that is too long ends its stream but not the connection", arguments: [1, 1_000, 16_000])
    func longBody(piece: Int) {
        let desk = asking()
        desk.receive(Frames.headers(1, [(":status", "200")]))
        var sent = 0
        while sent + piece <= Limits.HTTP2Client.answerBodyBytes {
            desk.receive(Frames.data(1, [UInt8](repeating: 1, count: piece)))
            sent += piece
            if piece == 1, sent == 1_000 {
                desk.receive(
                    Frames.data(1, [UInt8](repeating: 1, count: Limits.HTTP2Client.answerBodyBytes - sent)))
                sent = Limits.HTTP2Client.answerBodyBytes
            }
        }
        #expect(desk.events().isEmpty)
        desk.receive(Frames.data(1, [UInt8](repeating: 1, count: piece)))
        #expect(desk.events() == ["1: bodyTooLong(status: 200)"])
        // The window allows the server this one byte.
        #expect(desk.peer.answers[1]?.reset == (piece == 1 ? 8 : 3))
        desk.expectNothingLeft()
        desk.send()
        desk.receive(Desk.answer(3, "fine"))
        #expect(desk.events() == ["3: 200 fine"])
    }

    @Test("The memory of all answers together is limited")
    func heldAnswers() {
        let desk = Desk(streams: 1_000)
        let body = [UInt8](repeating: 1, count: 10_000)
        var failed = 0
        for at in 0..<UInt32(300) {
            desk.send()
            desk.receive(Frames.headers(2 * at + 1, [(":status", "200")]) + Frames.data(2 * at + 1, body))
            #expect(desk.connection.answersBytes <= Limits.HTTP2Client.answersBytes)
            failed += desk.events().count
        }
        #expect(failed > 80 && failed < 100 && desk.connection.failure == nil)
        desk.connection.connectionLost()
        _ = desk.events()
        desk.expectNothingLeft()
    }

    @Test("Too long or too many headers or trailers end their stream; a header bomb ends the connection")
    func longHeads() {
        let long = ("a", String(repeating: "b", count: 15_000))
        let many = (0...Limits.HTTP2Client.answerHeaders).map { ("a\($0)", "b") }
        for (fields, isTooLong) in [([long], false), ([long, long], true), (many, true)] {
            let desk = asking()
            let block = Frames.block([(":status", "200")] + fields)
            desk.receive(Frames.frame(1, flags: 1, stream: 1, Array(block.prefix(16_000))))
            desk.receive(Frames.continuation(1, Array(block.dropFirst(16_000)), isLast: true))
            #expect(desk.events() == [isTooLong ? "1: answerTooLong" : "1: 200 "])
            #expect(desk.connection.failure == nil)
            desk.expectNothingLeft()
        }
        let desk = asking()
        // One indexed field of 4,000 bytes, then one byte for each repetition.
        let field = [0x40] + Frames.text("a") + Frames.text(String(repeating: "b", count: 4_000))
        let block = Frames.block([(":status", "200")]) + field + [UInt8](repeating: 0xBE, count: 10_000)
        desk.receive(Frames.frame(1, flags: 5, stream: 1, block))
        #expect(desk.events() == ["1: connectionEnded", "ended: flood"] && desk.peer.goAway?.code == 11)
        desk.expectNothingLeft()
    }

    @Test("Endless CONTINUATION frames end the connection", arguments: [0, 1, 100])
    func continuations(bytes: Int) {
        let desk = asking()
        desk.receive(Frames.headers(1, [(":status", "200")], isWhole: false))
        let limit = Limits.HTTP2Client.answerHeadBytes * Limits.HTTP2.headBombFactor
        var sent = 0
        while desk.connection.failure == nil, sent <= 2 * limit {
            desk.receive(Frames.continuation(1, [UInt8](repeating: 0x88, count: bytes), isLast: false))
            sent += 9 + bytes
        }
        #expect(desk.connection.failure == .flood && sent <= limit + 9 + bytes)
        desk.flush()
        #expect(desk.peer.goAway?.code == 11)
    }

    @Test("A header block may have exactly the permitted bytes, decompressed, but not one more")
    func longestHead() {
        let limit = Limits.HTTP2Client.answerHeadBytes * Limits.HTTP2.headBombFactor
        for (more, isTaken) in [(0, true), (1, false)] {
            var head = HTTP2AnswerHead(stream: 1)
            let taken = head.add([0x61].raw, [UInt8](repeating: 0x62, count: limit - 33 + more).raw)
            #expect(taken == isTaken)
            #expect(head.isTooLong)
        }
        for (more, isTooLong) in [(0, false), (1, true)] {
            var head = HTTP2AnswerHead(stream: 1)
            let fill = Limits.HTTP2Client.answerHeadBytes - 33 + more
            let isTaken = head.add([0x61].raw, [UInt8](repeating: 0x62, count: fill).raw)
            #expect(isTaken)
            #expect(head.isTooLong == isTooLong)
        }
    }

    @Test("Too many unanswered PING and SETTINGS frames end the connection")
    func unansweredAcks() {
        for frame in [Frames.ping, Frames.settings()] {
            let desk = asking()
            let many = Array(repeatElement(frame, count: Limits.HTTP2.waitingAcks + 1).joined())
            desk.receive(many, listens: false)
            #expect(desk.events() == ["1: connectionEnded", "ended: flood"])
            desk.expectNothingLeft()
        }
        let desk = asking()
        desk.receive(Frames.settings((0...Limits.HTTP2.settings).map { (UInt16($0) + 100, 1) }))
        #expect(desk.connection.failure != nil)
    }

    static let idle: [[UInt8]] = [
        Frames.ping, Frames.settings(), Frames.windowUpdate(0, 1), Frames.windowUpdate(1, 1),
        Frames.data(1, []),
        Frames.data(1, [1]), Frames.headers(1, [(":status", "103")]), Frames.reset(1),
        Frames.frame(2, stream: 9, [0, 0, 0, 0, 1]), Desk.goAway(last: 0x7FFF_FFFF),
    ]

    @Test("Endless frames that do not advance an answer end the connection", arguments: idle)
    func idleFrames(frame: [UInt8]) {
        let desk = Desk()
        desk.send()
        desk.send()
        let isData = frame[3] == 0
        if isData { desk.receive(Frames.headers(1, [(":status", "200")])) }
        var sent = 0
        while desk.connection.failure == nil, sent < 2 * Limits.HTTP2.idleFrames {
            desk.receive(Array(repeatElement(frame, count: 50).joined()))
            sent += 50
        }
        #expect(desk.connection.failure == .flood && sent <= Limits.HTTP2.idleFrames + 100, "\(frame)")
        desk.flush()
        #expect(desk.peer.goAway?.code == 11)
        // The budget is restored with time fast enough for any legitimate server.
        let slow = Desk()
        for _ in 0..<100 {
            slow.now = slow.now.advanced(seconds: 1)
            slow.receive(Array(repeatElement(Frames.ping, count: Limits.HTTP2.idleFramesPerSecond).joined()))
        }
        #expect(slow.connection.failure == nil)
    }

    static let brokenFrames: [([UInt8], UInt32)] = [
        // Answers and bodies for streams that were never opened, and streams opened by the server.
        (Frames.headers(9, [(":status", "200")], ends: true), 1), (Frames.data(9, [1], ends: true), 1),
        (Frames.headers(2, [(":status", "200")], ends: true), 1), (Frames.reset(9), 1),
        (Frames.frame(5, flags: 4, stream: 1, Frames.word(2) + Frames.block(Frames.request("GET", "/"))), 1),
        // Protocol violations.
        (Frames.frame(1, flags: 5, stream: 1, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]), 9),
        (Frames.data(0, [1]), 1), (Frames.frame(6, [1, 2, 3]), 6), (Frames.frame(4, [1, 2, 3]), 6),
        (Frames.settings([(4, 0x8000_0000)]), 3), (Frames.settings([(2, 1)]), 1),
        (Frames.windowUpdate(0, 0), 1), (Frames.windowUpdate(0, 0x7FFF_FFFF), 3),
        (Frames.frame(9, flags: 4, stream: 1, [0x88]), 1),
        (Frames.frame(0, stream: 1, [], length: 0xFF_FFFF), 6),
        (Frames.frame(7, [0, 0, 0]), 6),
    ]

    @Test("A protocol violation ends the connection with its error", arguments: brokenFrames)
    func broken(frame: [UInt8], code: UInt32) {
        let desk = asking()
        desk.receive(frame)
        #expect(desk.events() == ["1: connectionEnded", "ended: protocolError"], "\(frame)")
        #expect(desk.peer.goAway?.code == code, "\(frame)")
        desk.receive(Desk.answer(1))
        #expect(desk.events().isEmpty)
        desk.expectNothingLeft()
    }

    static let improperAnswers: [[(String, String)]] = [
        [], [("a", "b")], [(":status", "200"), (":status", "200")], [(":status", "20")],
        [(":status", "2000")], [(":status", "abc")], [(":status", "200"), ("Upper", "a")],
        [(":status", "200"), ("a", "b\r\nc: d")], [("a", "b"), (":status", "200")],
        [(":status", "200"), ("connection", "close")], [(":status", "200"), ("content-length", "5")],
        [(":status", "200"), ("content-length", "x")], [(":status", "103")],
        [(":status", "101")], [(":status", "200"), (":path", "/")],
    ]

    @Test(
        "A malformed answer ends its stream but not the connection",
        arguments: improperAnswers.indices)
    func improper(index: Int) {
        let desk = asking()
        desk.receive(Frames.headers(1, Self.improperAnswers[index], ends: true))
        #expect(desk.events() == ["1: malformedAnswer"], "\(Self.improperAnswers[index])")
        #expect(desk.peer.answers[1]?.reset != nil && desk.connection.failure == nil)
        desk.expectNothingLeft()
        desk.send()
        desk.receive(Desk.answer(3))
        #expect(desk.events() == ["3: 200 "])
    }

    @Test("A server that exceeds its window ends the stream, and no event reports its bytes")
    func overWindow() {
        let desk = asking()
        desk.receive(Frames.headers(1, [(":status", "200")]))
        desk.receive(Frames.data(1, [UInt8](repeating: 1, count: 16_000)))
        desk.receive(Frames.data(1, [UInt8](repeating: 1, count: 16_000)) + Frames.data(1, [1], ends: true))
        #expect(desk.events() == ["1: bodyTooLong(status: 200)"] && desk.peer.answers[1]?.reset == 3)
        desk.expectNothingLeft()
        desk.send()
        desk.receive(Desk.answer(3))
        #expect(desk.events() == ["3: 200 "])
    }

    @Test("A repeated answer is not taken for the answer to another request")
    func again() {
        let desk = Desk()
        desk.send()
        desk.send()
        desk.receive(Desk.answer(1, "one"))
        desk.receive(Desk.answer(1, "two"))
        let events = desk.events()
        #expect(events.first == "1: 200 one" && !events.contains { $0.contains("two") })
    }

    @Test("Bytes that are not HTTP/2 end the connection")
    func notHTTP2() {
        for start in [Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), Frames.ping, Frames.data(1, [1])] {
            let desk = Desk(greets: false)
            desk.send()
            desk.receive(start)
            #expect(desk.events().last == "ended: protocolError")
        }
    }

    @Test("A truncated stream yields a prefix of the events, at every offset")
    func truncations() {
        let stream =
            Frames.headers(1, [(":status", "200"), ("content-length", "3")])
            + Frames.data(1, Array("abc".utf8), ends: true) + Frames.ping
            + Desk.answer(3, "x", status: "404")
        for cut in 0..<stream.count {
            let desk = Desk()
            desk.send()
            desk.send()
            desk.receive(Array(stream[..<cut]))
            var events = desk.events()
            #expect(events.count < 2 && desk.connection.failure == nil, "cut at \(cut)")
            desk.receive(Array(stream[cut...]))
            events += desk.events()
            #expect(events == ["1: 200 abc", "3: 404 x"], "cut at \(cut)")
        }
    }

    @Test("Random damage never yields more than one event for a request", arguments: 1...20)
    func noise(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        let proper =
            Frames.headers(1, [(":status", "200"), ("content-length", "3")])
            + Frames.data(1, Array("abc".utf8), ends: true) + Frames.windowUpdate(0, 100) + Frames.ping
            + Desk.answer(3, "x") + Frames.reset(5) + Desk.goAway(last: 5, reason: "bye")
        for _ in 0..<200 {
            var stream = proper
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let at = Int.random(in: 0..<stream.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: stream[at] = UInt8.random(in: 0...255, using: &random)
                case 1: stream.remove(at: at)
                default: stream.insert(UInt8.random(in: 0...255, using: &random), at: at)
                }
            }
            let desk = Desk()
            for _ in 0..<3 { desk.send() }
            desk.receive(stream)
            desk.connection.connectionLost()
            let events = desk.events()
            for stream in [1, 3, 5] {
                #expect(events.count { $0.hasPrefix("\(stream): ") } == 1, "\(events)")
            }
            #expect(events.count { $0.hasPrefix("ended") } == 1 && events.last?.hasPrefix("ended") == true)
            desk.expectNothingLeft()
        }
    }
}
