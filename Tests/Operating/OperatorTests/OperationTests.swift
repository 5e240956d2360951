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
        samples[.traceDevice] = nil
        #expect(Coverage.gaps(in: samples) == ["devices trace has no sample"])
        samples = Samples.all
        samples[.drainSessions]?.arguments.removeLast()
        samples[.traceDevice]?.lines.removeLast()
        samples[.listSenders]?.answers = [["senders": [["sender_id": "5", "label": "shop", "keys": 2]]]]
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
        arguments: OperationName.allCases)
    func commands(name: OperationName) throws {
        for arguments in Samples.sample(of: name).arguments {
            let request = try OperatorRequest(name, arguments: arguments)
            #expect(request.name == name)
            #expect(request.command.json == arguments)
            let line = RequestLine.json(request.command)
            #expect(line == ["command": .string(name.rawValue), "arguments": arguments])
            let again = try RequestLine.request(Array(line.compact.utf8).raw)
            #expect(again.name == name && again.command.json == arguments)
        }
    }

    @Test("every answer and every line is encoded as it was decoded", arguments: OperationName.allCases)
    func answers(name: OperationName) throws {
        func read<Command: OperatorCommand>(_: Command.Type) throws {
            let sample = Samples.sample(of: name)
            for answer in sample.answers { #expect(try Command.Answer(json: answer).json == answer) }
            for (name, json) in sample.lines {
                let line = try #require(try Command.Line(name: name, json: json))
                #expect(line.name == name && line.json == json)
                #expect(OperatorReply(line).json == .object([.init(name, json)]))
            }
            #expect(try Command.Line(name: "nonsense", json: [:]) == nil)
        }
        try read(name.command)
    }

    @Test("canary: a value that is not encoded is noticed")
    func canary() throws {
        let arguments: JSONValue = ["limit": 100]
        #expect(try OperatorRequest(.listDevices, arguments: arguments).command.json != arguments)
    }

    @Test("an omitted field has its default, and a default is not encoded")
    func presets() throws {
        guard case .listDevices(let devices) = try OperatorRequest(.listDevices, arguments: [:]),
            case .rotateKey(let rotation) = try OperatorRequest(.rotateKey, arguments: ["sender_id": 5]),
            case .drainSessions(let drain) = try OperatorRequest(.drainSessions, arguments: [:])
        else {
            Issue.record("another command")
            return
        }
        #expect(devices.limit == 100 && devices.after == nil && devices.json == [:])
        #expect(rotation.overlapSeconds == 86_400 && rotation.json == ["sender_id": "5"])
        #expect(drain.action == .drain(.appServers))
        let null = try OperatorRequest(.listDevices, arguments: ["limit": .null, "after": .null])
        #expect(null.command.json == [:], "null is the same as absent")
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
                try OperatorRequest(
                    .addVirtualDevice,
                    arguments: ["sender_id": "5", "app": .string(app), "label": .string(label)])
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
        arguments: OperationName.allCases)
    func documentation(name: OperationName) {
        let operation = name.definition
        #expect(operation.summary.name == name)
        #expect(!operation.summary.isChanging || operation.summary.role == .operator)
        let fields = operation.arguments + operation.answer + operation.lines.flatMap(\.fields)
        let texts = [operation.summary.text] + operation.summary.details + fields.map(\.documentation)
        for text in texts { #expect(text.hasSuffix(".") && text.count > 3, "\(name): \(text)") }
        for fields in [operation.arguments, operation.answer] + operation.lines.map(\.fields) {
            #expect(Set(fields.map(\.name)).count == fields.count)
        }
    }

    @Test(
        "a secret appears in no audit line and in no description", arguments: OperationName.allCases)
    func secrets(name: OperationName) throws {
        for field in name.definition.arguments where field.isSecret {
            #expect(field.audit == nil || field.audit == .target, "\(field.name)")
        }
        for arguments in Samples.sample(of: name).arguments {
            let request = try OperatorRequest(name, arguments: arguments)
            for secret in ["SECRET", "U0VDUkVU", "AIzaSy"] {
                #expect(!"\(request)".contains(secret) && !"\(request.auditEntries)".contains(secret))
            }
            let words = request.auditEntries.map(\.key)
            #expect(words == words.sorted())
        }
    }

    @Test("the audit line has the names and IDs of a command, and its recipient")
    func audit() throws {
        func entries(_ name: OperationName) throws -> [String] {
            try Samples.sample(of: name).arguments.flatMap { arguments in
                try OperatorRequest(name, arguments: arguments).auditEntries.map { entry in
                    switch entry.value {
                    case .text(let text): "\(entry.key.rawValue)=\(text)"
                    case .recipient(let text): "\(entry.key.rawValue): \(text.revealed.prefix(3))"
                    }
                }
            }
        }
        #expect(try entries(.addSender) == ["sender=5", "label=shop", "project=lab-one"])
        #expect(try entries(.sendMessage) == ["sender=5", "target: dzx", "sender=5"])
        #expect(try entries(.removeAccount) == ["sender=5", "key_id=0a"])
        #expect(
            try entries(.addAPNsCredential) == ["sender=4711", "key_id=ABC123DEFG", "bundle=com.example.app"])
        #expect(try entries(.removeAPNsCredential) == ["credential=ABC123DEFG"])
        #expect(try entries(.suspendSender) == ["sender=5"])
        #expect(try entries(.logLevel) == ["level=debug", "duration=600s"])
        #expect(try entries(.listMessages) == ["target: dzx", "sender=5"])
        #expect(try entries(.drainSessions) == ["session=0-12-345", "sender=5"])
        #expect(try entries(.forgetDevice) == ["target=42"])
        #expect(try entries(.showDevice) == ["target: 42", "target: dzx"])
        #expect(try entries(.revokeInstallation) == ["installation=cGFzc3dvcmQ_aGVsbG8tdw"])
        #expect(try entries(.reloadConfiguration) == [])
    }
}
