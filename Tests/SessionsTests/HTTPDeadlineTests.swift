import Basics
import Delivery
import Testing
import Wire

@testable import Sessions

@Suite struct HTTPDeadlineTests {
    @Test("A connection that asks nothing ends")
    func silent() {
        let desk = HTTPDesk()
        desk.pass(seconds: Limits.HTTP.requestDeadlineSeconds - 1)
        let early = desk.close
        #expect(early == nil)
        desk.pass(seconds: 1)
        let late = (desk.close, desk.taken())
        #expect(late.0 == .idle && late.1.isEmpty)
    }

    @Test("A slow request ends at an absolute deadline, however steadily it drips")
    func slowloris() {
        let desk = HTTPDesk()
        desk.send("POST /checkin HTTP/1.1\r\nHost: x\r\n")
        for _ in 1..<Limits.HTTP.requestDeadlineSeconds {
            desk.pass(seconds: 1)
            desk.send("a: b\r\n")
        }
        let early = desk.close
        #expect(early == nil)
        desk.pass(seconds: 1)
        let late = (desk.close, desk.taken())
        #expect(late.0 == .requestDeadline && late.1.hasPrefix("HTTP/1.1 408 "))
    }

    @Test(
        "A body that drips ends once its grace is over",
        arguments: ["Content-Length: 100000", "Transfer-Encoding: chunked"])
    func slowBody(framing: String) {
        let desk = HTTPDesk()
        desk.send("POST /checkin HTTP/1.1\r\nHost: x\r\n\(framing)\r\n\r\n")
        for _ in 1..<Limits.HTTP.bodyGraceSeconds {
            desk.pass(seconds: 1)
            desk.send("1\r\na\r\n")
        }
        let early = desk.close
        #expect(early == nil)
        desk.pass(seconds: 1)
        desk.pass(seconds: 1)
        let late = (desk.close, desk.taken())
        #expect(late.0 == .slowRequest && late.1.hasPrefix("HTTP/1.1 408 "))
    }

    @Test("A body at the least rate goes on until the request is late as a whole (canary for the rate)")
    func steadyBody() {
        let desk = HTTPDesk()
        desk.send("POST /checkin HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n")
        for _ in 1..<Limits.HTTP.requestDeadlineSeconds {
            desk.pass(seconds: 1)
            desk.send([UInt8](repeating: 0x61, count: Limits.HTTP.bodyBytesPerSecond))
        }
        let early = desk.close
        #expect(early == nil)
        desk.pass(seconds: 1)
        let late = desk.close
        #expect(late == .requestDeadline)
    }

    @Test("A body that comes in one piece and then stops has the time that its bytes have earned")
    func stalledBody() {
        let desk = HTTPDesk()
        desk.send("POST /checkin HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n")
        desk.send([UInt8](repeating: 0x61, count: 10 * Limits.HTTP.bodyBytesPerSecond))
        desk.pass(seconds: Limits.HTTP.bodyGraceSeconds + 9)
        let early = desk.close
        #expect(early == nil)
        desk.pass(seconds: 1)
        let late = desk.close
        #expect(late == .slowRequest)
    }

    @Test("What a peer cannot send because it is not read from does not count against it")
    func congestedBody() {
        let desk = HTTPDesk()
        desk.send("POST /checkin HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n")
        desk.congested(true)
        desk.pass(seconds: Limits.HTTP.bodyGraceSeconds + 1)
        desk.congested(false)
        let state = (desk.close, desk.isReading)
        #expect(state == (nil, true))
        desk.pass(seconds: Limits.HTTP.bodyGraceSeconds)
        let late = desk.close
        #expect(late == .slowRequest)
    }

    @Test("A kept connection may idle between requests, for a time")
    func idle() {
        let desk = HTTPDesk()
        desk.pass(seconds: 20)
        desk.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        desk.pass(seconds: Limits.HTTP.requestIdleSeconds - 1)
        let early = desk.close
        #expect(early == nil)
        desk.pass(seconds: 1)
        let late = desk.close
        #expect(late == .idle)
    }

    @Test("A registration that the core does not answer is told so in the words for it")
    func noAnswer() {
        let desk = HTTPDesk()
        desk.send(HTTPSessionTests.registration)
        desk.pass(seconds: Limits.HTTP.answerDeadlineSeconds)
        let late = (desk.close, desk.taken())
        #expect(late.0 == .internalError && late.1.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(late.1.hasSuffix("\r\nConnection: close\r\n\r\nError=SERVICE_NOT_AVAILABLE"))
    }

    @Test("Waiting for the core is not idling (canary: its answer in time keeps the connection)")
    func inTime() {
        let desk = HTTPDesk()
        desk.send(HTTPSessionTests.registration)
        desk.pass(seconds: Limits.HTTP.answerDeadlineSeconds - 1)
        desk.perform(.reply(requestID: 1, .registrationRefused(.invalidSender)))
        desk.pass(seconds: 1)
        let state = desk.close
        #expect(state == nil)
    }

    @Test("Draining finishes what was asked, then closes")
    func drain() {
        let desk = HTTPDesk()
        desk.send(HTTPSessionTests.registration + HTTPSessionTests.registration + "GET /")
        desk.perform(.connection(.drain))
        desk.perform(.reply(requestID: 1, .registered(HTTPSessionTests.name(1))))
        let first = (desk.taken(), desk.close)
        #expect(first.0 == HTTPSessionTests.token(1) && first.1 == nil)
        desk.perform(.reply(requestID: 2, .registered(HTTPSessionTests.name(2))))
        let second = (desk.taken(), desk.close)
        #expect(second.0.contains("\r\nConnection: close\r\n") && second.1 == .connectionDraining)
    }

    @Test(
        "At the end of the process a connection just accepted gets one answer; one that has had answers ends at once"
    )
    func lastCall() {
        let desk = HTTPDesk()
        desk.perform(.connection(.endWhenIdle(from: desk.now.monotonic, .systemShutdown)))
        let fresh = desk.close
        #expect(fresh == nil)
        desk.send("GET /nothing HTTP/1.1\r\nHost: x\r\n\r\nGET /more HTTP/1.1\r\n")
        let answered = (desk.taken(), desk.close)
        #expect(answered.0.hasPrefix("HTTP/1.1 404 ") && answered.0.contains("\r\nConnection: close\r\n"))
        #expect(answered.1 == .systemShutdown)

        let kept = HTTPDesk()
        kept.send("GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n")
        _ = kept.taken()
        kept.perform(.connection(.endWhenIdle(from: kept.now.monotonic, .systemShutdown)))
        let idle = (kept.close, kept.taken())
        #expect(idle.0 == .systemShutdown && idle.1.isEmpty)

        let busy = HTTPDesk()
        busy.send(HTTPSessionTests.registration)
        busy.perform(.connection(.endWhenIdle(from: busy.now.monotonic, .systemShutdown)))
        let waiting = busy.close
        #expect(waiting == nil)
        busy.perform(.reply(requestID: 1, .registered(HTTPSessionTests.name(1))))
        let last = (busy.taken(), busy.close)
        #expect(last.0.contains("\r\nConnection: close\r\n") && last.1 == .systemShutdown)
    }

    @Test("Closing an idle connection is immediate")
    func close() {
        let desk = HTTPDesk()
        desk.perform(.connection(.close(.systemShutdown)))
        let state = (desk.close, desk.taken())
        #expect(state.0 == .systemShutdown && state.1.isEmpty)
    }
}

@Suite struct HTTPAdministrationTests {
    @Test(
        "The operator's pages are asked of the host, and answered in order",
        arguments: [("/healthz", HostRequest.Page.health), ("/readyz", .readiness), ("/metrics", .metrics)])
    func pages(path: String, page: HostRequest.Page) {
        let desk = HTTPDesk(isAdministrative: true)
        desk.send(HTTPSessionTests.get(path) + HTTPSessionTests.get(path, "HEAD"))
        let pages = desk.pages.map { ($0.requestID, $0.page) }
        #expect(pages.count == 2 && pages[0] == (1, page) && pages[1] == (2, page))
        desk.answer(2, "ok\n")
        desk.answer(1, "ok\n")
        let text = desk.taken()
        #expect(text == HTTPDesk.text("ok\n") + HTTPDesk.text("ok\n").dropLast(3))
    }

    @Test("Device services are not offered there (canary: elsewhere they are)")
    func separate() {
        let desk = HTTPDesk(isAdministrative: true)
        desk.send(HTTPSessionTests.registration)
        let text = desk.taken()
        #expect(text.hasPrefix("HTTP/1.1 404 "))
        let open = HTTPDesk()
        open.send(HTTPSessionTests.registration)
        let count = open.events.count
        #expect(count == 1)
    }

    @Test("Other methods are refused with what is allowed")
    func methods() {
        let desk = HTTPDesk(isAdministrative: true)
        desk.send(HTTPSessionTests.get("/metrics", "DELETE"))
        let text = desk.taken()
        #expect(text.hasPrefix("HTTP/1.1 405 ") && text.contains("Allow: GET, HEAD\r\n"))
    }
}
