import Basics
import Testing

@testable import Wire

/// Responses with files for browsers: how long they are kept, and how they are coded.
@Suite struct BrowserFileTests {
    private func head(_ file: BrowserFile?) -> String {
        var response = HTTPResponse(.ok, HTTPResponse.text, [1])
        response.file = file
        var out = ByteBuffer()
        response.append(at: 0, closes: false, isHead: true, to: &out)
        return String(decoding: out.copied(), as: UTF8.self)
    }

    @Test(
        "a file whose name has its hash is kept for good, others are asked for, and anything else is not kept"
    )
    func caching() {
        let page = head(BrowserFile(entityTag: "\"1\"", policy: "p"))
        #expect(page.contains("Cache-Control: no-cache\r\n") && !page.contains("Content-Encoding"))
        #expect(page.contains("Vary: Accept-Encoding\r\n"))
        let script = head(BrowserFile(entityTag: "\"1\"", policy: "p", caching: .immutable, coding: .gzip))
        #expect(script.contains("Cache-Control: public, max-age=31536000, immutable\r\n"))
        #expect(script.contains("Content-Encoding: gzip\r\n"))
        let other = head(nil)
        #expect(other.contains("Cache-Control: no-store\r\n") && !other.contains("Vary"))
    }

    @Test(
        "gzip is accepted where it is named, and not with the weight 0",
        arguments: [
            ("gzip", true), ("gzip, deflate, br", true), ("br;q=1, GZIP;q=0.5", true),
            ("gzip; q=0.001", true),
            ("", false), ("br", false), ("identity", false), ("gzip;q=0", false), ("gzip ; q=0.00", false),
            ("xgzip", false), ("*", false),
        ])
    func accepted(value: String, isAccepted: Bool) {
        #expect(AcceptedCoding.hasGzip(Array(value.utf8)) == isAccepted)
    }
}
