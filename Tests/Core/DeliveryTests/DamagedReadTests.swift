import Basics
import Delivery
import Testing

/// Reads that fail, for the moment or since a table of the store is damaged: the answer to each request shows which of the two it is.
@Suite("Damaged reads") struct DamagedReadTests {
    /// Runs the turns up to a read, which fails, and the rest.
    private func fail(_ bench: Harness, _ partition: PartitionBox, isDamage: Bool) {
        for _ in 0..<100 where partition.loads.isEmpty {
            bench.runTurns()
            bench.apply(partition)
            bench.reportOutcome(partition)
        }
        #expect(!partition.loads.isEmpty, "canary: something is read")
        bench.read(partition, failing: true, isDamage: isDamage)
        bench.reportAnswer(partition)
        bench.settle()
    }

    @Test(
        "A device that cannot be read refuses a message and closes a login, each with the reason",
        arguments: [(true, "store_damaged"), (false, "unavailable")])
    func ofDevice(isDamage: Bool, refusal: String) {
        let bench = Harness.withDevice()
        bench.submit(1)
        fail(bench, bench.partitions[0], isDamage: isDamage)
        #expect(bench.take(appServer).words == ["nack 1 \(refusal)"])
        bench.login()
        fail(bench, bench.partitions[0], isDamage: isDamage)
        // Without damage, the session itself closes for this refusal.
        #expect(bench.take(phone).words == [isDamage ? "close store_damaged" : "login refused unavailable"])
    }

    @Test("A device whose messages cannot be read is closed with the reason", arguments: [true, false])
    func ofMessages(isDamage: Bool) {
        var settings = DeliverySettings()
        settings.idleDevicesInMemory = 0
        let bench = Harness.withDevice(settings: settings)
        for requestID in 1...3 as ClosedRange<UInt32> { bench.submit(requestID) }
        bench.settle()
        bench.login()
        bench.runTurns()
        bench.read(bench.partitions[0])
        bench.reportAnswer(bench.partitions[0])
        fail(bench, bench.partitions[0], isDamage: isDamage)
        #expect(closed(bench.take(phone)) == (isDamage ? .storeDamaged : .storeFailed))
        bench.login(connection(20))
        bench.settle()
        #expect(bench.take(connection(20)).compactMap(\.delivery).count == 3, "they are kept")
    }

    @Test(
        "A group that cannot be read refuses a message and a change with the reason, and the next ones are served",
        arguments: [(true, "store_damaged"), (false, "unavailable")])
    func ofGroup(isDamage: Bool, refusal: String) {
        let bench = Harness.withDevice()
        let owner = bench.partitions[0]
        let create = GroupRequest.Operation.create(label: bytes("a"), members: tokens([Harness.target]))
        ask(bench, 1, create)
        fail(bench, owner, isDamage: isDamage)
        #expect(bench.take(web).words == ["group refused 1 \(refusal)"])
        ask(bench, 2, create)
        bench.settle()
        #expect(bench.take(web).words == ["group known 2 1"])
        guard let group = bench.store.groups.first?.name else {
            Issue.record("no group was made")
            return
        }
        bench.post(.groupSubmitted(GroupSubmission(group: group, submission: Harness.submission(3))))
        fail(bench, owner, isDamage: isDamage)
        #expect(bench.take(appServer).words == ["nack 3 \(refusal)"])
        bench.post(.groupSubmitted(GroupSubmission(group: group, submission: Harness.submission(4))))
        bench.settle()
        #expect(bench.take(appServer).words == ["group 4 1/0"])
    }

    private func ask(_ bench: Harness, _ requestID: UInt32, _ operation: GroupRequest.Operation) {
        bench.post(
            .groupRequested(
                GroupRequest(
                    requester: Requester(connection: web, requestID: requestID), sender: Harness.sender,
                    operation: operation)))
    }

    /// Returns why a connection was closed.
    private func closed(_ commands: [SessionCommand]) -> CloseReason? {
        for case .connection(.close(let reason)) in commands { return reason }
        return nil
    }
}
