import Basics
import Client
import ClientProtocol
import ClientSupport
import Testing

@Suite struct AppServerMachineTests {
    @Test("The login has exactly these bytes")
    func login() {
        let bench = AppServerBench()
        bench.machine.open(out: &bench.out)
        #expect(bench.sent() == AppServerBench.ownHeader)
        let auth =
            "<auth mechanism=\"PLAIN\" xmlns=\"urn:ietf:params:xml:ns:xmpp-sasl\">ADEyMzQ1Njc4OTBAZ2NtLmdvb2dsZWFwaXMuY29tAEtFWQ==</auth>"
        #expect(bench.receive(AppServerScript.header + AppServerScript.mechanisms) == auth)
        #expect(bench.receive(AppServerScript.success) == AppServerBench.ownHeader)
        let bind =
            "<iq type=\"set\" id=\"bind\"><bind xmlns=\"urn:ietf:params:xml:ns:xmpp-bind\"><resource>test</resource></bind></iq>"
        #expect(bench.receive(AppServerScript.header + AppServerScript.features) == bind)
        #expect(bench.receive(AppServerScript.bound) == "")
        let isReady = bench.machine.isReady
        #expect(isReady)
        guard case .ready("1234567890@gcm.googleapis.com/test0FAD177A")? = bench.events.first else {
            Issue.record("not ready")
            return
        }
    }

    @Test("The login works byte by byte", arguments: [1, 2, 3, 17])
    func splits(step: Int) {
        let bench = AppServerBench()
        bench.logIn(step: step)
        let isReady = bench.machine.isReady
        #expect(isReady)
        #expect(bench.events.count == 1)
    }

    @Test("A wrong key is reported, and the stream ended")
    func wrongKey() {
        let bench = AppServerBench()
        bench.machine.open(out: &bench.out)
        bench.receive(AppServerScript.header + AppServerScript.mechanisms)
        let failure = "<failure xmlns=\"urn:ietf:params:xml:ns:xmpp-sasl\"><not-authorized/></failure>"
        #expect(bench.receive(failure) == "</stream:stream>")
        guard case .loginFailed("not-authorized")? = bench.events.last else {
            Issue.record("the event is missing")
            return
        }
    }

    @Test("A message has exactly these bytes")
    func message() {
        let bench = AppServerBench()
        bench.logIn()
        _ = bench.sent()
        var message = Downstream(to: Array("TOKEN".utf8), messageID: Array("m-1".utf8))
        message.data = [(Array("a<".utf8), Array("b\"&".utf8))]
        message.collapseKey = "k"
        message.lifetimeSeconds = 0
        message.priority = "high"
        message.wantsReceipt = true
        message.isDryRun = true
        bench.machine.send(message, out: &bench.out)
        #expect(
            bench.sent()
                == "<message id=\"\"><gcm xmlns=\"google:mobile:data\">{\"to\":\"TOKEN\",\"message_id\":\"m-1\",\"data\":{\"a\\u003c\":\"b\\\"\\u0026\"},\"collapse_key\":\"k\",\"time_to_live\":0,\"priority\":\"high\",\"delivery_receipt_requested\":true,\"dry_run\":true}</gcm></message>"
        )
        let outstanding = bench.machine.outstanding
        #expect(outstanding == 1)
    }

    @Test("Answers are read in the usual form and in any other", arguments: [Int.max, 1])
    func answers(step: Int) {
        let bench = AppServerBench()
        bench.logIn()
        for number in 1...3 {
            bench.machine.send(
                Downstream(to: [0x54], messageID: Array("m-\(number)".utf8)), out: &bench.out)
        }
        bench.events.removeAll()
        let ack = "{\"message_type\":\"ack\",\"from\":\"T\",\"message_id\":\"m-1\",\"registration_id\":\"N\"}"
        let nack =
            "{\"message_type\":\"nack\",\"from\":\"T\",\"message_id\":\"m-2\",\"error\":\"BAD_REGISTRATION\",\"error_description\":\"Why\"}"
        let odd =
            "<message>\n<g:gcm xmlns:g='google:mobile:data'>{&quot;message_type&quot;:\"ack\",\"message_id\":\"m-3\"}</g:gcm></message>"
        bench.receive(AppServerScript.answer(ack), step: step)
        bench.receive(AppServerScript.answer(nack), step: step)
        bench.receive(odd, step: step)
        guard bench.events.count == 3, case .acknowledged(let first, let canonical) = bench.events[0],
            case .refused(let second, let error, let description) = bench.events[1],
            case .acknowledged(let third, nil) = bench.events[2]
        else {
            Issue.record("\(bench.events)")
            return
        }
        #expect(first == Array("m-1".utf8) && canonical == Array("N".utf8))
        #expect(second == Array("m-2".utf8) && error == "BAD_REGISTRATION" && description == "Why")
        #expect(third == Array("m-3".utf8))
        let outstanding = bench.machine.outstanding
        #expect(outstanding == 0)
    }

    static let upstreamJSON =
        "{\"data\":{\"hello\":\"world\",\"n\":1},\"time_to_live\":86400,\"from\":\"TOKEN\",\"message_id\":\"000001\",\"category\":\"a.b\"}"
    static let receiptJSON =
        "{\"category\":\"a.b\",\"data\":{\"message_status\":\"MESSAGE_SENT_TO_DEVICE\",\"original_message_id\":\"m-1\"},\"message_id\":\"dr2:m-1\",\"message_type\":\"receipt\",\"time_to_live\":0,\"from\":\"gcm.googleapis.com\"}"

    @Test("Upstream messages and receipts are acknowledged automatically")
    func upstream() {
        let bench = AppServerBench()
        bench.logIn()
        bench.events.removeAll()
        let first = bench.receive(AppServerScript.upstream(Self.upstreamJSON))
        #expect(
            first
                == "<message id=\"\"><gcm xmlns=\"google:mobile:data\">{\"to\":\"TOKEN\",\"message_id\":\"000001\",\"message_type\":\"ack\"}</gcm></message>"
        )
        let second = bench.receive(AppServerScript.upstream(Self.receiptJSON))
        #expect(
            second.contains(
                "{\"to\":\"gcm.googleapis.com\",\"message_id\":\"dr2:m-1\",\"message_type\":\"ack\"}"))
        guard case .upstream(let message) = bench.events[0], case .receipt(let receipt) = bench.events[1]
        else {
            Issue.record("\(bench.events)")
            return
        }
        #expect(message["hello"] == "world" && message.pairs.count == 1)
        #expect(message.lifetimeSeconds == 86_400 && message.category == Array("a.b".utf8))
        #expect(receipt["original_message_id"] == "m-1")
    }

    @Test("Nothing is acknowledged automatically when that is disabled (canary)")
    func silent() {
        let bench = AppServerBench(acknowledges: false)
        bench.logIn()
        _ = bench.sent()
        #expect(bench.receive(AppServerScript.upstream(Self.upstreamJSON)) == "")
        #expect(bench.events.count == 2)
    }

    @Test("Draining, errors and the end are reported, whitespace is not")
    func rest() {
        let bench = AppServerBench()
        bench.logIn()
        bench.events.removeAll()
        #expect(bench.receive(" ") == "")
        bench.receive(
            AppServerScript.answer("{\"message_type\":\"control\",\"control_type\":\"CONNECTION_DRAINING\"}"))
        let isDraining = bench.machine.isDraining
        #expect(isDraining)
        bench.receive("<iq type=\"result\" id=\"p1\"/>")
        bench.receive(
            "<stream:error><system-shutdown xmlns=\"urn:ietf:params:xml:ns:xmpp-streams\"/></stream:error>")
        #expect(bench.receive("</stream:stream>") == "</stream:stream>")
        guard bench.events.count == 4, case .draining = bench.events[0],
            case .unexpected("<iq>") = bench.events[1],
            case .streamError("system-shutdown") = bench.events[2], case .streamEnded = bench.events[3]
        else {
            Issue.record("\(bench.events)")
            return
        }
    }

    @Test("A stanza error is reported with its text")
    func stanzaError() {
        let bench = AppServerBench()
        bench.logIn()
        bench.events.removeAll()
        bench.receive(
            "<message id=\"7\" type=\"error\"><gcm xmlns=\"google:mobile:data\">{}</gcm><error code=\"400\" type=\"modify\"><bad-request xmlns=\"urn:ietf:params:xml:ns:xmpp-stanzas\"/><text xmlns=\"urn:ietf:params:xml:ns:xmpp-stanzas\">InvalidJson: why</text></error></message>"
        )
        guard case .stanzaError("7", let text)? = bench.events.first else {
            Issue.record("\(bench.events)")
            return
        }
        #expect(text == "InvalidJson: why")
    }

    @Test("Malformed XML is reported once")
    func garbage() {
        let bench = AppServerBench()
        bench.logIn()
        bench.events.removeAll()
        bench.receive("<message><<")
        bench.receive("more")
        #expect(bench.events.count == 1)
    }
}
