import Basics
import Operator
import Testing
import Wire

/// Invalid requests are refused with the field or command that is wrong.
@Suite("Hostile requests") struct HostileTests {
    private func problem(_ line: String) -> RequestProblem? {
        do throws(RequestProblem) {
            _ = try RequestLine.request(Array(line.utf8).raw)
            return nil
        } catch { return error }
    }

    @Test(
        "a problem names the field, the expected value and what to do",
        arguments: [
            (
                #"{"command":"devices list","arguments":{"limit":0}}"#,
                #"invalid limit "0": expected a whole number from 1 to 10000"#
            ),
            (
                #"{"command":"devices list","arguments":{"limit":10001}}"#,
                #"invalid limit "10001": expected a whole number from 1 to 10000"#
            ),
            (
                #"{"command":"devices list","arguments":{"limit":1.5}}"#,
                #"invalid limit "1.5": expected a whole number from 1 to 10000"#
            ),
            (
                #"{"command":"devices list","arguments":{"limit":[1]}}"#,
                "invalid limit: expected a whole number from 1 to 10000"
            ),
            (
                #"{"command":"devices list","arguments":{"limits":1}}"#,
                "unknown argument limits: expected one of limit, after, sender_id, app, channel, presence, seen_before, seen_after, waiting"
            ),
            (#"{"command":"status","arguments":{"x":1}}"#, "unknown argument x: expected no arguments"),
            (#"{"command":"status","arguments":[]}"#, "invalid arguments: expected an object"),
            (
                #"{"command":"senders remove"}"#,
                "missing sender_id: expected a sender ID, a whole number from 1"
            ),
            (
                #"{"command":"senders remove","arguments":{"sender_id":"0"}}"#,
                #"invalid sender_id "0": expected a sender ID, a whole number from 1"#
            ),
            (
                #"{"command":"senders remove","arguments":{"sender_id":-5}}"#,
                #"invalid sender_id "-5": expected a sender ID, a whole number from 1"#
            ),
            (
                #"{"command":"devices forget","arguments":{"device":"+5"}}"#,
                #"invalid device "+5": expected the number of a device, a whole number from 1"#
            ),
            (
                #"{"command":"drain","arguments":{"session":"0--1"}}"#,
                #"invalid session "0--1": expected the ID of a session, such as 0-345"#
            ),
            (
                #"{"command":"drain","arguments":{"session":"0-1","sender_id":5}}"#,
                "session, sender_id, hold and release exclude each other"
            ),
            (
                #"{"command":"reload","arguments":{"private_key":"x"}}"#,
                "certificate and private_key must be given together"
            ),
            (
                #"{"command":"send","arguments":{"sender_id":5,"to":"x","priority":"urgent"}}"#,
                #"invalid priority "urgent": expected one of normal, high"#
            ),
            (
                #"{"command":"send","arguments":{"sender_id":5,"to":"x","time_to_live":2419201}}"#,
                #"invalid time_to_live "2419201": expected a whole number from 0 to 2419200"#
            ),
            (
                #"{"command":"send","arguments":{"sender_id":5,"to":"x","data":"y"}}"#,
                #"invalid data "y": expected an object of keys and values"#
            ),
            (
                #"{"command":"senders add","arguments":{"key":"short"}}"#,
                "invalid key: expected a server key of 16 to 255 printable ASCII characters without spaces"
            ),
            (
                #"{"command":"service-accounts add","arguments":{"sender_id":5,"public_key":"!"}}"#,
                #"invalid public_key "!": expected Base64 of up to 24576 bytes"#
            ),
            (
                #"{"command":"installations show","arguments":{"installation":"x"}}"#,
                #"invalid installation "x": expected the ID of a Firebase installation, 22 characters"#
            ),
            (#"{"command":"nonsense"}"#, "unknown command 'nonsense'"),
            (#"{"command":7}"#, "missing command: expected the name of a command"),
            ("[]", "missing command: expected the name of a command"),
            ("", "invalid request: unexpected end at byte 0 of the JSON"),
            ("{", "invalid request: unexpected end at byte 1 of the JSON"),
        ])
    func named(line: String, text: String) {
        let problem = problem(line)
        #expect(problem?.problem.text == text)
        #expect(problem?.problem.hint.isEmpty == false, "what to do")
    }

    @Test("an identifier is refused unless it has the exact digits and parts")
    func identifiers() {
        let wrong: [(any OperatorCommand.Type, String, JSONValue)] = [
            (ForgetDevice.self, "device", "0"), (ForgetDevice.self, "device", 0),
            (ForgetDevice.self, "device", ""),
            (ForgetDevice.self, "device", "-5"), (ForgetDevice.self, "device", "99999999999999999999"),
            (ShowDevice.self, "device", "0"), (ShowDevice.self, "device", 0), (ShowDevice.self, "device", ""),
            (DrainSessions.self, "session", "0-1-1-1"), (DrainSessions.self, "session", "1"),
            (DrainSessions.self, "session", "0-1-1"),
            (DrainSessions.self, "session", "70000-1"), (DrainSessions.self, "session", "0-+1-1"),
            (DrainSessions.self, "sender_id", "9223372036854775808"), (ListDevices.self, "limit", "+5"),
            (ListDevices.self, "limit", ""), (ListTopics.self, "after", "/news"),
            (ListTopics.self, "after", "5/"),
            (ListTopics.self, "after", "5"),
        ]
        for (operation, field, value) in wrong {
            let problem = #expect(throws: FieldProblem.self, "\(operation) \(field) \(value)") {
                try operation.init(arguments: .object([.init(field, value)]))
            }
            #expect(problem?.path == field)
        }
        let right: [(any OperatorCommand.Type, String, JSONValue)] = [
            (ListDevices.self, "after", "0"), (ListDevices.self, "limit", "5"),
            (ForgetDevice.self, "device", 5),
            (DrainSessions.self, "sender_id", 5), (ListTopics.self, "after", "5/a/b"),
        ]
        for (operation, field, value) in right {
            #expect(throws: Never.self, "\(operation) \(field) \(value)") {
                try operation.init(arguments: .object([.init(field, value)]))
            }
        }
    }

    @Test("Base64 is limited by its decoded bytes, not by its characters")
    func base64() throws {
        func request(_ count: Int) throws {
            let text = Base64.text([UInt8](repeating: 1, count: count))
            let arguments: JSONValue = ["sender_id": 5, "public_key": .string(text)]
            _ = try AddAccount(arguments: arguments)
        }
        try request(Limits.Operator.fileBytes)
        #expect(throws: FieldProblem.self) { try request(Limits.Operator.fileBytes + 1) }
    }

    @Test("the hint of a field has its documentation and its default")
    func hints() {
        let limit = problem(#"{"command":"devices list","arguments":{"limit":0}}"#)
        #expect(limit?.problem.hint == "limit: List up to N. Default: 100.")
        let sender = problem(#"{"command":"senders remove"}"#)
        #expect(sender?.problem.hint == "sender_id: The sender.")
        #expect(sender?.operation is RemoveSender.Type)
    }

    @Test("a long or harmful value is cut and made printable in the answer, and absent from the log")
    func shownValues() {
        let long = problem(
            #"{"command":"devices list","arguments":{"limit":"\u001b[2J"# + String(repeating: "x", count: 500)
                + "\"}}")
        #expect((long?.problem.text.utf8.count ?? .max) < 120)
        #expect(long?.problem.text.contains("\u{1B}") == false)
        #expect(long?.recordedText == "invalid limit: expected a whole number from 1 to 10000")
        let name = problem(#"{"command":"devices list","arguments":{"SECRET":1}}"#)
        #expect(
            name?.recordedText
                == "unknown argument: expected one of limit, after, sender_id, app, channel, presence, seen_before, seen_after, waiting"
        )
        let unknown = problem(#"{"command":"SECRET"}"#)
        #expect(unknown?.recordedText == "" && unknown?.operation == nil)
    }

    @Test(
        "a value of the wrong type is refused with the name of its field", arguments: Operations.all)
    func wrongTypes(operation: any OperatorCommand.Type) {
        for arguments in Samples.sample(of: operation).arguments {
            for member in arguments.members ?? [] {
                for wrong in [
                    JSONValue.array([]), .boolean(true), .number(0.5), .object([.init("x", .null)]),
                ] {
                    if ["data", "notification", "message"].contains(member.key), wrong.members != nil {
                        continue
                    }
                    // An import without rows changes nothing.
                    if member.key == "rows", wrong == .array([]) { continue }
                    if member.value.boolean != nil, wrong.boolean != nil { continue }
                    let members = (arguments.members ?? []).map {
                        $0.key == member.key ? JSONValue.Member($0.key, wrong) : $0
                    }
                    let problem = #expect(throws: FieldProblem.self, "\(operation) \(member.key) \(wrong)") {
                        try operation.init(arguments: .object(members))
                    }
                    #expect(problem?.path == member.key && problem?.hint.isEmpty == false)
                }
            }
        }
    }

    @Test(
        "a number at its limits is accepted, and one beyond them is refused",
        arguments: Operations.all)
    func limits(operation: any OperatorCommand.Type) throws {
        let base = Samples.sample(of: operation).arguments[0].members ?? []
        for field in operation.definition.arguments {
            guard case .integer(let range) = field.form else { continue }
            func request(_ number: Int) throws {
                let others = base.filter { $0.key != field.name }
                _ = try operation.init(arguments: .object(others + [.init(field.name, .integer(number))]))
            }
            for number in [range.lowerBound, range.upperBound] { try request(number) }
            let above = range.upperBound == .max ? [] : [range.upperBound + 1]
            for number in [range.lowerBound - 1] + above {
                #expect(throws: FieldProblem.self, "\(operation) \(field.name) \(number)") {
                    try request(number)
                }
            }
        }
    }

    @Test("a text beyond its limit is refused", arguments: Operations.all)
    func texts(operation: any OperatorCommand.Type) throws {
        let base = Samples.sample(of: operation).arguments[0].members ?? []
        for field in operation.definition.arguments {
            guard case .text(let range) = field.form else { continue }
            func request(_ count: Int) throws {
                let text = JSONValue.string(String(repeating: "x", count: count))
                let others = base.filter { $0.key != field.name }
                _ = try operation.init(arguments: .object(others + [.init(field.name, text)]))
            }
            try request(range.upperBound)
            #expect(throws: FieldProblem.self, "\(operation) \(field.name)") {
                try request(range.upperBound + 1)
            }
        }
    }

    @Test("a request with a byte changed, removed or repeated is a command or a problem, never a trap")
    func changedBytes() {
        var random = SeededRandom(seed: 29)
        var taken = 0
        var refused = 0
        for (name, sample) in Samples.all.sorted(by: { $0.key < $1.key }) {
            for arguments in sample.arguments {
                let line: JSONValue = ["command": .string(name), "arguments": arguments]
                let bytes = Array(line.compact.utf8)
                for _ in 0..<300 {
                    var changed = bytes
                    let at = Int.random(in: 0..<changed.count, using: &random)
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0: changed[at] = UInt8.random(in: 0...255, using: &random)
                    case 1: changed.remove(at: at)
                    default: changed.insert(changed[at], at: at)
                    }
                    do throws(RequestProblem) {
                        _ = try RequestLine.request(changed.raw)
                        taken += 1
                    } catch {
                        refused += 1
                        #expect(!error.problem.text.isEmpty)
                    }
                }
            }
        }
        #expect(taken > 100 && refused > 1_000, "\(taken) \(refused)")
    }

    @Test("replies are encoded as they were decoded, and an invalid line is refused")
    func replies() throws {
        let replies: [OperatorReply] = [
            .progress(OperatorProgress(done: -1, total: 3, what: "x")), .line(name: "trace", ["a": 1]),
            .result(["a": 1]), .result(.null), .problem(OperatorProblem("no", hint: "try")),
        ]
        for reply in replies {
            #expect(try OperatorReply(parsing: Array(reply.json.compact.utf8).raw) == reply)
        }
        let wrong: [(String, OperatorReply.ReadingProblem)] = [
            ("", .notJSON), ("[]", .unknownForm), ("{}", .unknownForm), ("7", .unknownForm),
            (#"{"a":1,"b":2}"#, .unknownForm),
        ]
        for (line, problem) in wrong {
            #expect(throws: problem, "\(line)") { try OperatorReply(parsing: Array(line.utf8).raw) }
        }
        #expect(throws: OperatorReply.ReadingProblem.self) {
            try OperatorReply(parsing: Array(#"{"progress":{"done":1}}"#.utf8).raw)
        }
        let bare = try OperatorReply(parsing: Array(#"{"ok":false}"#.utf8).raw)
        #expect(bare == .problem(OperatorProblem("no reason is given")))
    }
}
