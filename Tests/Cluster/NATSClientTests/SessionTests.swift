import Basics
import Testing
import Wire

@testable import NATSClient

/// A session with what it sends and reports, at a time that the test sets.
private final class SessionRun {
    private var session: NATSSession
    private(set) var events: [NATSSession.Event] = []
    private var output = ByteBuffer()
    private(set) var now = Instant(nanoseconds: 1_000_000_000)

    init(_ login: NATSLogin = .none, tls: NATSSession.TLSUse = .never) {
        session = NATSSession(name: "n", login: login, tls: tls, now: now)
        session.connected()
    }

    var nextTick: Int64 { session.nextTick.milliseconds(since: now) }
    var isReady: Bool { session.isReady }
    var info: NATSServerInfo? { session.info }

    func receive(_ text: String) {
        session.receive(Array(text.utf8).raw, now: now, output: &output, events: &events)
    }

    func tlsStarted() { session.tlsStarted(now: now, output: &output, events: &events) }

    func pass(_ milliseconds: Int64) {
        now = now.advanced(milliseconds: milliseconds)
        session.tick(now: now, output: &output, events: &events)
    }

    /// Returns what was sent since the last call.
    func sent() -> String {
        defer { output.removeAll() }
        return String(decoding: output.copied(), as: UTF8.self)
    }

    /// Returns the events since the last call.
    func reported() -> [NATSSession.Event] {
        defer { events = [] }
        return events
    }

    func logIn(_ more: String = "") {
        receive("INFO {\"server_name\":\"s\",\"max_payload\":100,\"headers\":true\(more)}\r\n")
        receive("PONG\r\n")
        _ = sent()
        _ = reported()
    }

    func publish(_ text: String, _ subject: String, reply: String) {
        session.publish(
            Array(text.utf8).raw, to: Array(subject.utf8), reply: Array(reply.utf8), output: &output)
    }
}

@Suite("a connection to a NATS server") struct SessionTests {
    @Test("a login is answered by the description, a ping and its answer")
    func login() {
        let run = SessionRun(.password(user: "u", password: Redacted("secret")))
        #expect(run.nextTick == Limits.NATSConnection.openMilliseconds)
        run.receive(
            "INFO {\"server_name\":\"s\",\"max_payload\":100,\"headers\":true,\"jetstream\":true}\r\n")
        let sent = run.sent()
        #expect(sent.hasPrefix("CONNECT {") && sent.hasSuffix("}\r\nPING\r\n"))
        #expect(sent.contains("\"pass\":\"secret\"") && sent.contains("\"tls_required\":false"))
        #expect(run.reported() == [] && !run.isReady)
        run.receive("PONG\r\n")
        #expect(run.isReady && run.info?.name == "s" && run.info?.hasJetStream == true)
        #expect(run.reported() == run.info.map { [.ready($0)] })
        run.publish("hi", "a", reply: "b")
        run.receive("PING\r\nMSG a 2 2\r\nhi\r\n")
        #expect(run.sent() == "PUB a b 2\r\nhi\r\nPONG\r\n")
        let message = NATSMessage(subject: Array("a".utf8), subscription: 2, payload: Array("hi".utf8))
        #expect(run.reported() == [.message(message)])
    }

    @Test("any error before the login ends the connection")
    func refused() {
        for text in ["Authorization Violation", "Something New"] {
            let run = SessionRun()
            run.receive("INFO {\"max_payload\":1,\"headers\":true}\r\n-ERR '\(text)'\r\nPONG\r\n")
            #expect(run.reported() == [.ended(.refused(NATSServerError(Array(text.utf8))))])
            run.receive("PONG\r\n")
            run.pass(10_000)
            #expect(run.reported() == [] && !run.isReady && run.nextTick > 1 << 40)
        }
    }

    @Test("errors are distinguished, and only those that the server closes for end the connection")
    func errors() {
        let ending: [(String, NATSServerError)] = [
            ("authorization violation", .authorizationViolation),
            ("Authentication Timeout", .authenticationTimeout),
            ("User Authentication Expired", .authenticationExpired),
            ("User Authentication Revoked", .authenticationExpired),
            ("Maximum Payload Violation", .maximumPayload),
            ("maximum connections exceeded", .maximumConnections),
            ("maximum account active connections exceeded", .maximumConnections),
            ("maximum subscriptions exceeded", .maximumSubscriptions), ("Slow Consumer", .slowConsumer),
            ("Stale Connection", .staleConnection), ("Secure Connection - TLS Required", .tlsRequired),
            ("Server Shutdown", .serverShutdown),
        ]
        for (text, error) in ending {
            let run = SessionRun()
            run.logIn()
            run.receive("-ERR '\(text)'\r\n")
            #expect(run.reported() == [.ended(.refused(error))], "\(text)")
        }
        let run = SessionRun()
        run.logIn()
        run.receive("-ERR 'Permissions Violation for Publish to \"a\"'\r\n-ERR 'Invalid\u{1b}[2J'\r\n")
        #expect(
            run.reported() == [
                .warning(.permissionsViolation("Permissions Violation for Publish to \"a\"")),
                .warning(.other("Invalid?[2J")),
            ])
        #expect(run.isReady)
        run.receive("-ERR '\(String(repeating: "x", count: 1_000))'\r\n")
        guard case .warning(.other(let words)) = run.reported().first else {
            Issue.record("no warning")
            return
        }
        #expect(words.count == Limits.NATS.errorCharacters + 3)
    }

    @Test("a description that cannot be read, or is incomplete, ends the connection")
    func descriptions() {
        for text in [
            "", "[]", "{}", "{\"max_payload\":0,\"headers\":true}", "{\"max_payload\":5}",
            "{\"max_payload\":5,\"headers\":false}",
            "{\"max_payload\":5,\"headers\":true,\"nonce\":\"\(String(repeating: "n", count: 257))\"}",
        ] {
            let run = SessionRun()
            run.receive("INFO \(text)\r\n")
            guard case .ended(.badDescription) = run.reported().first else {
                Issue.record("\(text) is accepted")
                continue
            }
        }
        let longest = SessionRun()
        let nonce = String(repeating: "n", count: Limits.NATS.nonceBytes)
        longest.receive("INFO {\"max_payload\":5,\"headers\":true,\"nonce\":\"\(nonce)\"}\r\n")
        if case .ended(.badDescription) = longest.reported().first {
            Issue.record("a nonce of \(nonce.count) bytes is refused")
        }
        let run = SessionRun()
        run.receive("HELLO\r\n")
        #expect(run.reported() == [.ended(.unreadable(.unknownLine))])
        let early = SessionRun()
        early.receive("INFO {\"max_payload\":1,\"headers\":true}\r\nMSG a 1 1\r\nx\r\n")
        guard case .ended(.badDescription) = early.reported().first else {
            Issue.record("a message before the login is accepted")
            return
        }
    }

    @Test("a server that does not complete the login is given up in time, not before")
    func slowLogin() {
        let run = SessionRun()
        run.receive("INFO {\"max_payload\":1,\"headers\":true}\r\n")
        run.pass(Limits.NATSConnection.openMilliseconds - 1)
        #expect(run.reported() == [])
        run.pass(1)
        #expect(run.reported() == [.ended(.timedOut)])
    }

    @Test("two unanswered pings end a silent connection after 600 ms, and answers keep it open")
    func pings() {
        let run = SessionRun()
        run.logIn()
        #expect(run.nextTick == 300)
        for _ in 1...10 {
            run.pass(300)
            #expect(run.sent() == "PING\r\n")
            run.receive("PONG\r\n")
        }
        run.pass(300)
        run.pass(300)
        #expect(run.sent() == "PING\r\nPING\r\n" && run.reported() == [])
        run.pass(299)
        #expect(run.reported() == [])
        run.pass(1)
        #expect(run.reported() == [.ended(.silent)] && run.sent() == "")
    }

    @Test("a server that sends records but no answer to a ping is busy; after five seconds it is broken")
    func busy() {
        let run = SessionRun()
        run.logIn()
        var milliseconds = 0
        while run.events.allSatisfy({ if case .ended = $0 { false } else { true } }), milliseconds < 60_000 {
            run.pass(50)
            milliseconds += 50
            run.receive("MSG a 2 1\r\nx\r\n")
        }
        #expect(run.sent() == "PING\r\nPING\r\n")
        #expect(run.events.last == .ended(.silent))
        #expect((5_300...5_600).contains(milliseconds), "\(milliseconds) ms")
        // Bytes that stop end it sooner.
        let stopped = SessionRun()
        stopped.logIn()
        for _ in 1...18 {
            stopped.pass(50)
            stopped.receive("MSG a 2 1\r\nx\r\n")
        }
        _ = stopped.reported()
        stopped.pass(300)
        #expect(stopped.reported() == [])
        stopped.pass(300)
        #expect(stopped.reported() == [.ended(.silent)])
    }

    @Test("a server in lame duck mode is left after a moment, and reported once")
    func lameDuck() {
        let run = SessionRun()
        run.logIn()
        for _ in 1...2 { run.receive("INFO {\"max_payload\":50,\"headers\":true,\"ldm\":true}\r\n") }
        #expect(run.reported() == [.leaving] && run.isReady && run.info?.maximumPayload == 50)
        run.pass(Limits.NATSConnection.leaveMilliseconds - 1)
        #expect(run.reported() == [])
        run.pass(1)
        #expect(run.reported() == [.ended(.lameDuck)])
        let early = SessionRun()
        early.receive("INFO {\"max_payload\":1,\"headers\":true,\"ldm\":true}\r\nPONG\r\n")
        #expect(early.reported().last == .leaving)
    }

    // MARK: TLS

    private let plain = "INFO {\"max_payload\":1,\"headers\":true}\r\n"
    private let offering = "INFO {\"max_payload\":1,\"headers\":true,\"tls_available\":true}\r\n"
    private let requiring = "INFO {\"max_payload\":1,\"headers\":true,\"tls_required\":true}\r\n"

    @Test("TLS starts when the server or the configuration requires it, before anything is sent")
    func tls() {
        let expected: [(NATSSession.TLSUse, String, NATSSession.Event?)] = [
            (.never, plain, nil), (.never, offering, nil), (.never, requiring, .ended(.tlsRequired)),
            (.ifRequired, plain, nil), (.ifRequired, offering, nil), (.ifRequired, requiring, .startTLS),
            (.always, plain, .ended(.tlsUnavailable)), (.always, offering, .startTLS),
            (.always, requiring, .startTLS), (.first, plain, nil), (.first, requiring, nil),
        ]
        for (use, description, event) in expected {
            let run = SessionRun(.token(Redacted("secret")), tls: use)
            run.receive(description)
            #expect(run.reported() == (event.map { [$0] } ?? []), "\(use) \(description)")
            let sent = run.sent()
            #expect(sent.contains("secret") == (event == nil), "\(use) \(description)")
            guard event == .startTLS else { continue }
            run.tlsStarted()
            #expect(run.sent().contains("\"tls_required\":true"))
            run.receive("PONG\r\n")
            #expect(run.isReady)
        }
    }

    @Test("bytes between the description and TLS are an attack")
    func injected() {
        let together = SessionRun(tls: .always)
        together.receive(requiring + "PONG\r\n")
        #expect(together.reported() == [.ended(.bytesBeforeTLS)])
        let later = SessionRun(tls: .always)
        later.receive(requiring)
        later.receive("P")
        #expect(later.reported() == [.startTLS, .ended(.bytesBeforeTLS)])
    }
}
