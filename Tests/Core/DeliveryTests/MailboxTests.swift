import Basics
import Delivery
import Testing

@Suite struct MailboxTests {
    @Test("The newest message replaces earlier ones when collapse key and registration are equal")
    func collapse() {
        let bench = Harness.withDevice()
        for requestID in 1...3 as ClosedRange<UInt32> { bench.submit(requestID, key: "score") }
        bench.submit(4, key: "news")
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 1", "ack 2", "ack 3", "ack 4"])
        #expect(bench.store.down.replaced == 2)
        bench.login()
        bench.settle()
        #expect(bench.take(phone).words.filter { $0.hasPrefix("deliver") } == ["deliver m3", "deliver m4"])
        #expect(bench.store.holds)
    }

    @Test("A message is acknowledged and not delivered when it was replaced before it was on disk")
    func replacedInFlight() {
        let bench = Harness.withDevice()
        bench.login()
        bench.settle()
        bench.submit(1, key: "score")
        bench.submit(2, key: "score")
        bench.settle()
        #expect(
            bench.commands.map(\.1.word).filter { $0 != "device login accepted" } == [
                "ack 1", "ack 2", "deliver m2",
            ])
        #expect(bench.store.down.replaced == 1 && bench.store.holds)
    }

    @Test("A fifth collapse key discards the oldest one")
    func fifthKey() {
        let bench = Harness.withDevice()
        for requestID in 1...5 as ClosedRange<UInt32> { bench.submit(requestID, key: "k\(requestID)") }
        bench.settle()
        #expect(bench.store.down.discarded == 1 && bench.store.downPending == 4)
        bench.login()
        bench.settle()
        #expect(
            bench.take(phone).words.filter { $0.hasPrefix("deliver") }
                == ["deliver m2", "deliver m3", "deliver m4", "deliver m5"])
    }

    @Test("The 101st waiting message discards all and leaves a marker with their number")
    func overflow() {
        let bench = Harness.withDevice()
        for requestID in 1...100 as ClosedRange<UInt32> { bench.submit(requestID) }
        bench.submit(999, key: "kept")
        bench.settle()
        #expect(bench.store.downPending == 101, "at the limit nothing is discarded")
        bench.submit(101)
        bench.settle()
        #expect(bench.store.down.discarded == 101 && bench.store.downPending == 1)
        for requestID in 102...202 as ClosedRange<UInt32> { bench.submit(requestID) }
        bench.settle()
        #expect(bench.store.down.discarded == 202 && bench.store.holds)
        #expect(bench.take(appServer).words.filter { $0.hasPrefix("ack") }.count == 203)
        bench.login()
        bench.settle()
        #expect(
            bench.take(phone).words == [
                "device login accepted", "deliver m999", "marker 202", "report when writable",
            ])
    }

    @Test("A device receives the marker at its login when no other message waits")
    func markerAlone() {
        var settings = DeliverySettings()
        settings.storedMessages = 2
        let bench = Harness.withDevice(settings: settings)
        for requestID in 1...3 as ClosedRange<UInt32> { bench.submit(requestID) }
        bench.settle()
        #expect(bench.store.down.discarded == 3 && bench.store.downPending == 0)
        bench.login()
        bench.settle()
        #expect(bench.take(phone).words == ["device login accepted", "marker 3", "report when writable"])
    }

    @Test("The cap does not apply to a connected device that was sent its messages, acknowledged or not")
    func overflowOnline() {
        let bench = Harness.withDevice()
        bench.login()
        bench.settle()
        for requestID in 1...300 as ClosedRange<UInt32> { bench.submit(requestID) }
        bench.settle()
        #expect(bench.take(phone).words.count { $0.hasPrefix("deliver") } == 300)
        #expect(bench.store.down.discarded == 0 && bench.store.downPending == 300)
    }

    @Test("A connection is closed when the device has too many unacknowledged messages")
    func neverAcknowledges() {
        var settings = DeliverySettings()
        settings.unacknowledgedPerDevice = 5
        let bench = Harness.withDevice(settings: settings)
        bench.login()
        bench.settle()
        for requestID in 1...6 as ClosedRange<UInt32> { bench.submit(requestID) }
        bench.settle()
        let seen = bench.take(phone)
        #expect(seen.words.last == "close too_many_unacknowledged")
        let ids = seen.compactMap(\.delivery?.message.persistentID)
        #expect(ids.count == 5)
        let next = connection(20)
        bench.post(.deviceClosed(phone, device))
        bench.login(next, received: ids)
        bench.settle()
        #expect(
            bench.take(next).words == ["device login accepted", "deliver m6", "report when writable"])
    }

    @Test("A message is removed on time in every state when its lifetime is over")
    func expiry() {
        let bench = Harness.withDevice()
        bench.submit(1, lifetime: 10)
        bench.submit(2, lifetime: 20)
        bench.settle()
        bench.advance(milliseconds: 9_999)
        bench.post(.tick)
        bench.settle()
        #expect(bench.store.downPending == 2)
        bench.advance(milliseconds: 501)
        bench.post(.tick)
        bench.settle()
        #expect(bench.store.down.expired == 1 && bench.store.downPending == 1)
        // It was sent and not acknowledged, and expires all the same.
        bench.login()
        bench.settle()
        let sequences = bench.take(phone).compactMap(\.delivery?.message.sequence)
        #expect(sequences.count == 1)
        bench.advance(milliseconds: 10_000)
        bench.post(.tick)
        bench.settle()
        #expect(bench.store.down.expired == 2 && bench.store.downPending == 0)
        bench.post(.deviceAcknowledged(phone, device, sequences))
        bench.settle()
        #expect(bench.store.down.delivered == 0 && bench.store.holds)
    }

    @Test(
        "A message that expires unread does not come back when its device is read before the removal is on disk"
    )
    func expiryWhileRead() {
        let bench = Harness.withDevice()
        bench.submit(1, lifetime: 10)
        bench.settle()
        bench.crash(seed: 3)
        bench.advance(milliseconds: 11_000)
        bench.post(.tick)
        bench.runTurns()
        let core = bench.partitions[0]
        while !core.loads.isEmpty {
            bench.read(core)
            bench.reportAnswer(core)
        }
        bench.runTurns()
        #expect(!core.batches.isEmpty, "the removal is not on disk")
        // The clock is in doubt when the device is read, so that nothing expires.
        bench.now.wall -= 86_400_000
        bench.login()
        bench.runTurns()
        while !core.loads.isEmpty {
            bench.read(core)
            bench.reportAnswer(core)
            bench.runTurns()
        }
        bench.settle()
        #expect(bench.take(phone).compactMap(\.delivery).isEmpty)
        #expect(bench.store.down.expired == 1 && bench.store.down.delivered == 0 && bench.store.holds)
    }

    @Test("Messages expire without a read when their device is not in memory")
    func expiryUnseen() {
        let first = Harness.withDevice()
        first.submit(1, lifetime: 10)
        first.settle()
        first.crash(seed: 3)
        first.advance(milliseconds: 11_000)
        first.post(.tick)
        first.runTurns()
        #expect(
            first.partitions[0].loads.map(\.word) == [
                "expired", "unseen", "gateway devices", "unused installations", "topic messages",
            ])
        first.settle()
        #expect(first.store.down.expired == 1 && first.store.holds)
    }

    @Test(
        "Each partition searches its own entries one query at a time, and long searches take turns")
    func sweep() {
        let bench = Harness.withDevice(partitions: 3)
        for _ in 0..<2 {
            bench.post(.tick)
            bench.runTurns()
        }
        let each = ["expired", "gateway devices", "topic messages"]
        let all = ["expired", "unseen", "gateway devices", "unused installations", "topic messages"]
        #expect(bench.partitions.map { $0.loads.map(\.word) } == [all, each, each])
        bench.settle()
        bench.asked = []
        for partition in [1, 2, 0, 1] {
            bench.advance(milliseconds: Int64(Limits.Device.sweepMilliseconds))
            bench.post(.tick)
            bench.runTurns()
            let searches = bench.partitions.map { $0.loads.map(\.word).contains("unseen") }
            #expect(searches == (0..<3).map { $0 == partition })
            bench.settle()
        }
        #expect(bench.asked.count { $0.word == "expired" } == 12)
    }

    @Test("Canary: a lower cap discards messages that these tests expect to stay")
    func canary() {
        var settings = DeliverySettings()
        settings.storedMessages = 99
        let bench = Harness.withDevice(settings: settings)
        for requestID in 1...100 as ClosedRange<UInt32> { bench.submit(requestID) }
        bench.settle()
        #expect(bench.store.down.discarded == 100)
    }
}
