import Basics
import Testing
import Wire

/// Returns the output of a writer as text.
private func text(_ write: (inout ByteBuffer) -> Void) -> String {
    var buffer = ByteBuffer()
    write(&buffer)
    return String(decoding: buffer.copied(), as: UTF8.self)
}

/// Parses the element that a client sends as this text.
func element(_ text: String) throws -> Element {
    var reader = StanzaReader()
    var offset = 0
    let bytes = Array(text: HeaderForm.all[1].opening + text)
    _ = try reader.next(bytes.raw, from: &offset)
    guard case .element(let element) = try reader.next(bytes.raw, from: &offset) else {
        throw XMLFailure.badFormat
    }
    return element
}

@Suite struct XMPPBytesTests {
    @Test func `the header is that of the real service`() {
        #expect(
            text { StreamHeader.appendAnswer(from: "gcm.googleapis.com", id: 0xAF8B_B607_948B_F55F, to: &$0) }
                == #"<stream:stream from="gcm.googleapis.com" id="AF8BB607948BF55F" version="1.0" xmlns:stream="http://etherx.jabber.org/streams" xmlns="jabber:client">"#
        )
        #expect(
            text { StreamHeader.appendAnswer(from: "a&\"b", id: 1, to: &$0) }
                == #"<stream:stream from="a&amp;&quot;b" id="0000000000000001" version="1.0" xmlns:stream="http://etherx.jabber.org/streams" xmlns="jabber:client">"#
        )
        #expect(text { StreamHeader.appendEnd(to: &$0) } == "</stream:stream>")
    }

    @Test func `the features are those of the real service`() {
        #expect(
            text { Features.appendBeforeLogin(to: &$0) }
                == #"<stream:features><mechanisms xmlns="urn:ietf:params:xml:ns:xmpp-sasl"><mechanism>X-OAUTH2</mechanism><mechanism>X-GOOGLE-TOKEN</mechanism><mechanism>PLAIN</mechanism></mechanisms></stream:features>"#
        )
        #expect(
            text { Features.appendAfterLogin(to: &$0) }
                == #"<stream:features><bind xmlns="urn:ietf:params:xml:ns:xmpp-bind"/><session xmlns="urn:ietf:params:xml:ns:xmpp-session"/></stream:features>"#
        )
    }

    @Test func `the answers to a login are those of the real service`() {
        #expect(
            text { SASL.appendSuccess(to: &$0) } == #"<success xmlns="urn:ietf:params:xml:ns:xmpp-sasl"/>"#)
        #expect(
            text { SASL.appendChallenge(to: &$0) }
                == #"<challenge xmlns="urn:ietf:params:xml:ns:xmpp-sasl"/>"#)
        for condition in SASL.Condition.allCases {
            #expect(
                text { condition.append(to: &$0) }
                    == #"<failure xmlns="urn:ietf:params:xml:ns:xmpp-sasl"><\#(condition.rawValue)/></failure>"#
            )
        }
    }

    @Test func `stream errors have the bytes that clients match on`() {
        #expect(
            text { XMLFailure.invalidXML.condition.append(to: &$0) }
                == #"<stream:error><invalid-xml xmlns="urn:ietf:params:xml:ns:xmpp-streams"/></stream:error>"#
        )
        let names = XMLFailure.allCases.map(\.condition.rawValue)
        #expect(
            names == [
                "invalid-xml", "restricted-xml", "policy-violation", "unsupported-encoding",
                "bad-namespace-prefix", "invalid-namespace", "unsupported-version", "bad-format",
            ])
        #expect(XMLFailure.policyViolation.closeReason == .tooLarge)
        for condition in StreamCondition.allCases {
            #expect(
                text { condition.append(to: &$0) }
                    == "<stream:error><\(condition.rawValue) xmlns=\"urn:ietf:params:xml:ns:xmpp-streams\"/></stream:error>"
            )
        }
    }

    @Test func `a binding is answered with the id of the request, or without one`() throws {
        let jid = try #require(
            Bind.jid(
                sender: SenderID(5_357_279), domain: "gcm.googleapis.com", resource: "test",
                suffix: 0x0FAD_177A))
        #expect(jid == "5357279@gcm.googleapis.com/test0FAD177A")
        let plain = try #require(
            IQ(element(#"<iq type="set"><bind xmlns="urn:ietf:params:xml:ns:xmpp-bind"></bind></iq>"#)))
        #expect(plain.request == .bind(resource: nil))
        #expect(
            text { plain.appendBound("1@gcm.googleapis.com/ABC", to: &$0) }
                == #"<iq type="result"><bind xmlns="urn:ietf:params:xml:ns:xmpp-bind"><jid>1@gcm.googleapis.com/ABC</jid></bind></iq>"#
        )
        let full = try #require(
            IQ(
                element(
                    "<iq to='fcm-xmpp.googleapis.com' type='set' id='a&quot;&lt;1'>\n  <bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>\n <resource>test</resource>\n</bind>\n</iq>"
                )))
        #expect(full.request == .bind(resource: "test"))
        #expect(
            text { full.appendBound(jid, to: &$0) }
                == #"<iq type="result" id="a&quot;&lt;1"><bind xmlns="urn:ietf:params:xml:ns:xmpp-bind"><jid>5357279@gcm.googleapis.com/test0FAD177A</jid></bind></iq>"#
        )
        #expect(
            text { full.appendError(.notAllowed, to: &$0) }
                == #"<iq type="error" id="a&quot;&lt;1" from="fcm-xmpp.googleapis.com"><error type="cancel"><not-allowed xmlns="urn:ietf:params:xml:ns:xmpp-stanzas"/></error></iq>"#
        )
    }

    @Test(arguments: ["a\u{0}b", "a\u{7}", "\u{E000}", "\u{2028}", String(repeating: "a", count: 1_016)])
    func `a resource that is invalid in a JID is refused`(resource: String) {
        #expect(Bind.jid(sender: SenderID(1), domain: "d", resource: resource, suffix: 1) == nil)
    }

    @Test func `a resource of maximum length is bound`() {
        let longest = String(repeating: "é", count: 507)
        #expect(
            Bind.jid(sender: SenderID(1), domain: "d", resource: longest, suffix: 1)
                == "1@d/\(longest)00000001")
    }

    @Test func `session, ping and unknown requests get their answers`() throws {
        let session = try #require(
            IQ(element("<iq type='set' id='b-2'><session xmlns='urn:ietf:params:xml:ns:xmpp-session'/></iq>"))
        )
        #expect(session.request == .session)
        #expect(text { session.appendResult(to: &$0) } == #"<iq type="result" id="b-2"/>"#)
        let ping = try #require(
            IQ(
                element(
                    "<iq from='1234567890@gcm.googleapis.com/test0FAD177A' to='fcm-xmpp.googleapis.com' id='c2s1' type='get'>\n<ping xmlns='urn:xmpp:ping'/>\n</iq>"
                )))
        #expect(ping.request == .ping)
        #expect(
            text { ping.appendPong(to: "1234567890@gcm.googleapis.com/test0FAD177A", in: &$0) }
                == #"<iq type="result" id="c2s1" from="fcm-xmpp.googleapis.com" to="1234567890@gcm.googleapis.com/test0FAD177A"/>"#
        )
        let bare = try #require(IQ(element("<iq type='get'><ping xmlns='urn:xmpp:ping'/></iq>")))
        #expect(text { bare.appendPong(to: "1@d/r", in: &$0) } == #"<iq type="result" to="1@d/r"/>"#)
        let roster = try #require(
            IQ(
                element(
                    "<iq type='get' id='r1' to='gcm.googleapis.com'><query xmlns='jabber:iq:roster'/></iq>")))
        #expect(roster.request == .other)
        #expect(
            text { roster.appendError(.serviceUnavailable, to: &$0) }
                == #"<iq type="error" id="r1" from="gcm.googleapis.com"><error type="cancel"><service-unavailable xmlns="urn:ietf:params:xml:ns:xmpp-stanzas"/></error></iq>"#
        )
        #expect(try IQ(element("<iq type='result' id='1'/>"))?.request == .answer)
        #expect(try IQ(element("<iq type='error' id='1'/>"))?.request == .answer)
        #expect(try IQ(element("<iq xmlns='other' type='set'/>")) == nil)
        #expect(try IQ(element("<presence/>")) == nil)
    }

    @Test func `a stanza error repeats the payload before the error`() {
        let payload = Array(text: "{\"random\": \"<text>\"}")
        #expect(
            text {
                StanzaCondition.badRequest.appendMessage(
                    to: "123456789@gcm.googleapis.com/ABC", id: "3", payload: payload.raw,
                    text: "InvalidJson: JSON_PARSING_ERROR : Missing Required Field: message_id\n", to: &$0)
            }
                == #"<message id="3" type="error" to="123456789@gcm.googleapis.com/ABC"><gcm xmlns="google:mobile:data">{"random": "&lt;text&gt;"}</gcm><error code="400" type="modify"><bad-request xmlns="urn:ietf:params:xml:ns:xmpp-stanzas"/><text xmlns="urn:ietf:params:xml:ns:xmpp-stanzas">InvalidJson: JSON_PARSING_ERROR : Missing Required Field: message_id"#
                + "\n</text></error></message>")
        #expect(
            text {
                StanzaCondition.badRequest.appendMessage(
                    to: "1@d/r", id: nil, payload: nil, text: "", to: &$0)
            }
                == #"<message type="error" to="1@d/r"><error code="400" type="modify"><bad-request xmlns="urn:ietf:params:xml:ns:xmpp-stanzas"/></error></message>"#
        )
    }
}
