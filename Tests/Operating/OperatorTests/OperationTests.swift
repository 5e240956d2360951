import Basics
import Operator
import Testing
import Wire

/// Commands, answers and lines are decoded and encoded without loss.
@Suite("Operations") struct OperationTests {
    @Test("every operation has samples, which contain all of its fields")
    func coverage() { #expect(Coverage.gaps(in: Samples.all) == []) }

    @Test("canary: an operation without a sample, and a field in no sample, are found")
    func coverageCanary() {
        var samples = Samples.all
        samples[TraceDevice.summary.name] = nil
        #expect(Coverage.gaps(in: samples) == ["devices trace has no sample"])
        samples = Samples.all
        samples[DrainSessions.summary.name]?.arguments.removeLast()
        samples[TraceDevice.summary.name]?.lines.removeLast()
        samples[ListSenders.summary.name]?.answers = [
            ["senders": [["sender_id": "5", "label": "shop", "keys": 2]]]
        ]
        #expect(
            Coverage.gaps(in: samples) == [
                "drain: argument release is in no sample",
                "senders list: answer senders[].project is in no sample",
                "senders list: answer senders[].created_at is in no sample",
                "senders list: answer senders[].suspended is in no sample",
                "devices trace: line trace is in no sample",
            ])
    }

    @Test(
        "every command is encoded as it was decoded, in a request with its name",
        arguments: Operations.all)
    func commands(operation: any OperatorCommand.Type) throws {
        for arguments in Samples.sample(of: operation).arguments {
            let request = try operation.init(arguments: arguments)
            #expect(request.json == arguments)
            let line = RequestLine.json(request)
            #expect(line == ["command": .string(operation.summary.name), "arguments": arguments])
            let again = try RequestLine.request(Array(line.compact.utf8).raw)
            #expect(type(of: again).summary.name == operation.summary.name && again.json == arguments)
        }
    }

    @Test("every answer and every line is encoded as it was decoded", arguments: Operations.all)
    func answers(operation: any OperatorCommand.Type) throws {
        func read<Command: OperatorCommand>(_: Command.Type) throws {
            let sample = Samples.sample(of: operation)
            for answer in sample.answers { #expect(try Command.Answer(json: answer).json == answer) }
            for (name, json) in sample.lines {
                let line = try #require(try Command.Line(name: name, json: json))
                #expect(line.name == name && line.json == json)
                #expect(OperatorReply(line).json == .object([.init(name, json)]))
            }
            #expect(try Command.Line(name: "nonsense", json: [:]) == nil)
        }
        try read(operation)
    }

    @Test("canary: a value that is not encoded is noticed")
    func canary() throws {
        let arguments: JSONValue = ["limit": 100]
        #expect(try ListDevices(arguments: arguments).json != arguments)
    }

    @Test("an omitted field has its default, and a default is not encoded")
    func presets() throws {
        let devices = try ListDevices(arguments: [:])
        let rotation = try RotateKey(arguments: ["sender_id": 5])
        let drain = try DrainSessions(arguments: [:])
        #expect(devices.limit == 100 && devices.after == nil && devices.json == [:])
        #expect(rotation.overlapSeconds == 86_400 && rotation.json == ["sender_id": "5"])
        #expect(drain.action == .drain(.appServers))
        let null = try ListDevices(arguments: ["limit": .null, "after": .null])
        #expect(null.json == [:], "null is the same as absent")
    }

    @Test("an answer may have unknown fields, and a missing field is reported with its path")
    func otherVersions() throws {
        let newer: JSONValue = ["sessions": 3, "surprise": ["a": 1]]
        #expect(try DrainSessions.Answer(json: newer).sessions == 3)
        let row: JSONValue = ["sender_id": "5", "label": "", "project": "p", "keys": 1, "suspended": false]
        let problem = #expect(throws: FieldProblem.self) {
            try ListSenders.Answer(json: ["senders": [row]])
        }
        #expect(problem?.path == "senders[0].created_at" && problem?.fault == .missing)
        #expect(
            problem?.hint == "created_at: When the sender was added.",
            "of the field itself, not of the enclosing one")
        let fields = ShowStatus.Answer.fields
        #expect(try fields.value(\.process, in: ["pid": 7]) == 7, "one field alone, whatever else is missing")
    }

    @Test("the hint for an argument shows an empty default in words, and an invalid app name is named")
    func emptyDefault() {
        func problem(_ app: String, _ label: String) -> FieldProblem? {
            #expect(throws: FieldProblem.self) {
                try AddVirtualDevice(arguments: [
                    "sender_id": "5", "app": .string(app), "label": .string(label),
                ])
            }
        }
        let long = problem("a", String(repeating: "x", count: 10_000))
        #expect(long?.hint.hasSuffix("Default: empty.") == true, "\(long?.hint ?? "")")
        for app in ["a\u{0}b", "", "a\nb"] {
            #expect(problem(app, "")?.path == "app")
        }
    }

    @Test("a field without a value is null if it is nullable, and omitted otherwise")
    func absence() {
        let row = InstallationRow(
            installation: "cGFzc3dvcmQ_aGVsbG8tdw", sender: nil, hasEnded: true, createdAt: 0, usedAt: nil,
            registrations: 0)
        #expect(row.json["sender_id"] == .null && row.json["used_at"] == .null)
        #expect(
            ListDevices.Answer(devices: [], examined: 0, nextAfter: nil).json == [
                "devices": [], "examined": 0,
            ])
        #expect(AddSender().json == [:])
    }

    @Test("a field is found by its key path")
    func paths() {
        #expect(RotateKey.fields.name(of: \.sender) == "sender_id")
        #expect(RotateKey.fields.name(of: \.overlapSeconds) == "overlap_seconds")
        #expect(DrainSessions.fields.name(of: \.action) == nil)
    }

    @Test("the audit line has the error code of a refused message, and ok for any other answer")
    func auditResults() {
        func result(_ outcome: SendMessage.Answer.Outcome, _ error: String?) -> String {
            SendMessage.auditResult(SendMessage.Answer(messageID: "m", outcome: outcome, error: error))
        }
        #expect(result(.ack, nil) == "ok" && result(.nack, "BAD_REGISTRATION") == "BAD_REGISTRATION")
        #expect(result(.nack, nil) == "refused")
        #expect(DrainSessions.auditResult(DrainSessions.Answer(sessions: 0)) == "ok")
        #expect(DrainSessions.auditResult(DrainSessions.Answer(sessions: 0, state: "drained")) == "drained")
    }

    @Test(
        "only the role operator may change data, and every text is a sentence",
        arguments: Operations.all)
    func documentation(operation: any OperatorCommand.Type) {
        let operation = operation.definition
        #expect(Operations.named(operation.summary.name).map { "\($0)" } == "\(operation.command)")
        #expect(!operation.summary.isChanging || operation.summary.role == .operator)
        let fields = operation.arguments + operation.answer + operation.lines.flatMap(\.fields)
        let texts = [operation.summary.text] + operation.summary.details + fields.map(\.documentation)
        for text in texts {
            #expect(text.hasSuffix(".") && text.count > 3, "\(operation.summary.name): \(text)")
        }
        for fields in [operation.arguments, operation.answer] + operation.lines.map(\.fields) {
            #expect(Set(fields.map(\.name)).count == fields.count)
        }
    }

    @Test(
        "a secret appears in no audit line and in no description", arguments: Operations.all)
    func secrets(operation: any OperatorCommand.Type) throws {
        for field in operation.definition.arguments where field.isSecret {
            #expect(field.audit == nil || field.audit == .target, "\(field.name)")
        }
        for arguments in Samples.sample(of: operation).arguments {
            let request = try operation.init(arguments: arguments)
            for secret in ["SECRET", "U0VDUkVU", "AIzaSy"] {
                #expect(!"\(request)".contains(secret) && !"\(request.auditEntries)".contains(secret))
            }
            let words = request.auditEntries.map(\.key)
            #expect(words == words.sorted())
        }
    }

    @Test("the audit line has the names and IDs of a command, and its recipient")
    func audit() throws {
        func entries(_ operation: any OperatorCommand.Type) throws -> [String] {
            try Samples.sample(of: operation).arguments.flatMap { arguments in
                try operation.init(arguments: arguments).auditEntries.map { entry in
                    switch entry.value {
                    case .text(let text): "\(entry.key.rawValue)=\(text)"
                    case .recipient(let text): "\(entry.key.rawValue): \(text.revealed.prefix(3))"
                    }
                }
            }
        }
        #expect(try entries(AddSender.self) == ["sender=5", "label=shop", "project=lab-one"])
        #expect(try entries(SendMessage.self) == ["sender=5", "target: dzx", "sender=5"])
        #expect(try entries(RemoveAccount.self) == ["sender=5", "key_id=0a"])
        #expect(
            try entries(AddAPNsCredential.self) == [
                "sender=4711", "key_id=ABC123DEFG", "bundle=com.example.app",
            ])
        #expect(try entries(RemoveAPNsCredential.self) == ["credential=ABC123DEFG"])
        #expect(try entries(SuspendSender.self) == ["sender=5"])
        #expect(try entries(ChangeLogLevel.self) == ["level=debug", "duration=600s"])
        #expect(try entries(ListMessages.self) == ["target: dzx", "sender=5"])
        #expect(try entries(DrainSessions.self) == ["session=0-345", "sender=5"])
        #expect(try entries(ForgetDevice.self) == ["target=42"])
        #expect(try entries(ShowDevice.self) == ["target: 42", "target: dzx"])
        #expect(try entries(RevokeInstallation.self) == ["installation=cGFzc3dvcmQ_aGVsbG8tdw"])
        #expect(try entries(ReloadConfiguration.self) == [])
    }
}
