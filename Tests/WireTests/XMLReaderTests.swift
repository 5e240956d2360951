import Basics
import Testing
import Wire

@Suite struct XMLReaderTests {
    static let header =
        "<stream:stream to=\"gcm.googleapis.com\" version=\"1.0\" xmlns=\"jabber:client\" xmlns:stream=\"http://etherx.jabber.org/streams\">"

    @Test func `the golden transcript gives its events`() {
        let text =
            Self.header
            + "<auth mechanism=\"PLAIN\" xmlns=\"urn:ietf:params:xml:ns:xmpp-sasl\">ADEyMzQ1Njc4OTBAZ2NtLmdvb2dsZWFwaXMuY29tAEtFWQ==</auth>"
            + Self.header
            + "<iq type=\"set\" id=\"b-1\"><bind xmlns=\"urn:ietf:params:xml:ns:xmpp-bind\"><resource>test</resource></bind></iq>"
            + "<message id=\"\"><gcm xmlns=\"google:mobile:data\">{\"to\":\"TOKEN\"}</gcm></message></stream:stream>"
        let record = XMLRecord.reading(Array(text: text), loggedIn: false)
        #expect(record.failure == nil)
        #expect(record.events.count == 6, "\(record)")
        #expect(record.events[4] == "message usable false [\"\", \"-\", \"-\", \"-\"] {\"to\":\"TOKEN\"}")
        #expect(record.events[5] == "closed")
        for cut in 0...text.utf8.count {
            #expect(XMLRecord.reading(Array(text: text), cuts: [cut]) == record)
        }
        #expect(XMLRecord.reading(Array(text: text), cuts: Array(0..<text.utf8.count)) == record)
    }
}
