import Basics
import Delivery
import Glibc
import Operator
import Synchronization
import Testing
import Wire

@testable import Server

/// Operator commands leave an audit line in the log; invalid requests have no other effect.
@Suite("Audit lines", .serialized)
struct AuditLineTests {
    /// Collects the lines of a log.
    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])

        /// Returns a log whose lines are collected here.
        func log() -> Log {
            Log(
                level: .notice,
                write: { bytes in
                    let line = String(decoding: bytes, as: UTF8.self)
                    self.lines.withLock { $0.append(line) }
                })
        }

        /// Waits for audit lines since the last call, since the first reply of a long command comes before its audit line.
        func next() -> [String] {
            var written: [String] = []
            _ = InProcessServer.eventually {
                written += take()
                return !written.isEmpty
            }
            return written
        }

        /// Removes and returns the audit lines since the last call.
        func take() -> [String] {
            lines.withLock { lines in
                defer { lines.removeAll() }
                return lines.filter { $0.contains("event=operator_command ") }
            }
        }
    }

    private static let device: UInt64 = 77
    private static let installation = "cGFzc3dvcmQ_aGVsbG8tdw"
    private static let key = "AIzaSECRET-KEY-OF-AN-OPERATOR-0123456789"

    /// The arguments and line of a command of the test bench, which is off.
    private static func testBench(_ operation: any OperatorCommand.Type) -> (
        arguments: JSONValue, line: String
    ) {
        let (arguments, audited): (JSONValue, String) =
            switch operation {
            case is AddVirtualDevice.Type:
                (
                    ["sender_id": "4711", "app": "org.example.app", "label": "first"],
                    "sender=4711 label=first"
                )
            case is AddRecorder.Type, is ClearRecorder.Type, is RemoveRecorder.Type:
                (["sender_id": "4711"], "sender=4711")
            case is AddFault.Type: (["action": "drop", "sender_id": "4711"], "sender=4711")
            case is RemoveFault.Type: (["fault": 3], "target=3")
            case is ClearFaults.Type, is ResetTestBench.Type: ([:], "")
            default: (["device": "77"], "target=77")
            }
        return (arguments, "command=\"\(operation.summary.name)\" arguments=\"\(audited)\" result=refused")
    }

    private static func operators(_ operation: any OperatorCommand.Type) -> (
        arguments: JSONValue, line: String
    ) {
        guard operation is AddOperator.Type else {
            return (
                ["name": "alice"], "command=\"operators remove\" arguments=\"operator=alice\" result=ok"
            )
        }
        return (
            ["name": "alice", "role": "operator"],
            "command=\"operators add\" arguments=\"operator=alice role=operator\" result=ok"
        )
    }

    /// The arguments for a changing operation and its expected audit line; `nil` for one that only reads.
    ///
    /// A new operation that changes something fails the test without its case here.
    private static func given(_ operation: any OperatorCommand.Type) -> (arguments: JSONValue, line: String)?
    {
        switch operation {
        case is AddVirtualDevice.Type, is ChangeVirtualDevice.Type, is SendFromVirtualDevice.Type,
            is UnregisterVirtualDevice.Type, is ReinstallVirtualDevice.Type, is RemoveVirtualDevice.Type,
            is AddRecorder.Type, is ClearRecorder.Type, is RemoveRecorder.Type, is AddFault.Type,
            is RemoveFault.Type, is ClearFaults.Type, is ResetTestBench.Type:
            testBench(operation)
        case is AddOperator.Type, is RemoveOperator.Type: operators(operation)
        case is HandOverPartition.Type:
            (
                ["partition": 3, "to": 2],
                "command=\"cluster handover\" arguments=\"partition=3 node=2\" result=refused"
            )
        case is RemoveNode.Type, is AdmitNode.Type:
            (["node": 3], "command=\"\(operation.summary.name)\" arguments=\"node=3\" result=refused")
        case is ChangeLogLevel.Type:
            (
                ["level": "notice", "duration": "10m"],
                "command=\"log level\" arguments=\"level=notice duration=600s\" result=ok"
            )
        case is ReloadConfiguration.Type:
            (
                ["certificate": "SECRET", "private_key": "SECRET"],
                "command=reload arguments=\"\" result=refused"
            )
        case is AcceptClock.Type: ([:], "command=\"clock accept\" arguments=\"\" result=ok")
        case is AdvanceClock.Type:
            (
                ["duration": "4w"],
                "command=\"clock advance\" arguments=\"duration=2419200s\" result=refused"
            )
        case is DrainSessions.Type:
            (["sender_id": "4711"], "command=drain arguments=\"sender=4711\" result=ok")
        case is SendMessage.Type:
            (
                ["sender_id": "4711", "to": "SECRET-TOKEN", "data": ["text": "SECRET"]],
                "command=send arguments=\"sender=4711 target=malformed\" result=BAD_REGISTRATION"
            )
        case is SuspendSender.Type, is ResumeSender.Type, is AddSender.Type, is RotateKey.Type,
            is RemoveSender.Type, is AddAccount.Type, is RemoveAccount.Type:
            senders(operation)
        case is SetWebhook.Type, is RotateWebhookSecret.Type, is PauseWebhook.Type, is ResumeWebhook.Type,
            is ClearWebhook.Type:
            webhooks(operation)
        case is AddAPNsCredential.Type, is TestAPNsCredential.Type, is RemoveAPNsCredential.Type:
            apns(operation)
        case is ImportRecords.Type:
            (
                ["rows": [["kind": "device", "secret": "SECRET"]]],
                "command=import arguments=\"\" result=\"0 added, 0 replaced, 1 refused\""
            )
        case is MakeBackup.Type:
            (["path": "monday"], "command=backup arguments=\"path=monday\" result=refused")
        case is ForgetDevice.Type, is CancelMessages.Type, is RevokeInstallation.Type: devices(operation)
        default: nil
        }
    }

    /// The same for the commands for devices and installations.
    private static func devices(_ operation: any OperatorCommand.Type) -> (arguments: JSONValue, line: String)
    {
        switch operation {
        case is ForgetDevice.Type:
            (
                ["device": .string("\(device)")],
                "command=\"devices forget\" arguments=\"target=77\" result=ok"
            )
        case is CancelMessages.Type:
            (
                ["device": .string("\(device)"), "message_id": "SECRET"],
                "command=\"messages cancel\" arguments=\"target=77\" result=refused"
            )
        default:
            (
                ["installation": .string(installation)],
                "command=\"installations revoke\" arguments=\"installation=\(installation)\" result=ok"
            )
        }
    }

    /// The same for the commands for senders and their accounts.
    private static func senders(_ operation: any OperatorCommand.Type) -> (arguments: JSONValue, line: String)
    {
        switch operation {
        case is SuspendSender.Type, is ResumeSender.Type:
            (
                ["sender_id": "4711"],
                "command=\"\(operation.summary.name)\" arguments=\"sender=4711\" result=ok"
            )
        case is AddSender.Type:
            (
                ["sender_id": "4711", "label": "shop", "key": .string(key)],
                "command=\"senders add\" arguments=\"sender=4711 label=shop\" result=ok"
            )
        case is RotateKey.Type:
            (
                ["sender_id": "4711", "key": .string(key + "-2")],
                "command=\"senders rotate-key\" arguments=\"sender=4711\" result=ok"
            )
        case is RemoveSender.Type:
            (["sender_id": "4711"], "command=\"senders remove\" arguments=\"sender=4711\" result=ok")
        case is AddAccount.Type:
            (
                ["sender_id": "4711", "public_key": "AAEC"],
                "command=\"service-accounts add\" arguments=\"sender=4711\" result=refused problem=\"invalid public_key: expected an RSA key"
            )
        default:
            (
                ["sender_id": "4711", "key_id": "0a"],
                "command=\"service-accounts remove\" arguments=\"sender=4711 key_id=0a\" result=refused"
            )
        }
    }

    /// The same for the commands for webhooks.
    private static func webhooks(_ operation: any OperatorCommand.Type) -> (
        arguments: JSONValue, line: String
    ) {
        let words = "command=\"\(operation.summary.name)\" arguments=\"sender=4711\" result=ok"
        switch operation {
        case is SetWebhook.Type:
            return (["sender_id": "4711", "url": "https://a.example/SECRET"], words)
        case is RotateWebhookSecret.Type:
            return (
                ["sender_id": "4711", "secret": "SECRET"],
                "command=\"senders webhook rotate\" arguments=\"sender=4711\" result=refused problem=\"invalid secret: expected whsec_"
            )
        default: return (["sender_id": "4711"], words)
        }
    }

    /// The same for the commands for credentials for APNs.
    private static func apns(_ operation: any OperatorCommand.Type) -> (arguments: JSONValue, line: String) {
        switch operation {
        case is AddAPNsCredential.Type:
            (
                [
                    "file": "U0VDUkVU", "private_key": "U0VDUkVU", "password": "SECRET",
                    "key_id": "ABC123DEFG", "bundle_id": "com.example.app", "sender_id": "4711",
                ],
                "command=\"apns add\" arguments=\"sender=4711 key_id=ABC123DEFG bundle=com.example.app\" result=refused problem=\"the credential is not recognized"
            )
        case is TestAPNsCredential.Type:
            (
                ["credential": "ABC123DEFG", "test_bundle_id": "com.example.app"],
                "command=\"apns test\" arguments=\"credential=ABC123DEFG bundle=com.example.app\" result=refused"
            )
        default:
            (
                ["credential": "ABC123DEFG"],
                "command=\"apns remove\" arguments=\"credential=ABC123DEFG\" result=refused"
            )
        }
    }

    @Test(
        "each changing command leaves one audit line with user, process and result, and without secrets"
    )
    func changing() throws {
        let lines = Lines()
        let server = try InProcessServer(in: ServerFolder(), log: lines.log())
        let now = Now.read().wall
        let outcome = server.daemon.storage.threads.commitAndWait([
            .putDevice(
                DeviceRecord(
                    device: DeviceID(Self.device),
                    token: SecretDigest(bytes: [UInt8](repeating: 1, count: 32)),
                    createdAt: now, seenAt: now, nextRegistration: 1)),
            .putInstallation(
                InstallationRecord(
                    id: Array(Self.installation.utf8), sender: SenderID(42), refresh: nil, createdAt: now,
                    usedAt: now)),
        ])
        #expect(outcome?.hasFailed == false)
        var operations = Operations.all.filter { !($0 is AddSender.Type || $0 is RemoveSender.Type) }
        // The sender must exist during all other commands.
        operations.insert(AddSender.self, at: 0)
        operations.append(RemoveSender.self)
        for operation in operations {
            #expect((Self.given(operation) != nil) == operation.definition.summary.isChanging, "\(operation)")
            guard let given = Self.given(operation) else { continue }
            _ = lines.take()
            let answer = try server.ask(operation.summary.name, given.arguments)
            let written = lines.next()
            #expect(written.count == 1, "\(operation): \(written)")
            let line = written.first ?? ""
            #expect(
                line.contains(
                    "level=notice event=operator_command user=\(getuid()) pid=\(getpid()) \(given.line)"),
                "\(operation): \(line) \(answer.compact)")
            #expect(!line.contains("SECRET"), "\(line)")
        }
    }

    @Test("a command that fails while it runs leaves an audit line with the reason")
    func refused() throws {
        let lines = Lines()
        let server = try InProcessServer(in: ServerFolder(), log: lines.log())
        let first = try server.ask("drain", ["session": "0-4711"])
        #expect(first["progress"]?["total"]?.integer == 0)
        let written = lines.next()
        #expect(
            written.first?.contains(
                "command=drain arguments=\"session=0-4711\" result=refused problem=\"unknown session 0-4711\""
            ) == true, "\(written)")
    }

    @Test("an invalid request is refused with its mistake, and leaves one audit line without its content")
    func hostile() throws {
        let lines = Lines()
        let server = try InProcessServer(in: ServerFolder(), log: lines.log())
        let cases: [(line: String, error: String, command: String)] = [
            ("SECRET", "invalid request", "unknown"), ("", "invalid request", "unknown"),
            ("{\"command\":\"SECRET\"}", "unknown command", "unknown"),
            ("{\"command\":[\"status\"]}", "missing command: expected the name of a command", "unknown"),
            (String(repeating: "[", count: 5_000), "too deeply nested", "unknown"),
            (#"{"command":"drain","arguments":{"sender":"SECRET"}}"#, "unknown argument sender", "drain"),
            (
                #"{"command":"senders remove","arguments":{"sender_id":"SECRET"}}"#, "invalid sender_id",
                "\"senders remove\""
            ),
            (#"{"command":"senders add","arguments":{"key":"SECRET"}}"#, "invalid key", "\"senders add\""),
            (#"{"command":"devices list","arguments":{"limit":1e300}}"#, "invalid limit", "\"devices list\""),
        ]
        for (line, error, command) in cases {
            let answer = try server.ask(line: line)
            #expect(answer["ok"]?.boolean == false, "\(line)")
            #expect(answer["error"]?.text?.contains(error) == true, "\(answer.compact)")
            #expect(answer["hint"]?.text?.isEmpty == false, "\(answer.compact)")
            let written = lines.take()
            #expect(
                written.count == 1 && written[0].contains(" command=\(command) arguments=\"\" result=refused")
            )
            #expect(!"\(written)".contains("SECRET"), "\(written)")
        }
        let long = try server.ask(line: String(repeating: "x", count: Limits.Operator.requestBytes))
        #expect(long["error"]?.text == "the request is longer than \(Limits.Operator.requestBytes) bytes")
        #expect(try server.ask("status")["ok"]?.boolean == true)
    }
}
