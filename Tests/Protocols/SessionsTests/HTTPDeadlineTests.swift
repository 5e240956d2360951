import Basics
import Delivery
import Testing
import Wire

@testable import Sessions

@Suite struct HTTPDeadlineTests {
    @Test("A connection without requests ends")
    func silent() {
        let harness = HTTPHarness()
        harness.pass(seconds: Limits.HTTP.requestDeadlineSeconds - 1)
        let early = harness.close
        #expect(early == nil)
        harness.pass(seconds: 1)
        let late = (harness.close, harness.takeSent())
        #expect(late.0 == .idle && late.1.isEmpty)
    }

    @Test("A slow request ends at an absolute deadline, however steadily it arrives")
    func slowloris() {
        let harness = HTTPHarness()
        harness.send("POST /checkin HTTP/1.1\r\nHost: x\r\n")
        for _ in 1..<Limits.HTTP.requestDeadlineSeconds {
            harness.pass(seconds: 1)
            harness.send("a: b\r\n")
        }
        let early = harness.close
        #expect(early == nil)
        harness.pass(seconds: 1)
        let late = (harness.close, harness.takeSent())
        #expect(late.0 == .requestDeadline && late.1.hasPrefix("HTTP/1.1 408 "))
    }

    @Test(
        "A slow body ends the connection after its grace time",
        arguments: ["Content-Length: 100000", "Transfer-Encoding: chunked"])
    func slowBody(framing: String) {
        let harness = HTTPHarness()
        harness.send("POST /checkin HTTP/1.1\r\nHost: x\r\n\(framing)\r\n\r\n")
        for _ in 1..<Limits.HTTP.bodyGraceSeconds {
            harness.pass(seconds: 1)
            harness.send("1\r\na\r\n")
        }
        let early = harness.close
        #expect(early == nil)
        harness.pass(seconds: 1)
        harness.pass(seconds: 1)
        let late = (harness.close, harness.takeSent())
        #expect(late.0 == .slowRequest && late.1.hasPrefix("HTTP/1.1 408 "))
    }

    @Test(
        "A body at the minimum rate continues until the deadline of the whole request (canary for the rate)")
    func steadyBody() {
        let harness = HTTPHarness()
        harness.send("POST /checkin HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n")
        for _ in 1..<Limits.HTTP.requestDeadlineSeconds {
            harness.pass(seconds: 1)
            harness.send([UInt8](repeating: 0x61, count: Limits.HTTP.bodyBytesPerSecond))
        }
        let early = harness.close
        #expect(early == nil)
        harness.pass(seconds: 1)
        let late = harness.close
        #expect(late == .requestDeadline)
    }

    @Test("A body that stalls after its first chunk has the time that its bytes have earned")
    func stalledBody() {
        let harness = HTTPHarness()
        harness.send("POST /checkin HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n")
        harness.send([UInt8](repeating: 0x61, count: 10 * Limits.HTTP.bodyBytesPerSecond))
        harness.pass(seconds: Limits.HTTP.bodyGraceSeconds + 9)
        let early = harness.close
        #expect(early == nil)
        harness.pass(seconds: 1)
        let late = harness.close
        #expect(late == .slowRequest)
    }

    @Test("A peer is not timed while it is not read from")
    func congestedBody() {
        let harness = HTTPHarness()
        harness.send("POST /checkin HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n")
        harness.congested(true)
        harness.pass(seconds: Limits.HTTP.bodyGraceSeconds + 1)
        harness.congested(false)
        let state = (harness.close, harness.isReading)
        #expect(state == (nil, true))
        harness.pass(seconds: Limits.HTTP.bodyGraceSeconds)
        let late = harness.close
        #expect(late == .slowRequest)
    }

    @Test("A kept connection may idle between requests for a limited time")
    func idle() {
        let harness = HTTPHarness()
        harness.pass(seconds: 20)
        harness.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        harness.pass(seconds: Limits.HTTP.requestIdleSeconds - 1)
        let early = harness.close
        #expect(early == nil)
        harness.pass(seconds: 1)
        let late = harness.close
        #expect(late == .idle)
    }

    @Test("A registration is answered with the error of its interface when the core does not answer")
    func noAnswer() {
        let harness = HTTPHarness()
        harness.send(HTTPSessionTests.registration)
        harness.pass(seconds: Limits.HTTP.answerDeadlineSeconds)
        let late = (harness.close, harness.takeSent())
        #expect(late.0 == .internalError && late.1.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(late.1.hasSuffix("\r\nConnection: close\r\n\r\nError=SERVICE_NOT_AVAILABLE"))
    }

    @Test("Waiting for the core does not count as idle (canary: a timely answer keeps the connection)")
    func inTime() {
        let harness = HTTPHarness()
        harness.send(HTTPSessionTests.registration)
        harness.pass(seconds: Limits.HTTP.answerDeadlineSeconds - 1)
        harness.perform(.reply(requestID: 1, .registrationRefused(.invalidSender)))
        harness.pass(seconds: 1)
        let state = harness.close
        #expect(state == nil)
    }

    @Test("Draining finishes the open requests, then closes")
    func drain() {
        let harness = HTTPHarness()
        harness.send(HTTPSessionTests.registration + HTTPSessionTests.registration + "GET /")
        harness.perform(.connection(.drain))
        harness.perform(.reply(requestID: 1, .registered(TokenName(HTTPSessionTests.name(1)))))
        let first = (harness.takeSent(), harness.close)
        #expect(first.0 == HTTPSessionTests.token(1) && first.1 == nil)
        harness.perform(.reply(requestID: 2, .registered(TokenName(HTTPSessionTests.name(2)))))
        let second = (harness.takeSent(), harness.close)
        #expect(second.0.contains("\r\nConnection: close\r\n") && second.1 == .connectionDraining)
    }

    @Test(
        "A new connection gets one answer, and one that has had answers ends at once, when the process ends"
    )
    func lastCall() {
        let harness = HTTPHarness()
        harness.perform(.connection(.endWhenIdle(from: harness.now.monotonic, .systemShutdown)))
        let fresh = harness.close
        #expect(fresh == nil)
        harness.send("GET /nothing HTTP/1.1\r\nHost: x\r\n\r\nGET /more HTTP/1.1\r\n")
        let answered = (harness.takeSent(), harness.close)
        #expect(answered.0.hasPrefix("HTTP/1.1 404 ") && answered.0.contains("\r\nConnection: close\r\n"))
        #expect(answered.1 == .systemShutdown)

        let kept = HTTPHarness()
        kept.send("GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n")
        _ = kept.takeSent()
        kept.perform(.connection(.endWhenIdle(from: kept.now.monotonic, .systemShutdown)))
        let idle = (kept.close, kept.takeSent())
        #expect(idle.0 == .systemShutdown && idle.1.isEmpty)

        let busy = HTTPHarness()
        busy.send(HTTPSessionTests.registration)
        busy.perform(.connection(.endWhenIdle(from: busy.now.monotonic, .systemShutdown)))
        let waiting = busy.close
        #expect(waiting == nil)
        busy.perform(.reply(requestID: 1, .registered(TokenName(HTTPSessionTests.name(1)))))
        let last = (busy.takeSent(), busy.close)
        #expect(last.0.contains("\r\nConnection: close\r\n") && last.1 == .systemShutdown)
    }

    @Test("Closing an idle connection is immediate")
    func close() {
        let harness = HTTPHarness()
        harness.perform(.connection(.close(.systemShutdown)))
        let state = (harness.close, harness.takeSent())
        #expect(state.0 == .systemShutdown && state.1.isEmpty)
    }
}

@Suite struct HTTPAdministrationTests {
    @Test(
        "The operator's pages are requested from the host and answered in order",
        arguments: [("/healthz", HostRequest.Page.health), ("/readyz", .readiness), ("/metrics", .metrics)])
    func pages(path: String, page: HostRequest.Page) {
        let harness = HTTPHarness(isAdministrative: true)
        harness.send(HTTPSessionTests.get(path) + HTTPSessionTests.get(path, "HEAD"))
        let pages = harness.pages.compactMap { request in
            if case .page(let page) = request.question { (request.requestID, page) } else { nil }
        }
        #expect(pages.count == 2 && pages[0] == (1, page) && pages[1] == (2, page))
        harness.answer(2, "ok\n")
        harness.answer(1, "ok\n")
        let text = harness.takeSent()
        #expect(text == HTTPHarness.text("ok\n") + HTTPHarness.text("ok\n").dropLast(3))
    }

    @Test("Device services are not offered on the administrative port (canary: elsewhere they are)")
    func separate() {
        let harness = HTTPHarness(isAdministrative: true)
        harness.send(HTTPSessionTests.registration)
        let text = harness.takeSent()
        #expect(text.hasPrefix("HTTP/1.1 404 "))
        let open = HTTPHarness()
        open.send(HTTPSessionTests.registration)
        let count = open.events.count
        #expect(count == 1)
    }

    @Test("Other methods are refused with the allowed ones")
    func methods() {
        let harness = HTTPHarness(isAdministrative: true)
        harness.send(HTTPSessionTests.get("/metrics", "DELETE"))
        let text = harness.takeSent()
        #expect(text.hasPrefix("HTTP/1.1 405 ") && text.contains("Allow: GET, HEAD\r\n"))
    }
}
