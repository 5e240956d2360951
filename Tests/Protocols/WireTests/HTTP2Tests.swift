import Basics
import HTTP2Peer
import Testing

@testable import Wire

/// A server connection to a client whose frames are written by hand.
final class HTTP2Desk {
    typealias Frames = HTTP2Frames

    let connection = HTTP2Connection()
    let peer = HTTP2Answers()
    var tally = HTTP2Connection.Tally()

    init(greets: Bool = true) {
        if greets { send(Frames.hello) }
    }

    func send(_ bytes: [UInt8]) {
        connection.receive(bytes.raw, at: 1_795_156_966_123)
        flush()
    }

    func flush() {
        while connection.canWrite {
            var out = ByteBuffer()
            connection.write(upTo: 100_000, to: &out)
            if out.isEmpty { break }
            peer.read(out.copied())
        }
        let new = connection.takeTally()
        tally.idleFrames += new.idleFrames
        tally.resets += new.resets
        tally.answers += new.answers
    }

    func answer(_ stream: UInt32, _ body: String) {
        connection.answer(
            stream, HTTPResponse(.ok, HTTPResponse.text, Array(body.utf8)), at: 1_795_156_966_123)
        flush()
    }

    /// Returns the next request as `stream method path?query body`.
    func next() -> String? {
        guard let (stream, request) = connection.next() else { return nil }
        flush()
        let query = String(decoding: request.query, as: UTF8.self)
        let path = String(decoding: request.path, as: UTF8.self)
        return "\(stream) \(request.method.rawValue) \(path)\(query.isEmpty ? "" : "?" + query) "
            + String(decoding: request.body, as: UTF8.self)
    }
}

@Suite struct HTTP2Tests {
    typealias Frames = HTTP2Frames

    @Test("SETTINGS are sent first: streams, window, header list, no priorities")
    func settings() {
        let desk = HTTP2Desk()
        let first = desk.peer.frames.first
        #expect(first?.type == 4)
        let entries = first.map { frame in
            stride(from: 0, to: frame.payload.count, by: 6).map { at in
                "\(frame.payload[at + 1])=\(frame.word(at: at + 2))"
            }
        }
        #expect(
            entries == [
                "3=\(Limits.HTTP2.streams)", "4=\(Limits.HTTP2.streamWindowBytes)",
                "6=\(Limits.HTTP.requestHeadBytes)", "9=1",
            ])
        #expect(Limits.HTTP2.streams >= 500)
        #expect(desk.peer.frames(4).contains { $0.flags == 1 })
    }

    @Test("A request is complete for any split")
    func request() {
        let stream =
            Frames.hello
            + Frames.headers(
                1,
                Frames.request(
                    "POST", "/c2dm/register3?a=b", [("project_id", "7"), ("content-length", "5")]))
            + Frames.data(1, Array("he".utf8)) + Frames.data(1, Array("llo".utf8), ends: true)
            + Frames.headers(3, Frames.request("GET", "/"), ends: true)
        for step in [1, 2, 3, 7, 50, stream.count] {
            let desk = HTTP2Desk(greets: false)
            for start in Swift.stride(from: 0, to: stream.count, by: step) {
                desk.send(Array(stream[start..<min(start + step, stream.count)]))
            }
            #expect(desk.next() == "1 POST /c2dm/register3?a=b hello", "step \(step)")
            #expect(desk.next() == "3 GET / ")
            #expect(desk.next() == nil && desk.connection.failure == nil)
        }
    }

    @Test("Headers are found by name, also with underscores; pseudo-headers are left out")
    func headers() {
        let desk = HTTP2Desk()
        desk.send(
            Frames.headers(
                1, Frames.request("GET", "/", [("access_token_auth", "true"), ("authorization", "key=a:b")]),
                ends: true))
        let request = desk.connection.next()?.request
        #expect(request?.header("access_token_auth") == Array("true".utf8))
        #expect(request?.header("authorization") == Array("key=a:b".utf8))
        #expect(request?.header(":path") == nil && request?.delimitsBody == true)
    }

    @Test("Answers are sent when they are ready, with the headers of HTTP/1.1 in lower case")
    func answers() {
        let desk = HTTP2Desk()
        for stream: UInt32 in [1, 3, 5] {
            desk.send(Frames.headers(stream, Frames.request("GET", "/\(stream)"), ends: true))
            _ = desk.next()
        }
        for stream: UInt32 in [5, 1, 3] { desk.answer(stream, "answer \(stream)") }
        #expect(desk.peer.order == [5, 1, 3])
        let answer = desk.peer.answers[5]
        #expect(answer?.status == "200" && answer?.body == Array("answer 5".utf8))
        #expect(
            answer?.headers == [
                "date": "Fri, 20 Nov 2026 06:42:46 GMT", "content-type": "text/plain; charset=UTF-8",
                "content-length": "8", "cache-control": "no-store", "x-content-type-options": "nosniff",
            ])
        #expect(desk.tally.answers == 3 && desk.tally.resets == 0 && desk.connection.isEmpty)
        desk.answer(5, "again")
        #expect(desk.peer.order.count == 3)
    }

    @Test("HEAD is answered without a body but with its length")
    func head() {
        let desk = HTTP2Desk()
        desk.send(Frames.headers(1, Frames.request("HEAD", "/"), ends: true))
        _ = desk.next()
        desk.answer(1, "12345")
        let answer = desk.peer.answers[1]
        #expect(answer?.isWhole == true && answer?.body == [])
        #expect(answer?.headers["content-length"] == "5")
    }

    @Test("A peer that expects 100 Continue gets it")
    func continuation() {
        let desk = HTTP2Desk()
        desk.send(Frames.headers(1, Frames.request("POST", "/", [("expect", "100-continue")])))
        #expect(desk.peer.answers[1]?.invitations == 1)
        desk.send(Frames.data(1, [0x61], ends: true))
        #expect(desk.next() == "1 POST / a")
        desk.answer(1, "b")
        #expect(desk.peer.answers[1]?.body == [0x62])
        desk.send(Frames.headers(3, Frames.request("POST", "/", [("expect", "miracles")])))
        #expect(desk.peer.answers[3]?.status == "417")
    }

    @Test("Trailers end a body and are dropped")
    func trailers() {
        let desk = HTTP2Desk()
        desk.send(Frames.headers(1, Frames.request("POST", "/")) + Frames.data(1, [0x61]))
        desk.send(Frames.headers(1, [("x-sum", "1")], ends: true))
        #expect(desk.next() == "1 POST / a")
    }

    @Test("A header block may be split over several frames")
    func continued() {
        let desk = HTTP2Desk()
        let block = Frames.block(Frames.request("GET", "/long", [("a", "b")]))
        desk.send(Frames.frame(1, flags: 1, stream: 1, Array(block[..<10])))
        desk.send(Frames.continuation(1, Array(block[10..<20]), isLast: false))
        desk.send(Frames.continuation(1, Array(block[20...]), isLast: true))
        #expect(desk.next() == "1 GET /long ")
    }

    @Test("GOAWAY names the last stream; started requests are finished, later ones ignored")
    func goodbye() {
        let desk = HTTP2Desk()
        desk.send(Frames.headers(1, Frames.request("GET", "/1"), ends: true))
        desk.send(Frames.headers(3, Frames.request("POST", "/3")))
        desk.connection.shutDown()
        desk.flush()
        #expect(desk.peer.goAway?.last == 3 && desk.peer.goAway?.code == 0)
        desk.send(Frames.headers(5, Frames.request("GET", "/5"), ends: true))
        desk.send(Frames.data(3, [0x61], ends: true))
        #expect(desk.next() == "1 GET /1 ")
        #expect(desk.next() == "3 POST /3 a")
        #expect(desk.next() == nil)
        #expect(!desk.connection.isEmpty)
        desk.answer(3, "3")
        desk.answer(1, "1")
        #expect(desk.peer.order == [3, 1] && desk.connection.isEmpty && !desk.connection.canWrite)
        #expect(desk.connection.failure == nil)
    }

    @Test("A long answer waits for the peer's flow control, and counts until it is written")
    func windows() {
        let desk = HTTP2Desk(greets: false)
        desk.send(Frames.preface + Frames.settings([(4, 10)]) + Frames.settingsAck)
        desk.send(Frames.headers(1, Frames.request("GET", "/"), ends: true))
        _ = desk.next()
        desk.answer(1, String(repeating: "a", count: 100))
        #expect(desk.peer.answers[1]?.body.count == 10 && desk.connection.unwrittenBytes == 90)
        desk.send(Frames.windowUpdate(1, 50))
        #expect(desk.peer.answers[1]?.body.count == 60 && desk.connection.writtenBytes == 60)
        desk.send(Frames.windowUpdate(1, 50))
        #expect(desk.peer.answers[1]?.isWhole == true && desk.connection.unwrittenBytes == 0)
    }

    @Test("Writing stops at its limit and continues with the next call")
    func limit() {
        let desk = HTTP2Desk(greets: false)
        desk.send(Frames.preface + Frames.settings([(4, 1_000_000)]) + Frames.windowUpdate(0, 1_000_000))
        desk.send(Frames.headers(1, Frames.request("GET", "/"), ends: true))
        _ = desk.next()
        let body = [UInt8](repeating: 0x61, count: 100_000)
        desk.connection.answer(1, HTTPResponse(.ok, HTTPResponse.text, body), at: 0)
        var out = ByteBuffer()
        desk.connection.write(upTo: 20_000, to: &out)
        #expect(out.count >= 20_000 && out.count < 20_000 + 16_400 && desk.connection.canWrite)
        desk.peer.read(out.copied())
        desk.flush()
        #expect(desk.peer.answers[1]?.body == body)
    }
}
