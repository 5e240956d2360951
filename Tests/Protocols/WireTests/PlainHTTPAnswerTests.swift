import Basics
import Testing

@testable import Wire

/// What a client gets that speaks HTTP without TLS at a port with TLS.
@Suite("Plain HTTP at a TLS port") struct PlainHTTPAnswerTests {
    private func answer(_ text: String) -> String? {
        PlainHTTPAnswer.answer(to: Array(text.utf8).raw, at: 1_000).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    @Test(
        "a request is answered with the URL of the host and port that it names, and not redirected",
        arguments: [
            ("GET / HTTP/1.1\r\nHost: gateway:9100\r\n\r\n", "https://gateway:9100/"),
            (
                "POST /fcm/send HTTP/1.1\r\nHost: [::1]:8443\r\nContent-Length: 9\r\n\r\n",
                "https://[::1]:8443/"
            ),
            ("GET /console/ HTTP/1.0\r\nHost: 10.0.0.7\r\n\r\n", "https://10.0.0.7/"),
            ("GET /console/ HTTP/1.0\r\n\r\n", "https://"),
            ("GET /", "https://"),
        ])
    func requests(text: String, url: String) throws {
        let found = try #require(answer(text))
        #expect(found.hasPrefix("HTTP/1.1 400 ") && found.contains("Connection: close\r\n"))
        #expect(found.hasSuffix("This port has TLS, and the request has none: use \(url)\n"), "\(found)")
        #expect(!found.contains("Location:"))
    }

    @Test(
        "a host that is no name or address is not repeated",
        arguments: ["a b", "<script>", "a/b", "é", "a@b"])
    func hosts(host: String) throws {
        let found = try #require(answer("GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n"))
        #expect(found.hasSuffix("use https://\n"), "\(found)")
    }

    @Test(
        "anything else gets no answer",
        arguments: [
            "", "GET", "GET ", "get / HTTP/1.1", "PRI * HTTP/2.0\r\n", "<stream:stream", "AB /",
            "\u{16}\u{3}\u{1}",
        ])
    func others(text: String) { #expect(answer(text) == nil) }
}
