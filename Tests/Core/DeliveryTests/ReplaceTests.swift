import Basics
import Testing

@testable import Delivery

/// Messages that take the place of others: in one batch, or not at all.
@Suite struct ReplaceTests {
    private static func left(_ bench: Harness) -> [[UInt8]] {
        (bench.store.messages[device] ?? []).map(\.messageID)
    }

    private static func replace(
        _ bench: Harness, _ old: String, by id: UInt32, lifetime: Int = 3_600, isDry: Bool = false,
        from sender: SenderID = Harness.sender
    ) {
        var submission = Harness.submission(id, lifetime: lifetime)
        submission.content.replaces = bytes(old)
        submission.content.isDryRun = isDry
        submission.entitlement = .account(sender)
        bench.post(.submitted(submission))
    }

    @Test("a waiting message is replaced by either ID, in one batch, also before it is on disk")
    func waiting() throws {
        var settings = DeliverySettings()
        settings.keepsHistory = true
        let bench = Harness.withDevice(settings: settings)
        for number in 1...2 as ClosedRange<UInt32> { bench.submit(number, receipt: true) }
        Self.replace(bench, "m1", by: 3)
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 1", "ack 2", "ack 3"])
        #expect(Self.left(bench) == [bytes("m2"), bytes("m3")] && bench.store.down.removed == 1)
        let name = try #require(bench.store.messages[device]?.first?.persistentID.text)
        let batches = bench.durableBatches
        Self.replace(bench, name, by: 4)
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 4"] && bench.durableBatches == batches + 1)
        #expect(Self.left(bench) == [bytes("m3"), bytes("m4")] && bench.store.holds)
        bench.login()
        bench.settle()
        #expect(bench.take(phone).compactMap(\.delivery?.message.messageID) == [bytes("m3"), bytes("m4")])
        #expect(bench.history.steps.count { $0.step == .cancelled } == 2)
    }

    @Test(
        "it is too late for one that was sent, and none is replaced that does not wait: the new one is not sent"
    )
    func late() {
        let bench = Harness.withDevice()
        bench.login()
        bench.submit(1)
        bench.settle()
        _ = bench.take(appServer)
        Self.replace(bench, "m1", by: 2)
        Self.replace(bench, "m9", by: 3)
        Self.replace(bench, "m1", by: 4, from: Harness.otherSender)
        bench.settle()
        #expect(
            bench.take(appServer).words.sorted() == [
                "nack 2 message_sent", "nack 3 unknown_message", "nack 4 unknown_message",
            ])
        #expect(Self.left(bench) == [bytes("m1")] && bench.take(phone).compactMap(\.delivery).count == 1)
        #expect(bench.store.down.accepted == 1 && bench.store.holds)
    }

    @Test("a new message that is refused, or a dry run, leaves the old one")
    func refused() {
        var settings = DeliverySettings()
        settings.rates.deviceShort = Rate(4, perSeconds: 3_600)
        let bench = Harness.withDevice(settings: settings)
        bench.submit(1)
        Self.replace(bench, "m1", by: 2, isDry: true)
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 1", "ack 2"] && Self.left(bench) == [bytes("m1")])
        Self.replace(bench, "m1", by: 3)
        bench.settle()
        Self.replace(bench, "m3", by: 4)
        bench.settle()
        #expect(bench.take(appServer).words.contains { $0.hasPrefix("nack 4") })
        #expect(Self.left(bench) == [bytes("m3")])
    }

    /// A message on disk whose replacement is submitted; the store has not been asked yet.
    private static func replacing() -> Harness {
        let bench = Harness.withDevice()
        bench.submit(1)
        bench.settle()
        _ = bench.take(appServer)
        replace(bench, "m1", by: 2)
        bench.runTurns()
        return bench
    }

    @Test("a batch that fails changes neither")
    func failed() {
        let bench = Self.replacing()
        bench.answerQueries(of: bench.partitions[0])
        bench.apply(bench.partitions[0], failing: true)
        bench.reportOutcome(bench.partitions[0])
        bench.settle()
        #expect(bench.take(appServer).words == ["nack 2 unavailable"] && Self.left(bench) == [bytes("m1")])
    }

    @Test(
        "a message whose replacement has failed is sent in order, after the next login of a device that was passed it over"
    )
    func passedOver() {
        let bench = Harness.withDevice()
        for number in 1...2 as ClosedRange<UInt32> { bench.submit(number) }
        bench.settle()
        Self.replace(bench, "m1", by: 3)
        bench.runTurns()
        let partition = bench.partitions[0]
        bench.answerQueries(of: partition)
        bench.login()
        bench.runTurns()
        bench.answerQueries(of: partition)
        #expect(bench.take(phone).compactMap(\.delivery?.message.messageID) == [bytes("m2")])
        bench.apply(partition, failing: true)
        bench.reportOutcome(partition)
        bench.settle()
        #expect(bench.take(phone).words == ["close store_failed"])
        bench.post(.device(device, .closed(phone)))
        bench.login()
        bench.settle()
        #expect(bench.take(phone).compactMap(\.delivery?.message.messageID) == [bytes("m1"), bytes("m2")])
    }

    @Test("canary: one that the device has acknowledged is not sent again if its removal fails")
    func acknowledged() throws {
        let bench = Harness.withDevice()
        bench.login()
        bench.submit(1)
        bench.settle()
        let name = try #require(bench.take(phone).compactMap(\.delivery?.message.sequence).first)
        bench.post(.device(device, .acknowledged(phone, [name])))
        bench.runTurns()
        bench.apply(bench.partitions[0], failing: true)
        bench.reportOutcome(bench.partitions[0])
        bench.settle()
        #expect(bench.take(phone).isEmpty && Self.left(bench) == [bytes("m1")])
    }

    @Test("a search that fails is answered, and changes nothing")
    func failedSearch() {
        let bench = Self.replacing()
        bench.read(bench.partitions[0], failing: true)
        bench.reportAnswer(bench.partitions[0])
        bench.settle()
        #expect(bench.take(appServer).words == ["nack 2 unavailable"] && Self.left(bench) == [bytes("m1")])
    }

    @Test("a scheduled message is replaced by one with another time")
    func scheduled() {
        let bench = Harness.withDevice()
        bench.submit(1, after: 60)
        bench.settle()
        var submission = Harness.submission(2)
        submission.content.replaces = bytes("m1")
        submission.content.sendAt = bench.now.wall + 120_000
        bench.post(.submitted(submission))
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 1", "ack 2"] && Self.left(bench) == [bytes("m2")])
        #expect(bench.store.schedule.map(\.dueAt) == [bench.now.wall + 120_000])
    }
}
