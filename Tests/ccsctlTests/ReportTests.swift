import Basics
import Catalogue
import Glibc
import Testing
import Wire
import WireSupport

@testable import Client
@testable import ccsctl

@Suite struct ReportTests {
    @Test("status reads like a page, not like JSON")
    func status() throws {
        let status = try JSONValue(
            parsing: """
                {"version":"0.1.0","pid":7,"uptime_seconds":3725,"state":"serving","listeners":[{"name":"device",
                "address":"127.0.0.1","port":5228},{"name":"app_server","address":"::1","port":5235}],"app_servers":2,
                "devices":10,"connections":{"accepted":9,"refused":{"address_full":7,"no_descriptor":2}},"downstream":{"accepted":5,"delivered":4,"expired":0},"upstream":{},"store":{"kind":"rocksdb",
                "path":"/d","healthy":false},"certificate_not_after":"2027-01-01T00:00:00.000Z"}
                """)
        #expect(
            Report.text(of: status, for: "status") == """
                ccsd 0.1.0, pid 7, serving for 1 h 2 min

                listens      127.0.0.1:5228  device
                listens      [::1]:5235  app_server
                app servers  2
                devices      10
                refused      connections at accept: address_full 7, no_descriptor 2
                downstream   accepted 5, delivered 4
                upstream     nothing yet
                store        rocksdb, /d
                             IT FAILS: nothing is accepted; see the log, and the disk
                certificate  valid until 2027-01-01T00:00:00.000Z

                """)
    }

    @Test(
        "the size of the registry is in units that people read, with its limit, and says what to do when it is full"
    )
    func registry() {
        func text(_ bytes: Int, _ limit: Int) -> [Substring] {
            let registry: JSONValue = [
                "bytes": .integer(bytes), "limit": .integer(limit),
                "full": .boolean(limit > 0 && bytes >= limit),
            ]
            let lines = Report.text(of: ["registry": registry], for: "status").split(separator: "\n")
            return Array(lines.drop { !$0.hasPrefix("registry") }.dropLast())
        }
        #expect(text(1_023, 17_179_869_184) == ["registry     1023 bytes of 16.0 GiB"])
        #expect(text(1_024, 0) == ["registry     1.0 KiB, no limit"])
        #expect(text(.max, 0).count == 1)
        #expect(
            text(5_400_000, 5_242_880) == [
                "registry     5.1 MiB of 5.0 MiB",
                "             IT IS FULL: nothing new is added; raise registry_bytes, or remove devices",
            ])
    }

    @Test("lists are columns, say how many were left out, and say what to do when empty")
    func lists() throws {
        let senders: JSONValue = [
            "senders": [
                [
                    "sender_id": "12", "label": "shop", "project": "lab", "keys": 2, "created_at": "t",
                    "suspended": false,
                ],
                [
                    "sender_id": "345678901234", "label": "", "project": "ccs-345678901234", "keys": 10,
                    "created_at": "t", "suspended": true,
                ],
            ]
        ]
        #expect(
            Report.text(of: senders, for: "senders list") == """
                SENDER_ID     LABEL  PROJECT           KEYS  CREATED  SUSPENDED
                12            shop   lab                  2  t        no
                345678901234  -      ccs-345678901234    10  t        yes

                """)
        #expect(Report.text(of: ["senders": []], for: "senders list").contains("ccsctl senders add"))
        let sessions: JSONValue = ["sessions": [["id": "1"]], "left_out": 9]
        #expect(
            Report.text(of: sessions, for: "sessions list").hasSuffix("… and 9 more: --limit N shows more.\n")
        )
        let devices: JSONValue = ["devices": [["device": "1"]], "next_after": "1"]
        #expect(
            Report.text(of: devices, for: "devices list").hasSuffix(
                "… and more: --limit N shows more, --after 1 goes on.\n"))
    }

    @Test("installations are a list with the number of their registrations")
    func installations() {
        let page: JSONValue = [
            "installations": [
                [
                    "installation": "cGFzc3dvcmQ_aGVsbG8tdw", "sender_id": "12", "ended": false,
                    "created_at": "t", "used_at": "u", "registrations": 2,
                ]
            ], "next_after": "cGFzc3dvcmQ_aGVsbG8tdw",
        ]
        #expect(
            Report.text(of: page, for: "installations list") == """
                INSTALLATION            SENDER_ID  CREATED  USED  ENDED  REGISTRATIONS
                cGFzc3dvcmQ_aGVsbG8tdw         12  t        u     no                 2
                … and more: --limit N shows more, --after cGFzc3dvcmQ_aGVsbG8tdw goes on.

                """)
        #expect(
            Report.text(of: ["installations": []], for: "installations list").hasPrefix(
                "No installations yet"))
    }

    @Test("messages to topics show how far they are, and no total where nobody knows it")
    func topics() {
        let running: JSONValue = [
            "messages": [
                [
                    "sender_id": "12", "message_id": "m", "to": "/topics/news", "since": "t", "sent": 9,
                    "done": 10, "total": 1_000,
                ],
                [
                    "sender_id": "12", "message_id": "", "to": "condition", "since": "t", "sent": 3,
                    "done": .null, "total": .null,
                ],
            ]
        ]
        #expect(
            Report.text(of: running, for: "topics running") == """
                SENDER_ID  TO            SINCE  SENT  DONE  TOTAL  ID
                       12  /topics/news  t         9  10    1000   m
                       12  condition     t         3  -     -      -

                """)
        let topics: JSONValue = [
            "topics": [["sender_id": "12", "topic": "news", "subscribers": 7]], "next_after": "12/news",
        ]
        #expect(Report.text(of: topics, for: "topics list").contains("--after 12/news goes on"))
    }

    @Test("a reload names what it changed and what waits for a restart, and neither where there is none")
    func reload() {
        #expect(
            Report.text(of: ["reloaded": true, "changed": [], "needs_restart": []], for: "reload")
                == "The new configuration and certificates are in use.\n")
        let answer: JSONValue = [
            "reloaded": true, "changed": ["log_level", "scram"], "needs_restart": ["device_port"],
        ]
        #expect(
            Report.text(of: answer, for: "reload") == """
                The new configuration and certificates are in use.
                changed: log_level, scram
                needs a restart: device_port

                """)
    }

    @Test("every command of the table has a text for any answer, however strange")
    func strangeAnswers() {
        let answers: [JSONValue] = [
            .null, [], [:], ["senders": [1, "x", [:]]], ["listeners": 3, "store": []], "text",
        ]
        for command in Program.ccsctl.commands {
            for answer in answers {
                #expect(Report.text(of: answer, for: command.name).hasSuffix("\n"), "\(command.name)")
            }
        }
    }

    @Test("what strangers named cannot move the cursor")
    func terminal() {
        let answer: JSONValue = ["senders": [["sender_id": "1", "label": "a\u{1B}[2J\n\u{202E}b"]]]
        let text = Report.text(of: answer, for: "senders list")
        #expect(text.contains("a?[2J??b") && !text.contains("\u{1B}"))
    }

    @Test("a device is shown with its contact, its connection, its registrations and what waits")
    func device() throws {
        let shown = try JSONValue(
            parsing: """
                {"device":"12","created_at":"c","seen_at":"s","expires_at":"e","online":false,"connection":null,
                "registrations":[{"number":1,"token":"tok","category":"com.a","subtype":"","sender_id":"5","kind":"app",
                "waiting":3,"created_at":"t"}],"mailbox":{"messages":3,"with_collapse_key":1,"deleted_markers":0,
                "receipts_owed":2},"pending":[{"persistent_id":"0:1%2","registration":1,"expires_at":"x"}]}
                """)
        #expect(
            Report.text(of: shown, for: "devices show") == """
                device      12
                created     c
                last seen   s, expires e
                connection  none
                waiting     3 messages, 1 of them with a collapse key; 2 owe a receipt

                NO  APP    SUBTYPE  SENDER  KIND  WAITING  CREATED
                 1  com.a  -             5  app         3  t

                token of 1  tok

                PERSISTENT_ID  REGISTRATION  EXPIRES
                0:1%2                     1  x
                … and 2 more.

                """)
        var online = shown.members ?? []
        online.removeAll { $0.key == "connection" || $0.key == "expires_at" }
        online.append(.init("connection", ["id": "0-1-2", "peer": "[::1]:9", "since": "t"]))
        #expect(
            Report.text(of: .object(online), for: "devices show").contains(
                "last seen   s\nconnection  0-1-2 from [::1]:9 since t\n"))
    }

    @Test("the lines of a trace stand in columns, and say at the end what was left out")
    func trace() {
        let line: JSONValue = [
            "time": "2026-11-20T12:03:04.123Z", "direction": "downstream", "step": "refused",
            "message_id": "m\u{1B}1", "sender_id": "5", "registration": 2, "detail": "sender_mismatch",
        ]
        #expect(
            TraceReport.text("trace", line)
                == "12:03:04.123  down  refused      m?1  sender 5  registration 2  sender_mismatch\n")
        #expect(
            TraceReport.text("trace", ["time": "", "direction": "connection", "step": "connected"])
                == "        connected\n")
        #expect(TraceReport.text("tracing", ["device": "7"]) == "Tracing device 7; Ctrl-C ends it.\n")
        #expect(Report.text(of: ["lines": 3, "left_out": 0], for: "devices trace") == "3 steps.\n")
        #expect(
            Report.text(of: ["lines": 3, "left_out": 2], for: "devices trace")
                == "3 steps; 2 more were left out: this terminal was too slow.\n")
    }

    @Test("answers that say no end with another code")
    func verdicts() {
        #expect(Tool.verdict(on: ["holds": false], of: "audit") == .failure)
        #expect(Tool.verdict(on: ["holds": true], of: "audit") == .success)
        #expect(Tool.verdict(on: ["outcome": "nack"], of: "send") == .failure)
        #expect(Tool.verdict(on: ["outcome": "ack"], of: "send") == .success)
        #expect(Tool.verdict(on: ["ok": false], of: "check") == .configuration)
        #expect(Tool.verdict(on: [:], of: "status") == .success)
    }

    @Test("the law of conservation stands in the text of an audit, and its breach is loud")
    func audits() {
        let counts: JSONValue = [
            "accepted": 3, "delivered": 1, "replaced": 0, "expired": 1, "discarded": 0, "removed": 0,
            "pending": 1,
        ]
        let good: JSONValue = ["holds": true, "downstream": counts, "upstream": counts, "unreadable": []]
        let bad: JSONValue = [
            "holds": false, "downstream": counts, "upstream": counts, "unreadable": ["d/1"],
        ]
        #expect(Report.text(of: good, for: "audit").contains("Every accepted message is accounted for"))
        #expect(Report.text(of: bad, for: "audit").contains("IT DOES NOT HOLD"))
        #expect(Report.text(of: bad, for: "audit").contains("unreadable: d/1"))
    }

    @Test("a bar never leaves its frame", arguments: [(0, 0), (1, 2), (5, 2), (-3, 10), (10, 10)])
    func bars(done: Int, total: Int) {
        let text = ProgressBar.text(ControlProgress(done: done, total: total, what: "x"))
        #expect(text.prefix { $0 != "]" }.count == Limits.progressBarColumns + 1)
    }

    @Test("canary: a column that is too narrow would be seen")
    func canary() { #expect(TextTable.text(["A", "B"], [["long", "x"]]) == "A     B\nlong  x\n") }
}
