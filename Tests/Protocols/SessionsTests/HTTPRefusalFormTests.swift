import Basics
import HTTP2Peer
import Testing
import Wire

@testable import Sessions

/// The form of the answers to requests that reach no endpoint, and the paths that reach one.
@Suite struct HTTPRefusalFormTests {
    private static let long = String(repeating: "a", count: Limits.HTTP.requestHeadBytes)

    private static func answer(_ request: String, pass seconds: Int? = nil) -> String {
        let harness = HTTPHarness()
        harness.send(request)
        if let seconds { harness.pass(seconds: seconds) }
        return harness.takeSent()
    }

    private static func isJSON(_ answer: String, _ status: Int) -> Bool {
        answer.hasPrefix("HTTP/1.1 \(status) ")
            && answer.contains("Content-Type: application/json; charset=UTF-8\r\n")
            && answer.contains("{\"error\":{\"code\":\(status),\"message\":\"")
    }

    @Test(
        "an error below /v1 is JSON, also where no endpoint is found or the request cannot be read",
        arguments: [
            ("GET /v1/nothing HTTP/1.1\r\nHost: a\r\n\r\n", 404),
            ("GET /v1 HTTP/1.1\r\nHost: a\r\n\r\n", 404),
            ("POST /v1/projects//messages:send HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", 404),
            ("GET /v1/%zz HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            ("GET /v1/projects/p/messages:send HTTP/1.1\r\nHost: a\r\n\r\n", 405),
            ("POST /v1/projects/p/messages:send HTTP/1.1\r\nHost: a\r\nContent-Length: 9999999\r\n\r\n", 413),
            ("POST /v1/nothing HTTP/1.1\r\nHost: a\r\nContent-Length: 9999999\r\n\r\n", 413),
            (
                "POST /v1/projects/p/messages:send HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFF\r\n",
                413
            ),
            ("POST /v1/projects/p/messages:send HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
            ("POST /v1/projects/p/messages:send HTTP/1.1\r\nHost: a\r\nExpect: more\r\n\r\n", 417),
            ("POST /v1/projects/p/messages:send HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: br\r\n\r\n", 501),
            ("POST /v1/projects/p/messages:send HTTP/1.1\r\nHost: a\r\nA: \(long)", 431),
        ])
    func json(request: String, status: Int) {
        let answer = Self.answer(request)
        #expect(Self.isJSON(answer, status), "\(answer)")
    }

    @Test("an endpoint whose errors are notes or text refuses unread requests in its own form")
    func others() {
        let note = Self.answer("POST /iid/v1:batchAdd HTTP/1.1\r\nHost: a\r\nContent-Length: 9999999\r\n\r\n")
        #expect(
            note.hasPrefix("HTTP/1.1 413 ") && note.contains("{\"error\":\"The body is too long.\"}"),
            "\(note)")
        for path in ["/checkin", "/c2dm/register3", "/nothing"] {
            let text = Self.answer("POST \(path) HTTP/1.1\r\nHost: a\r\nContent-Length: 9999999\r\n\r\n")
            #expect(
                text.hasPrefix("HTTP/1.1 413 ") && text.contains("\r\n\r\nThe body is too long.\n"), "\(text)"
            )
        }
        #expect(Self.answer("\u{1}").hasPrefix("HTTP/1.1 400 "), "not even a first line")
    }

    @Test(
        "a request that comes too slowly is refused in the form of its endpoint, with its head or a part of it"
    )
    func slow() {
        for request in [
            "POST /v1/projects/p/messages:send HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n{",
            "POST /v1/projects/p/messages:send HTTP/1.1\r\nHos",
        ] {
            let answer = Self.answer(request, pass: Limits.HTTP.requestDeadlineSeconds + 1)
            #expect(Self.isJSON(answer, 408), "\(answer)")
        }
    }

    @Test("over HTTP/2 the forms are the same")
    func http2() {
        let scene = HTTP2Scene()
        let path = "/v1/projects/p/messages:send"
        scene.send(
            HTTP2Frames.headers(1, HTTP2Frames.request("GET", "/v1/nothing", []), ends: true)
                + HTTP2Frames.headers(
                    3, HTTP2Frames.request("POST", path, [("content-length", "9999999")]), ends: false)
                + HTTP2Frames.headers(
                    5, HTTP2Frames.request("POST", path, [("ttl", "1"), ("ttl", "1")]), ends: true))
        for (stream, status) in [(1, "404"), (3, "413"), (5, "400")] as [(UInt32, String)] {
            let answer = scene.peer.answers[stream]
            #expect(answer?.status == status, "\(String(describing: answer))")
            #expect(answer?.headers["content-type"] == "application/json; charset=UTF-8")
        }
    }

    @Test(
        "slashes at the beginning and the end of a path do not count, as base URLs that end with one make them",
        arguments: [
            "//v1/projects/p/messages:send", "/v1/projects/p/messages:send/",
            "///v1/projects/p/messages:send//",
        ])
    func slashes(path: String) {
        let answer = Self.answer("POST \(path) HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}")
        #expect(Self.isJSON(answer, 401), "\(answer)")
        for other in ["//fcm/send", "/fcm/send/", "//gcm/send/"] {
            let legacy = Self.answer("POST \(other) HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}")
            #expect(
                legacy.hasPrefix("HTTP/1.1 401 ") && legacy.contains("server key of a sender"), "\(other)")
        }
    }
}
