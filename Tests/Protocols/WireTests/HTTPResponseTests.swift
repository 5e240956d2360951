import Basics
import Testing
import Wire

@Suite struct HTTPResponseTests {
    private func text(_ response: HTTPResponse, closes: Bool = false, isHead: Bool = false) -> String {
        var out = ByteBuffer()
        response.append(at: 1_795_156_966_123, closes: closes, isHead: isHead, to: &out)
        return String(decoding: out.copied(), as: UTF8.self)
    }

    @Test("A response has exactly these bytes")
    func bytes() {
        let answer = HTTPResponse(.ok, HTTPResponse.text, Array("token=abc".utf8))
        #expect(
            text(answer)
                == "HTTP/1.1 200 OK\r\nDate: Fri, 20 Nov 2026 06:42:46 GMT\r\n"
                + "Content-Type: text/plain; charset=UTF-8\r\nContent-Length: 9\r\n"
                + "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\r\ntoken=abc")
    }

    @Test("Closing, an extra header and a missing body are written")
    func variants() {
        let answer = HTTPResponse(
            .methodNotAllowed, HTTPResponse.text, Array("no".utf8), extra: ("Allow", "POST"))
        let written = text(answer, closes: true, isHead: true)
        #expect(written.hasPrefix("HTTP/1.1 405 Method Not Allowed\r\n"))
        #expect(
            written.hasSuffix(
                "Content-Length: 2\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nAllow: POST\r\nConnection: close\r\n\r\n"
            ))
    }

    @Test("Every status has its phrase and its JSON error", arguments: HTTPStatus.allCases)
    func statuses(status: HTTPStatus) {
        let fault = RequestFault(status, "Why not.")
        #expect(text(.plain(fault)).contains("\r\n\r\nWhy not.\n"))
        let body = String(decoding: HTTPResponse.rpc(fault).body, as: UTF8.self)
        #expect(
            body
                == "{\"error\":{\"code\":\(status.rawValue),\"message\":\"Why not.\",\"status\":\"\(status.rpcWord)\"}}"
        )
    }

    @Test(
        "Dates follow the Gregorian calendar",
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777_000, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_400_000, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (1_709_251_199_999, "Thu, 29 Feb 2024 23:59:59 GMT"),
            (4_107_542_400_000, "Mon, 01 Mar 2100 00:00:00 GMT"), (-5, "Thu, 01 Jan 1970 00:00:00 GMT"),
        ] as [(UnixMilliseconds, String)])
    func dates(time: UnixMilliseconds, text: String) {
        var out = ByteBuffer()
        HTTPDate.append(time, to: &out)
        #expect(String(decoding: out.copied(), as: UTF8.self) == text)
    }

    @Test("A wrong length would be detected (canary)")
    func canary() {
        let answer = HTTPResponse(.ok, HTTPResponse.text, Array("four".utf8))
        #expect(text(answer).contains("Content-Length: 4\r\n"))
        #expect(!text(answer).contains("Content-Length: 5\r\n"))
    }
}
