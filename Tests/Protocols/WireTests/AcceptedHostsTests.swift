import Basics
import Testing

@testable import Wire

/// The host names that the administrative port answers to.
@Suite("Accepted hosts") struct AcceptedHostsTests {
    private static let hosts = AcceptedHosts(["admin.example.org", "10.0.0.7", "Gateway", "2001:db8::7"])

    @Test(
        "loopback, configured names and addresses are accepted, with any port",
        arguments: [
            "localhost", "LOCALHOST:9100", "localhost.", "127.0.0.1:9100", "127.1.2.3", "[::1]:9100", "[::1]",
            "admin.example.org", "Admin.Example.Org.:443", "10.0.0.7:9100", "gateway", "[2001:DB8::7]:9100",
        ])
    func accepted(value: String) { #expect(Self.hosts.accepts(value)) }

    @Test(
        "any other name is refused, as one of DNS rebinding, and so are other addresses",
        arguments: [
            "", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "xlocalhost",
            "localhost:9100x",
            "localhost:9100:1", "[::1", "::1:9100", "[localhost]", "192.168.0.9", "[2001:db8::8]",
            "127.0.0.1@evil",
            "127.0.0", "evil.example:localhost", "localhost, evil.example",
        ])
    func refused(value: String) { #expect(!Self.hosts.accepts(value)) }

    @Test("behind a wildcard every address is accepted, since a page cannot rebind one, and no further name")
    func wildcard() {
        for wildcard in ["0.0.0.0", "::"] {
            let hosts = AcceptedHosts([wildcard])
            #expect(hosts.accepts("192.168.0.9:9100") && hosts.accepts("[2001:db8::8]"))
            #expect(!hosts.accepts("evil.example") && !hosts.accepts("1.2.3.4.evil.example"))
        }
    }

    @Test("a request of HTTP/1.0 without Host is accepted, and one of HTTP/2 counts by its authority")
    func requests() throws {
        func request(_ text: String) throws -> HTTPRequest {
            var reader = RequestReader()
            reader.append(Array(text.utf8).raw)
            return try #require(try reader.next())
        }
        #expect(try Self.hosts.accepts(request("GET /metrics HTTP/1.0\r\n\r\n")))
        #expect(try !Self.hosts.accepts(request("GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n")))
        func head(_ fields: [(String, String)]) throws(RequestFault) -> HTTPRequest {
            var head = HTTP2Head(stream: 1, isTrailer: false)
            for (name, value) in [(":method", "GET"), (":path", "/metrics")] + fields {
                _ = head.add(Array(name.utf8).raw, Array(value.utf8).raw)
            }
            return try head.request().0
        }
        #expect(try !Self.hosts.accepts(head([(":authority", "evil.example")])))
        #expect(try Self.hosts.accepts(head([(":authority", "gateway:1"), ("host", "gateway:1")])))
        #expect(try head([(":authority", "gateway")]).count(of: "host") == 1)
        for fields in [
            [(":authority", "gateway"), ("host", "evil.example")], [("host", "a"), ("host", "b")],
        ] {
            #expect(throws: RequestFault.self) { _ = try head(fields) }
        }
    }
}
