import Basics
import Testing

@testable import Delivery

/// Answers that depend on an earlier batch wait for that batch, and fail with it, as all later ones do.
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

    @Test("A subscription is not confirmed when its batch fails, and the next batch fails with it")
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
        #expect(bench.take(appServer).words == ["nack 3 unavailable"])
        #expect(bench.take(web).words == ["SERVICE_NOT_AVAILABLE 1", "SERVICE_NOT_AVAILABLE 2"])
        #expect(bench.store.subscriptions.isEmpty && bench.store.downPending == 2)
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

    @Test("Changes that were made before a failure is seen fail with it, and the next one does not")
    func failedBeforeOwn() throws {
        let (bench, _) = try bench()
        bench.submit(4)
        bench.post(try subscribe(2))
        bench.runTurns()
        let partition = bench.partitions[0]
        bench.apply(partition, failing: true)
        bench.apply(partition)
        bench.apply(partition)
        // In one turn with the report: it is in a batch that has not gone yet.
        bench.submit(5)
        for _ in 0..<3 { bench.reportOutcome(partition) }
        bench.submit(6)
        bench.settle()
        #expect(bench.take(web).words == ["SERVICE_NOT_AVAILABLE 1", "SERVICE_NOT_AVAILABLE 2"])
        let words = bench.take(appServer).words
        #expect(words == ["nack 3 unavailable", "nack 4 unavailable", "nack 5 unavailable", "ack 6"])
        #expect(bench.store.downPending == 3)
    }

    @Test("The refusal of a later batch does not count as the failure, which is reported afterwards")
    func refusedFirst() throws {
        let (bench, other) = try bench()
        let partition = bench.partitions[0]
        bench.apply(partition, failing: true)
        bench.apply(partition)
        partition.outcomes.swapAt(0, 1)
        bench.reportOutcome(partition)
        bench.runTurns()
        post(5, to: other, bench)
        bench.runTurns()
        bench.answerQueries(of: partition)
        #expect(partition.batches.last?.failuresSeen == 0)
        bench.reportOutcome(partition)
        bench.settle()
        post(6, to: other, bench)
        bench.settle()
        #expect(bench.take(appServer).words == ["nack 3 unavailable", "nack 5 unavailable", "ack 6"])
    }

    @Test("A batch that fails alone, as one that no node of a cluster can write, leaves the later ones")
    func failedAlone() throws {
        let (bench, _) = try bench()
        let partition = bench.partitions[0]
        partition.outcomes.append(.failed(partition.batches.removeFirst().batchNumber))
        bench.reportOutcome(partition)
        bench.settle()
        #expect(bench.take(web).words == ["SERVICE_NOT_AVAILABLE 1"])
        #expect(bench.take(appServer).words == ["ack 3"])
    }

    @Test("A partition goes on with the count of failures that it begins with")
    func begins() {
        var core = Partition(partition: 0, of: 1, seed: 1, hashKey: (1, 2), failuresSeen: 3)
        core.effects.mutations.append(.putMark(.clock, 1))
        #expect(core.endTurn()?.failuresSeen == 3)
        core.handle(.committed(.failed(1)), now: Now(monotonic: Instant(nanoseconds: 0), wall: 1))
        core.effects.mutations.append(.putMark(.clock, 1))
        #expect(core.endTurn()?.failuresSeen == 3)
    }

    @Test(
        "The end of a registration is not confirmed before it is on disk, nor is its token refused for good",
        arguments: [false, true])
    func unconfirmedEnd(hasFailed: Bool) {
        let bench = Harness.withDevice()
        bench.submit(1)
        bench.settle()
        _ = bench.take(appServer)
        func unregister(_ requestID: UInt32) {
            bench.post(
                .unregister(
                    RegistrationRequest(
                        requester: Requester(connection: web, requestID: requestID), device: device,
                        token: token, category: bytes("app"), subtype: [], senderText: [])))
            bench.runTurns()
        }
        unregister(1)
        unregister(2)
        bench.submit(3)
        bench.runTurns()
        #expect(bench.take(web).isEmpty && bench.take(appServer).isEmpty)
        bench.apply(bench.partitions[0], failing: hasFailed)
        bench.reportOutcome(bench.partitions[0])
        bench.runTurns()
        let words = hasFailed ? "SERVICE_NOT_AVAILABLE" : "unregistered"
        #expect(bench.take(web).words == ["\(words) 1", "\(words) 2"])
        #expect(bench.take(appServer).words == [hasFailed ? "nack 3 unavailable" : "nack 3 not_registered"])
    }

    @Test(
        "A device is not reported as forgotten before that is on disk, also when it is asked for again",
        arguments: [false, true])
    func unconfirmedForgetting(hasFailed: Bool) {
        let bench = Harness.withDevice()
        bench.submit(1)
        bench.settle()
        for number in 1...2 as ClosedRange<UInt32> {
            bench.post(.forgetDevice(device, Requester(connection: web, requestID: number)))
            bench.runTurns()
        }
        #expect(bench.take(web).isEmpty)
        bench.apply(bench.partitions[0], failing: hasFailed)
        bench.reportOutcome(bench.partitions[0])
        bench.runTurns()
        let failed = ["SERVICE_NOT_AVAILABLE 1", "SERVICE_NOT_AVAILABLE 2"]
        #expect(bench.take(web).words == (hasFailed ? failed : ["forgotten 1 1 1", "forgotten 2 0 0"]))
    }
}
