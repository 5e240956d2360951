import Basics
import Testing

@testable import ccs_bench

/// The generator's parsing of streams that are split anywhere.
struct ScannerTests {
    /// Returns every split of bytes into two pieces, and some into many.
    private static func cuts(_ text: String) -> [[[UInt8]]] {
        let bytes = Array(text.utf8)
        var ways = (0...bytes.count).map { [Array(bytes[..<$0]), Array(bytes[$0...])] }
        for size in [1, 2, 3, 7] {
            ways.append(
                stride(from: 0, to: bytes.count, by: size).map {
                    Array(bytes[$0..<min(bytes.count, $0 + size)])
                })
        }
        return ways
    }

    @Test("HTTP responses are counted with their status when the stream is split anywhere")
    func answers() {
        let stream =
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\n12345"
            + "HTTP/1.1 204 No Content\r\nDate: today\r\n\r\n"
            + "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n"
            + "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nHTTP/1.1 200HTTP/1.1 401 No\r\nContent-Length: 1\r\n\r\nx"
        for way in Self.cuts(stream) {
            var counter = AnswerCounter()
            var found: [Int] = []
            for piece in way { counter.count(piece.raw) { found.append($0) } }
            #expect(found == [200, 204, 503, 200, 401], "split into \(way.map(\.count))")
        }
    }

    @Test("Canary: an HTTP response is not counted when its body is incomplete")
    func half() {
        var counter = AnswerCounter()
        var found = 0
        counter.count(Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n1234".utf8).raw) { _ in found += 1 }
        #expect(found == 0)
        counter.count(Array("5".utf8).raw) { _ in found += 1 }
        #expect(found == 1)
    }

    @Test("marks and their digits are found when the stream is split anywhere")
    func marks() {
        let stream = "~m#0000000017,m~#~m m#0000000018m#00000000191m"
        for way in Self.cuts(stream) {
            var scanner = MarkScanner(mark: Template.numberMark, digits: Template.numberDigits)
            var found: [Int] = []
            for piece in way { scanner.scan(piece.raw) { found.append(Digits.number(in: $0, at: $1)) } }
            #expect(found == [17, 18, 19], "split into \(way.map(\.count))")
        }
    }

    @Test("a message has the requested length, its number and time, and a Content-Length over HTTP")
    func templates() {
        let token = String(repeating: "t", count: 152)
        let stanza = Template.stanza(token: token, size: 374, lifetimeSeconds: 60)
        #expect(stanza.bytes.count == 374)
        var outbox = Outbox()
        stanza.append(number: 42, time: 0x1234, to: &outbox)
        let text = String(decoding: outbox.bytes.copied(), as: UTF8.self)
        #expect(text.contains("\"message_id\":\"m#0000000042\"") && text.contains("~~0000000000001234"))
        #expect(outbox.recordEnds == [374])
        let requests: [Template] = [
            .legacy(token: token, size: 374, lifetimeSeconds: 60, key: "k"),
            .v1(token: token, size: 374, lifetimeSeconds: 60, project: "p", bearer: "b"),
        ]
        for request in requests {
            outbox.removeAll()
            request.append(number: 1, time: 7, to: &outbox)
            let parts = String(decoding: outbox.bytes.copied(), as: UTF8.self).split(
                separator: "\r\n\r\n", maxSplits: 1)
            #expect(parts[0].contains("Content-Length: \(parts[1].utf8.count)"))
            let data = { (whole: Substring) in whole.drop { $0 != "~" }.prefix { $0 != "\"" }.count }
            #expect(data(parts[1]) == data(Substring(text)), "the same data as in the stanza")
        }
    }

    @Test("a notification has the size of a message, and the marks of its number and time")
    func notification() {
        let token = "t"
        let notification = Template.notification(token: token, size: 374, lifetimeSeconds: 60)
        #expect(
            notification.bytes.count
                == Template.stanza(token: token, size: 374, lifetimeSeconds: 60).bytes.count)
        var outbox = Outbox()
        notification.append(number: 17, time: 0x2A, to: &outbox)
        let stanza = outbox.bytes.copied()
        var numbers = MarkScanner(mark: Template.numberMark, digits: Template.numberDigits)
        var times = MarkScanner(mark: Template.timeMark, digits: Template.timeDigits)
        var found: [Int] = []
        numbers.scan(stanza.raw) { found.append(Digits.number(in: $0, at: $1)) }
        times.scan(stanza.raw) { found.append(Int(Digits.time(in: $0, at: $1))) }
        #expect(found == [17, 0x2A])
        let text = String(decoding: stanza, as: UTF8.self)
        #expect(text.contains("\"notification\":{\"body\":\"~~") && text.contains("\"time_to_live\":60}"))
    }
}
