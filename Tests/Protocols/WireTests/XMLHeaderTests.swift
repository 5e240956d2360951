import Basics
import Testing
import Wire

/// The way a client opens its stream (ccs-xmpp 1.3).
struct HeaderForm: CustomTestStringConvertible, Sendable {
    var client: String
    /// The bytes up to `<auth>`.
    var opening: String
    /// The expected `to`.
    var to: String?
    /// The bytes after success instead of `opening`, if different.
    var second: String?
    var testDescription: String { client }

    static let all: [HeaderForm] = [
        HeaderForm(
            client: "documentation, self-closed",
            opening:
                "<stream:stream to=\"gcm.googleapis.com\" version=\"1.0\" xmlns=\"jabber:client\" xmlns:stream=\"http://etherx.jabber.org/streams\"/>",
            to: "gcm.googleapis.com"),
        HeaderForm(
            client: "Smack 3",
            opening:
                "<stream:stream to=\"gcm.googleapis.com\" xmlns=\"jabber:client\" xmlns:stream=\"http://etherx.jabber.org/streams\" version=\"1.0\">",
            to: "gcm.googleapis.com"),
        HeaderForm(
            client: "Smack 4",
            opening:
                "<stream:stream xmlns='jabber:client' to='gcm.googleapis.com' xmlns:stream='http://etherx.jabber.org/streams' version='1.0' from='1@gcm.googleapis.com' id='x' xml:lang='en'>",
            to: "gcm.googleapis.com"),
        HeaderForm(
            client: "carlosCharz v2",
            opening:
                "<stream:stream to=\"FCM XMPP Client Connection Server\" xmlns=\"jabber:client\" xmlns:stream=\"http://etherx.jabber.org/streams\" version=\"1.0\">",
            to: "FCM XMPP Client Connection Server"),
        HeaderForm(
            client: "go-xmpp",
            opening:
                "<?xml version='1.0'?>\n<stream:stream to='gcm.googleapis.com' xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' version='1.0'>\n",
            to: "gcm.googleapis.com",
            second:
                "\n<?xml version='1.0'?>\n<stream:stream to='gcm.googleapis.com' xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' version='1.0'>\n"
        ),
        HeaderForm(
            client: "slixmpp",
            opening:
                "<stream:stream to='gcm.googleapis.com' xmlns:stream='http://etherx.jabber.org/streams' xmlns='jabber:client' xml:lang='en' version='1.0'>",
            to: "gcm.googleapis.com"),
        HeaderForm(
            client: "xmpppy",
            opening:
                "<?xml version='1.0'?><stream:stream xmlns=\"jabber:client\" version=\"1.0\" xmlns:stream=\"http://etherx.jabber.org/streams\" to=\"gcm.googleapis.com\" >",
            to: "gcm.googleapis.com"),
        HeaderForm(
            client: "aioxmpp",
            opening:
                "<?xml version=\"1.0\"?><stream:stream xmlns=\"jabber:client\" xmlns:stream=\"http://etherx.jabber.org/streams\" to=\"gcm.googleapis.com\" version=\"1.0\">",
            to: "gcm.googleapis.com"),
        HeaderForm(
            client: "libstrophe",
            opening:
                "<?xml version=\"1.0\"?><stream:stream to=\"gcm.googleapis.com\" xml:lang=\"en\" version=\"1.0\" xmlns=\"jabber:client\" xmlns:stream=\"http://etherx.jabber.org/streams\" from=\"1234567890@gcm.googleapis.com\">",
            to: "gcm.googleapis.com"),
        HeaderForm(
            client: "xmpp4r",
            opening:
                "<stream:stream xmlns:stream='http://etherx.jabber.org/streams' xmlns='jabber:client' to='gcm.googleapis.com' xml:lang='en' version='1.0' >",
            to: "gcm.googleapis.com"),
        HeaderForm(
            client: "Net::XMPP",
            opening:
                "<?xml version='1.0'?><stream:stream version='1.0' xmlns:stream='http://etherx.jabber.org/streams' xmlns='jabber:client' to='gcm.googleapis.com' from='localhost' xml:lang='en' >",
            to: "gcm.googleapis.com"),
        HeaderForm(
            client: "FCMStream",
            opening:
                "<stream:stream to=\"fcm-xmpp.googleapis.com\" version=\"1.0\" xmlns=\"jabber:client\" xmlns:stream=\"http://etherx.jabber.org/streams\">\n",
            to: "fcm-xmpp.googleapis.com"),
        HeaderForm(
            client: "baudev, whose domain changes",
            opening:
                "<stream:stream to=\"gcm.googleapis.com\" version=\"1.0\" xmlns=\"jabber:client\" xmlns:stream=\"http://etherx.jabber.org/streams\">",
            to: "gcm.googleapis.com",
            second:
                "<stream:stream to=\"fcm-xmpp.googleapis.com\" version=\"1.0\" xmlns=\"jabber:client\" xmlns:stream=\"http://etherx.jabber.org/streams\">"
        ),
        HeaderForm(
            client: "GIMMM, with a stray >",
            opening:
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?><stream:stream to=\"gcm.googleapis.com\" version=\"1.0\" xmlns=\"jabber:client\" xmlns:stream=\"http://etherx.jabber.org/streams\">>",
            to: "gcm.googleapis.com"),
        HeaderForm(
            client: "jeerovan",
            opening:
                "<stream:stream to='gcm.googleapis.com' version='1.0' xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'>",
            to: "gcm.googleapis.com"),
        HeaderForm(
            client: "a byte order mark",
            opening:
                "\u{FEFF}<?xml version='1.0' encoding='utf-8' standalone='yes'?> <stream:stream to='gcm.googleapis.com' xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' version='1.0'>",
            to: "gcm.googleapis.com"),
        HeaderForm(
            client: "another prefix, no version, no to",
            opening: "<str:stream xmlns='jabber:client' xmlns:str='http://etherx.jabber.org/streams'>"),
    ]

    /// The conversation of the client up to its first message, and the end of the stream.
    var conversation: [UInt8] {
        let prefix = client.hasPrefix("another") ? "str" : "stream"
        let text =
            opening + "<auth mechanism='PLAIN' xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>AGEAYg==</auth>"
            + (second ?? opening) + " \n"
            + "<iq type='set'>\n <bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'></bind>\n</iq>\n\n"
            + "<message id=\"\"><gcm xmlns=\"google:mobile:data\">{ \"a\": \"ä\" }</gcm></message> "
            + "<message><g:gcm xmlns:g='google:mobile:data'><![CDATA[{\"a\":\"<\"}]]></g:gcm></message>"
            + "</\(prefix):stream>"
        return Array(text: text)
    }
}

@Suite struct XMLHeaderTests {
    @Test(arguments: HeaderForm.all)
    func `every client's header opens the stream, split at every byte`(form: HeaderForm) throws {
        let bytes = form.conversation
        let whole = XMLRecord.reading(bytes)
        #expect(whole.failure == nil)
        try #require(whole.events.count == 7, "\(whole)")
        #expect(whole.events[0].hasPrefix("opened ") && whole.events[2].hasPrefix("opened "))
        #expect(whole.events[0].contains(form.to.map { "to: Optional(\"\($0)\")" } ?? "to: nil"))
        #expect(whole.events[4] == "message usable false [\"\", \"-\", \"-\", \"-\"] { \"a\": \"ä\" }")
        #expect(whole.events[5] == "message usable false [\"-\", \"-\", \"-\", \"-\"] {\"a\":\"<\"}")
        #expect(whole.events[6] == "closed")
        for cut in 0...bytes.count { #expect(XMLRecord.reading(bytes, cuts: [cut]) == whole) }
        #expect(XMLRecord.reading(bytes, cuts: Array(0..<bytes.count)) == whole)
    }

    @Test func `a reader that loses a byte would be detected`() {
        var bytes = HeaderForm.all[1].conversation
        let whole = XMLRecord.reading(bytes)
        bytes.remove(at: bytes.count / 2)
        #expect(XMLRecord.reading(bytes) != whole)
    }

    @Test(arguments: [
        ("gcm.googleapis.com", "gcm.googleapis.com"), ("localhost", "localhost"), ("127.0.0.1", "127.0.0.1"),
        ("[::1]", "[::1]"), ("FCM XMPP Client Connection Server", "default.example"), ("", "default.example"),
        ("a\"b", "default.example"), ("<x/>", "default.example"), ("1@gcm.googleapis.com", "default.example"),
        (String(repeating: "a", count: 2_000), "default.example"),
    ])
    func `an unusable to is answered with the default domain`(to: String, answer: String) throws {
        var escaped = ByteBuffer()
        escaped.appendAttribute(to)
        let value = String(decoding: escaped.copied(), as: UTF8.self)
        let text =
            "<stream:stream to=\"\(value)\" xmlns=\"jabber:client\" xmlns:stream=\"http://etherx.jabber.org/streams\">"
        var reader = StanzaReader()
        var offset = 0
        let bytes = Array(text: text)
        guard case .opened(let header) = try reader.next(bytes.raw, from: &offset) else {
            Issue.record("not opened")
            return
        }
        #expect(header.to == to)
        #expect(header.answerDomain(orElse: "default.example") == answer)
    }

    @Test(arguments: [
        ("1.0", nil), ("1", nil), ("0.9", nil), ("", nil), ("x", nil), ("1.99", nil),
        ("2.0", XMLFailure.unsupportedVersion),
        ("10.0", .unsupportedVersion), ("99999999999999999999999.0", .unsupportedVersion),
    ])
    func `a version above 1 is refused`(version: String, failure: XMLFailure?) {
        let text =
            "<stream:stream version='\(version)' xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'>"
        #expect(XMLRecord.reading(Array(text: text)).failure == failure)
    }

    @Test func `an idle stream holds no bytes`() throws {
        var reader = StanzaReader()
        let opening = Array(text: HeaderForm.all[1].opening + "<iq/> \n <presence><show/></presence>")
        for byte in opening {
            var offset = 0
            reading: while true {
                if case .incomplete = try reader.next([byte].raw, from: &offset) { break reading }
            }
        }
        let held = reader.heldBytes
        #expect(held == 0)
        #expect(MemoryLayout<StanzaReader>.size <= 200, "the reader of an idle connection grew")
    }
}
