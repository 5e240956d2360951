import Basics
import Testing
import Wire

@testable import Operator

/// Commands that destroy something describe what, so that front ends can ask first.
@Suite("Consequences") struct ConsequenceTests {
    @Test(
        "a command has a consequence only if its operation is declared to destroy something",
        arguments: Operations.all)
    func declared(operation: any OperatorCommand.Type) throws {
        let commands = try Samples.sample(of: operation).arguments.map {
            try operation.init(arguments: $0)
        }
        let consequences = commands.compactMap(\.consequence)
        #expect(operation.definition.summary.isDestroying == !consequences.isEmpty)
        #expect(!operation.definition.summary.isDestroying || operation.definition.summary.isChanging)
        for text in consequences { #expect(text.hasSuffix(".") && !text.contains("SECRET"), "\(text)") }
    }

    @Test(
        "what is removed has a consequence, and so has a rotation without overlap and a drain of everything")
    func cases() {
        let sender = SenderID(5)
        #expect(RemoveSender(sender: sender).consequence?.contains("Sender 5") == true)
        #expect(RotateKey(sender: sender, overlapSeconds: 0).consequence != nil)
        #expect(RotateKey(sender: sender).consequence == nil)
        #expect(DrainSessions(.appServers).consequence != nil)
        #expect(DrainSessions(.sender(sender)).consequence == nil)
        #expect(DrainSessions(.hold).consequence?.contains("disconnected") == true)
        #expect(DrainSessions(.release).consequence == nil)
        #expect(ForgetDevice(device: DeviceID(7)).consequence?.contains("Device 7") == true)
        #expect(SuspendSender(sender: sender).consequence == nil, "it can be resumed")
        #expect(ImportRecords(rows: [], replaces: true).consequence != nil)
        #expect(ImportRecords(rows: []).consequence == nil, "it only adds")
    }

    @Test("a duration is a number of seconds, minutes, hours or days")
    func durations() throws {
        func seconds(_ value: JSONValue) throws -> Int? {
            try ChangeLogLevel(arguments: ["level": "debug", "duration": value]).seconds
        }
        #expect(try seconds("90s") == 90 && seconds("90") == 90 && seconds(90) == 90)
        #expect(try seconds("10m") == 600 && seconds("2h") == 7_200 && seconds("7d") == 604_800)
        for wrong in [
            "0s", "8d", "10 m", "m", "-5s", "1.5h", "", "99999999999999999999h", "9223372036854775807d",
        ] {
            #expect(throws: FieldProblem.self, "\(wrong)") { try seconds(.string(wrong)) }
        }
        #expect(throws: FieldProblem.self, "without a level") {
            try ChangeLogLevel(arguments: ["duration": "90s"])
        }
    }

    @Test("a mailbox is that of a device or of a sender")
    func mailboxes() {
        for wrong: JSONValue in [[:], ["device": "7", "sender_id": "5"]] {
            #expect(throws: FieldProblem.self) { try ListMessages(arguments: wrong) }
        }
        #expect(throws: FieldProblem.self, "no time is in between") {
            try ListDevices(arguments: [
                "seen_after": "2026-11-20T00:00:00Z", "seen_before": "2026-11-20T00:00:00Z",
            ])
        }
    }
}
