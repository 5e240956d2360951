import Basics
import Testing

@testable import Delivery

/// Reads for the gateway that fail or come in pages, and apps that report their token again.
@Suite struct GatewayReadTests {
    private let bench = Harness.withApple()

    /// Writes all batches, and answers all queries, of which those for a device or a message fail.
    private func failReads(_ bench: Harness) {
        for partition in bench.partitions {
            while !partition.batches.isEmpty || !partition.loads.isEmpty {
                bench.apply(partition)
                bench.reportOutcome(partition)
                if let load = partition.loads.first {
                    let isSearch = if case .gatewayDevices = load { true } else { false }
                    bench.read(partition, failing: !isSearch)
                    bench.reportAnswer(partition)
                }
                bench.runTurns()
            }
        }
    }

    @Test("A message that cannot be read is offered a little later")
    func unreadMessage() {
        bench.submitApple(1)
        bench.submitApple(2)
        bench.settle()
        let delivery = bench.deliveries.removeFirst()
        bench.post(
            .gatewayAnswered(
                GatewayAnswer(
                    registration: delivery.registration, sequence: delivery.message.sequence,
                    outcome: .accepted(.production))))
        bench.runTurns()
        failReads(bench)
        bench.settle()
        #expect(bench.deliveries.isEmpty)
        bench.pass(milliseconds: Int64(Limits.Store.sweepMilliseconds))
        #expect(bench.deliveries.map(\.message.messageID) == [bytes("m2")])
    }

    @Test("A marked device that cannot be read after a start is read again")
    func unreadDevice() {
        bench.submitApple(1)
        bench.settle()
        bench.crash(seed: 8)
        bench.post(.tick)
        bench.runTurns()
        failReads(bench)
        bench.settle()
        #expect(bench.deliveries.isEmpty)
        bench.pass(milliseconds: 2 * Int64(Limits.Store.sweepMilliseconds))
        #expect(bench.deliveries.map(\.message.messageID) == [bytes("m1")])
    }

    @Test("The device of a deferred message that cannot be read when it is due is read again")
    func unreadWhenDue() {
        var settings = DeliverySettings()
        settings.idleDevicesInMemory = 0
        let bench = Harness.withDevice(settings: settings)
        bench.store.registrations[Harness.target]?.apnsToken = bytes("p_a1")
        bench.submitApple(1)
        bench.settle()
        bench.answer(.later(milliseconds: 5_000, APNsRefusal(.unavailable)))
        #expect(bench.partitions[0].core.devices.table[device] == nil, "it is evicted")
        bench.advance(milliseconds: 5_000)
        bench.post(.tick)
        bench.runTurns()
        failReads(bench)
        bench.settle()
        #expect(bench.deliveries.isEmpty)
        bench.pass(milliseconds: 2 * Int64(Limits.Store.sweepMilliseconds))
        #expect(bench.deliveries.map(\.message.messageID) == [bytes("m1")])
    }

    @Test("A mark that fails is written with the next message, or when the device is read again")
    func failedMark() {
        let partition = bench.partitions[0]
        // A message that is not for APNs, so that the device is in memory.
        bench.post(.submitted(Harness.submission(9)))
        bench.settle()
        bench.submitApple(1)
        bench.runTurns()
        bench.apply(partition, failing: true)
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 9", "nack 1 unavailable"])
        #expect(bench.store.gatewayMarks.isEmpty)
        bench.submitApple(2)
        bench.settle()
        #expect(bench.store.gatewayMarks == [device])
    }

    @Test("A message fails with the mark of an earlier one, and the next message has a mark of its own")
    func failedMarkOfAnother() {
        let partition = bench.partitions[0]
        // A message that is not for APNs, so that the device is in memory.
        bench.post(.submitted(Harness.submission(9)))
        bench.settle()
        for number in 1...2 as ClosedRange<UInt32> {
            bench.submitApple(number)
            bench.runTurns()
        }
        #expect(partition.batches.count == 2)
        bench.apply(partition, failing: true)
        bench.apply(partition)
        bench.settle()
        bench.submitApple(3)
        bench.settle()
        #expect(bench.store.gatewayMarks == [device])
        bench.crash(seed: 8)
        bench.pass(milliseconds: 2 * Int64(Limits.Store.sweepMilliseconds))
        #expect(bench.deliveries.map(\.message.messageID) == [bytes("m3")])
    }

    @Test("A device that cannot be read after a failed batch is found again by its mark")
    func unreadAfterFailure() {
        let partition = bench.partitions[0]
        for number in 1...2 as ClosedRange<UInt32> { bench.submitApple(number) }
        bench.settle()
        let delivery = bench.deliveries.removeFirst()
        bench.post(.tick)
        bench.settle()
        bench.post(
            .gatewayAnswered(
                GatewayAnswer(
                    registration: delivery.registration, sequence: delivery.message.sequence,
                    outcome: .accepted(.production))))
        bench.runTurns()
        bench.apply(partition, failing: true)
        bench.reportOutcome(partition)
        bench.runTurns()
        failReads(bench)
        bench.settle()
        #expect(bench.deliveries.isEmpty)
        bench.pass(milliseconds: 2 * Int64(Limits.Store.sweepMilliseconds))
        #expect(bench.deliveries.map(\.message.messageID) == [bytes("m1")], "its removal has failed")
    }

    @Test("A search goes on at the lowest device that could not be read")
    func search() {
        var turn = Turn(partition: 0, of: 1, salt: 0, settings: DeliverySettings())
        turn.now.monotonic = Instant(nanoseconds: 0)
        var search = GatewaySearch()
        let pause = Int64(Limits.Store.sweepMilliseconds)
        let first = Self.asks(&search, &turn)
        for number in [7, 5, 6] as [UInt64] { search.missed(DeviceID(number), turn.now.monotonic) }
        let second = Self.asks(&search, &turn, after: pause)
        #expect(first == .lowest && second == nil, "one query at a time")
        search.found(next: DeviceID(9), &turn)
        let early = Self.asks(&search, &turn)
        let next = Self.asks(&search, &turn, after: pause)
        #expect(early == nil && next == DeviceID(5))
        search.found(next: nil, &turn)
        let last = Self.asks(&search, &turn, after: pause)
        #expect(last == nil, "each is searched once more")
        for number in [4, 8] as [UInt64] { search.missed(DeviceID(number), turn.now.monotonic) }
        let again = Self.asks(&search, &turn, after: pause)
        #expect(again == DeviceID(4))
    }

    /// Returns the device at which a search asks on after some time. Returns `nil` if it does not ask.
    private static func asks(
        _ search: inout GatewaySearch, _ turn: inout Turn, after milliseconds: Int64 = 0
    ) -> DeviceID? {
        turn.now.monotonic = turn.now.monotonic.advanced(milliseconds: milliseconds)
        search.continueIfDue(&turn)
        guard case .gatewayDevices(let from, _, _) = turn.effects.loads.popLast() else { return nil }
        return from
    }

    @Test("More marked devices than one page holds are all found after a start")
    func pages() {
        let count = Limits.APNs.devicesPerSearch + 20
        for number in 0..<count {
            let name = RegistrationName(
                device: DeviceID(1 << 60 | UInt64(1_000 + number)), number: RegistrationNumber(1))
            bench.store.records[name.device] = DeviceRecord(
                device: name.device, token: token, createdAt: 0, seenAt: 1_700_000_000_000,
                nextRegistration: 2)
            bench.store.registrations[name] = Registration(
                name: name, category: bytes("app"), subtype: [], senderText: bytes("100"),
                sender: Harness.sender, createdAt: 0)
            bench.store.registrations[name]?.apnsToken = bytes("p_\(1_000 + number)")
            var submission = Harness.submission(UInt32(number), to: name)
            submission.content.isNotification = true
            bench.post(.submitted(submission))
        }
        bench.settle()
        #expect(bench.deliveries.count == count)
        bench.crash(seed: 8)
        bench.pass(milliseconds: 3 * Int64(Limits.Store.sweepMilliseconds))
        #expect(bench.deliveries.count == count)
    }

    @Test("A clock in doubt ends no registration whose token belongs to another app")
    func doubt() {
        let outcome = GatewayOutcome.tokenMismatched(
            APNsVerdict(status: 400, reason: "DeviceTokenNotForTopic"))
        var settings = DeliverySettings()
        settings.clockGraceSeconds = 0
        let bench = Harness.withDevice(settings: settings)
        bench.store.registrations[Harness.target]?.apnsToken = bytes("p_a1")
        bench.submitApple(1)
        bench.settle()
        bench.answer(outcome)
        bench.now.wall += 400 * 86_400_000
        bench.post(.tick)
        bench.settle()
        // The time in doubt goes on, too.
        bench.advance(milliseconds: Limits.APNs.mismatchedMilliseconds + 1_000)
        bench.post(.tick)
        bench.settle()
        #expect(bench.partitions[0].core.clockDoubt != nil)
        bench.submitApple(2)
        bench.settle()
        bench.answer(outcome)
        #expect(bench.store.registrations[Harness.target]?.apnsState.end == nil)
    }

    @Test("A token that an app reports again is recorded with its time, once an hour at most")
    func reportedAgain() {
        func report() -> UnixMilliseconds? {
            var request = RegistrationRequest(
                requester: Requester(connection: web, requestID: 1), device: device, token: token,
                category: bytes("app"), subtype: [], senderText: bytes("100"))
            request.apnsToken = bytes("p_a1")
            bench.post(.register(request))
            bench.settle()
            return bench.store.registrations[Harness.target]?.apnsReportedAt
        }
        let first = bench.now.wall
        #expect(report() == first)
        bench.advance(milliseconds: Limits.APNs.confirmedEveryMilliseconds)
        #expect(report() == first)
        bench.advance(milliseconds: 1)
        #expect(report() == bench.now.wall)
    }
}
