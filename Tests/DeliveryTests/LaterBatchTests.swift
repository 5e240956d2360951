import Basics
import Testing

@testable import Delivery

/// Answers that depend on an earlier batch wait for that batch, regardless of the outcome of later ones.
@Suite struct LaterBatchTests {
    private func subscribe(_ requestID: UInt32) throws -> Event {
        .subscribe(
            TopicRequest(
                requester: Requester(connection: web, requestID: requestID), name: Harness.target,
                token: token,
                topic: try #require(TopicName(bytes("news"))), isEnd: false))
    }

    /// Two uncommitted batches: one subscribes the device, the other is another device's.
    private func bench() throws -> (Harness, DeviceID) {
        let bench = Harness.withDevice()
        let other = bench.addDevice()
        bench.submit(1)
        post(2, to: other, bench)
        bench.settle()
        _ = bench.take(appServer)
        bench.post(try subscribe(1))
        bench.runTurns()
        post(3, to: other, bench)
        bench.runTurns()
        return (bench, other)
    }

    private func post(_ requestID: UInt32, to other: DeviceID, _ bench: Harness) {
        let name = RegistrationName(device: other, number: RegistrationNumber(1))
        bench.post(.submitted(Harness.submission(requestID, to: name)))
    }

    @Test("A subscription is not confirmed when its batch fails, although the next batch is on disk")
    func failedBefore() throws {
        let (bench, _) = try bench()
        bench.post(try subscribe(2))
        bench.runTurns()
        #expect(bench.take(web).isEmpty)
        let partition = bench.partitions[0]
        bench.apply(partition, failing: true)
        bench.apply(partition)
        bench.reportOutcome(partition)
        bench.reportOutcome(partition)
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 3"])
        #expect(bench.take(web).words == ["SERVICE_NOT_AVAILABLE 1", "SERVICE_NOT_AVAILABLE 2"])
        #expect(bench.store.subscriptions.isEmpty)
    }

    @Test("A subscription is not confirmed early when the next batch was refused before it")
    func refusedBehind() throws {
        let (bench, _) = try bench()
        let partition = bench.partitions[0]
        let refused = partition.batches.removeLast()
        partition.events.append(.committed(CommitOutcome(batchNumber: refused.batchNumber, hasFailed: true)))
        bench.runTurns()
        bench.post(try subscribe(2))
        bench.runTurns()
        #expect(bench.take(web).isEmpty, "a subscription is not confirmed before it is on disk")
        bench.settle()
        #expect(bench.take(web).words == ["unregistered 1", "unregistered 2"])
        #expect(bench.store.subscriptions.count == 1)
    }

    @Test("A change after a failed batch is refused too, although its own batch is on disk")
    func failedBeforeOwn() throws {
        let (bench, _) = try bench()
        bench.submit(4)
        bench.post(try subscribe(2))
        bench.runTurns()
        let partition = bench.partitions[0]
        bench.apply(partition, failing: true)
        bench.apply(partition)
        bench.apply(partition)
        for _ in 0..<3 { bench.reportOutcome(partition) }
        bench.settle()
        #expect(bench.take(web).words == ["SERVICE_NOT_AVAILABLE 1", "SERVICE_NOT_AVAILABLE 2"])
        #expect(bench.take(appServer).words == ["ack 3", "ack 4"])
    }
}
