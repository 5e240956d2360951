import Basics
import BasicsSupport
import Catalogue
import Glibc
import Operator
import Testing
import Wire

@testable import Client
@testable import ccsctl

@Suite struct CommandTests {
    static func object(_ words: [String]) throws -> JSONValue {
        guard case .run(let invocation) = try ArgumentParser.parse(words, for: .ccsctl),
            let operation = Operations.named(invocation.command.name)
        else { return .null }
        return try CommandArguments.request(operation, for: invocation).json
    }

    @Test("command lines are converted to the arguments of the operation")
    func arguments() throws {
        #expect(try Self.object(["status"]) == [:])
        #expect(try Self.object(["devices", "show", "42"]) == ["device": "42"])
        #expect(try Self.object(["devices", "show", "fa:APA91b"]) == ["device": "fa:APA91b"])
        #expect(
            try Self.object(["devices", "trace", "42", "--seconds", "9"]) == ["device": "42", "seconds": 9])
        #expect(try Self.object(["devices", "list", "--limit", "7"]) == ["limit": 7])
        #expect(try Self.object(["devices", "list", "--after", "42"]) == ["after": "42"])
        #expect(
            try Self.object(["senders", "add", "--label", "a b", "--sender-id=5"]) == [
                "label": "a b", "sender_id": "5",
            ])
        #expect(
            try Self.object(["senders", "rotate-key", "5", "--overlap-seconds", "0"]) == [
                "sender_id": "5", "overlap_seconds": 0,
            ])
        #expect(
            try Self.object([
                "send", "5", "tok:en", "a=b=c", "d=", "--priority=high", "--time-to-live", "0",
                "--collapse-key", "k",
            ]) == [
                "sender_id": "5", "to": "tok:en", "data": ["a": "b=c", "d": ""], "collapse_key": "k",
                "time_to_live": 0,
                "priority": "high",
            ])
    }

    @Test("invalid arguments are refused before the daemon is asked")
    func mistakes() {
        for words in [
            ["devices", "forget", "x"],
            ["senders", "remove", "99999999999999999999"],
            ["send", "5", "tok", "novalue"], ["send", "5", "tok", "a=1", "a=2"], ["send", "5", "tok", "=x"],
            ["senders", "add", "--key-stdin", "--key-file", "/dev/null"],
            ["senders", "add", "--label", String(repeating: "x", count: 256)],
            ["drain", "--session", "0-1", "--sender", "5"], ["drain", "--session", "0-1-1"],
            ["installations", "show", "x"], ["topics", "list", "--after", "news"], ["devices", "show", ""],
        ] {
            let failure = #expect(throws: Failure.self, "\(words)") { try Self.object(words) }
            #expect(failure?.code == .usage)
        }
    }

    @Test("a key is read from the first line of a file, and invalid ones are refused")
    func keys() throws {
        func key(_ text: String) throws -> String {
            var ends: [Int32] = [0, 0]
            pipe(&ends)
            let bytes = Array(text.utf8)
            _ = write(ends[1], bytes, bytes.count)
            close(ends[1])
            defer { close(ends[0]) }
            return try KeyFile.read(ends[0], "test").revealed
        }
        #expect(try key("AIzaKey\nrest") == "AIzaKey")
        #expect(try key("AIzaKey \t\r\n") == "AIzaKey")
        #expect(try key("AIzaKey") == "AIzaKey")
        for text in [
            "", "\n", "two words\n", "tab\there", "é", String(repeating: "x", count: 5_000), "a\0b\n",
        ] {
            #expect(throws: Failure.self, "\(text.prefix(10))") { try key(text) }
        }
        #expect(throws: Failure.self) { try Self.object(["senders", "add", "--key-file", "/nonexistent"]) }
    }

    @Test("reload requires a certificate and its key or neither, and reports an unreadable file")
    func reload() throws {
        #expect(try Self.object(["reload"]) == [:])
        for flag in ["--certificate", "--private-key"] {
            #expect(throws: Failure.self) { try Self.object(["reload", flag, "/dev/null"]) }
        }
        let both = ["reload", "--certificate", "/dev/null", "--private-key"]
        #expect(
            try Self.object(both + ["/dev/null"]) == [
                "certificate": "", "private_key": "", "certificate_file": "/dev/null",
                "private_key_file": "/dev/null",
            ])
        let failure = #expect(throws: Failure.self) { try Self.object(both + ["/nonexistent"]) }
        #expect(failure?.hint.contains("/nonexistent") == true)
    }

    @Test("every failure to reach the daemon has a hint")
    func failures() {
        let errors: [(ControlError, Failure.Code)] = [
            (.noSocket, .unavailable), (.notRunning, .unavailable), (.notPermitted, .noPermission),
            (.pathTooLong, .usage),
            (.silent(seconds: 3), .unavailable), (.ended, .unavailable), (.malformed("x"), .software),
        ]
        for (error, code) in errors {
            let failure = Failure(error, path: "/s")
            #expect(failure.code == code && !failure.hint.isEmpty)
        }
    }

    @Test("every command of the table that is not an operation runs without a daemon")
    func offline() {
        let asked = Set([
            "ca", "config show", "log level", "audit-log", "senders suspend", "senders resume",
            "senders stats", "messages list", "messages find", "messages history", "messages totals",
            "messages hours", "messages cancel", "messages scheduled",
            "backup", "export",
            "import", "status", "health", "top",
            "check", "reload", "drain", "audit",
            "sessions list",
            "send", "senders add",
            "senders list",
            "senders webhook set", "senders webhook show", "senders webhook list", "senders webhook rotate",
            "senders webhook pause", "senders webhook resume", "senders webhook clear",
            "senders rotate-key", "senders remove", "devices list", "devices show", "devices trace",
            "devices forget", "service-accounts add", "service-accounts list", "service-accounts remove",
            "topics list", "topics running", "clock show", "clock accept", "clock advance",
            "installations list", "installations show", "installations revoke",
            "cluster status", "cluster handover", "cluster remove", "cluster admit",
            "operators add", "operators list", "operators remove", "virtual-devices add",
            "virtual-devices list", "virtual-devices change", "virtual-devices messages",
            "faults add", "faults list", "faults remove", "faults clear", "test-bench reset", "recorders add",
            "recorders list",
            "recorders messages", "recorders clear", "recorders remove",
            "virtual-devices send", "virtual-devices sent", "virtual-devices settle",
            "virtual-devices reinstall", "virtual-devices unregister",
            "virtual-devices remove",
            "apns add", "apns list", "apns show", "apns test", "apns remove", "apns feedback",
        ])
        let offline = Set([
            "cluster found", "cluster add", "config sample", "config docs", "operations", "metrics docs",
            "metrics alerts",
            "metrics dashboard",
            "schema", "explain", "man", "completion", "version",
        ])
        #expect(Set(Program.ccsctl.commands.map(\.name)) == asked.union(offline))
    }

    @Test("every kind of failure has an exit code")
    func codes() {
        for code in Failure.Code.allCases { #expect(ExitCode(rawValue: code.rawValue) != nil, "\(code)") }
    }

    @Test("canary: different numbers give different requests")
    func canary() throws { #expect(try Self.object(["devices", "show", "42"]) != ["device": "43"]) }
}
