import Basics
import Testing

@testable import Delivery

/// Messages that are sent later: none before its time, each once, until it ends like any other.
@Suite struct ScheduleTests {
    private static func bench(
        _ settings: DeliverySettings = DeliverySettings(), connected: Bool = false
    ) -> Harness {
        var settings = settings
        settings.keepsHistory = true
        let bench = Harness.withDevice(settings: settings)
        if connected { bench.login() }
        bench.settle()
        _ = bench.take(phone)
        return bench
    }

    /// Lets time pass, with a tick in each half of a second at its end.
    private static func wait(_ bench: Harness, seconds: Int64) {
        bench.advance(milliseconds: seconds * 1_000 - 500)
        for _ in 0..<2 {
            bench.advance(milliseconds: 250)
            bench.post(.tick)
            bench.settle()
        }
    }

    private static func sent(_ bench: Harness) -> [StoredMessage] {
        bench.take(phone).compactMap(\.delivery?.message)
    }

    @Test("a message is acknowledged when it is on disk, and sent when it is due, with the same ID")
    func due() throws {
        let bench = Self.bench(connected: true)
        bench.submit(1, after: 60)
        bench.runTurns()
        #expect(bench.take(appServer).words.isEmpty, "not on disk")
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 1"] && bench.store.schedule.count == 1)
        let name = try #require(bench.store.messages[device]?.first?.persistentID)
        Self.wait(bench, seconds: 59)
        #expect(Self.sent(bench).isEmpty)
        Self.wait(bench, seconds: 2)
        let sent = Self.sent(bench)
        #expect(sent.map(\.persistentID) == [name] && bench.store.schedule.isEmpty)
        bench.post(.deviceAcknowledged(phone, device, sent.map(\.sequence)))
        Self.wait(bench, seconds: 2)
        #expect(bench.store.down.delivered == 1 && bench.store.holds && Self.sent(bench).isEmpty)
        #expect(bench.history.steps.map(\.step) == [.stored, .scheduled, .released, .sent, .delivered])
    }

    @Test("its lifetime counts from its time")
    func lifetime() {
        let bench = Self.bench()
        bench.submit(1, after: 60, lifetime: 30)
        bench.settle()
        Self.wait(bench, seconds: 85)
        #expect(bench.store.down.expired == 0)
        Self.wait(bench, seconds: 10)
        #expect(bench.store.down.expired == 1 && bench.store.schedule.isEmpty && bench.store.holds)
    }

    @Test("the time of a message is checked", arguments: [-60, 0, 60, 2_419_200, 2_419_201] as [Int64])
    func ahead(_ seconds: Int64) {
        let bench = Self.bench(connected: true)
        bench.submit(1, after: seconds)
        bench.settle()
        let isTooFar = seconds > 2_419_200
        #expect(bench.take(appServer).words == [isTooFar ? "nack 1 conflict" : "ack 1"])
        #expect(Self.sent(bench).count == (seconds <= 0 ? 1 : 0))
        #expect(bench.store.schedule.count == (seconds > 0 && !isTooFar ? 1 : 0))
    }

    @Test("a message that is never stored cannot be sent later, and a dry run stores nothing")
    func unstored() {
        let bench = Self.bench()
        bench.submit(1, after: 60, lifetime: 0)
        var dry = Harness.submission(2)
        dry.content.sendAt = bench.now.wall + 60_000
        dry.content.isDryRun = true
        bench.post(.submitted(dry))
        bench.settle()
        #expect(bench.take(appServer).words == ["nack 1 conflict", "ack 2"] && bench.store.schedule.isEmpty)
    }

    @Test("it is cancelled by either ID before its time, also when its device was not in memory")
    func cancelled() throws {
        let bench = Self.bench()
        for number in 1...3 as ClosedRange<UInt32> { bench.submit(number, after: 60) }
        bench.settle()
        bench.crash(seed: 3)
        bench.cancel("m1", sender: Harness.sender)
        bench.cancel(try #require(bench.store.messages[device]?[1].persistentID.text))
        bench.settle()
        #expect(bench.take(web).words == ["cancelled 9 1 0", "cancelled 9 1 0"])
        #expect(bench.store.schedule.count == 1 && bench.store.down.removed == 2)
        bench.login()
        Self.wait(bench, seconds: 61)
        let sent = Self.sent(bench)
        #expect(sent.map(\.messageID) == [bytes("m3")])
        bench.cancel("m3", sender: Harness.sender)
        bench.settle()
        #expect(bench.take(web).words == ["cancelled 9 0 1"])
    }

    @Test(
        "a killed process keeps it, and one that was killed after its time sends it again",
        arguments: [30, 61])
    func killed(after seconds: Int64) {
        let bench = Self.bench(connected: true)
        bench.submit(1, after: 60)
        bench.settle()
        Self.wait(bench, seconds: seconds)
        let before = Self.sent(bench)
        #expect(before.count == (seconds > 60 ? 1 : 0))
        bench.crash(seed: 5)
        bench.login(received: [])
        bench.settle()
        Self.wait(bench, seconds: 60)
        let after = Self.sent(bench)
        #expect(
            after.count == 1 && (before.isEmpty || before.map(\.persistentID) == after.map(\.persistentID)))
    }

    @Test("one that the device has received before a kill is delivered once")
    func received() {
        let bench = Self.bench(connected: true)
        bench.submit(1, after: 60, receipt: true)
        bench.settle()
        Self.wait(bench, seconds: 61)
        let sent = Self.sent(bench)
        bench.crash(seed: 5)
        bench.login(received: sent.map(\.persistentID))
        bench.settle()
        Self.wait(bench, seconds: 60)
        #expect(Self.sent(bench).isEmpty && bench.store.down.delivered == 1 && bench.store.schedule.isEmpty)
        #expect(bench.store.missingReceipts.isEmpty && bench.store.upstream[Harness.sender]?.count == 1)
    }

    @Test("it replaces others with its collapse key when it is due, and is replaced by none before")
    func collapsing() {
        let bench = Self.bench()
        bench.submit(1, after: 60, key: "k")
        bench.submit(2, key: "k")
        bench.submit(3, after: 120, key: "k")
        bench.settle()
        #expect(bench.store.messages[device]?.count == 3)
        Self.wait(bench, seconds: 61)
        #expect(bench.store.messages[device]?.map(\.messageID) == [bytes("m1"), bytes("m3")])
        bench.login()
        bench.settle()
        bench.post(.deviceWritable(phone, device))
        Self.wait(bench, seconds: 60)
        #expect(
            Self.sent(bench).map(\.messageID) == [bytes("m1"), bytes("m3")] && bench.store.down.replaced == 2)
    }

    @Test("scheduled messages do not count as waiting until they are due, and then discard as others do")
    func caps() {
        var settings = DeliverySettings()
        settings.storedMessages = 2
        let bench = Self.bench(settings)
        for number in 1...3 as ClosedRange<UInt32> { bench.submit(number, after: 60) }
        for number in 4...5 as ClosedRange<UInt32> { bench.submit(number) }
        bench.settle()
        #expect(bench.store.messages[device]?.count == 5)
        Self.wait(bench, seconds: 61)
        #expect(bench.store.down.discarded >= 3 && bench.store.holds)
    }

    @Test(
        "one that was released in a batch that failed waits as others do, and leaves the schedule when it is discarded"
    )
    func releasedInVain() {
        var settings = DeliverySettings()
        settings.storedMessages = 2
        let bench = Self.bench(settings)
        bench.submit(1, after: 60)
        bench.settle()
        let partition = bench.partitions[0]
        bench.advance(milliseconds: 61_000)
        while partition.batches.isEmpty {
            bench.post(.tick)
            bench.runTurns()
            bench.answerQueries(of: partition)
            bench.advance(milliseconds: 250)
        }
        bench.apply(partition, failing: true)
        bench.reportOutcome(partition)
        bench.settle()
        #expect(bench.store.schedule.count == 1 && bench.store.down.discarded == 0, "canary")
        for number in 2...3 as ClosedRange<UInt32> { bench.submit(number) }
        bench.settle()
        #expect(bench.store.down.discarded == 3 && bench.store.schedule.isEmpty && bench.store.holds)
    }

    @Test("a live connection gets it after messages that were accepted later")
    func order() {
        let bench = Self.bench(connected: true)
        bench.submit(1, after: 60)
        bench.settle()
        bench.submit(2)
        bench.settle()
        #expect(Self.sent(bench).map(\.messageID) == [bytes("m2")])
        Self.wait(bench, seconds: 61)
        bench.post(.deviceWritable(phone, device))
        bench.submit(3)
        bench.settle()
        #expect(Self.sent(bench).map(\.messageID) == [bytes("m1"), bytes("m3")])
    }

    @Test("an iOS app is offered it when it is due")
    func apple() {
        let bench = Harness.withApple()
        var submission = Harness.submission(1)
        submission.content.apns = bytes("{}")
        submission.content.sendAt = bench.now.wall + 60_000
        bench.post(.submitted(submission))
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 1"] && bench.deliveries.isEmpty)
        #expect(bench.store.gatewayMarks.isEmpty)
        Self.wait(bench, seconds: 61)
        #expect(bench.deliveries.map(\.message.messageID) == [bytes("m1")])
        bench.answer(.accepted(.production))
        bench.settle()
        #expect(bench.store.down.forwarded == 1 && bench.store.holds)
    }

    @Test("a clock that jumps sends nothing until it is believed")
    func jump() {
        let bench = Self.bench(connected: true)
        bench.submit(1, after: 86_400)
        bench.settle()
        Self.wait(bench, seconds: 5)
        bench.now.wall += 2 * 86_400_000
        Self.wait(bench, seconds: 30)
        #expect(bench.partitions[0].core.clockDoubt != nil && Self.sent(bench).isEmpty)
        bench.now.wall -= 2 * 86_400_000
        Self.wait(bench, seconds: 86_400)
        #expect(Self.sent(bench).count == 1)
    }
}

extension Harness {
    /// Submits a message that is sent later.
    func submit(
        _ requestID: UInt32, after seconds: Int64, key: String? = nil, lifetime: Int = 3_600,
        receipt: Bool = false, from sender: SenderID = Harness.sender, replacing old: String? = nil
    ) {
        var submission = Self.submission(requestID, key: key, lifetime: lifetime, receipt: receipt)
        submission.content.replaces = old.map(bytes)
        submission.content.sendAt = now.wall + seconds * 1_000
        post(.submitted(submission))
    }
}
