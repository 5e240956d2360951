import Basics
import BasicsSupport
import Client
import Glibc
import Testing
import Wire

@testable import Operator

@Suite struct ControlClientTests {
    static func outcome(_ daemon: FakeDaemon, _ answer: String, closing: Bool = false) -> Result<
        ControlAnswer<JSONValue>, ControlError
    > {
        Result { () throws(ControlError) in
            var client = try ControlClient(path: daemon.path, silenceSeconds: 1)
            daemon.answer(answer, closing: closing)
            return try client.result(of: ShowStatus())
        }
    }

    @Test("a request is one line of JSON, and progress and answer are distinguished")
    func request() throws {
        let daemon = try FakeDaemon()
        var client = try ControlClient(path: daemon.path)
        daemon.answer(
            """
            {"progress":{"done":1,"total":3,"what":"sessions"}}
            {"progress":{"done":3,"total":3,"what":"sessions"}}
            {"ok":true,"result":{"sessions":3}}
            {"ok":false,"error":"no","hint":"try"}

            """)
        var steps: [OperatorProgress] = []
        let drain = DrainSessions(.sender(SenderID(5)))
        guard case .done(let drained) = try client.run(drain, onProgress: { steps.append($0) }) else {
            Issue.record("refused")
            return
        }
        #expect(drained.sessions == 3)
        #expect(steps.map(\.done) == [1, 3] && steps.first?.total == 3 && steps.first?.what == "sessions")
        #expect(daemon.asked() == "{\"command\":\"drain\",\"arguments\":{\"sender_id\":\"5\"}}\n")
        #expect(try client.result(of: ShowStatus()) == .refused(OperatorProblem("no", hint: "try")))
        #expect(daemon.asked() == "{\"command\":\"status\",\"arguments\":{}}\n")
    }

    @Test("the lines of a long command are delivered one by one before its answer")
    func lines() throws {
        let daemon = try FakeDaemon()
        var client = try ControlClient(path: daemon.path)
        daemon.answer(
            """
            {"tracing":{"device":"7"}}
            {"progress":{"done":1,"total":3,"what":"seconds traced"}}
            {"trace":{"time":"2026-11-20T12:03:04.123Z","direction":"downstream","step":"sent"}}
            {"ok":true,"result":{"lines":1,"left_out":0}}

            """)
        var lines: [TraceDevice.Line] = []
        let command = TraceDevice(device: .device(DeviceID(7)))
        guard case .done(let answer) = try client.run(command, onLine: { lines.append($0) }) else {
            Issue.record("refused")
            return
        }
        #expect(answer.lines == 1 && answer.leftOut == 0)
        guard lines.count == 2, case .started(let start) = lines[0], case .step(let step) = lines[1] else {
            Issue.record("\(lines)")
            return
        }
        #expect(start.device == DeviceID(7) && step.step == "sent" && step.direction == "downstream")
    }

    @Test(
        "an answer, a line or a sign of progress without what it must have is an error that names the field")
    func incompleteAnswers() throws {
        let cases: [(String, String)] = [
            (#"{"ok":true,"result":{"lines":1}}"#, "missing left_out"),
            (#"{"ok":true,"result":{"lines":-1,"left_out":0}}"#, "invalid lines \"-1\""),
            (#"{"ok":true}"#, "expected an object"), (#"{"tracing":{}}"#, "missing device"),
            (#"{"trace":{"time":"now"}}"#, "invalid time \"now\""),
            (#"{"progress":{"done":1,"total":3}}"#, "missing progress.what"),
            (#"{"sent":{}}"#, "an answer without ok"),
        ]
        for (text, problem) in cases {
            let daemon = try FakeDaemon()
            var client = try ControlClient(path: daemon.path, silenceSeconds: 1)
            daemon.answer(text + "\n")
            do throws(ControlError) {
                _ = try client.run(TraceDevice(device: .device(DeviceID(7))))
                Issue.record("\(text) was taken")
            } catch {
                guard case .malformed(let words) = error else {
                    Issue.record("\(error)")
                    continue
                }
                #expect(words.contains(problem), "\(text): \(words)")
            }
        }
    }

    @Test("an invalid answer is an error, never a hang or a trap")
    func badAnswers() throws {
        let cases: [(String, ControlError)] = [
            ("not json\n", .malformed("a line that is not JSON")),
            ("\n", .malformed("a line that is not JSON")),
            ("{\"result\":1}\n", .malformed("an answer without ok")),
            ("[]\n", .malformed("an answer without ok")),
            ("", .ended), ("{\"ok\":true", .ended),
        ]
        for (text, expected) in cases {
            let daemon = try FakeDaemon()
            #expect(Self.outcome(daemon, text, closing: true) == .failure(expected), "\(text)")
        }
        let daemon = try FakeDaemon()
        #expect(Self.outcome(daemon, "{\"ok\":true}\n") == .success(.done(.null)))
    }

    @Test("a daemon that does not answer causes a timeout")
    func silence() throws {
        let daemon = try FakeDaemon()
        #expect(Self.outcome(daemon, "") == .failure(.silent(seconds: 1)))
    }

    @Test("a missing socket, one without a listener and a path that is too long are different errors")
    func connecting() throws {
        func failure(_ path: String) -> ControlError? {
            do throws(ControlError) {
                _ = try ControlClient(path: path)
                return nil
            } catch { return error }
        }
        #expect(failure("/nonexistent/control.sock") == .noSocket)
        #expect(failure("/" + String(repeating: "x", count: 200)) == .pathTooLong)
        #expect(failure("/dev/null") == .notRunning)
        var daemon: FakeDaemon? = try FakeDaemon()
        let path = daemon?.path ?? ""
        #expect(failure(path) == nil)
        daemon = nil
        #expect(failure(path) == .noSocket)
    }

    @Test("canary: different answers give different values")
    func canary() throws {
        let daemon = try FakeDaemon()
        #expect(Self.outcome(daemon, "{\"ok\":true,\"result\":1}\n") != .success(.done(2)))
    }
}
