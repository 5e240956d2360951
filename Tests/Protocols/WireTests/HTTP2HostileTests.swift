import Basics
import HTTP2Peer
import Testing

@testable import Wire

@Suite struct HTTP2HostileTests {
    typealias Frames = HTTP2Frames

    @Test("Too long bodies are refused, announced or not, and the connection continues")
    func longBodies() {
        let desk = HTTP2Desk()
        let announced = [("content-length", "\(Limits.HTTP.requestBodyBytes + 1)")]
        desk.send(Frames.headers(1, Frames.request("POST", "/", announced)))
        #expect(desk.peer.answers[1]?.status == "413" && desk.peer.answers[1]?.reset == 0)
        desk.send(Frames.headers(3, Frames.request("POST", "/")))
        let piece = [UInt8](repeating: 0x61, count: 8_192)
        for _ in 0..<Limits.HTTP.requestBodyBytes / 8_192 { desk.send(Frames.data(3, piece)) }
        #expect(desk.peer.answers[3] == nil && desk.connection.failure == nil)
        desk.send(Frames.data(3, [0x61]))
        #expect(desk.peer.answers[3]?.status == "413" && desk.peer.answers[3]?.reset == 0)
        desk.send(Frames.headers(5, Frames.request("GET", "/"), ends: true))
        #expect(desk.next() == "5 GET / ")
    }

    @Test("Long bodies are received in turns within a common limit, and each one completes")
    func turns() {
        let desk = HTTP2Desk()
        let size = 1_000_000
        for stream: UInt32 in [1, 3, 5] {
            desk.send(Frames.headers(stream, Frames.request("POST", "/", [("content-length", "\(size)")])))
        }
        func room(_ stream: UInt32) -> Int {
            desk.peer.frames(8).filter { $0.stream == stream }.reduce(Limits.HTTP2.streamWindowBytes) {
                $0 + Int($1.word(at: 0))
            }
        }
        #expect(room(1) == size && room(3) == size && room(5) == Limits.HTTP2.streamWindowBytes)
        var held: [Bool] = []
        desk.send(Frames.data(5, [UInt8](repeating: 0x61, count: Limits.HTTP2.streamWindowBytes)))
        desk.connection.forEachIncomplete { if $0 == 5 { held.append($2) } }
        #expect(held == [false])
        let piece = [UInt8](repeating: 0x61, count: 10_000)
        for at in 1...100 { desk.send(Frames.data(1, piece, ends: at == 100)) }
        #expect(desk.next()?.count == 9 + size)
        desk.send(Frames.ping)
        #expect(room(5) == size)
    }

    @Test("A peer that exceeds its window violates the protocol")
    func overWindow() {
        let desk = HTTP2Desk()
        desk.send(Frames.headers(1, Frames.request("POST", "/", [("content-length", "10000")])))
        desk.send(Frames.headers(3, Frames.request("POST", "/", [("content-length", "8000")])))
        desk.send(Frames.data(3, [UInt8](repeating: 0x61, count: Limits.HTTP2.streamWindowBytes + 1)))
        #expect(desk.peer.answers[3]?.isWhole != true)
        #expect(desk.peer.answers[3]?.reset != nil || desk.connection.failure == .protocolError)
        #expect(desk.next() == nil)
    }

    @Test("The bodies of many streams are limited by their windows, and freed by resets")
    func heldBodies() {
        let desk = HTTP2Desk()
        desk.connection.trust()
        let piece = [UInt8](repeating: 0x61, count: Limits.HTTP2.streamWindowBytes)
        for round in 0..<8 {
            let first = UInt32(round * Limits.HTTP2.streams)
            for at in 0..<UInt32(Limits.HTTP2.streams) {
                let stream = (first + at) * 2 + 1
                desk.send(Frames.headers(stream, Frames.request("POST", "/")) + Frames.data(stream, piece))
            }
            // Streams without a length that fill their windows get their turns within the common limit.
            #expect(desk.connection.granted <= Limits.HTTP2.longBodiesBytes + 1)
            for at in 0..<UInt32(Limits.HTTP2.streams) { desk.send(Frames.reset((first + at) * 2 + 1)) }
            #expect(desk.connection.granted == 0 && desk.connection.headBytes == 0)
        }
        #expect(desk.connection.isEmpty && desk.connection.failure == nil)
        #expect(desk.tally.resets == 8 * Limits.HTTP2.streams)
    }

    @Test(
        "Bodies of an unauthenticated peer have one limit; streams beyond it are refused for a retry"
    )
    func strangersBodies() {
        let piece = [UInt8](repeating: 0x61, count: 8_000)
        func refused(trusting: Bool) -> Int {
            let desk = HTTP2Desk()
            if trusting { desk.connection.trust() }
            for at in 0..<UInt32(Limits.HTTP2.streams) {
                desk.send(
                    Frames.headers(at * 2 + 1, Frames.request("POST", "/")) + Frames.data(at * 2 + 1, piece))
                #expect(trusting || desk.connection.bodyBytes <= Limits.HTTP2.unauthenticatedBodiesBytes)
            }
            let refused = (0..<UInt32(Limits.HTTP2.streams)).count {
                desk.peer.answers[$0 * 2 + 1]?.reset == 7
            }
            // After a reset there is room, and the retry of a refused request succeeds.
            desk.send(Frames.reset(1) + Frames.data(3, [0x61], ends: true))
            #expect(desk.next()?.hasPrefix("3 POST") == true && desk.connection.failure == nil)
            let held = (Limits.HTTP2.streams - refused - 2) * piece.count
            #expect(desk.connection.bodyBytes == held)
            let last = UInt32(Limits.HTTP2.streams * 2 + 1)
            desk.send(
                Frames.headers(last, Frames.request("POST", "/")) + Frames.data(last, piece, ends: true))
            #expect(desk.next()?.hasPrefix("\(last) POST") == true)
            return refused
        }
        #expect(
            refused(trusting: false) == Limits.HTTP2.streams - Limits.HTTP2.unauthenticatedBodiesBytes / 8_000
        )
        #expect(refused(trusting: true) == 0)
    }

    @Test("The heads of incomplete requests are limited over all streams")
    func heldHeads() {
        let desk = HTTP2Desk()
        let long = [("a", String(repeating: "b", count: 15_000))]
        var refused = 0
        for at in 0..<UInt32(200) {
            desk.send(Frames.headers(at * 2 + 1, Frames.request("POST", "/", long)))
            if desk.peer.answers[at * 2 + 1]?.reset == 7 { refused += 1 }
            #expect(desk.connection.headBytes <= Limits.HTTP2.headsBytes)
        }
        #expect(refused > 50 && refused < 70)
    }

    @Test("Too long or too many headers are refused with 431, a long path with 414")
    func longHeads() {
        let desk = HTTP2Desk()
        let long = [("a", String(repeating: "b", count: 8_100)), ("b", String(repeating: "b", count: 8_100))]
        let first = Frames.block(Frames.request("GET", "/", long))
        desk.send(Frames.frame(1, flags: 1, stream: 1, Array(first[..<16_000])))
        desk.send(Frames.continuation(1, Array(first[16_000...]), isLast: true))
        #expect(desk.peer.answers[1]?.status == "431")
        let many = (0...Limits.HTTP.requestHeaders).map { ("a\($0)", "b") }
        desk.send(Frames.headers(3, Frames.request("GET", "/", many), ends: true))
        #expect(desk.peer.answers[3]?.status == "431")
        let path = "/" + String(repeating: "p", count: Limits.HTTP.requestLineBytes)
        desk.send(Frames.headers(5, Frames.request("GET", path), ends: true))
        #expect(desk.peer.answers[5]?.status == "414")
        desk.send(Frames.headers(7, Frames.request("GET", "/"), ends: true))
        #expect(desk.next() == "7 GET / " && desk.connection.failure == nil)
    }

    @Test("A header bomb ends the connection before it is fully decompressed")
    func bomb() {
        let desk = HTTP2Desk()
        // One indexed field of 4,000 bytes, then two bytes for each repetition.
        let field = [0x40] + Frames.text("a") + Frames.text(String(repeating: "b", count: 4_000))
        let block = Frames.block(Frames.request("GET", "/")) + field + [UInt8](repeating: 0xBE, count: 10_000)
        desk.send(Frames.frame(1, flags: 5, stream: 1, block))
        #expect(desk.connection.failure == .flood && desk.peer.goAway?.code == 11)
        #expect(desk.next() == nil)
    }

    @Test("Endless CONTINUATION frames end the connection", arguments: [0, 1, 100])
    func continuations(bytes: Int) {
        let desk = HTTP2Desk()
        desk.send(Frames.headers(1, Frames.request("GET", "/"), ends: true, isWhole: false))
        let limit = Limits.HTTP.requestHeadBytes * Limits.HTTP2.headBombFactor
        var sent = 0
        while desk.connection.failure == nil, sent <= 2 * limit {
            desk.send(Frames.continuation(1, [UInt8](repeating: 0x82, count: bytes), isLast: false))
            sent += 9 + bytes
        }
        #expect(desk.connection.failure == .flood && sent <= limit + 9 + bytes)
        #expect(desk.peer.goAway?.code == 11)
    }

    @Test(
        "A header block may have exactly the permitted bytes on the wire, and decompressed, but not one more")
    func longestHead() throws {
        let desk = HTTP2Desk()
        desk.send(Frames.headers(1, Frames.request("GET", "/"), ends: true, isWhole: false))
        let limit = Limits.HTTP.requestHeadBytes * Limits.HTTP2.headBombFactor
        let frame = Frames.continuation(1, [], isLast: false)
        desk.send(Array(repeatElement(frame, count: limit / frame.count).joined()))
        let rest = limit % frame.count
        desk.send(Array(frame[..<rest]))
        #expect(desk.connection.failure == nil)
        desk.send([frame[rest]])
        #expect(desk.connection.failure == .flood)
        for (more, isTaken) in [(0, true), (1, false)] {
            var head = HTTP2Head(stream: 1, isTrailer: false)
            let taken = head.add([0x61].raw, [UInt8](repeating: 0x62, count: limit - 33 + more).raw)
            #expect(taken == isTaken)
        }
    }

    @Test("A header block of exactly the permitted size is no fault, one byte more is")
    func permittedHead() throws {
        for (more, fits) in [(0, true), (1, false)] {
            var head = HTTP2Head(stream: 1, isTrailer: false)
            for (name, value) in [(":method", "GET"), (":path", "/"), (":authority", "h")] {
                _ = head.add(Array(name.utf8).raw, Array(value.utf8).raw)
            }
            let rest = Limits.HTTP.requestHeadBytes - head.size - 33
            let isTaken = head.add([0x61].raw, [UInt8](repeating: 0x62, count: rest + more).raw)
            #expect(isTaken)
            if fits {
                #expect(throws: Never.self) { _ = try head.request() }
            } else {
                #expect(throws: RequestFault.self) { _ = try head.request() }
            }
        }
    }

    @Test("A CONTINUATION received byte by byte is one frame")
    func slowContinuation() {
        let desk = HTTP2Desk()
        let block = Frames.block(Frames.request("GET", "/long"))
        desk.send(Frames.frame(1, flags: 1, stream: 1, Array(block[..<10])))
        for byte in Frames.continuation(1, Array(block[10...]), isLast: true) { desk.send([byte]) }
        #expect(desk.next() == "1 GET /long " && desk.connection.failure == nil)
    }

    @Test("PINGs are answered; too many unanswered ones end the connection")
    func pings() {
        let desk = HTTP2Desk()
        desk.send(Frames.ping)
        #expect(desk.peer.frames(6).count == 1 && desk.tally.idleFrames > 0)
        let many = Array(repeatElement(Frames.ping, count: Limits.HTTP2.waitingAcks + 1).joined())
        desk.connection.receive(many.raw, at: 0)
        #expect(desk.connection.failure == .flood)
        let other = HTTP2Desk()
        let settings = Array(repeatElement(Frames.settings(), count: Limits.HTTP2.waitingAcks + 1).joined())
        other.connection.receive(settings.raw, at: 0)
        #expect(other.connection.failure == .flood)
        let third = HTTP2Desk()
        third.send(Frames.settings((0...Limits.HTTP2.settings).map { (UInt16($0) + 100, 1) }))
        #expect(third.connection.failure != nil)
    }

    /// Frames with their cost. nghttp2 ignores frames of unknown types without a callback; they cost nevertheless.
    static let counted: [([UInt8], Int)] = [
        (Frames.ping, 1), (Frames.settings(), 1), (Frames.windowUpdate(0, 1), 1), (Frames.frame(99), 1),
        (Frames.frame(2, stream: 9, [0, 0, 0, 0, 1]), 1), (Frames.data(1, []), 1),
        (Frames.data(1, [1]), 1), (Frames.data(1, [UInt8](repeating: 1, count: 64)), 0),
        (Frames.data(1, [], ends: true), 0), (Frames.headers(3, Frames.request("GET", "/")), 0),
    ]

    @Test("Frames count as idle unless they advance a request", arguments: counted)
    func idleFrames(frame: [UInt8], cost: Int) {
        let desk = HTTP2Desk()
        desk.send(Frames.headers(1, Frames.request("POST", "/")))
        let before = desk.tally.idleFrames
        desk.send(frame)
        #expect(desk.tally.idleFrames - before == cost && desk.connection.failure == nil)
    }

    @Test("Requests reset by either side are counted")
    func resets() {
        let desk = HTTP2Desk()
        desk.send(Frames.headers(1, Frames.request("GET", "/"), ends: true) + Frames.reset(1))
        #expect(desk.tally.resets == 1 && desk.next() == nil)
        // An error for which the server resets the stream counts as well.
        desk.send(
            Frames.headers(3, Frames.request("POST", "/", [("content-length", "3")]))
                + Frames.data(3, [1, 2, 3, 4]))
        #expect(desk.tally.resets == 2 && desk.peer.answers[3]?.reset == 1)
        desk.send(Frames.headers(5, Frames.request("GET", "/"), ends: true))
        _ = desk.next()
        desk.send(Frames.reset(5))
        desk.answer(5, "late")
        #expect(desk.tally.resets == 3 && desk.peer.answers[5] == nil && desk.connection.isEmpty)
        #expect(desk.connection.failure == nil && desk.connection.unwrittenBytes == 0)
    }

    @Test("A stream over the limit yields no request")
    func streams() {
        let desk = HTTP2Desk()
        for at in 0..<UInt32(Limits.HTTP2.streams) {
            desk.send(Frames.headers(at * 2 + 1, Frames.request("GET", "/"), ends: true))
        }
        var count = 0
        while desk.next() != nil { count += 1 }
        #expect(count == Limits.HTTP2.streams && desk.connection.failure == nil)
        desk.send(
            Frames.headers(UInt32(Limits.HTTP2.streams) * 2 + 1, Frames.request("GET", "/"), ends: true))
        #expect(desk.next() == nil)
    }

    static let improperFields: [[(String, String)]] = [
        [(":method", "GET"), (":scheme", "https")], [(":method", "GET"), (":path", "/")],
        Frames.request("GET", "/", [("Upper", "a")]), Frames.request("GET", "/", [("a b", "c")]),
        Frames.request("GET", "/", [("a", "b\r\nc: d")]), Frames.request("GET", "/", [("a", "b\0")]),
        Frames.request("GET", "/", [("connection", "close")]),
        Frames.request("GET", "/", [("transfer-encoding", "chunked")]),
        Frames.request("GET", "/", [("te", "gzip")]), Frames.request("GET", "/", [(":path", "/b")]),
        Frames.request("GET", "/", [(":unknown", "b")]),
        Frames.request("GET", "/", [("a", "b"), (":a", "b")]),
        Frames.request("GET", "/", [("content-length", "5")]),
        Frames.request("GET", "/", [("content-length", "x")]),
        Frames.request("GET", "/", [("content-length", "0"), ("content-length", "0")]),
        Frames.request("GET", "/a b"), Frames.request("GET", ""), Frames.request("", "/"),
    ]

    @Test("Malformed requests reset their stream", arguments: improperFields.indices)
    func improper(index: Int) {
        let desk = HTTP2Desk()
        let fields = Self.improperFields[index]
        desk.send(Frames.headers(1, fields, ends: true))
        #expect(desk.next() == nil)
        let isRefused = desk.peer.answers[1]?.reset != nil || desk.peer.answers[1]?.status == "400"
        #expect(isRefused || desk.connection.failure != nil)
        guard desk.connection.failure == nil else { return }
        desk.send(Frames.headers(3, Frames.request("GET", "/"), ends: true))
        #expect(desk.next() == "3 GET / ")
    }

    @Test(
        "Targets that are not paths are refused",
        arguments: [("GET", "*", "400"), ("GET", "/a#b", "400")])
    func targets(method: String, path: String, status: String) {
        let desk = HTTP2Desk()
        desk.send(Frames.headers(1, Frames.request(method, path), ends: true))
        #expect(desk.next() == nil)
        #expect(desk.peer.answers[1]?.status == status || desk.peer.answers[1]?.reset != nil)
    }

    static let brokenFrames: [([UInt8], UInt32)] = [
        (Frames.frame(1, flags: 5, stream: 1, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]), 9),
        (Frames.frame(1, flags: 5, stream: 1, [0xC7]), 9),
        (Frames.frame(1, flags: 5, stream: 1, [0x80]), 9),
        (Frames.headers(2, Frames.request("GET", "/"), ends: true), 1),
        (Frames.data(0, [1]), 1), (Frames.data(7, [1]), 1), (Frames.reset(0), 1), (Frames.reset(7), 1),
        (Frames.frame(6, [1, 2, 3]), 6), (Frames.frame(4, [1, 2, 3]), 6), (Frames.frame(8, [0, 0]), 6),
        (Frames.settings([(4, 0x8000_0000)]), 3), (Frames.settings([(5, 1)]), 1),
        (Frames.settings([(2, 2)]), 1), (Frames.windowUpdate(0, 0), 1),
        (Frames.windowUpdate(0, 0x7FFF_FFFF), 3),
        (Frames.frame(9, flags: 4, stream: 1, [0x82]), 1), (Frames.frame(5, stream: 1, [0, 0, 0, 2]), 1),
        (Frames.frame(0, stream: 1, [], length: 0xFF_FFFF), 6),
    ]

    @Test("A protocol violation ends the connection with its error", arguments: brokenFrames)
    func broken(frame: [UInt8], code: UInt32) {
        let desk = HTTP2Desk()
        desk.send(frame)
        #expect(desk.connection.failure != nil, "\(frame)")
        #expect(desk.peer.goAway?.code == code)
        desk.send(Frames.headers(9, Frames.request("GET", "/"), ends: true))
        #expect(desk.next() == nil)
    }

    @Test("An invalid preface, or one not followed by SETTINGS, ends the connection")
    func preface() {
        for start in [Array("PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n".utf8), Frames.preface + Frames.ping] {
            let desk = HTTP2Desk(greets: false)
            desk.send(start)
            #expect(desk.connection.failure == .protocolError)
        }
    }

    @Test("a frame that does not advance a request is idle, however long it is")
    func idleFrames() {
        let desk = HTTP2Desk()
        desk.send(Frames.headers(1, Frames.request("POST", "/")))
        let piece = [UInt8](repeating: 0x61, count: 4_000)
        for (frame, idle) in [
            (Frames.data(1, piece), 0), (Frames.frame(0x20, flags: 0, stream: 1, piece), 1),
            (Frames.data(1, [0x61]), 1), (Frames.data(1, piece, ends: true), 0),
        ] {
            let before = desk.tally.idleFrames
            desk.send(frame)
            #expect(desk.tally.idleFrames - before == idle)
        }
    }
}
