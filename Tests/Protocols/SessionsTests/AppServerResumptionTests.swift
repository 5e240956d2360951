import Basics
import Delivery
import Testing
import Wire

@testable import Sessions

/// Edge cases of streams that outlive their connection (XEP-0198).
@Suite struct AppServerResumptionTests {
    private static func handled(_ bench: inout AppServerHarness) -> String {
        _ = bench.takeSent()
        bench.feed(AppServerHarness.request)
        return bench.takeSent()
    }

    private static func answer(_ handled: Int) -> String { #"<a xmlns="urn:xmpp:sm:3" h="\#(handled)"/>"# }

    @Test("a message counts as handled when it is refused at once or answered by a stanza error")
    func refusedAtOnce() {
        var bench = AppServerHarness.managed()
        bench.feed(AppServerHarness.message(#"{"to":"malformed","message_id":"1","data":{}}"#))
        let first = Self.handled(&bench)
        bench.feed(AppServerHarness.message(#"{"to":"\#(AppServerHarness.token)"}"#))
        let second = Self.handled(&bench)
        #expect(first == Self.answer(1) && second == Self.answer(2))
    }

    @Test("a message counts as handled when it was queued and turns out to be invalid")
    func refusedAfterHolding() {
        var bench = AppServerHarness.managed { $0.pendingWindow = 1 }
        bench.feed(AppServerHarness.downstream("1"))
        bench.feed(AppServerHarness.message(#"{"to":"\#(AppServerHarness.token)"}"#))
        let before = Self.handled(&bench)
        let requestID = bench.requestID() ?? .max
        bench.perform(.submission(requestID: requestID, .accepted(id: nil, canonical: nil)))
        let after = Self.handled(&bench)
        #expect(before == Self.answer(0) && after == Self.answer(2))
    }

    @Test("a client that confirms stanzas can resume, however many it has received")
    func confirmedIsForgotten() {
        let stream = AppServerStream(id: "s")
        let stanza = [UInt8](repeating: 0, count: 1_024)
        for number in 1...UInt32(4 * Limits.AppServer.unconfirmedBytes / stanza.count) {
            _ = stream.countSent(stanza)
            #expect(stream.confirm(number))
        }
        #expect(stream.remains(jid: "")?.unconfirmed.isEmpty == true)
    }

    @Test("a half-closed session does not wait for due answers when its stream can be resumed")
    func halfClosed() {
        var bench = AppServerHarness.managed()
        bench.feed(AppServerHarness.downstream("1"))
        _ = bench.takeEvents()
        let hasMore = bench.inputEnded()
        #expect(!hasMore)
        bench.lose()
        let words = bench.takeEventNames()
        #expect(words == ["sender.streamDetached", "sender.closed"])
        var plain = AppServerHarness.ready()
        plain.feed(AppServerHarness.downstream("1"))
        let waits = plain.inputEnded()
        #expect(waits, "canary: a session without a resumable stream waits for the answers")
    }

    private static let resume = #"<resume xmlns="urn:xmpp:sm:3" previd="S1" h="0"/>"#
    private static let remains = ResumableStream(
        id: "S1", jid: "1234567890@gcm.googleapis.com/earlier", handled: 0, sent: 0, confirmed: 0,
        unconfirmed: [])

    @Test("a resumed session keeps the address of the previous one")
    func address() {
        var bench = AppServerHarness.binding { $0.streamManagement = true }
        bench.feed(Self.resume)
        bench.perform(.appServer(.streamResumed(Self.remains)))
        _ = bench.takeSent()
        bench.feed(#"<iq type="get" id="p"><ping xmlns="urn:xmpp:ping"/></iq>"#)
        let pong = bench.takeSent()
        #expect(pong.contains(#"to="1234567890@gcm.googleapis.com/earlier""#), "\(pong)")
    }

    @Test("a session announces draining when it was drained before it resumed")
    func drained() {
        var bench = AppServerHarness.binding { $0.streamManagement = true }
        bench.feed(Self.resume)
        bench.perform(.connection(.drain))
        _ = bench.takeSent()
        _ = bench.takeEvents()
        bench.perform(.appServer(.streamResumed(Self.remains)))
        let (text, words) = (bench.takeSent(), bench.takeEventNames())
        #expect(text.contains("CONNECTION_DRAINING"))
        #expect(words == ["sender.bound", "sender.streamManaged", "sender.draining"])
    }

    @Test("stanzas after a request to resume are read when there is no stream to resume")
    func pipelined() {
        var bench = AppServerHarness.binding { $0.streamManagement = true }
        bench.feed(Self.resume)
        bench.feed(AppServerHarness.bind)
        _ = bench.takeEvents()
        bench.perform(.appServer(.streamNotResumed))
        let words = bench.takeEventNames()
        #expect(words == ["sender.bound"])
    }
}

/// Edge cases of app server logins.
@Suite struct AppServerLoginEdgeTests {
    private static let scram = SCRAMSettings(
        functions: SCRAM.Functions(hash: { $0 }, authenticate: { $0 + $1 }), unknownSalt: { _ in [9, 9] })

    @Test(
        "a sender without a key is challenged with a salt of its own, and a later PLAIN login is answered as usual"
    )
    func afterChallenge() {
        var bench = AppServerHarness { $0.scram = Self.scram }
        let first = Base64.text(Array("n,,n=1234567890,r=fyko".utf8))
        bench.feed(
            #"<auth mechanism="SCRAM-SHA-256" xmlns="urn:ietf:params:xml:ns:xmpp-sasl">\#(first)</auth>"#)
        _ = bench.takeSent()
        bench.perform(.appServer(.loginKeys([])))
        let challenge = bench.takeSent()
        let nonce = "fyko" + String(repeating: "000000000000002A", count: 2)
        #expect(challenge.contains(Base64.text(Array("r=\(nonce),s=CQk=,i=4096".utf8))), "\(challenge)")
        bench.feed(AppServerHarness.plain)
        bench.perform(.appServer(.loginAccepted))
        let success = bench.takeSent()
        #expect(success == #"<success xmlns="urn:ietf:params:xml:ns:xmpp-sasl"/>"#)
    }

    @Test("a response fails the login when no challenge was sent")
    func response() {
        var bench = AppServerHarness { _ in }
        _ = bench.takeSent()
        bench.feed(
            #"<response xmlns="urn:ietf:params:xml:ns:xmpp-sasl">ADEyMzQ1Njc4OTAAS0VZ</response>"#)
        let (text, words) = (bench.takeSent(), bench.takeEventNames())
        #expect(text.contains("<malformed-request/>") && words.isEmpty)
        bench.feed(AppServerHarness.plain)
        let login = bench.takeEventNames()
        #expect(login == ["sender.login"], "canary")
    }
}
