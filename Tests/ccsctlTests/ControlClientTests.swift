import Basics
import BasicsSupport
import Client
import Glibc
import Testing
import Wire

@Suite struct ControlClientTests {
    static func outcome(_ daemon: FakeDaemon, _ answer: String, closing: Bool = false) -> Result<
        ControlAnswer, ControlError
    > {
        Result { () throws(ControlError) in
            var client = try ControlClient(path: daemon.path, silenceSeconds: 1)
            daemon.answer(answer, closing: closing)
            return try client.run("status")
        }
    }

    @Test("a request is one line of JSON; progress and answer are told apart")
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
        var steps: [ControlProgress] = []
        #expect(try client.run("drain", ["limit": 5]) { steps.append($0) } == .done(["sessions": 3]))
        #expect(steps.map(\.done) == [1, 3] && steps.first?.total == 3 && steps.first?.what == "sessions")
        #expect(daemon.asked() == "{\"command\":\"drain\",\"arguments\":{\"limit\":5}}\n")
        #expect(try client.run("status") == .refused(error: "no", hint: "try"))
        #expect(daemon.asked() == "{\"command\":\"status\",\"arguments\":{}}\n")
    }

    @Test("what a long command says is heard line by line, before its answer")
    func lines() throws {
        let daemon = try FakeDaemon()
        var client = try ControlClient(path: daemon.path)
        daemon.answer(
            """
            {"tracing":{"device":"7"}}
            {"progress":{"done":1,"total":3,"what":"seconds traced"}}
            {"trace":{"step":"sent"}}
            {"ok":true,"result":{"lines":1}}

            """)
        var heard: [String] = []
        let answer = try client.run("devices trace", onLine: { heard.append($0 + $1.compact) })
        #expect(answer == .done(["lines": 1]))
        #expect(heard == ["tracing{\"device\":\"7\"}", "trace{\"step\":\"sent\"}"])
    }

    @Test("answers that are none are errors, never hangs or traps")
    func badAnswers() throws {
        let cases: [(String, ControlError)] = [
            ("not json\n", .malformed("a line that is no JSON")),
            ("\n", .malformed("a line that is no JSON")),
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

    @Test("a daemon that says nothing is given up")
    func silence() throws {
        let daemon = try FakeDaemon()
        #expect(Self.outcome(daemon, "") == .failure(.silent(seconds: 1)))
    }

    @Test("no socket, nobody listening and a long path are told apart")
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

    @Test("canary: another answer is another value")
    func canary() throws {
        let daemon = try FakeDaemon()
        #expect(Self.outcome(daemon, "{\"ok\":true,\"result\":1}\n") != .success(.done(2)))
    }
}
