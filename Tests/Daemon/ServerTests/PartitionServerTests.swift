import Basics
import Catalogue
import Delivery
import Store
import Testing
import Wire

@testable import Server

/// The partitions of a store on the reactors of a server.
@Suite("Partitions of a server", .serialized)
struct PartitionServerTests {
    private static func device(_ number: UInt64) -> Mutation {
        let now = Now.read().wall
        return .putDevice(
            DeviceRecord(
                device: DeviceID(number), token: SecretDigest(bytes: [UInt8](repeating: 1, count: 32)),
                createdAt: now, seenAt: now, nextRegistration: 1))
    }

    @Test(
        "every device is served with any number of partitions and reactors",
        arguments: [(1, 1), (5, 3), (16, 2), (2, 5), (64, 1)])
    func served(_ partitions: Int, _ reactors: Int) throws {
        let server = try InProcessServer(
            in: ServerFolder(), reactors: reactors, "store_partitions: \(partitions)\n")
        let status = try server.ask("status")["result"]
        #expect(status?["store"]?["partitions"]?.integer == partitions)
        let devices = (1...40 as ClosedRange<UInt64>).map { $0 }
        let owners = Set(devices.map { PartitionKey.device(DeviceID($0)).partition(of: partitions) })
        #expect(owners.count > partitions / 3, "canary: the devices are spread over many partitions")
        let outcome = server.daemon.storage.threads.commitAndWait(devices.map(Self.device))
        #expect(outcome?.hasFailed == false)
        for device in devices {
            let answer = try server.ask("devices forget", ["device": .string("\(device)")])
            #expect(answer["ok"]?.boolean == true, "\(device): \(answer.compact)")
        }
        let audit = try server.ask("audit")["result"]
        #expect(audit?["devices"]?.integer == 0 && audit?["holds"]?.boolean == true)
        #expect(audit?["partitions"]?.integer == partitions)
        #expect(try server.ask("topics running")["result"]?["messages"]?.elements?.isEmpty == true)
        #expect(try server.ask("clock accept")["ok"]?.boolean == true)
        #expect(server.stop() == .success)
    }

    @Test(
        "a store keeps its partitions, and a configuration with another number is refused with both numbers")
    func number() throws {
        let folder = try ServerFolder()
        #expect(try InProcessServer(in: folder, "store_partitions: 4\n").stop() == .success)
        let failure = #expect(throws: StartupFailure.self) {
            try InProcessServer(in: folder, "store_partitions: 8\n")
        }
        #expect(failure?.exitCode == .configuration)
        #expect(
            failure?.text
                == "the store in \(folder.path)/data/store has 4 partitions, but store_partitions is 8")
        #expect(failure?.hint.contains("set it to 4") == true)
        for lines in ["", "store_partitions: 0\n", "store_partitions: 4\n"] {
            let server = try InProcessServer(in: folder, reactors: 2, lines)
            #expect(server.daemon.storage.store.partitions == 4)
            #expect(server.stop() == .success)
        }
    }

    @Test("a check reports a number of partitions that differs from the running ccsd's")
    func checked() throws {
        let server = try InProcessServer(in: ServerFolder(), "store_partitions: 4\n")
        try server.configure("store_partitions: 4\n")
        #expect(try server.ask("check")["result"]?["ok"]?.boolean == true)
        try server.configure("store_partitions: 5\n")
        let result = try server.ask("check")["result"]
        #expect(result?["ok"]?.boolean == false)
        let found = result?["findings"]?.elements?.first
        #expect(found?["key"]?.text == "store_partitions", "\(result?.compact ?? "")")
        #expect(found?["problem"]?.text?.hasSuffix("has 4 partitions, but store_partitions is 5") == true)
        try server.configure("")
        #expect(try server.ask("check")["result"]?["ok"]?.boolean == true)
    }

    @Test("a store with another layout is refused with a hint")
    func layouts() {
        for (kind, word) in [(StoreError.Kind.olderFormat, "older"), (.newerFormat, "newer")] {
            let failure = StartupFailure(
                StoreError(kind, "/d/store has layout 9, expected layout 3"), opening: Configuration())
            #expect(failure.exitCode == .inputOutput && failure.hint.contains("\(word) version of ccsd"))
            #expect(failure.text.hasSuffix("/d/store has layout 9, expected layout 3"))
        }
    }
}
