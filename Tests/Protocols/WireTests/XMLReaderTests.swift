import Basics
import Testing
import Wire

@Suite struct XMLReaderTests {
    static let header = HeaderForm.all[1].opening

    /// Reads one stanza within a logged-in stream.
    private func read(_ stanza: String) -> XMLRecord {
        var record = XMLRecord.reading(Array(text: Self.header + stanza), loggedIn: true)
        record.events.removeFirst()
        return record
    }

    @Test func `the golden transcript yields its events`() {
        let text =
            "<stream:stream to=\"gcm.googleapis.com\" version=\"1.0\" xmlns=\"jabber:client\" xmlns:stream=\"http://etherx.jabber.org/streams\">"
            + "<auth mechanism=\"PLAIN\" xmlns=\"urn:ietf:params:xml:ns:xmpp-sasl\">ADEyMzQ1Njc4OTBAZ2NtLmdvb2dsZWFwaXMuY29tAEtFWQ==</auth>"
            + "<stream:stream to=\"gcm.googleapis.com\" version=\"1.0\" xmlns=\"jabber:client\" xmlns:stream=\"http://etherx.jabber.org/streams\">"
            + "<iq type=\"set\" id=\"b-1\"><bind xmlns=\"urn:ietf:params:xml:ns:xmpp-bind\"><resource>test</resource></bind></iq>"
            + "<iq type=\"set\" id=\"b-2\"><session xmlns=\"urn:ietf:params:xml:ns:xmpp-session\"/></iq>"
            + "<message id=\"\"><gcm xmlns=\"google:mobile:data\">{\"to\":\"TOKEN\",\"message_id\":\"m-1\",\"data\":{\"a\":\"b\"}}</gcm></message>"
            + " <message id=\"\"><gcm xmlns=\"google:mobile:data\">{\"to\":\"TOKEN\",\"message_id\":\"000001\",\"message_type\":\"ack\"}</gcm></message>"
            + "<iq from='1@gcm.googleapis.com/test' to='fcm-xmpp.googleapis.com' id='c2s1' type='get'>\n<ping xmlns='urn:xmpp:ping'/>\n</iq>"
            + "</stream:stream>"
        let record = XMLRecord.reading(Array(text: text))
        #expect(record.failure == nil)
        #expect(
            record.events.map { $0.prefix { $0 != " " } } == [
                "opened", "element", "opened", "element", "element", "message", "message", "element",
                "closed",
            ])
        #expect(
            record.events[5]
                == "message usable false [\"\", \"-\", \"-\", \"-\"] {\"to\":\"TOKEN\",\"message_id\":\"m-1\",\"data\":{\"a\":\"b\"}}"
        )
        #expect(record.elements.map(\.name) == ["auth", "iq", "iq", "iq"])
        for cut in 0...text.utf8.count {
            #expect(XMLRecord.reading(Array(text: text), cuts: [cut]) == record)
        }
        #expect(XMLRecord.reading(Array(text: text), cuts: Array(0..<text.utf8.count)) == record)
    }

    @Test(
        "U+FFFE and U+FFFF inside gcm become JSON escapes, in every notation",
        arguments: [
            "<gcm xmlns=\"google:mobile:data\">{\"a\":\"\u{FFFF}b\u{FFFE}\"}</gcm>",
            "<gcm xmlns='google:mobile:data'>{\"a\":\"&#xFFFF;b&#65534;\"}</gcm>",
            "<g:gcm id='>' xmlns:g='google:mobile:data'>{\"a\":\"\u{FFFF}b&#x0FFFE;\"}</g:gcm>",
            "<gcm xmlns='google:mobile:data'><![CDATA[{\"a\":\"\u{FFFF}b\u{FFFE}\"}]]></gcm>",
            "<origin-id id='x'/><gcm xmlns='google:mobile:data'>{\"a\":\"\u{FFFF}b<![CDATA[\u{FFFE}\"]]>}</gcm>",
        ])
    func noncharacters(gcm: String) {
        let stanza = "<message id='1'>\(gcm)</message>"
        let record = read(stanza)
        #expect(record.failure == nil)
        #expect(
            record.events == [#"message usable false ["1", "-", "-", "-"] {"a":"\uffffb\ufffe"}"#])
        let whole = Array(text: Self.header + stanza)
        for cut in 0...whole.count {
            let parted = XMLRecord.reading(whole, cuts: [cut], loggedIn: true)
            #expect(parted.events.dropFirst() == record.events[...], "cut at \(cut)")
        }
    }

    @Test(
        "U+FFFE and U+FFFF elsewhere end the stream, as do other forbidden characters inside gcm",
        arguments: [
            "<message><body>\u{FFFF}</body></message>",
            "<message id='\u{FFFF}'><gcm xmlns='google:mobile:data'>{}</gcm></message>",
            "<message><gcm xmlns='google:mobile:data' a='&#xFFFF;'>{}</gcm></message>",
            "<message><gcm xmlns='google:mobile:data'>{}</gcm>\u{FFFE}</message>",
            "<message><gcm xmlns='google:mobile:data'>\u{1}</gcm></message>",
            "<message><gcm xmlns='google:mobile:data'>&#1;</gcm></message>",
            "<message><gcm xmlns='google:mobile:data'><![CDATA[&#xFFFF;\u{1}]]></gcm></message>",
        ])
    func forbiddenElsewhere(stanza: String) {
        #expect(read(stanza).failure == .invalidXML)
    }

    @Test("bytes inside gcm that only begin like U+FFFE and are no UTF-8 end the stream")
    func notUTF8() {
        let start = Array(text: Self.header + "<message id='1'><gcm xmlns='google:mobile:data'>{\"a\":\"")
        let end = Array(text: "\"}</gcm></message>")
        for last: UInt8 in [0xC0, 0xFF] {
            let record = XMLRecord.reading(start + [0xEF, 0xBF, last] + end, cuts: [], loggedIn: true)
            #expect(record.failure == .unsupportedEncoding && record.events.count == 1, "\(record)")
        }
    }

    @Test(
        "payloads are read in every notation",
        arguments: [
            #"<gcm xmlns="google:mobile:data">{"a":"b"}</gcm>"#,
            #"<gcm xmlns='google:mobile:data'>{&quot;a&quot;:&quot;b&quot;}</gcm>"#,
            #"<gcm xmlns='google:mobile:data'>&#123;&#x22;a":"b"}</gcm>"#,
            #"<gcm xmlns='google:mobile:data'><![CDATA[{"a":"b"}]]></gcm>"#,
            #"<gcm xmlns='google:mobile:data'>{"a"<![CDATA[:"b]]>"}</gcm>"#,
            #"<gcm  xmlns = 'google:mobile:data' >{"a":"b"}</gcm >"#,
            #"<g:gcm xmlns:g='google:mobile:data'>{"a":"b"}</g:gcm>"#,
            #"<gcm xmlns='google:mobile:data' id='1'>{"a":"b"}</gcm>"#,
            #"<origin-id xmlns='urn:xmpp:sid:0' id='x'/><gcm xmlns='google:mobile:data'>{"a":"b"}</gcm><request/>"#,
            "\n  <gcm xmlns='google:mobile:data'>{\"a\":\"b\"}</gcm>\n",
        ])
    func notations(gcm: String) {
        for attributes in [" id='1'", " id='&#49;'", " id=\"1\" ", "\n id = '1'"] {
            let stanza = "<message\(attributes)>\(gcm)</message>"
            #expect(read(stanza).events == [#"message usable false ["1", "-", "-", "-"] {"a":"b"}"#])
            let prefixed = "<jc:message xmlns:jc='jabber:client'\(attributes)>\(gcm)</jc:message>"
            #expect(read(prefixed).events == read(stanza).events)
        }
    }

    @Test func `the attributes of a message are found by the fast path and by the parser`() {
        for value in ["normal", "n&#111;rmal"] {
            let stanza =
                "<message to='devices@gcm.googleapis.com' type='\(value)' from='1@d/r' xml:lang='en' id='x y'><gcm xmlns='google:mobile:data'>{}</gcm></message>"
            #expect(
                read(stanza).events == [
                    #"message usable false ["x y", "devices@gcm.googleapis.com", "1@d/r", "normal"] {}"#
                ])
        }
    }

    @Test func `the form of a message without a usable payload is reported`() {
        let gcm = "<gcm xmlns='google:mobile:data'>{}</gcm>"
        func form(_ stanza: String) -> String? {
            read(stanza).events.first.map { String($0.split(separator: " ")[1]) }
        }
        #expect(form("<message>\(gcm)</message>") == "usable")
        #expect(form("<message><body>x</body></message>") == "withoutPayload")
        #expect(form("<message/>") == "withoutPayload")
        #expect(form("<message><gcm>{}</gcm></message>") == "withoutPayload")
        #expect(form("<message>\(gcm)\(gcm)</message>") == "severalPayloads")
        #expect(
            form("<message><gcm xmlns='google:mobile:data'>{<b/>}</gcm></message>") == "elementsInPayload")
        #expect(read("<message xmlns='jabber:server'>\(gcm)</message>").elements.count == 1)
        #expect(
            read("<message type='error'>\(gcm)</message>").events == [
                #"message usable true ["-", "-", "-", "error"] {}"#
            ])
        #expect(
            read("<message type='error'/>").events == [
                #"message withoutPayload true ["-", "-", "-", "error"] "#
            ])
    }

    @Test func `an element has its whole content`() {
        let record = read("<iq id='1' xml:lang='en' a:b='c' xmlns:a='u'> x<q xmlns='n'>y<z/></q>&amp;</iq>")
        #expect(
            record.elements == [
                Element(
                    name: "iq", namespace: Namespace.client,
                    attributes: [
                        Element.Attribute(name: "id", value: "1"),
                        Element.Attribute(name: "lang", namespace: Namespace.xml, value: "en"),
                        Element.Attribute(name: "b", namespace: "u", value: "c"),
                    ],
                    children: [
                        Element(
                            name: "q", namespace: "n", children: [Element(name: "z", namespace: "n")],
                            text: "y")
                    ], text: " x&")
            ])
        #expect(record.elements[0]["b"] == nil && record.elements[0]["id"] == "1")
        #expect(record.elements[0].child("q", "n")?.text == "y" && record.elements[0].child("q", "m") == nil)
    }

    @Test func `limits rise with the login`() {
        let long = "<presence><status>" + String(repeating: "a", count: 10_000) + "</status></presence>"
        let text = Self.header + "<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>" + Self.header + long
        #expect(XMLRecord.reading(Array(text: text)).failure == nil)
        #expect(XMLRecord.reading(Array(text: Self.header + long)).failure == .policyViolation)
    }

    @Test func `a client may disconnect between success and its second header`() {
        let auth = "<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>"
        let record = XMLRecord.reading(Array(text: Self.header + auth + "\n</stream:stream>"))
        #expect(record.failure == nil)
        #expect(record.events.last == "closed")
        #expect(XMLRecord.reading(Array(text: Self.header + auth + "</stream>")).failure == .invalidXML)
        #expect(XMLRecord.reading(Array(text: "</stream:stream>")).failure == .invalidXML)
    }

    @Test
    func `a header after the login's or behind a stanza is an error at once, and no stanza without an end`() {
        let auth = "<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>"
        let loggedIn = Self.header + auth + Self.header
        #expect(XMLRecord.reading(Array(text: loggedIn)).failure == nil)
        for more in [Self.header, "<presence/>" + Self.header, "<stream:stream/>", "<?xml version='1.0'?>"] {
            let record = XMLRecord.reading(Array(text: loggedIn + more))
            #expect(record.failure == (more.hasPrefix("<?") ? .restrictedXML : .badFormat), "\(more)")
        }
        let inner = "<iq id='1'><stream:stream/></iq>"
        #expect(
            XMLRecord.reading(Array(text: loggedIn + inner)).failure == nil,
            "its name is free within a stanza")
    }

    @Test func `nothing is read after the end of the stream`() {
        let record = read("</stream:stream>\u{0}<<<!DOCTYPE a>")
        #expect(record.failure == nil)
        #expect(record.events == ["closed"])
    }

    @Test func `an unresolved escape would be detected`() {
        let raw = read(#"<message><gcm xmlns='google:mobile:data'>&amp;quot;</gcm></message>"#)
        #expect(raw.events == [#"message usable false ["-", "-", "-", "-"] &quot;"#])
    }
}
