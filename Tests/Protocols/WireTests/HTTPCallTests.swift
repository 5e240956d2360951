import Basics
import Testing
import Wire

@Suite struct HTTPCallTests {
    @Test("A POST without a body has Content-Length: 0; other requests have no Content-Length")
    func lengths() {
        var out = ByteBuffer()
        HTTPCall("POST", "/a").append(host: "h", to: &out)
        HTTPCall("GET", "/b").append(host: "h", to: &out)
        #expect(
            String(decoding: out.copied(), as: UTF8.self)
                == "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\nGET /b HTTP/1.1\r\nHost: h\r\n\r\n"
        )
    }
}
