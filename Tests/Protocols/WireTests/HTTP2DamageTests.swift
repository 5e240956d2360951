import Basics
import HTTP2Peer
import Testing

@testable import Wire

/// Streams of HTTP/2 that are cut off or damaged.
@Suite struct HTTP2DamageTests {
    typealias Frames = HTTP2Frames

    @Test("A truncated stream yields a prefix of the requests, at every offset")
    func truncations() {
        let stream =
            Frames.hello + Frames.headers(1, Frames.request("POST", "/", [("content-length", "3")]))
            + Frames.data(1, Array("abc".utf8), ends: true) + Frames.ping
            + Frames.headers(3, Frames.request("GET", "/x"), ends: true)
        for cut in 0..<stream.count {
            let desk = HTTP2Desk(greets: false)
            desk.send(Array(stream[..<cut]))
            var requests: [String] = []
            while let request = desk.next() { requests.append(request) }
            #expect(requests.count < 2 && desk.connection.failure == nil, "cut at \(cut)")
            desk.send(Array(stream[cut...]))
            while let request = desk.next() { requests.append(request) }
            #expect(requests == ["1 POST / abc", "3 GET /x "], "cut at \(cut)")
        }
    }

    @Test("Random damage never yields more requests than were sent", arguments: 1...20)
    func noise(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        let proper =
            Frames.hello + Frames.headers(1, Frames.request("POST", "/a", [("content-length", "3")]))
            + Frames.data(1, Array("abc".utf8), ends: true) + Frames.windowUpdate(0, 100) + Frames.ping
            + Frames.headers(3, Frames.request("GET", "/x"), ends: true) + Frames.reset(3)
        for _ in 0..<200 {
            var stream = proper
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let at = Int.random(in: Frames.preface.count..<stream.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: stream[at] = UInt8.random(in: 0...255, using: &random)
                case 1: stream.remove(at: at)
                default: stream.insert(UInt8.random(in: 0...255, using: &random), at: at)
                }
            }
            let desk = HTTP2Desk(greets: false)
            desk.send(stream)
            var count = 0
            while let (number, request) = desk.connection.next() {
                #expect(request.path.first == UInt8(ascii: "/"))
                desk.answer(number, "ok")
                count += 1
            }
            #expect(count <= 3)
        }
    }
}
