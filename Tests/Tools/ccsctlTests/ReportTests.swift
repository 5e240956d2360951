import Basics
import Catalogue
import Glibc
import Operator
import Testing
import Wire
import WireSupport

@testable import Client
@testable import ccsctl

@Suite struct ReportTests {
    /// A time as answers and texts have it.
    private static let time = "2026-11-20T12:03:04.000Z"

    /// Returns the text of an answer that is given as JSON.
    private func text<Command: ReportedCommand>(_: Command.Type, _ answer: JSONValue) throws -> String {
        Command.text(of: try Command.Answer(json: answer))
    }

    private static let status = """
        {"version":"0.1.0","pid":7,"uptime_seconds":3725,"state":"serving","clock_problem":null,
        "listeners":[{"name":"device","address":"127.0.0.1","port":5228},
        {"name":"app_server","address":"::1","port":5235}],"app_servers":2,"devices":10,
        "connections":{"accepted":9,"open":0,"closed":{},"refused":{"address_full":7,"no_descriptor":2}},
        "downstream":{"accepted":5,"delivered":4,"expired":0},"upstream":{},
        "topics":{"in_progress":0,"accepted":0,"recipients":0},
        "store":{"kind":"rocksdb","path":"/d","healthy":false,"partitions":16},
        "registry":{"bytes":0,"limit":0,"full":false},"certificate_not_after":"2027-01-01T00:00:00.000Z"}
        """

    @Test("status is printed as a page of text")
    func status() throws {
        #expect(
            try text(ShowStatus.self, JSONValue(parsing: Self.status)) == """
                ccsd 0.1.0, pid 7, serving, up 1 h 2 min

                listens      127.0.0.1:5228  device
                listens      [::1]:5235  app_server
                app servers  2
                devices      10
                refused      connections at accept: address_full 7, no_descriptor 2
                downstream   accepted 5, delivered 4
                upstream     nothing yet
                store        rocksdb, /d, 16 partitions
                             IT FAILS: no messages are accepted; check the log and the disk
                registry     0 bytes, no limit
                certificate  valid until 2027-01-01T00:00:00.000Z

                """)
    }

    @Test("status shows messages to topics, and a clock in doubt, if there are any")
    func statusOfMore() throws {
        var status = try ShowStatus.Answer(json: JSONValue(parsing: Self.status))
        status.topics = .init(inProgress: 1, accepted: 2, recipients: 3)
        status.clockProblem = "the clock is behind"
        let text = ShowStatus.text(of: status)
        #expect(text.contains("\ntopics       2 messages to 3 devices, 1 in progress\n"))
        #expect(text.contains("\nclock        the clock is behind; see ccsctl clock show\n"))
    }

    @Test(
        "status shows the size of the registry with its limit, and a hint when it is full"
    )
    func registry() throws {
        func lines(_ bytes: Int, _ limit: Int) throws -> [Substring] {
            var status = try ShowStatus.Answer(json: JSONValue(parsing: Self.status))
            status.registry = .init(bytes: bytes, limit: limit, isFull: limit > 0 && bytes >= limit)
            let lines = ShowStatus.text(of: status).split(separator: "\n")
            return Array(lines.drop { !$0.hasPrefix("registry") }.dropLast())
        }
        #expect(try lines(1_023, 17_179_869_184) == ["registry     1023 bytes of 16.0 GiB"])
        #expect(try lines(1_024, 0) == ["registry     1.0 KiB, no limit"])
        #expect(try lines(.max, 0).count == 1)
        #expect(
            try lines(5_400_000, 5_242_880) == [
                "registry     5.1 MiB of 5.0 MiB",
                "             IT IS FULL: nothing is added; raise registry_bytes, or remove devices",
            ])
    }

    @Test("a list is printed in columns with the number of omitted rows, and with a hint when empty")
    func lists() throws {
        let senders: JSONValue = [
            "senders": [
                [
                    "sender_id": "12", "label": "shop", "project": "lab", "keys": 2,
                    "created_at": .string(Self.time), "suspended": false,
                ],
                [
                    "sender_id": "345678901234", "label": "", "project": "ccs-345678901234", "keys": 10,
                    "created_at": .string(Self.time), "suspended": true,
                ],
            ]
        ]
        #expect(
            try text(ListSenders.self, senders) == """
                SENDER_ID     LABEL  PROJECT           KEYS  CREATED                   SUSPENDED
                12            shop   lab                  2  2026-11-20T12:03:04.000Z  no
                345678901234  -      ccs-345678901234    10  2026-11-20T12:03:04.000Z  yes

                """)
        #expect(try text(ListSenders.self, ["senders": []]).contains("ccsctl senders add"))
        let session: JSONValue = [
            "id": "0-12", "kind": "device", "peer": "[::1]:9", "device": "7", "since": .string(Self.time),
        ]
        #expect(
            try text(ListSessions.self, ["sessions": [session], "left_out": 9]) == """
                ID    KIND    NAME  PEER     SINCE
                0-12  device     7  [::1]:9  2026-11-20T12:03:04.000Z
                … and 9 more: --limit N shows more.

                """)
    }

    @Test("installations are listed with the numbers of their registrations")
    func installations() throws {
        let page: JSONValue = [
            "installations": [
                [
                    "installation": "cGFzc3dvcmQ_aGVsbG8tdw", "sender_id": "12", "ended": false,
                    "created_at": .string(Self.time), "used_at": .string(Self.time), "registrations": 2,
                ]
            ], "next_after": "cGFzc3dvcmQ_aGVsbG8tdw",
        ]
        #expect(
            try text(ListInstallations.self, page) == """
                INSTALLATION            SENDER_ID  CREATED                   USED                      ENDED  REGISTRATIONS
                cGFzc3dvcmQ_aGVsbG8tdw         12  2026-11-20T12:03:04.000Z  2026-11-20T12:03:04.000Z  no                 2
                … and more: --limit N shows more, --after cGFzc3dvcmQ_aGVsbG8tdw continues.

                """)
        #expect(
            try text(ListInstallations.self, ["installations": []]).hasPrefix(
                "No installations yet"))
    }

    @Test("messages to topics are listed with what they have reached")
    func topics() throws {
        let running: JSONValue = [
            "messages": [
                [
                    "sender_id": "12", "message_id": "m", "to": "/topics/news", "topics": ["news"],
                    "since": .string(Self.time), "expires_at": .string(Self.time), "reached": 9,
                    "subscribers": 1_000,
                ],
                [
                    "sender_id": "12", "message_id": "", "to": "condition", "topics": ["a", "b"],
                    "since": .string(Self.time), "expires_at": .string(Self.time), "reached": 3,
                    "subscribers": .null,
                ],
            ], "left_out": 0,
        ]
        #expect(
            try text(ListRunningTopics.self, running) == """
                SENDER_ID  TO            SINCE                     EXPIRES                   REACHED  SUBSCRIBERS  ID
                       12  /topics/news  2026-11-20T12:03:04.000Z  2026-11-20T12:03:04.000Z        9  1000         m
                       12  condition     2026-11-20T12:03:04.000Z  2026-11-20T12:03:04.000Z        3  -            -

                """)
        let topics: JSONValue = [
            "topics": [["sender_id": "12", "topic": "news", "subscribers": 7]], "next_after": "12/news",
        ]
        #expect(try text(ListTopics.self, topics).contains("--after 12/news continues"))
    }

    @Test("a reload lists the changed keys and those that need a restart, if there are any")
    func reload() throws {
        #expect(
            try text(ReloadConfiguration.self, ["reloaded": true, "changed": [], "needs_restart": []])
                == "The new configuration and certificates are in use.\n")
        let answer: JSONValue = [
            "reloaded": true, "changed": ["log_level", "scram"], "needs_restart": ["device_port"],
        ]
        #expect(
            try text(ReloadConfiguration.self, answer) == """
                The new configuration and certificates are in use.
                changed: log_level, scram
                needs a restart: device_port

                """)
    }

    @Test(
        "an invalid answer is an error with the field and the expected value")
    func strangeAnswers() {
        let answers: [JSONValue] = [
            .null, [], [:], ["senders": [1, "x", [:]]], ["listeners": 3, "store": []], "text",
        ]
        func outcome<Command: ReportedCommand>(_: Command.Type, _ answer: JSONValue) -> String {
            do throws(FieldProblem) { return Command.text(of: try Command.Answer(json: answer)) } catch {
                return error.text + "\n"
            }
        }
        for operation in Operations.all {
            guard let command = operation as? any ReportedCommand.Type else {
                Issue.record("\(operation) has no text")
                continue
            }
            for answer in answers {
                let text = outcome(command, answer)
                #expect(text.contains(": expected ") && text.hasSuffix("\n"), "\(operation): \(text)")
            }
        }
    }

    @Test("untrusted names cannot move the cursor")
    func terminal() {
        let sender = ListSenders.Row(
            sender: SenderID(1), label: "a\u{1B}[2J\n\u{202E}b", project: "p", keys: 1, createdAt: 0,
            isSuspended: false)
        let text = ListSenders.text(of: ListSenders.Answer(senders: [sender]))
        #expect(text.contains("a?[2J??b") && !text.contains("\u{1B}"))
    }

    @Test("a device is shown with its last contact, connection, registrations and pending messages")
    func device() throws {
        let shown = try JSONValue(
            parsing: """
                {"device":"12","created_at":"2026-11-20T12:03:04.001Z","seen_at":"2026-11-20T12:03:04.002Z",
                "expires_at":"2026-11-20T12:03:04.003Z","online":false,"connection":null,
                "registrations":[{"number":1,"token":"tok","category":"com.a","subtype":"","sender_id":"5","kind":"app",
                "waiting":3,"created_at":"2026-11-20T12:03:04.000Z"}],"mailbox":{"messages":3,"with_collapse_key":1,
                "deleted_markers":0,"send_errors":0,"pending_receipts":2},"pending":[{"persistent_id":"0:1%2",
                "registration":1,"expires_at":"2026-11-20T12:03:04.000Z"}]}
                """)
        #expect(
            try text(ShowDevice.self, shown) == """
                device      12
                created     2026-11-20T12:03:04.001Z
                last seen   2026-11-20T12:03:04.002Z, expires 2026-11-20T12:03:04.003Z
                connection  none
                pending     3 messages, 1 of them with a collapse key; 2 delivery receipts

                NO  APP    SUBTYPE  SENDER  KIND  WAITING  CREATED
                 1  com.a  -             5  app         3  2026-11-20T12:03:04.000Z

                token of 1  tok

                PERSISTENT_ID  REGISTRATION  EXPIRES
                0:1%2                     1  2026-11-20T12:03:04.000Z
                … and 2 more.

                """)
        var online = shown.members ?? []
        online.removeAll { $0.key == "connection" || $0.key == "expires_at" }
        online.append(
            .init(
                "connection",
                ["id": "0-12", "kind": "device", "peer": "[::1]:9", "since": .string(Self.time)]))
        #expect(
            try text(ShowDevice.self, .object(online)).contains(
                "last seen   2026-11-20T12:03:04.002Z\nconnection  0-12 from [::1]:9 since \(Self.time)\n"))
    }

    @Test("the lines of a trace are printed in columns, with the number of omitted steps at the end")
    func trace() throws {
        let line: JSONValue = [
            "time": "2026-11-20T12:03:04.123Z", "direction": "downstream", "step": "refused",
            "message_id": "m\u{1B}1", "sender_id": "5", "registration": 2, "detail": "sender_mismatch",
        ]
        let step = TraceDevice.Line.step(try TraceDevice.Step(json: line))
        #expect(
            TraceDevice.text(of: step)
                == "12:03:04.123  down  refused      m?1  sender 5  registration 2  sender_mismatch\n")
        let connected = TraceDevice.Step(time: 0, direction: "connection", step: "connected")
        #expect(TraceDevice.text(of: .step(connected)) == "00:00:00.000        connected\n")
        let start = TraceDevice.Start(device: DeviceID(7))
        #expect(TraceDevice.text(of: .started(start)) == "Tracing device 7; Ctrl-C ends it.\n")
        #expect(try text(TraceDevice.self, ["lines": 3, "left_out": 0]) == "3 steps.\n")
        #expect(
            try text(TraceDevice.self, ["lines": 3, "left_out": 2])
                == "3 steps; 2 more were left out because the output was read too slowly.\n")
    }

    @Test("a negative answer gives a failure exit code")
    func verdicts() {
        func audit(_ holds: Bool) -> ExitCode { AuditStore.verdict(on: Self.audit(holds, unreadable: [])) }
        func sent(_ outcome: SendMessage.Answer.Outcome) -> ExitCode {
            SendMessage.verdict(on: SendMessage.Answer(messageID: "m", outcome: outcome))
        }
        #expect(audit(false) == .failure && audit(true) == .success)
        #expect(sent(.nack) == .failure && sent(.ack) == .success)
        #expect(
            CheckConfiguration.verdict(on: .init(isSound: false, findings: [], leftOut: 0)) == .configuration)
        #expect(CheckConfiguration.verdict(on: .init(isSound: true, findings: [], leftOut: 0)) == .success)
        #expect(DrainSessions.verdict(on: DrainSessions.Answer(sessions: 0)) == .success)
    }

    private static func audit(_ holds: Bool, unreadable: [String]) -> AuditStore.Answer {
        let law = AuditStore.Counts(
            accepted: 3, delivered: 1, replaced: 0, expired: 1, discarded: 0, removed: 0, forwarded: 0,
            pending: 1)
        return AuditStore.Answer(
            holds: holds, downstream: law, upstream: law, devices: 1, registrations: 1, senders: 1, groups: 0,
            installations: 0, subscriptions: 0, topicMessages: 0, partitions: 16, unreadable: unreadable)
    }

    @Test("an audit of a damaged store names the tables, and reports no bug")
    func damagedAudit() {
        var answer = Self.audit(false, unreadable: ["pending: checksum mismatch"])
        answer.damaged = ["table 000012.sst (column family pending)"]
        let text = AuditStore.text(of: answer)
        #expect(text.contains("damaged: table 000012.sst (column family pending)"))
        #expect(text.contains("THE CHECK IS INCOMPLETE") && !text.contains("report a bug"))
    }

    @Test("an audit prints the conservation law, and a violation in capitals")
    func audits() {
        let good = AuditStore.text(of: Self.audit(true, unreadable: []))
        let bad = AuditStore.text(of: Self.audit(false, unreadable: ["d/1"]))
        #expect(good.contains("Every accepted message is accounted for"))
        #expect(
            good.contains(
                "downstream         3          1          0         0        1          0        0        1\n"
            )
        )
        #expect(bad.contains("THE CHECK FAILED"))
        #expect(bad.contains("unreadable: d/1"))
    }

    @Test("a change is confirmed, and a new key is shown with a warning")
    func changes() throws {
        let key: JSONValue = "AIzaSyA-key-of-thirty-nine-characters-0"
        #expect(
            try text(AddSender.self, ["sender_id": "5", "project": "ccs-5", "key": key]) == """
                sender ID   5
                project     ccs-5
                server key  AIzaSyA-key-of-thirty-nine-characters-0

                Keep the key: only its hash is stored, so it cannot be shown again.

                """)
        let rotated: JSONValue = [
            "sender_id": "5", "key": key, "old_keys_expire_at": .string(Self.time),
        ]
        #expect(try text(RotateKey.self, rotated).contains("\nold keys    valid until \(Self.time)\n"))
        #expect(try text(RemoveSender.self, ["sender_id": "5"]) == "Sender 5 is removed.\n")
        #expect(
            try text(ForgetDevice.self, ["registrations": 2, "messages": 3])
                == "Removed, with 2 registrations and 3 messages.\n")
        #expect(try text(SendMessage.self, ["message_id": "m", "outcome": "ack"]) == "ACK for m.\n")
        #expect(
            try text(SendMessage.self, ["message_id": "m", "outcome": "ack", "registration_id": "a:b"])
                == "ACK for m.\nThe app has a newer token: a:b\n")
        let nack: JSONValue = [
            "message_id": "m", "outcome": "nack", "error": "BAD_REGISTRATION", "error_description": "d",
        ]
        #expect(try text(SendMessage.self, nack) == "NACK BAD_REGISTRATION: d\n")
        #expect(
            try text(ShowClock.self, ["time": .string(Self.time), "in_doubt": false])
                == "time      \(Self.time)\ntrusted   yes\n")
    }

    @Test("a progress bar never exceeds its width", arguments: [(0, 0), (1, 2), (5, 2), (-3, 10), (10, 10)])
    func bars(done: Int, total: Int) {
        let text = ProgressBar.text(OperatorProgress(done: done, total: total, what: "x"))
        #expect(text.prefix { $0 != "]" }.count == Limits.Client.progressBarColumns + 1)
    }

    @Test("canary: columns are as wide as their cells")
    func canary() { #expect(TextTable.text(["A", "B"], [["long", "x"]]) == "A     B\nlong  x\n") }
}
