import Basics
import Catalogue
import Operator
import Testing
import Wire

@testable import Client
@testable import ccsctl

/// The texts of everyday commands, and the question before a command destroys something.
@Suite("Everyday reports") struct EverydayReportTests {
    private static let time: JSONValue = "2026-11-20T12:03:04.000Z"

    private func text<Command: ReportedCommand>(_: Command.Type, _ answer: JSONValue) throws -> String {
        Command.text(of: try Command.Answer(json: answer))
    }

    @Test("devices are listed with their channels, and a page without rows names how to continue")
    func devices() throws {
        let device: JSONValue = [
            "device": "1", "created_at": Self.time, "seen_at": .null, "online": true, "registrations": 2,
            "channels": ["mcs", "apns"], "waiting": 3,
        ]
        #expect(
            try text(ListDevices.self, ["devices": [device], "examined": 1, "next_after": "1"]) == """
                DEVICE  CREATED                   SEEN  ONLINE  CHANNELS  REGISTRATIONS  WAITING
                     1  2026-11-20T12:03:04.000Z  -     yes     mcs,apns              2        3
                … and more: --limit N shows more, --after 1 continues.

                """)
        #expect(
            try text(ListDevices.self, ["devices": [], "examined": 50_000, "next_after": "9"])
                == "None of the 50000 devices up to 9 meets these conditions: --after 9 continues.\n")
        #expect(
            try text(ListDevices.self, ["devices": [], "examined": 4])
                == "None of the 4 devices meets these conditions.\n")
        #expect(
            try text(ListDevices.self, ["devices": [], "examined": 0]).contains("ccs-device register"))
    }

    @Test("messages are listed without payload, and hostile IDs cannot change the terminal")
    func messages() throws {
        let row: JSONValue = [
            "kind": "message", "message_id": "m\u{1B}[2J", "device": "42", "registration": 1, "app": "com.a",
            "bytes": 20, "stored_at": Self.time, "expires_at": Self.time, "state": "at_gateway",
        ]
        let shown = try text(ListMessages.self, ["messages": [row], "next_after": "10"])
        #expect(shown.contains("m?[2J") && !shown.contains("\u{1B}") && shown.contains("at_gateway"))
        #expect(shown.hasSuffix("--after 10 continues.\n"))
        #expect(try text(ListMessages.self, ["messages": []]) == "No messages are pending.\n")
    }

    @Test("a webhook that is resumed while it waited after failures is not shown as active already")
    func resumedWebhook() throws {
        func shown(_ isChanged: Bool, _ endsPause: Bool) throws -> String {
            try text(
                ResumeWebhook.self,
                [
                    "sender_id": "5", "state": "active", "changed": .boolean(isChanged),
                    "failure_pause_ended": .boolean(endsPause),
                ])
        }
        #expect(try shown(false, false) == "The webhook of sender 5 is already active.\n")
        #expect(try shown(true, false) == "The webhook of sender 5 is active.\n")
        #expect(try shown(true, true).hasSuffix("tried at once: its pause after failures has ended.\n"))
    }

    @Test("one sender is shown with every count, and several as a table")
    func statistics() throws {
        let row: JSONValue = [
            "sender_id": "5", "label": "shop", "suspended": true, "sessions": 2, "draining": 0,
            "window": 200, "unacknowledged": 3, "waiting": 10_000, "waiting_is_exact": false,
            "downstream": ["accepted": 5, "delivered": 4], "upstream": ["accepted": 0],
            "refused": ["invalid_token": 7],
        ]
        let one = try text(SenderStatistics.self, ["since": Self.time, "senders": [row]])
        #expect(one.contains("3/200") && one.contains("10000+") && one.contains("  yes  "))
        #expect(
            one.hasSuffix(
                "downstream: accepted 5, delivered 4\nupstream: nothing yet\nrefused: invalid_token 7\n"))
        let two = try text(SenderStatistics.self, ["since": Self.time, "senders": [row, row]])
        #expect(!two.contains("downstream: "))
    }

    @Test("the configuration is shown with the place of each value and what is pending")
    func configuration() throws {
        func row(_ key: String, _ source: String, _ more: [JSONValue.Member]) -> JSONValue {
            .object(
                [
                    .init("key", .string(key)), .init("value", "v"), .init("default", ""),
                    .init("source", .string(source)), .init("reloadable", true),
                ] + more)
        }
        let shown = try text(
            ShowConfiguration.self,
            [
                "file": "/c.yaml",
                "keys": [
                    row("a", "file", [.init("file", "/c.yaml"), .init("line", 3)]),
                    row("b", "environment", [.init("name", "CCSD_B"), .init("in_use", "2")]),
                    row("c", "flag", [.init("name", "--c"), .init("pending", "w")]),
                    row("log_level", "command", [.init("pending", "info")]), row("d", "default", []),
                ],
            ])
        for words in [
            "file: /c.yaml\n", "/c.yaml:3\n", "v (2)", "CCSD_B\n", "--c\n",
            "pending: c is configured as w, which needs a restart\n",
            "pending: log_level is configured as info, which a reload or restart uses\n",
        ] { #expect(shown.contains(words), "\(words): \(shown)") }
    }

    @Test("the audit log, the log level and a suspension are shown as text")
    func others() throws {
        let entry: JSONValue = [
            "number": 8, "time": Self.time, "user": "0", "pid": "7", "command": "senders remove",
            "arguments": "sender=5", "result": "refused", "problem": "unknown sender 5",
        ]
        let log = try text(
            ListAuditLog.self, ["entries": [entry], "unreadable": 1, "next_before": 8])
        #expect(log.contains("senders remove") && log.contains("--before 8") && log.contains("1 lines"))
        #expect(
            try text(ChangeLogLevel.self, ["level": "debug", "configured": "info", "until": Self.time])
                .hasSuffix("until       2026-11-20T12:03:04.000Z\n"))
        #expect(
            try text(ChangeLogLevel.self, ["level": "debug", "configured": "info"])
                .hasSuffix("the next reload or restart\n"))
        let state: JSONValue = ["sender_id": "5", "suspended": true, "changed": true]
        #expect(try text(SuspendSender.self, state).contains("ccsctl senders resume 5"))
    }

    @Test("only y and yes agree")
    func answers() {
        for line in ["y", "Y", "yes", " yes ", "YES"] { #expect(Confirmation.isYes(line), "\(line)") }
        for line in [nil, "", "n", "no", "yep", "ja"] { #expect(!Confirmation.isYes(line)) }
    }

    @Test("a command that destroys something is refused without a terminal and without --yes")
    func confirmation() throws {
        func require(_ words: [String]) throws {
            guard case .run(let invocation) = try ArgumentParser.parse(words, for: .ccsctl),
                let operation = Operations.named(invocation.command.name)
            else { return }
            let request = try CommandArguments.request(operation, for: invocation)
            try Confirmation.require(request, invocation)
        }
        try require(["senders", "remove", "5", "--yes"])
        try require(["senders", "rotate-key", "5"])
        try require(["drain", "--sender", "5"])
        for words in [
            ["senders", "remove", "5"], ["drain"], ["senders", "rotate-key", "5", "--overlap-seconds", "0"],
        ] {
            // The tests have no terminal.
            let failure = #expect(throws: Failure.self) { try require(words) }
            #expect(failure?.code == .usage && failure?.hint.contains("--yes") == true, "\(words)")
        }
    }
}
