import Basics
import Client
import Foundation
import Operator
import Testing
import Wire

/// Every command over the operator API gives the answer of the control socket.
@Suite("The operator API", .serialized)
struct OperatorAPITests {
    /// Commands whose answers do not change from one moment to the next, so that they are equal word for word.
    private static let stable: [any OperatorCommand.Type] = [
        ShowAuthority.self, ShowConfiguration.self, ListSenders.self, ListDevices.self,
        ListInstallations.self, ListTopics.self,
        ListRunningTopics.self, ListAccounts.self, ListAPNsCredentials.self, ListOperators.self,
        ListMessages.self, ShowDevice.self,
        ExportRecords.self, CheckConfiguration.self, SetWebhook.self, ListWebhooks.self, ShowWebhook.self,
    ]

    /// Returns the arguments of a command; those of commands that destroy something name what does not exist.
    private static func arguments(
        of operation: any OperatorCommand.Type, sender: String, device: String, token: String, path: String
    ) -> JSONValue {
        switch operation {
        case is MakeBackup.Type: ["path": .string(path)]
        case is ExportRecords.Type: ["part": "senders"]
        case is ImportRecords.Type: ["rows": []]
        case is HandOverPartition.Type: ["partition": 3]
        case is RemoveNode.Type, is AdmitNode.Type: ["node": 3]
        case is AdvanceClock.Type: ["duration": "1d"]
        case is AddVirtualDevice.Type: ["sender_id": .string(sender), "app": "org.example.app"]
        case is ChangeVirtualDevice.Type, is ReadVirtualDevice.Type, is SendFromVirtualDevice.Type,
            is ListSent.Type, is UnregisterVirtualDevice.Type, is RemoveVirtualDevice.Type,
            is SettleVirtualDevice.Type, is ReinstallVirtualDevice.Type:
            ["device": "77"]
        case is AddFault.Type: ["action": "drop", "sender_id": .string(sender)]
        case is RemoveFault.Type: ["fault": 1]
        case is AddRecorder.Type, is ReadRecorder.Type, is ClearRecorder.Type, is RemoveRecorder.Type:
            ["sender_id": .string(sender)]
        case is AddOperator.Type: ["name": .string("x\(UInt32.random(in: 0...(.max)))"), "role": "operator"]
        case is RemoveOperator.Type: ["name": "zed"]
        case is SendMessage.Type: ["sender_id": .string(sender), "to": .string(token), "data": ["a": "b"]]
        case is SuspendSender.Type, is ResumeSender.Type, is RotateKey.Type, is RemoveSender.Type,
            is ListAPNsFeedback.Type:
            ["sender_id": "5"]
        case is SetWebhook.Type:
            [
                "sender_id": .string(sender), "url": "https://a.example/",
                "secret": .string(String(repeating: "A", count: 32)),
            ]
        case is ShowWebhook.Type, is PauseWebhook.Type, is ResumeWebhook.Type: ["sender_id": .string(sender)]
        case is RotateWebhookSecret.Type, is ClearWebhook.Type: ["sender_id": "5"]
        case is AddAccount.Type: ["sender_id": "5", "public_key": "AAAA"]
        case is RemoveAccount.Type: ["sender_id": "5", "key_id": "00"]
        case is AddAPNsCredential.Type: ["file": "AAAA"]
        case is ShowAPNsCredential.Type, is TestAPNsCredential.Type, is RemoveAPNsCredential.Type:
            ["credential": "0011223344556677"]
        case is ListMessages.Type, is ShowDevice.Type, is ListHistory.Type: ["device": .string(device)]
        case is FindMessages.Type: ["message_id": "none"]
        case is CancelMessages.Type: ["device": .string(device), "message_id": "none"]
        case is TraceDevice.Type: ["device": .string(device), "seconds": 1]
        case is ForgetDevice.Type: ["device": "12345"]
        case is ShowInstallation.Type, is RevokeInstallation.Type: ["installation": "cGFzc3dvcmQ_aGVsbG8tdw"]
        default: [:]
        }
    }

    /// Returns the names and types of a value, without its numbers and texts.
    static func shape(_ value: JSONValue) -> JSONValue {
        switch value {
        case .object(let members):
            // The names of counts are those that are not 0.
            members.allSatisfy({ $0.value.integer != nil })
                ? "counts" : .object(members.map { .init($0.key, shape($0.value)) })
        case .array(let elements): .array(elements.prefix(1).map { shape($0) })
        case .string: "text"
        case .integer, .number: "number"
        case .boolean: "boolean"
        case .null: .null
        }
    }

    private static func onSocket(
        _ command: some OperatorCommand, _ client: inout ControlClient
    ) throws -> ControlAnswer<JSONValue> {
        try client.result(of: command)
    }

    @Test("each command has the same answer, or the same refusal, as on the control socket")
    func all() throws {
        let bench = try OperatorAPIBench()
        let sender = try bench.daemon.firstSender.id
        let device = try TestDevice(bench.daemon, sender: sender)
        defer { device.stop() }
        let row = try bench.daemon.ctl("devices", "list")["devices"] as? [[String: Any]]
        let number = try #require(row?.first?["device"] as? String)
        var client = try ControlClient(path: bench.daemon.controlSocket)
        var done: Set<String> = []
        for operation in Operations.all {
            func request() throws -> any OperatorCommand {
                let path = bench.daemon.directory.appendingPathComponent("backup-\(UUID())").path
                return try operation.init(
                    arguments: Self.arguments(
                        of: operation, sender: sender, device: number, token: device.token, path: path))
            }
            let expected = try Self.onSocket(try request(), &client)
            let answer = try bench.ask(try request())
            let isStream = OperatorRoute(operation.definition).isStream
            switch expected {
            case .refused(let problem):
                #expect(answer.status == 409, "\(operation.summary.name): \(answer)")
                #expect(
                    answer.json["detail"]?.text == problem.text && answer.json["hint"]?.text == problem.hint)
                #expect(answer.head.contains("application/problem+json"))
            case .done(let json):
                done.insert(operation.summary.name)
                #expect(answer.status == 200, "\(operation.summary.name): \(answer)")
                let found = isStream ? try Self.lastEvent(answer) : answer.json
                #expect(
                    Self.shape(found) == Self.shape(json), "\(operation.summary.name): \(found) for \(json)")
                if Self.stable.contains(where: { $0 == operation }) {
                    #expect(found == json, "\(operation.summary.name)")
                }
            }
        }
        #expect(
            done.isSuperset(of: Self.stable.map { $0.summary.name })
                && done.contains(TraceDevice.summary.name) && done.count >= 30, "\(done)")
        let log = bench.daemon.words
        #expect(log.contains("event=operator_command user=alice pid=127.0.0.1 command=\"senders add\""))
        for token in bench.tokens.values { #expect(!log.contains(token)) }
    }

    /// Returns the data of the last event, which must be a result.
    private static func lastEvent(_ answer: OperatorAPIBench.Answer) throws -> JSONValue {
        let events = (answer.json.text ?? "").components(separatedBy: "\n\n").filter { !$0.isEmpty }
        let lines = try #require(events.last).split(separator: "\n")
        #expect(lines.first == "event: result" && answer.head.contains("text/event-stream"))
        return try JSONValue(parsing: Array(try #require(lines.last).dropFirst("data: ".count).utf8).raw)
    }

    @Test("canary: another name, a missing member and another type are noticed")
    func canary() {
        let value: JSONValue = ["a": "x", "b": [["c": true]]]
        #expect(Self.shape(value) == Self.shape(["a": "y", "b": [["c": false], ["c": true]]]))
        #expect(Self.shape(value) != Self.shape(["a": "x", "d": [["c": true]]]))
        #expect(Self.shape(value) != Self.shape(["a": "x", "b": [["c": 1]]]))
        #expect(Self.shape(value) != Self.shape(["a": "x"]))
    }

    @Test("ccsctl runs every kind of command on another machine: answers, lines, progress, files, refusals")
    func remote() throws {
        let bench = try OperatorAPIBench()
        let sender = try bench.daemon.firstSender.id
        let device = try TestDevice(bench.daemon, sender: sender)
        defer { device.stop() }
        #expect(try bench.ctl(as: "victor", "senders", "list").output.contains(sender))
        let refused = try bench.ctl(as: "victor", "senders", "add")
        #expect(refused.code == 77 && refused.errors.contains("needs the role operator"), "\(refused)")
        let unknown = try bench.ctl(as: "alice", "senders", "remove", "5", "--yes")
        #expect(unknown.code == 1 && unknown.errors.contains("unknown sender 5"), "\(unknown)")
        let trace = try bench.ctl(as: "alice", "--json", "devices", "trace", device.token, "--seconds", "1")
        #expect(
            trace.code == 0 && trace.output.contains("{\"tracing\":")
                && trace.output.contains("\"left_out\":0"))
        let sent = try bench.ctl(as: "alice", "--json", "send", sender, device.token, "a=b")
        #expect(sent.object?["outcome"] as? String == "ack", "\(sent)")
        let file = bench.daemon.directory.appendingPathComponent("registry.jsonl").path
        #expect(try bench.ctl(as: "alice", "export", file).code == 0)
        #expect(try bench.ctl(as: "alice", "import", file, "--yes").code == 0)
        #expect(try bench.ctl(as: "alice", "drain", "--yes").code == 0)
        #expect(try bench.ctl(as: "alice", "top", "--once", "--interval", "1").output.contains("serving"))
        #expect(try bench.ctl(as: "alice", "version").output.contains("ccsd "))
        let removed = try bench.ctl(as: "alice", "operators", "remove", "alice", "--yes")
        #expect(removed.code == 0, "an operator can remove itself and gets the answer: \(removed)")
        #expect(try bench.ctl(as: "alice", "status").code == 77)
    }

    @Test(
        "ccsctl refuses a token file that others can read, a server without TLS, and a certificate that is not trusted"
    )
    func remoteSafety() throws {
        let bench = try OperatorAPIBench()
        let file = bench.daemon.directory.appendingPathComponent("open.token")
        try Data("abc\n".utf8).write(to: file)
        func run(_ words: String...) throws -> Tool { try Tool.run("ccsctl", words + ["status"]) }
        let url = "https://localhost:\(bench.port)"
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
        let open = try run("--server", url, "--token-file", file.path, "--ca-file", bench.daemon.authority)
        #expect(open.code == 77 && open.errors.contains("chmod 600"), "\(open)")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        try Data("two words\n".utf8).write(to: file)
        let bad = try run("--server", url, "--token-file", file.path, "--ca-file", bench.daemon.authority)
        #expect(bad.code == 65 && bad.errors.contains("invalid token of an operator"), "\(bad)")
        try Data("abc\n".utf8).write(to: file)
        let plain = try run("--server", "http://192.0.2.1:9100", "--token-file", file.path)
        #expect(plain.code == 64 && plain.errors.contains("has no TLS"), "\(plain)")
        let stranger = try run("--server", url, "--token-file", file.path)
        #expect(stranger.code == 69 && stranger.errors.contains("--ca-file"), "\(stranger)")
        let wrong = try run("--server", url, "--token-file", file.path, "--ca-file", bench.daemon.authority)
        #expect(wrong.code == 77 && wrong.errors.contains("token is unknown"), "\(wrong)")
        #expect(try run("--server", url).errors.contains("--server needs --token-file"))
        #expect(try run("--token-file", file.path).errors.contains("needs --server"))
        #expect(try run("--server", "ftp://x", "--token-file", file.path).code == 64)
    }
}
