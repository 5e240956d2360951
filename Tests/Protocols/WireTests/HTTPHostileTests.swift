import Basics
import Testing
import Wire

/// Hostile requests: each must be refused with its status, whole or byte by byte, and free its memory.
@Suite struct HTTPHostileTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var status: Int
        var name: String
        var text: String
        var testDescription: String { name }

        init(_ status: Int, _ name: String, _ text: String) {
            self.status = status
            self.name = name
            self.text = text
        }
    }

    static let host = "Host: h\r\n"
    static let post = "POST / HTTP/1.1\r\nHost: h\r\n"
    static let chunked = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"

    static let smuggling: [Case] = [
        Case(400, "length and coding", post + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"),
        Case(400, "coding and length", post + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n"),
        Case(400, "two lengths", post + "Content-Length: 4\r\nContent-Length: 5\r\n\r\n"),
        Case(400, "two equal lengths", post + "Content-Length: 4\r\nContent-Length: 4\r\n\r\n"),
        Case(400, "list of lengths", post + "Content-Length: 4, 4\r\n\r\n"),
        Case(400, "signed length", post + "Content-Length: +4\r\n\r\n"),
        Case(400, "negative length", post + "Content-Length: -1\r\n\r\n"),
        Case(400, "hexadecimal length", post + "Content-Length: 0x4\r\n\r\n"),
        Case(400, "empty length", post + "Content-Length:\r\n\r\n"),
        Case(400, "length of 19 digits", post + "Content-Length: 9999999999999999999\r\n\r\n"),
        Case(413, "length over the limit", post + "Content-Length: 1048577\r\n\r\n"),
        Case(400, "two codings", post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"),
        Case(501, "identity coding", post + "Transfer-Encoding: identity\r\n\r\n"),
        Case(501, "gzip, chunked", post + "Transfer-Encoding: gzip, chunked\r\n\r\n"),
        Case(501, "chunked with a tail", post + "Transfer-Encoding: chunked;q=1\r\n\r\n"),
        Case(501, "hidden coding", post + "Transfer-Encoding: xchunked\r\n\r\n"),
        Case(400, "chunked in 1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"),
        Case(400, "blank before the colon", post + "Content-Length : 4\r\n\r\n"),
        Case(400, "folded header", post + "X-A: b\r\n c\r\n\r\n"),
        Case(400, "folded by a tab", post + "X-A: b\r\n\tc\r\n\r\n"),
        Case(400, "first header indented", "GET / HTTP/1.1\r\n Host: h\r\n\r\n"),
        Case(400, "bare LF after the request line", "GET / HTTP/1.1\nHost: h\r\n\r\n"),
        Case(400, "bare LF after a header", "GET / HTTP/1.1\r\nHost: h\n\r\n"),
        Case(400, "bare LF at the end", "GET / HTTP/1.1\r\nHost: h\r\n\n"),
        Case(400, "bare CR in a header", "GET / HTTP/1.1\r\nHost: h\rX: y\r\n\r\n"),
        Case(400, "CR CR LF", "GET / HTTP/1.1\r\r\nHost: h\r\n\r\n"),
    ]

    static let lines: [Case] = [
        Case(400, "no Host", "GET / HTTP/1.1\r\n\r\n"),
        Case(400, "two Hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
        Case(400, "no version", "GET /\r\n" + host + "\r\n"),
        Case(505, "version 2.0", "GET / HTTP/2.0\r\n" + host + "\r\n"),
        Case(505, "version 0.9", "GET / HTTP/0.9\r\n" + host + "\r\n"),
        Case(400, "version in lower case", "GET / http/1.1\r\n" + host + "\r\n"),
        Case(400, "version with a tail", "GET / HTTP/1.1 \r\n" + host + "\r\n"),
        Case(400, "two blanks", "GET  / HTTP/1.1\r\n" + host + "\r\n"),
        Case(400, "tab between", "GET\t/ HTTP/1.1\r\n" + host + "\r\n"),
        Case(400, "blank in the target", "GET /a b HTTP/1.1\r\n" + host + "\r\n"),
        Case(400, "blank in front", " GET / HTTP/1.1\r\n" + host + "\r\n"),
        Case(400, "target without slash", "GET a HTTP/1.1\r\n" + host + "\r\n"),
        Case(400, "asterisk", "GET * HTTP/1.1\r\n" + host + "\r\n"),
        Case(400, "authority", "CONNECT a:443 HTTP/1.1\r\n" + host + "\r\n"),
        Case(400, "absolute without path", "GET http://a HTTP/1.1\r\n" + host + "\r\n"),
        Case(400, "fragment", "GET /a#b HTTP/1.1\r\n" + host + "\r\n"),
        Case(400, "letters beyond ASCII in the target", "GET /ä HTTP/1.1\r\n" + host + "\r\n"),
        Case(400, "method with a bracket", "G(T / HTTP/1.1\r\n" + host + "\r\n"),
        Case(400, "only empty lines", "\r\n\r\n"),
        Case(400, "three empty lines", "\r\n\r\nGET / HTTP/1.1\r\n" + host + "\r\n"),
        Case(400, "NUL in the target", "GET /\0 HTTP/1.1\r\n" + host + "\r\n"),
        Case(400, "NUL in a header", "GET / HTTP/1.1\r\nHost: h\0\r\n\r\n"),
        Case(400, "escape sequence in a header", "GET / HTTP/1.1\r\nHost: \u{1B}[2J\r\n\r\n"),
        Case(400, "DEL in a header", "GET / HTTP/1.1\r\nHost: \u{7F}\r\n\r\n"),
        Case(400, "header without colon", "GET / HTTP/1.1\r\nHost\r\n\r\n"),
        Case(400, "header without name", "GET / HTTP/1.1\r\n: h\r\n\r\n"),
        Case(400, "name with a slash", "GET / HTTP/1.1\r\nHo/st: h\r\n\r\n"),
        Case(400, "a TLS greeting", "\u{16}\u{3}\u{1}"),
        Case(505, "the HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        Case(417, "odd expectation", post + "Expect: money\r\n\r\n"),
        Case(414, "long target", "GET /" + String(repeating: "a", count: 9_000)),
        Case(431, "long header", post + "X-A: " + String(repeating: "a", count: 17_000)),
        Case(431, "long headers", post + String(repeating: "X-Abcdefgh: abcdefghijklmnop\r\n", count: 600)),
        Case(431, "many headers", post + String(repeating: "a: b\r\n", count: 64) + "\r\n"),
    ]

    static let chunks: [Case] = [
        Case(400, "no size", chunked + "\r\n"),
        Case(400, "size of letters", chunked + "xyz\r\n"),
        Case(400, "signed size", chunked + "-1\r\n"),
        Case(400, "size with 0x", chunked + "0x5\r\nhello\r\n0\r\n\r\n"),
        Case(400, "size of nine digits", chunked + "000000001\r\na\r\n0\r\n\r\n"),
        Case(413, "size over the limit", chunked + "FFFFFFFF\r\n"),
        Case(413, "sum over the limit", chunked + "5\r\nhello\r\nFFFFE\r\n"),
        Case(400, "chunk too long", chunked + "5\r\nhello!\r\n0\r\n\r\n"),
        Case(400, "chunk too short", chunked + "5\r\nhell\r\n0\r\n\r\n"),
        Case(400, "bare LF after a size", chunked + "5\nhello\r\n0\r\n\r\n"),
        Case(400, "long extension", chunked + "5;" + String(repeating: "a", count: 2_000) + "\r\n"),
        Case(400, "malformed trailer", chunked + "0\r\nnothing\r\n\r\n"),
        Case(400, "many trailers", chunked + "0\r\n" + String(repeating: "a: b\r\n", count: 65) + "\r\n"),
        Case(400, "control character in a trailer", chunked + "0\r\na: \u{1}\r\n\r\n"),
    ]

    @Test("Hostile requests are refused, whole and byte by byte", arguments: smuggling + lines + chunks)
    func refused(hostile: Case) {
        #expect(requests(hostile.text) == ["fault \(hostile.status)"])
        #expect(requests(hostile.text, step: 1) == ["fault \(hostile.status)"])
    }

    @Test("There are enough hostile requests, and no duplicates")
    func count() {
        let all = Self.smuggling + Self.lines + Self.chunks
        #expect(all.count >= 70)
        #expect(Set(all.map(\.text)).count == all.count)
    }

    @Test("A valid request is not refused by the same check (canary)")
    func canary() {
        #expect(requests(Self.post + "Content-Length: 1\r\n\r\na") == ["post /? keep [a]"])
        #expect(requests(Self.chunked + "1\r\na\r\n0\r\n\r\n") == ["post /? keep [a]"])
    }
}
