import Basics
import ClientProtocol
import Testing
import Wire

/// Calls over one connection after the other, without sockets.
@Suite struct HTTPCallMachineTests {
    /// A machine with its output.
    private final class Bench {
        var machine = HTTPCallMachine()
        private var out = Outbox()

        init(_ calls: HTTPCall...) {
            for call in calls { machine.add(call) }
        }

        /// Opens a connection. Returns the output on it.
        func connect() -> String {
            machine.connectionOpening()
            machine.connectionOpened()
            return written()
        }

        func written() -> String {
            _ = machine.write(host: "h", to: &out)
            defer { out.removeAll() }
            return String(decoding: out.bytes.copied(), as: UTF8.self)
        }

        /// Passes bytes from the server. Returns the step as text.
        func receive(_ text: String) -> String { words(machine.receive(Array(text.utf8).raw)) }

        func words(_ step: HTTPCallMachine.Step) -> String {
            let end = step.leavesConnection ? " and leaves" : ""
            switch step.result {
            case nil: return "nothing\(end)"
            case .success(let answer)?: return "\(answer.status) \(answer.text)\(end)"
            case .failure(let error)?: return "\(error)\(end)"
            }
        }
    }

    private static func get(_ path: String) -> HTTPCall { HTTPCall("GET", path) }
    private static func request(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n" }
    private static let fine = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine"

    @Test("Calls are sent one after the other, each after the answer to the one before")
    func order() {
        let bench = Bench(Self.get("/1"), Self.get("/2"))
        let needsOne = bench.machine.needsConnection
        #expect(needsOne && bench.written() == "")
        #expect(bench.connect() == Self.request("/1") && bench.written() == "")
        let needsAnother = bench.machine.needsConnection
        #expect(!needsAnother)
        #expect(bench.receive("HTTP/1.1 200 OK\r\nContent-") == "nothing")
        #expect(bench.receive("Length: 4\r\n\r\nfine") == "200 fine")
        #expect(bench.written() == Self.request("/2"))
        #expect(bench.receive(Self.fine) == "200 fine" && bench.written() == "")
        let needsAfterwards = bench.machine.needsConnection
        #expect(!needsAfterwards)
    }

    @Test("An unsolicited answer is not the answer to the next call")
    func unasked() {
        let bench = Bench(Self.get("/1"))
        _ = bench.connect()
        #expect(bench.receive(Self.fine + Self.fine) == "200 fine and leaves")
        bench.machine.add(Self.get("/2"))
        let needsOne = bench.machine.needsConnection
        #expect(needsOne && bench.connect() == Self.request("/2"))
        #expect(bench.receive(Self.fine) == "200 fine")
        #expect(bench.receive(Self.fine) == "nothing and leaves")
    }

    @Test("An answer that closes and a malformed one end the connection for waiting calls")
    func leaving() {
        let bench = Bench(Self.get("/1"), Self.get("/2"), Self.get("/3"))
        _ = bench.connect()
        #expect(
            bench.receive("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
                == "200  and leaves")
        #expect(bench.written() == "")
        #expect(bench.connect() == Self.request("/2"))
        #expect(bench.receive("nonsense\r\n\r\n").hasSuffix(" and leaves"))
        #expect(bench.connect() == Self.request("/3"))
        #expect(bench.words(bench.machine.timedOut()) == "\(ClientError.noAnswer) and leaves")
    }

    @Test("A call without an answer is retried after a reused connection, and fails on a new one")
    func again() {
        let bench = Bench(Self.get("/1"), Self.get("/2"))
        _ = bench.connect()
        _ = bench.receive(Self.fine)
        #expect(bench.written() == Self.request("/2"))
        #expect(bench.words(bench.machine.connectionClosed(.peerClosed, detail: "")) == "nothing")
        #expect(bench.connect() == Self.request("/2"))
        let failed = bench.words(bench.machine.connectionClosed(.peerReset, detail: "reset"))
        #expect(failed == "\(ClientError.connection(.peerReset, detail: "reset"))")
        #expect(bench.words(bench.machine.connectionClosed(.peerReset, detail: "")) == "nothing")
    }

    @Test("An enrolment checks in, registers with the returned identity, and reports errors")
    func enrolment() throws {
        func answer(_ body: [UInt8], _ status: Int = 200) -> Result<HTTPAnswer, ClientError> {
            .success(HTTPAnswer(status: status, headers: [], body: body, closes: false))
        }
        var body = ByteBuffer()
        CheckInResponse(time: 1, androidID: 5, securityToken: 6).append(to: &body)
        let checkedIn = answer(body.copied())
        var machine = DeviceEnrolmentMachine(nil, DeviceCalls.App(category: "a", sender: "1"))
        #expect(machine.first.path == "/checkin")
        guard case .call(let call) = machine.handle(checkedIn) else {
            Issue.record("the enrolment does not register")
            return
        }
        #expect(call.path == "/c2dm/register3")
        #expect(call.headers.contains { $0.value.revealed == "AidLogin 5:6" })
        guard case .done(.success(let made)) = machine.handle(answer(Array("token=abc".utf8))) else {
            Issue.record("the enrolment is not finished")
            return
        }
        #expect(made.token == "abc" && made.identity.androidID == 5)
        for (first, second) in [(answer([], 500), nil), (checkedIn, answer(Array("Error=NO".utf8)))] {
            var machine = DeviceEnrolmentMachine(nil, DeviceCalls.App(category: "a", sender: "1"))
            var step = machine.handle(first)
            if let second { step = machine.handle(second) }
            guard case .done(.failure) = step else {
                Issue.record("\(step)")
                return
            }
        }
    }
}
