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
    private static let stable: Set<OperationName> = [
        .showAuthority, .showConfiguration, .listSenders, .listDevices, .listInstallations, .listTopics,
        .listRunningTopics, .listAccounts, .listAPNsCredentials, .listOperators, .listMessages, .showDevice,
        .exportRecords, .checkConfiguration, .setWebhook, .listWebhooks, .showWebhook,
    ]

    /// Returns the arguments of a command; those of commands that destroy something name what does not exist.
    private static func arguments(
        of name: OperationName, sender: String, device: String, token: String, path: String
    ) -> JSONValue {
        switch name {
        case .makeBackup: ["path": .string(path)]
        case .exportRecords: ["part": "senders"]
        case .importRecords: ["rows": []]
        case .handOverPartition: ["partition": 3]
        case .removeNode, .admitNode: ["node": 3]
        case .advanceClock: ["duration": "1d"]
        case .addVirtualDevice: ["sender_id": .string(sender), "app": "org.example.app"]
        case .changeVirtualDevice, .readVirtualDevice, .sendFromVirtualDevice, .listSent,
            .unregisterVirtualDevice, .removeVirtualDevice, .settleVirtualDevice, .reinstallVirtualDevice:
            ["device": "77"]
        case .addFault: ["action": "drop", "sender_id": .string(sender)]
        case .removeFault: ["fault": 1]
        case .addRecorder, .readRecorder, .clearRecorder, .removeRecorder: ["sender_id": .string(sender)]
        case .addOperator: ["name": .string("x\(UInt32.random(in: 0...(.max)))"), "role": "operator"]
        case .removeOperator: ["name": "zed"]
        case .sendMessage: ["sender_id": .string(sender), "to": .string(token), "data": ["a": "b"]]
        case .suspendSender, .resumeSender, .rotateKey, .removeSender, .listAPNsFeedback: ["sender_id": "5"]
        case .setWebhook:
            [
                "sender_id": .string(sender), "url": "https://a.example/",
                "secret": .string(String(repeating: "A", count: 32)),
            ]
        case .showWebhook, .pauseWebhook, .resumeWebhook: ["sender_id": .string(sender)]
        case .rotateWebhookSecret, .clearWebhook: ["sender_id": "5"]
        case .addAccount: ["sender_id": "5", "public_key": "AAAA"]
        case .removeAccount: ["sender_id": "5", "key_id": "00"]
        case .addAPNsCredential: ["file": "AAAA"]
        case .showAPNsCredential, .testAPNsCredential, .removeAPNsCredential:
            ["credential": "0011223344556677"]
        case .listMessages, .showDevice: ["device": .string(device)]
        case .traceDevice: ["device": .string(device), "seconds": 1]
        case .forgetDevice: ["device": "12345"]
        case .showInstallation, .revokeInstallation: ["installation": "cGFzc3dvcmQ_aGVsbG8tdw"]
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
        var done: Set<OperationName> = []
        for name in OperationName.allCases {
            func request() throws -> any OperatorCommand {
                let path = bench.daemon.directory.appendingPathComponent("backup-\(UUID())").path
                return try OperatorRequest(
                    name,
                    arguments: Self.arguments(
                        of: name, sender: sender, device: number, token: device.token, path: path)
                ).command
            }
            let expected = try Self.onSocket(try request(), &client)
            let answer = try bench.ask(try request())
            let isStream = OperatorRoute(name.definition).isStream
            switch expected {
            case .refused(let problem):
                #expect(answer.status == 409, "\(name.rawValue): \(answer)")
                #expect(
                    answer.json["detail"]?.text == problem.text && answer.json["hint"]?.text == problem.hint)
                #expect(answer.head.contains("application/problem+json"))
            case .done(let json):
                done.insert(name)
                #expect(answer.status == 200, "\(name.rawValue): \(answer)")
                let found = isStream ? try Self.lastEvent(answer) : answer.json
                #expect(Self.shape(found) == Self.shape(json), "\(name.rawValue): \(found) for \(json)")
                if Self.stable.contains(name) { #expect(found == json, "\(name.rawValue)") }
            }
        }
        #expect(
            done.isSuperset(of: Self.stable) && done.contains(.traceDevice) && done.count >= 30, "\(done)")
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
