import Basics
import Testing

@testable import Delivery

/// What a release build does where it finds a state that cannot be.
@Suite struct InvariantTests {
    @Test("The batch of a broken state is refused, the connection closed, and nothing of it acknowledged")
    func refusesBatch() throws {
        var settings = DeliverySettings()
        settings.trapsAtFailedInvariants = false
        let bench = Harness.withDevice(settings: settings)
        bench.login()
        bench.settle()
        _ = bench.take(phone)
        let entry = try #require(bench.partitions[0].core.devices.table[device])
        var report = StoredMessage(
            device: device, sequence: Sequence(.max), salt: 0, registration: Harness.target.number,
            sender: nil,
            kind: .sendError, messageID: [], acceptedAt: 0, expiresAt: .max, body: [])
        report.device = device
        entry.append(
            MailboxSlot(entry: MailboxEntry(report), state: .waiting(isStored: true)), registrationAt: 0)
        bench.submit(1)
        bench.settle()
        #expect(bench.take(appServer).words == ["nack 1 unavailable"])
        #expect(bench.take(phone).words == ["close internal_error"])
        #expect(bench.failures.map(\.what) == ["a sequence is not the newest"])
        #expect(bench.store.put.isEmpty)
        // What is in memory has been read again, and the next message is taken.
        bench.submit(2)
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 2"])
        #expect(bench.failures.count == 1)
    }
}
