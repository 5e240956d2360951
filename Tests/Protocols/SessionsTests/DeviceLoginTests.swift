import Basics
import Delivery
import Sessions
import Testing
import Wire

@Suite struct DeviceLoginTests {
    @Test(
        "a login is passed to the core with the digest of its unsigned token and only this server's persistent IDs"
    )
    func asks() throws {
        var harness = DeviceHarness()
        var login = DeviceHarness.login()
        login.authToken = Array("-1".utf8)
        let known = PersistentID(sequence: SequenceNumber(1_438_098_844_346_796), salt: 0xc5da_679f)
        login.receivedIDs = [Array(known.text.utf8), Array("up-1".utf8)]
        harness.receive([41] + DeviceHarness.bytes(.loginRequest(login)))
        let events = harness.takeEvents()
        guard case .device(_, .login(let asked)) = events.first else { throw DeviceUnexpected(events) }
        #expect(asked.device == DeviceHarness.device)
        #expect(asked.connection == DeviceHarness.connection)
        #expect(asked.token.bytes == Array("18446744073709551615".utf8))
        #expect(asked.received == [known])
        let isReading = harness.io.isReading
        #expect(!isReading)
        #expect(harness.takeSent().isEmpty)
    }

    @Test("an accepted login is answered with version and response, then an empty list of upstream IDs")
    func greets() throws {
        var harness = DeviceHarness()
        harness.receive([41] + DeviceHarness.bytes(.loginRequest(DeviceHarness.login())))
        harness.perform(.device(.loginAccepted))
        let sent = harness.takeSent()
        var response = MCS.LoginResponse()
        response.id = Array("chrome-63.0.3234.0".utf8)
        response.jid = Array("5000000000000000001@mcs.android.com/5000000000000000001".utf8)
        response.lastStreamIDReceived = 1
        response.serverTimestamp = DeviceHarness.startWall
        #expect(sent == [.loginResponse(response), .iq(MCS.IqStanza(.selectiveAck([])))])
        let isReading = harness.io.isReading
        #expect(isReading)
    }

    @Test("a login whose fields contradict each other is counted, and asked about like any other")
    func inconsistent() {
        func count(_ change: (inout MCS.LoginRequest) -> Void) -> Int {
            var harness = DeviceHarness()
            var login = DeviceHarness.login()
            change(&login)
            harness.receive([41] + DeviceHarness.bytes(.loginRequest(login)))
            let events = harness.takeEvents()
            #expect(events.count == 1)
            return Int(harness.io.counts.inconsistentLogins)
        }
        let digits = String(DeviceHarness.device.number, radix: 16)
        #expect(count { _ in } == 0 && count { $0.authService = 2 } == 0 && count { $0.deviceID = nil } == 0)
        #expect(count { $0.deviceID = Array("android-\(digits)".utf8) } == 0)
        #expect(count { $0.deviceID = Array("android-\(digits.uppercased())".utf8) } == 0)
        #expect(count { $0.deviceID = Array("android-1".utf8) } == 1)
        #expect(count { $0.resource = Array("1".utf8) } == 1 && count { $0.authService = 3 } == 1)
    }

    @Test(
        "frames of one turn share a record, except for libraries that wait for the socket while TLS buffers data",
        arguments: ["chrome-156.0.8078.79", "android-30", "", "chrome-63.0.3234.0", "chrome-630.1"])
    func records(id: String) {
        var harness = DeviceHarness()
        harness.receive([41] + DeviceHarness.bytes(.loginRequest(DeviceHarness.login(id: id))))
        harness.perform(.device(.loginAccepted))
        let sent = harness.takeSent().map { DeviceHarness.bytes($0).count }
        let records = harness.records
        // The version byte precedes the login response.
        #expect(records == (id == "chrome-63.0.3234.0" ? [sent[0] + 1, sent[1]] : [sent[0] + 1]))
    }

    @Test(
        "A device is greeted before it is closed when the process ends during its login, and closed at once after it",
        arguments: [0, 1, 2])
    func lastCall(step: Int) {
        var harness = DeviceHarness()
        let login = [41] + DeviceHarness.bytes(.loginRequest(DeviceHarness.login()))
        let end = SessionCommand.connection(.endWhenIdle(from: harness.now.monotonic, .systemShutdown))
        if step == 0 { harness.perform(end) }
        harness.receive(login)
        if step == 1 { harness.perform(end) }
        let early = harness.io.close
        #expect(early == nil)
        harness.perform(.device(.loginAccepted))
        if step == 2 { harness.perform(end) }
        let sent = harness.takeSent()
        guard case .loginResponse? = sent.first else {
            Issue.record("not greeted: \(sent)")
            return
        }
        #expect(sent.last == .close(MCS.Close()))
        let close = harness.io.close
        #expect(close == .systemShutdown)
    }

    @Test("the list of upstream IDs is sent even when it is empty")
    func emptyList() {
        var harness = DeviceHarness()
        harness.receive([41] + DeviceHarness.bytes(.loginRequest(DeviceHarness.login())))
        harness.perform(.device(.loginAccepted))
        #expect(harness.takeSent().last == .iq(MCS.IqStanza(.selectiveAck([]))))
    }

    @Test("a refused login gets an error, and the end of the connection is reported to the core")
    func refused() throws {
        var harness = DeviceHarness()
        harness.receive([41] + DeviceHarness.bytes(.loginRequest(DeviceHarness.login())))
        harness.perform(.device(.loginRefused(.wrongCredentials)))
        guard case .loginResponse(let response) = harness.takeSent().first else { throw DeviceUnexpected([]) }
        #expect(response.error?.code == 401)
        let close = harness.io.close
        #expect(close == .loginRefused)
        _ = harness.takeEvents()
        harness.end(.loginRefused)
        harness.end(.loginRefused)
        #expect(harness.takeEvents().map(deviceEventWord) == ["device.closed"])
    }

    @Test(
        "credentials that are not numbers are refused without the core",
        arguments: ["", "-", "12a", "18446744073709551616", "0"])
    func malformed(user: String) {
        var harness = DeviceHarness()
        var login = DeviceHarness.login()
        login.user = Array(user.utf8)
        harness.receive([41] + DeviceHarness.bytes(.loginRequest(login)))
        let (close, isQuiet) = (harness.io.close, harness.io.events.isEmpty)
        #expect(close == .loginRefused)
        #expect(isQuiet)
        harness.end(.loginRefused)
        #expect(harness.takeEvents().isEmpty)
    }

    @Test("the client gets no credentials error when the store fails")
    func unavailable() {
        var harness = DeviceHarness()
        harness.receive([41] + DeviceHarness.bytes(.loginRequest(DeviceHarness.login())))
        harness.perform(.device(.loginRefused(.unavailable)))
        let close = harness.io.close
        #expect(close == .storeFailed)
        #expect(harness.takeSent().isEmpty)
    }

    @Test("a frame other than a login ends the connection without an answer")
    func otherFirst() {
        var harness = DeviceHarness()
        harness.receive([41, 0, 0])
        let close = harness.io.close
        #expect(close == .protocolViolation)
        #expect(harness.takeSent().isEmpty)
    }

    @Test("the login deadline is absolute, and received bytes do not extend it")
    func deadline() {
        var harness = DeviceHarness { $0.loginDeadlineSeconds = 10 }
        for _ in 0..<9 {
            harness.pass(seconds: 1)
            harness.receive([41])
        }
        let before = harness.io.close
        #expect(before == nil)
        harness.pass(seconds: 1)
        let after = harness.io.close
        #expect(after == .loginDeadline)
    }

    @Test("the login deadline also applies while the core checks the login")
    func deadlineWhileChecking() {
        var harness = DeviceHarness()
        harness.receive([41] + DeviceHarness.bytes(.loginRequest(DeviceHarness.login())))
        harness.pass(seconds: Limits.Login.deadlineSeconds)
        let close = harness.io.close
        #expect(close == .loginDeadline)
    }

    @Test("frames sent with the login are read when it is accepted, in any split")
    func pipelined() {
        let stream =
            [41] + DeviceHarness.bytes(.loginRequest(DeviceHarness.login()))
            + DeviceHarness.bytes(.heartbeatPing(MCS.Heartbeat(status: 1)))
        for cut in 0...stream.count {
            var harness = DeviceHarness()
            harness.receive(Array(stream[..<cut]))
            harness.receive(Array(stream[cut...]))
            harness.perform(.device(.loginAccepted))
            #expect(
                harness.takeSent().last == .heartbeatAck(MCS.Heartbeat(lastStreamIDReceived: 2, status: 1)),
                "cut at \(cut)")
        }
    }

    @Test("bytes sent while the login is checked are limited")
    func heldIsBounded() {
        var harness = DeviceHarness()
        harness.receive([41] + DeviceHarness.bytes(.loginRequest(DeviceHarness.login())))
        for _ in 0..<5 { harness.receive([UInt8](repeating: 0, count: 65_536)) }
        let close = harness.io.close
        #expect(close == .tooLarge)
    }

    @Test("a second login is a violation, answered with Close")
    func twice() {
        var harness = DeviceHarness.loggedIn()
        harness.receive(.loginRequest(DeviceHarness.login()))
        let close = harness.io.close
        #expect(close == .protocolViolation)
        #expect(harness.takeSent() == [.close(MCS.Close())])
    }

    @Test("close writes Close after the login, and nothing before")
    func closes() {
        var harness = DeviceHarness.loggedIn()
        harness.perform(.connection(.close(.replacedByNewerLogin)))
        #expect(harness.takeSent() == [.close(MCS.Close())])
        let close = harness.io.close
        #expect(close == .replacedByNewerLogin)
        var early = DeviceHarness()
        early.perform(.connection(.close(.systemShutdown)))
        #expect(early.takeSent().isEmpty)
    }

    @Test("canary: a login response without a jid is detected")
    func canary() throws {
        var harness = DeviceHarness()
        harness.receive([41] + DeviceHarness.bytes(.loginRequest(DeviceHarness.login())))
        harness.perform(.device(.loginAccepted))
        #expect(harness.takeSent().first != .loginResponse(MCS.LoginResponse()))
    }
}

/// The session sent something other than what the test expects.
struct DeviceUnexpected: Error {
    var found: String
    init(_ found: Any) { self.found = "\(found)" }
}

/// Returns the name of an event.
func deviceEventWord(_ event: Event) -> String { event.label }
