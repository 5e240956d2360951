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
    private static func testBench(_ name: OperationName) -> (arguments: JSONValue, line: String) {
        let (arguments, audited): (JSONValue, String) =
            switch name {
            case .addVirtualDevice:
                (
                    ["sender_id": "4711", "app": "org.example.app", "label": "first"],
                    "sender=4711 label=first"
                )
            case .addRecorder, .clearRecorder, .removeRecorder: (["sender_id": "4711"], "sender=4711")
            case .addFault: (["action": "drop", "sender_id": "4711"], "sender=4711")
            case .removeFault: (["fault": 3], "target=3")
            case .clearFaults, .resetTestBench: ([:], "")
            default: (["device": "77"], "target=77")
            }
        return (arguments, "command=\"\(name.rawValue)\" arguments=\"\(audited)\" result=refused")
    }

    private static func operators(_ name: OperationName) -> (arguments: JSONValue, line: String) {
        guard name == .addOperator else {
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
    /// A new operation does not compile without its case here.
    private static func given(_ name: OperationName) -> (arguments: JSONValue, line: String)? {
        switch name {
        case .showStatus, .checkConfiguration, .showClock, .auditStore, .listSessions, .listSenders,
            .listAccounts, .listDevices, .showDevice, .traceDevice, .listInstallations, .showInstallation,
            .listTopics, .listRunningTopics, .listAPNsCredentials, .showAPNsCredential,
            .listAPNsFeedback, .exportRecords, .showAuthority, .showConfiguration, .listAuditLog,
            .senderStats, .listMessages, .checkHealth, .showFigures, .showCluster, .listVirtualDevices,
            .readVirtualDevice, .settleVirtualDevice, .listSent, .listOperators, .listRecorders,
            .readRecorder, .listFaults, .listWebhooks, .showWebhook:
            nil
        case .addVirtualDevice, .changeVirtualDevice, .sendFromVirtualDevice, .unregisterVirtualDevice,
            .reinstallVirtualDevice, .removeVirtualDevice, .addRecorder, .clearRecorder, .removeRecorder,
            .addFault, .removeFault, .clearFaults, .resetTestBench:
            testBench(name)
        case .addOperator, .removeOperator: operators(name)
        case .handOverPartition:
            (
                ["partition": 3, "to": 2],
                "command=\"cluster handover\" arguments=\"partition=3 node=2\" result=refused"
            )
        case .removeNode, .admitNode:
            (["node": 3], "command=\"\(name.rawValue)\" arguments=\"node=3\" result=refused")
        case .logLevel:
            (
                ["level": "notice", "duration": "10m"],
                "command=\"log level\" arguments=\"level=notice duration=600s\" result=ok"
            )
        case .suspendSender, .resumeSender:
            (["sender_id": "4711"], "command=\"\(name.rawValue)\" arguments=\"sender=4711\" result=ok")
        case .reloadConfiguration:
            (
                ["certificate": "SECRET", "private_key": "SECRET"],
                "command=reload arguments=\"\" result=refused"
            )
        case .acceptClock: ([:], "command=\"clock accept\" arguments=\"\" result=ok")
        case .advanceClock:
            (
                ["duration": "4w"],
                "command=\"clock advance\" arguments=\"duration=2419200s\" result=refused"
            )
        case .drainSessions:
            (["sender_id": "4711"], "command=drain arguments=\"sender=4711\" result=ok")
        case .sendMessage:
            (
                ["sender_id": "4711", "to": "SECRET-TOKEN", "data": ["text": "SECRET"]],
                "command=send arguments=\"sender=4711 target=malformed\" result=BAD_REGISTRATION"
            )
        case .addSender, .rotateKey, .removeSender, .addAccount, .removeAccount: senders(name)
        case .setWebhook, .rotateWebhookSecret, .pauseWebhook, .resumeWebhook, .clearWebhook: webhooks(name)
        case .addAPNsCredential, .testAPNsCredential, .removeAPNsCredential: apns(name)
        case .importRecords:
            (
                ["rows": [["kind": "device", "secret": "SECRET"]]],
                "command=import arguments=\"\" result=\"0 added, 0 replaced, 1 refused\""
            )
        case .makeBackup:
            (["path": "monday"], "command=backup arguments=\"path=monday\" result=refused")
        case .forgetDevice:
            (
                ["device": .string("\(device)")],
                "command=\"devices forget\" arguments=\"target=77\" result=ok"
            )
        case .revokeInstallation:
            (
                ["installation": .string(installation)],
                "command=\"installations revoke\" arguments=\"installation=\(installation)\" result=ok"
            )
        }
    }

    /// The same for the commands for senders and their accounts.
    private static func senders(_ name: OperationName) -> (arguments: JSONValue, line: String) {
        switch name {
        case .addSender:
            (
                ["sender_id": "4711", "label": "shop", "key": .string(key)],
                "command=\"senders add\" arguments=\"sender=4711 label=shop\" result=ok"
            )
        case .rotateKey:
            (
                ["sender_id": "4711", "key": .string(key + "-2")],
                "command=\"senders rotate-key\" arguments=\"sender=4711\" result=ok"
            )
        case .removeSender:
            (["sender_id": "4711"], "command=\"senders remove\" arguments=\"sender=4711\" result=ok")
        case .addAccount:
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
    private static func webhooks(_ name: OperationName) -> (arguments: JSONValue, line: String) {
        let words = "command=\"\(name.rawValue)\" arguments=\"sender=4711\" result=ok"
        switch name {
        case .setWebhook:
            return (["sender_id": "4711", "url": "https://a.example/SECRET"], words)
        case .rotateWebhookSecret:
            return (
                ["sender_id": "4711", "secret": "SECRET"],
                "command=\"senders webhook rotate\" arguments=\"sender=4711\" result=refused problem=\"invalid secret: expected whsec_"
            )
        default: return (["sender_id": "4711"], words)
        }
    }

    /// The same for the commands for credentials for APNs.
    private static func apns(_ name: OperationName) -> (arguments: JSONValue, line: String) {
        switch name {
        case .addAPNsCredential:
            (
                [
                    "file": "U0VDUkVU", "private_key": "U0VDUkVU", "password": "SECRET",
                    "key_id": "ABC123DEFG", "bundle_id": "com.example.app", "sender_id": "4711",
                ],
                "command=\"apns add\" arguments=\"sender=4711 key_id=ABC123DEFG bundle=com.example.app\" result=refused problem=\"the credential is not recognized"
            )
        case .testAPNsCredential:
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
        let outcome = server.daemon.storeThreads.commitAndWait([
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
        var names = OperationName.allCases.filter { $0 != .addSender && $0 != .removeSender }
        // The sender must exist during all other commands.
        names = [.addSender] + names + [.removeSender]
        for name in names {
            #expect((Self.given(name) != nil) == name.definition.summary.isChanging, "\(name)")
            guard let given = Self.given(name) else { continue }
            _ = lines.take()
            let answer = try server.ask(name.rawValue, given.arguments)
            let written = lines.next()
            #expect(written.count == 1, "\(name): \(written)")
            let line = written.first ?? ""
            #expect(
                line.contains(
                    "level=notice event=operator_command user=\(getuid()) pid=\(getpid()) \(given.line)"),
                "\(name): \(line) \(answer.compact)")
            #expect(!line.contains("SECRET"), "\(line)")
        }
    }

    @Test("a command that fails while it runs leaves an audit line with the reason")
    func refused() throws {
        let lines = Lines()
        let server = try InProcessServer(in: ServerFolder(), log: lines.log())
        let first = try server.ask("drain", ["session": "0-4711-1"])
        #expect(first["progress"]?["total"]?.integer == 0)
        let written = lines.next()
        #expect(
            written.first?.contains(
                "command=drain arguments=\"session=0-4711-1\" result=refused problem=\"unknown session 0-4711-1\""
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
