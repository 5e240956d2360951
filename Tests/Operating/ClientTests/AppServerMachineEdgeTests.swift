import Basics
import Client
import ClientProtocol
import ClientSupport
import Testing

/// Edge cases of an app server's stream.
@Suite struct AppServerMachineEdgeTests {
    private static let opening = "<message id=\"\"><gcm xmlns=\"google:mobile:data\">"
    private static let ending = "</gcm></message>"

    private func ready(acknowledges: Bool = true) -> AppServerBench {
        let bench = AppServerBench(acknowledges: acknowledges)
        bench.logIn()
        bench.events.removeAll()
        return bench
    }

    @Test("After malformed XML nothing more is read")
    func garbage() {
        let bench = ready()
        bench.receive("x")
        bench.receive("x")
        #expect(bench.events.count == 1)
    }

    @Test("A message with two payloads is reported as an error and not acknowledged")
    func twoPayloads() {
        let bench = ready()
        let payload = "<gcm xmlns=\"google:mobile:data\">\(AppServerMachineTests.upstreamJSON)</gcm>"
        #expect(bench.receive("<message id=\"2\">\(payload)\(payload)</message>") == "")
        guard bench.events.count == 1, case .stanzaError("2", _) = bench.events[0] else {
            Issue.record("\(bench.events)")
            return
        }
    }

    @Test("An answer without a query is unexpected")
    func unaskedAnswer() {
        let bench = ready()
        bench.receive("<iq type=\"error\" id=\"p1\"/>")
        guard bench.events.count == 1, case .unexpected("<iq>") = bench.events[0] else {
            Issue.record("\(bench.events)")
            return
        }
    }

    @Test("The stream is ended once, by either side")
    func endedOnce() {
        let bench = ready()
        bench.machine.end(out: &bench.out)
        bench.machine.end(out: &bench.out)
        #expect(bench.sent() == "</stream:stream>")
        #expect(bench.receive("</stream:stream>") == "")
        guard case .streamEnded? = bench.events.last else {
            Issue.record("\(bench.events)")
            return
        }
    }

    @Test(
        "A resource is requested escaped, or left out if empty",
        arguments: [("", ""), ("a<b", "<resource>a&lt;b</resource>")])
    func resource(_ resource: String, _ written: String) {
        let bench = AppServerBench()
        var login = AppServerLogin(sender: SenderID(1), key: Redacted([0x4B]))
        login.resource = resource
        bench.machine = AppServerMachine(login: login)
        bench.machine.open(out: &bench.out)
        bench.receive(AppServerScript.header + AppServerScript.mechanisms)
        bench.receive(AppServerScript.success)
        let bind =
            "<iq type=\"set\" id=\"bind\"><bind xmlns=\"urn:ietf:params:xml:ns:xmpp-bind\">\(written)</bind></iq>"
        #expect(bench.receive(AppServerScript.header + AppServerScript.features) == bind)
    }

    @Test("Two answers in one piece are two events")
    func twoAnswers() {
        let bench = ready()
        let one = AppServerScript.answer("{\"message_type\":\"ack\",\"message_id\":\"m-1\"}")
        let other = AppServerScript.answer("{\"message_type\":\"ack\",\"message_id\":\"m-2\"}")
        bench.receive(one + other)
        guard bench.events.count == 2, case .acknowledged(let first, nil) = bench.events[0],
            case .acknowledged(let second, nil) = bench.events[1]
        else {
            Issue.record("\(bench.events)")
            return
        }
        #expect(first == Array("m-1".utf8) && second == Array("m-2".utf8))
    }

    @Test("An answer in the usual form may contain references")
    func escapedAnswer() {
        let bench = ready()
        bench.receive(
            AppServerScript.answer(
                "{&quot;message_type&quot;:&quot;ack&quot;,&quot;message_id&quot;:&quot;m&quot;}"))
        guard bench.events.count == 1, case .acknowledged(let id, nil) = bench.events[0] else {
            Issue.record("\(bench.events)")
            return
        }
        #expect(id == Array("m".utf8))
    }

    @Test("A message without optional fields has exactly these bytes")
    func plainMessage() {
        let bench = ready()
        bench.machine.send(
            Downstream(to: Array("T".utf8), messageID: Array("m".utf8)), out: &bench.out)
        #expect(bench.sent() == Self.opening + "{\"to\":\"T\",\"message_id\":\"m\"}" + Self.ending)
    }

    @Test("A control message of another type does not drain (canary)")
    func otherControl() {
        let bench = ready()
        bench.receive(AppServerScript.answer("{\"message_type\":\"control\",\"control_type\":\"OTHER\"}"))
        let isDraining = bench.machine.isDraining
        #expect(!isDraining)
        guard bench.events.count == 1, case .unexpected = bench.events[0] else {
            Issue.record("\(bench.events)")
            return
        }
    }
}
