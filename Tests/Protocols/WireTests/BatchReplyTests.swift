import Basics
import Testing

@testable import Wire

@Suite("replies to app servers")
struct BatchReplyTests {
    @Test("each part of a batch has its ID, its status, the header of its response, and its body")
    func parts() {
        let plain = HTTPResponse(.ok, HTTPResponse.json, Array("{}".utf8))
        let late = HTTPResponse(
            .tooManyRequests, HTTPResponse.json, Array("no".utf8), extra: ("Retry-After", "7"))
        let whole = BatchReply.response([(Array("<a>".utf8), plain), (Array("b".utf8), late), (nil, plain)])
        let type = "\(HTTPResponse.json)"
        let expected = [
            "--batch_ccsd", "Content-Type: application/http", "Content-ID: <response-a>", "",
            "HTTP/1.1 200 OK", "Content-Type: \(type)", "Content-Length: 2", "", "{}",
            "--batch_ccsd", "Content-Type: application/http", "Content-ID: response-b", "",
            "HTTP/1.1 429 Too Many Requests", "Content-Type: \(type)", "Content-Length: 2", "Retry-After: 7",
            "", "no",
            "--batch_ccsd", "Content-Type: application/http", "", "HTTP/1.1 200 OK", "Content-Type: \(type)",
            "Content-Length: 2", "", "{}", "--batch_ccsd--", "",
        ]
        let lines = String(decoding: whole.body, as: UTF8.self).split(
            separator: "\r\n", omittingEmptySubsequences: false)
        #expect(lines.map(String.init) == expected)
    }

    @Test("the text about a refusal of APNs ends with Apple's word, if there is one")
    func verdicts() {
        func text(_ verdict: APNsVerdict?) -> String {
            APNsText.description(of: APNsRefusal(.unavailable, verdict))
        }
        #expect(
            text(nil) == "APNs cannot be reached, retry later"
                && text(nil) == text(APNsVerdict(status: 0, reason: "")))
        #expect(text(APNsVerdict(status: 503, reason: "Shutdown")) == "\(text(nil)) (Shutdown)")
        #expect(
            text(APNsVerdict(status: 410, reason: "Unregistered", invalidSince: 1))
                == "APNs reports that the device token ended before the app last reported it: the registration stays, retry later (Unregistered)"
        )
    }

    @Test("U+0000 is refused in a message of legacy HTTP")
    func legacy() throws {
        func message(_ data: String) throws -> DownstreamMessage {
            try DownstreamMessage(legacy: AppServerPayload(Array(#"{"data":{"a":"\#(data)"}}"#.utf8).raw))
        }
        #expect(throws: Refusal.conflict(field: "data", reason: "it holds U+0000")) {
            try message(#"b\u0000"#)
        }
        #expect(try message(#"b\u0001"#).data != nil)
    }

    @Test("of a request that is not complete, the lines up to the limit are known")
    func known() {
        let lines = (0..<Limits.HTTP.requestHeaders + 3).map { _ in "a: b\r\n" }.joined()
        let request = RequestHead.known(in: Array("GET /a HTTP/1.1\r\n\(lines)".utf8).raw)
        #expect(request?.count(of: "a") == Limits.HTTP.requestHeaders)
    }

    @Test(
        "stanzas in the usual shape are read without the parser",
        arguments: [
            "<message><gcm xmlns=\"google:mobile:data\">{}</gcm></message>",
            "<message id='1' to=\"a\" from='b' type='normal' xml:lang='en' ><gcm  xmlns='google:mobile:data' >{}</gcm> </message>",
        ])
    func fastPath(text: String) {
        let bytes = Array(text.utf8)
        let stanza = FastPathStanza(bytes.raw, from: 0, limit: bytes.count)
        #expect(stanza.isFound && stanza.end == bytes.count && !stanza.isEscaped && !stanza.isError)
        let cut = FastPathStanza(bytes.raw, from: 0, limit: bytes.count - 1)
        #expect(!cut.isFound)
    }
}
