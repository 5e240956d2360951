import Basics
import Testing

@testable import Delivery

/// The limits of scheduled messages, and answers of the store that fail, come late, twice or unasked.
@Suite struct ScheduleFaultTests {
    private static func bench(
        _ change: (inout DeliverySettings) -> Void = { _ in }, connected: Bool = false
    ) -> Harness {
        var settings = DeliverySettings()
        change(&settings)
        let bench = Harness.withDevice(settings: settings)
        if connected { bench.login() }
        bench.settle()
        _ = bench.take(phone)
        return bench
    }

    private static func tick(_ bench: Harness, times: Int = 4) {
        for _ in 0..<times {
            bench.advance(milliseconds: 250)
            bench.post(.tick)
            bench.settle()
        }
    }

    private static func sent(_ bench: Harness) -> [StoredMessage] {
        bench.take(phone).compactMap(\.delivery?.message)
    }

    @Test("a device has a limit, and room again when a message is due or cancelled")
    func deviceLimit() {
        let bench = Self.bench()
        let limit = UInt32(Limits.Schedule.perDevice)
        for number in 1...limit + 1 { bench.submit(number, after: 60) }
        bench.settle()
        let words = bench.take(appServer).words
        #expect(
            words.count { $0.hasPrefix("ack") } == Int(limit)
                && words.contains("nack \(limit + 1) schedule_full"))
        bench.cancel("m1", sender: Harness.sender)
        bench.settle()
        bench.submit(limit + 2, after: 60)
        bench.settle()
        #expect(
            bench.take(appServer).words == ["ack \(limit + 2)"] && bench.store.schedule.count == Int(limit))
    }

    @Test(
        "a sender and all senders have limits, which count what an earlier process left",
        arguments: [true, false])
    func senderLimit(isOfSender: Bool) throws {
        let bench = Self.bench {
            if isOfSender { $0.scheduledPerSender = 3 } else { $0.scheduledMessages = 3 }
        }
        for number in 1...2 as ClosedRange<UInt32> { bench.submit(number, after: 60) }
        bench.settle()
        bench.crash(seed: 9)
        bench.submit(3, after: 60)
        bench.settle()
        bench.submit(4, after: 60)
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 1", "ack 2", "ack 3", "nack 4 schedule_full"])
        bench.cancel("m2", sender: Harness.sender)
        bench.settle()
        bench.submit(5, after: 60)
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 5"])
        #expect(bench.partitions[0].core.devices.schedule.total == 3)
    }

    @Test("one that replaces another on the schedule takes its part of each limit", arguments: [0, 1, 2])
    func replacesAtLimit(_ kind: Int) {
        let bench = Self.bench {
            if kind == 1 { $0.scheduledPerSender = 3 }
            if kind == 2 { $0.scheduledMessages = 3 }
        }
        let limit = kind == 0 ? UInt32(Limits.Schedule.perDevice) : 3
        for number in 1...limit { bench.submit(number, after: 60) }
        bench.settle()
        #expect(bench.take(appServer).words.count == Int(limit))
        bench.submit(limit + 1, after: 60)
        bench.settle()
        #expect(bench.take(appServer).words == ["nack \(limit + 1) schedule_full"])
        for number in [limit + 2, limit + 3] { bench.submit(number, after: 60, replacing: "m1") }
        bench.settle()
        #expect(
            bench.take(appServer).words == ["ack \(limit + 2)", "nack \(limit + 3) unknown_message"],
            "only the first of the two replaces it")
        #expect(bench.store.schedule.count == Int(limit))
    }

    @Test("a failed batch has the schedule counted again, and leaves no message without its entry")
    func failedBatch() {
        let bench = Self.bench()
        bench.submit(1, after: 60)
        bench.settle()
        bench.submit(2, after: 60)
        bench.runTurns()
        bench.apply(bench.partitions[0], failing: true)
        bench.reportOutcome(bench.partitions[0])
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 1", "nack 2 unavailable"])
        bench.submit(3, after: 60)
        bench.settle()
        #expect(bench.partitions[0].core.devices.schedule.total == 2 && bench.store.schedule.count == 2)
    }

    @Test("a release that cannot be stored is stored later, and the message is sent once on the connection")
    func failedRelease() {
        let bench = Self.bench(connected: true)
        bench.submit(1, after: 60)
        bench.settle()
        bench.advance(milliseconds: 60_500)
        bench.post(.tick)
        bench.runTurns()
        bench.read(bench.partitions[0])
        bench.reportAnswer(bench.partitions[0])
        bench.runTurns()
        bench.apply(bench.partitions[0], failing: true)
        bench.reportOutcome(bench.partitions[0])
        bench.settle()
        Self.tick(bench)
        let sent = Self.sent(bench)
        #expect(sent.count == 1 && bench.store.schedule.isEmpty)
        bench.post(.deviceAcknowledged(phone, device, sent.map(\.sequence)))
        bench.settle()
        #expect(bench.store.down.delivered == 1 && bench.store.holds)
    }

    @Test("a device that cannot be read has its message sent later")
    func failedRead() {
        let bench = Self.bench()
        bench.submit(1, after: 60)
        bench.settle()
        bench.crash(seed: 4)
        bench.advance(milliseconds: 60_500)
        bench.post(.tick)
        bench.runTurns()
        for isFailing in [false, true] {
            bench.read(bench.partitions[0], failing: isFailing)
            bench.reportAnswer(bench.partitions[0])
            bench.runTurns()
        }
        #expect(bench.store.schedule.count == 1)
        Self.tick(bench)
        #expect(bench.store.schedule.isEmpty)
        bench.login()
        bench.settle()
        #expect(Self.sent(bench).count == 1)
    }

    @Test("an answer that comes twice, early, or for a message that is gone changes nothing")
    func twice() throws {
        let bench = Self.bench(connected: true)
        bench.submit(1, after: 60)
        bench.settle()
        let entry = try #require(bench.store.schedule.first)
        let due = ExpiredEntry.scheduled(device, entry.sequence, dueAt: entry.dueAt)
        bench.post(.expired(due))
        bench.settle()
        #expect(Self.sent(bench).isEmpty && bench.store.schedule.count == 1, "early")
        bench.advance(milliseconds: 60_500)
        for _ in 0..<3 { bench.post(.expired(due)) }
        bench.settle()
        let sent = Self.sent(bench)
        #expect(sent.count == 1)
        bench.post(.deviceAcknowledged(phone, device, sent.map(\.sequence)))
        bench.settle()
        bench.post(.expired(due))
        bench.post(.expired(.scheduled(device, SequenceNumber(5), dueAt: 7)))
        bench.settle()
        #expect(Self.sent(bench).isEmpty && bench.store.holds && bench.store.down.delivered == 1)
        #expect(bench.partitions[0].core.devices.schedule.total == 0)
    }

    @Test("an entry whose message has been gone for weeks is removed without its device")
    func left() {
        let bench = Self.bench()
        bench.store.schedule = [
            ScheduledMessage(
                dueAt: 1_600_000_000_000, device: DeviceID(1 << 60 | 99), sequence: SequenceNumber(4),
                sender: Harness.sender)
        ]
        Self.tick(bench)
        #expect(bench.store.schedule.isEmpty)
    }

    @Test("while the schedule cannot be counted, messages are accepted")
    func uncounted() {
        let bench = Self.bench(connected: true)
        bench.submit(1, after: 60)
        bench.runTurns()
        #expect(bench.partitions[0].loads.contains { if case .schedule = $0 { true } else { false } })
        for _ in 0..<bench.partitions[0].loads.count {
            bench.read(bench.partitions[0], failing: true)
            bench.reportAnswer(bench.partitions[0])
        }
        bench.settle()
        bench.submit(2, after: 60)
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 1", "ack 2"])
        #expect(bench.partitions[0].core.devices.schedule.total == 2)
    }

    @Test("entries that are added and removed while the schedule is counted are counted once")
    func counting() {
        var counts = ScheduleCounts()
        func entry(_ number: UInt64, _ sender: SenderID = Harness.sender) -> ScheduledMessage {
            ScheduledMessage(
                dueAt: Int64(number), device: device, sequence: SequenceNumber(number), sender: sender)
        }
        let start = Instant(nanoseconds: 0)
        #expect(counts.isDue(isFull: false, start))
        counts.begin(with: [], start)
        #expect(!counts.isDue(isFull: true, start), "one query at a time")
        counts.add(entry(3))
        counts.remove(entry(1))
        var answer = counts.found([entry(1), entry(2)], isLast: false)
        #expect(answer.wasAsked && answer.next == entry(2))
        answer = counts.found([entry(3), entry(4, Harness.otherSender)], isLast: true)
        #expect(answer.wasAsked && answer.next == nil)
        #expect(counts.total == 3 && counts.count(of: Harness.sender) == 2)
        let unasked = [
            counts.found([entry(9)], isLast: true).wasAsked, counts.findFailed(),
            counts.isDue(isFull: false, start), counts.isDue(isFull: true, start),
        ]
        #expect(unasked == [false, false, false, false] && counts.total == 3)
        let later = start.advanced(seconds: Limits.Schedule.countSeconds)
        #expect(counts.isDue(isFull: true, later))
        counts.begin(with: [], later)
        counts.invalidate()
        counts.add(entry(8))
        #expect(!counts.isDue(isFull: false, later), "one query at a time, also if its answer does not count")
        answer = counts.found([entry(7)], isLast: true)
        #expect(answer.wasAsked && counts.total == 0, "of before the failure")
        #expect(counts.isDue(isFull: false, later))
    }

    @Test("changes that the store has not confirmed count, whether the query finds them or not")
    func openChanges() {
        func entry(_ number: UInt64) -> ScheduledMessage {
            ScheduledMessage(
                dueAt: Int64(number), device: device, sequence: SequenceNumber(number), sender: Harness.sender
            )
        }
        func end(_ number: UInt64) -> Mutation {
            .removeSchedule(device, SequenceNumber(number), dueAt: Int64(number))
        }
        let open: [Mutation] = [end(1), .putSchedule(entry(2)), .putSchedule(entry(3)), end(3)]
        let later = [
            [entry(1), entry(4)], [entry(2), entry(4)], [entry(2), entry(3), entry(4)], [entry(4)],
        ]
        for found in later {
            var counts = ScheduleCounts()
            counts.begin(with: open, Instant(nanoseconds: 0))
            _ = counts.found(found, isLast: true)
            #expect(counts.total == 2 && counts.count(of: Harness.sender) == 2, "\(found.map(\.dueAt))")
        }
    }

    @Test("a cancellation on its way to the disk is not counted by a query that overtakes it")
    func overtaken() {
        let bench = Self.bench()
        for number in 1...2 as ClosedRange<UInt32> { bench.submit(number, after: 60) }
        bench.settle()
        bench.crash(seed: 9)
        bench.cancel("m1", sender: Harness.sender)
        bench.runTurns()
        bench.answerQueries(of: bench.partitions[0])
        #expect(bench.partitions[0].batches.count == 1)
        bench.submit(3, after: 60)
        bench.runTurns()
        bench.answerQueries(of: bench.partitions[0])
        #expect(bench.store.schedule.count == 2, "neither change is on disk")
        bench.settle()
        #expect(bench.store.schedule.count == 2 && bench.partitions[0].core.devices.schedule.total == 2)
    }
}
