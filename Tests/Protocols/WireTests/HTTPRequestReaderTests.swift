import Basics
import Testing
import Wire

/// Feeds text to a new reader in pieces of `step` bytes. Returns the requests as lines of text.
func requests(_ text: String, step: Int = .max) -> [String] {
    var reader = RequestReader()
    var out: [String] = []
    let bytes = Array(text.utf8)
    var at = 0
    while at < bytes.count {
        let end = step >= bytes.count - at ? bytes.count : at + step
        let piece = Array(bytes[at..<end])
        reader.append(piece.raw)
        do {
            while let request = try reader.next() { out.append(describe(request)) }
        } catch {
            return out + ["fault \(error.status.rawValue)"]
        }
        at = end
    }
    if reader.isInsideRequest { out.append("unfinished") }
    return out
}

func describe(_ request: HTTPRequest) -> String {
    let path = String(decoding: request.path, as: UTF8.self)
    let query = String(decoding: request.query, as: UTF8.self)
    let body = String(decoding: request.body, as: UTF8.self)
    return "\(request.method) \(path)?\(query) \(request.keepsAlive ? "keep" : "close") [\(body)]"
}

@Suite struct HTTPRequestReaderTests {
    static let conversation =
        "POST /checkin HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"
        + "\r\nGET /x?y=1 HTTP/1.1\r\nhost:b\r\nproject_id: 12\r\n\r\n"
        + "POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n"
        + "3;ext=\"v\"\r\nabc\r\nA\r\n0123456789\r\n0\r\nTrailer: t\r\n\r\n"
        + "DELETE https://example.org/z HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n\r\n"
    static let expected = [
        "post /checkin? keep [hello]", "get /x?y=1 keep []", "post /c? keep [abc0123456789]",
        "delete /z? close []",
    ]

    @Test("Requests are the same for every size of piece")
    func everyStep() {
        for step in 1...Self.conversation.utf8.count {
            #expect(requests(Self.conversation, step: step) == Self.expected, "step \(step)")
        }
    }

    @Test("Requests are the same for a split at every offset")
    func everySplit() {
        let bytes = Array(Self.conversation.utf8)
        for offset in 0...bytes.count {
            var reader = RequestReader()
            var out: [String] = []
            for piece in [Array(bytes[..<offset]), Array(bytes[offset...])] {
                reader.append(piece.raw)
                while let request = try? reader.next() { out.append(describe(request)) }
            }
            #expect(out == Self.expected, "offset \(offset)")
            let held = reader.heldBytes
            #expect(held == 0)
        }
    }

    @Test("A split that loses a byte is detected (canary)")
    func canary() {
        var bytes = Array(Self.conversation.utf8)
        bytes.remove(at: 60)
        #expect(requests(String(decoding: bytes, as: UTF8.self)) != Self.expected)
    }

    @Test("A header is found by its lower-case name, trimmed, and its lines are joined")
    func headers() throws {
        var reader = RequestReader()
        let text =
            "GET / HTTP/1.1\r\nHost: h\r\nX-A: \t one \t\r\nx-a: two\r\nCONTENT-TYPE: Application/JSON ; charset=x\r\n\r\n"
        reader.append(Array(text.utf8).raw)
        let whole = try reader.next()
        let request = try #require(whole)
        #expect(request.header("x-a") == Array("one, two".utf8))
        #expect(request.count(of: "x-a") == 2)
        #expect(request.header("x-b") == nil)
        #expect(request.mediaType == "application/json")
    }

    @Test("100 Continue is expected once the head is complete")
    func expectation() throws {
        var reader = RequestReader()
        let head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
        reader.append(Array(head.utf8).raw)
        let early = try reader.next()
        #expect(early == nil)
        let waits = reader.expectsContinue
        #expect(waits)
        reader.append(Array("ok".utf8).raw)
        let body = try reader.next()?.body
        #expect(body == Array("ok".utf8))
        let stillWaits = reader.expectsContinue
        #expect(!stillWaits)
    }

    @Test("HTTP/1.0 needs no Host and closes after one request")
    func old() {
        #expect(requests("GET /a HTTP/1.0\r\n\r\n") == ["get /a? close []"])
    }

    @Test("After a fault no request is read")
    func afterFault() {
        var reader = RequestReader()
        reader.append(Array("BAD\r\n\r\n".utf8).raw)
        var status: HTTPStatus?
        do { _ = try reader.next() } catch { status = error.status }
        #expect(status == .badRequest)
        reader.append(Array("GET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8).raw)
        let after = try? reader.next()
        #expect(after == nil)
        let held = reader.heldBytes
        #expect(held == 0)
    }

    @Test("Six thousand requests in one piece take linear time")
    func manyRequests() {
        let one = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
        #expect(requests(String(repeating: one, count: 6_000)).count == 6_000)
    }
}
