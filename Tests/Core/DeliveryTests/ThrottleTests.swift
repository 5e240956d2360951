import Basics
import Delivery
import Testing

@Suite struct ThrottleTests {
    /// A connected device whose apps get a burst of messages with a collapse key, and one more every three minutes.
    private func bench(burst: Int = 2) -> Harness {
        var settings = DeliverySettings()
        settings.rates.collapsible = Rate(burst, perSeconds: burst * Limits.Message.collapsibleRefillSeconds)
        let bench = Harness.withDevice(settings: settings)
        bench.login()
        bench.settle()
        _ = bench.take(phone)
        return bench
    }

    private func delivered(_ bench: Harness) -> [String] {
        bench.post(.deviceWritable(phone, device))
        bench.post(.tick)
        bench.settle()
        return bench.take(phone).words.filter { $0.hasPrefix("deliver") }
    }

    @Test("Messages over the burst are acknowledged, and the newest of each key waits")
    func newestWaits() {
        let bench = bench()
        for requestID in 1...6 as ClosedRange<UInt32> { bench.submit(requestID, key: "score") }
        bench.submit(7, key: "news")
        bench.submit(8)
        bench.settle()
        #expect(bench.take(appServer).words == (1...8).map { "ack \($0)" })
        #expect(delivered(bench).sorted() == ["deliver m6", "deliver m7", "deliver m8"])
        for requestID in 9...12 as ClosedRange<UInt32> {
            bench.submit(requestID, key: "score")
            bench.settle()
        }
        #expect(delivered(bench).isEmpty)
        #expect(
            bench.store.downPending == 3, "m12 replaced m6, which was not acknowledged")
        bench.advance(milliseconds: 179_000)
        #expect(delivered(bench).isEmpty)
        bench.advance(milliseconds: 1_000)
        #expect(delivered(bench) == ["deliver m12"])
        #expect(bench.store.down.discarded == 0 && bench.store.holds)
    }

    @Test("A throttled app gets 20 messages at once and one every three minutes after that")
    func figures() {
        let bench = bench(burst: Limits.Message.collapsibleBurst)
        for requestID in 1...25 as ClosedRange<UInt32> {
            bench.submit(requestID, key: "k\(requestID % 3)")
            bench.settle()
        }
        #expect(delivered(bench).count == 20)
        for minutes in 1...9 {
            bench.advance(milliseconds: 60_000)
            #expect(delivered(bench).count == (minutes % 3 == 0 ? 1 : 0), "after \(minutes) minutes")
        }
    }

    @Test("A message without a collapse key or lifetime is never throttled")
    func unaffected() {
        let bench = bench(burst: 1)
        bench.submit(1, key: "score")
        bench.submit(2, key: "other")
        bench.submit(3, key: "other", lifetime: 0)
        bench.submit(4)
        bench.settle()
        #expect(delivered(bench).sorted() == ["deliver m1", "deliver m3", "deliver m4"])
    }

    @Test("The message of the oldest key is discarded when messages with more keys than allowed wait")
    func keysWaiting() {
        let bench = bench(burst: 1)
        for requestID in 1...7 as ClosedRange<UInt32> {
            bench.submit(requestID, key: "k\(requestID)")
            bench.settle()
        }
        #expect(bench.store.down.discarded == 2)
        #expect(delivered(bench) == ["deliver m1"])
        for requestID in 4...7 {
            bench.advance(milliseconds: 180_000)
            #expect(delivered(bench) == ["deliver m\(requestID)"])
        }
    }

    @Test(
        "Throttled messages are sent at the next login as the rate allows, and sent ones are not counted twice"
    )
    func login() {
        let bench = bench()
        for requestID in 1...4 as ClosedRange<UInt32> {
            bench.submit(requestID, key: "k\(requestID)")
            bench.settle()
        }
        #expect(delivered(bench) == ["deliver m1", "deliver m2"])
        bench.post(.deviceClosed(phone, device))
        bench.login()
        bench.settle()
        #expect(delivered(bench) == ["deliver m1", "deliver m2"])
        bench.advance(milliseconds: 180_000)
        #expect(delivered(bench) == ["deliver m3"])
    }

    @Test("A throttled message survives a failed batch, is not sent twice, and expires at its time")
    func failedBatch() {
        let bench = bench(burst: 1)
        bench.submit(1, key: "a")
        bench.submit(2, key: "b")
        bench.submit(3, key: "c", lifetime: 60)
        bench.settle()
        #expect(delivered(bench) == ["deliver m1"])
        bench.submit(4, key: "d")
        bench.runTurns()
        bench.apply(bench.partitions[0], failing: true)
        bench.reportOutcome(bench.partitions[0])
        bench.settle()
        #expect(delivered(bench).isEmpty)
        bench.advance(milliseconds: 180_000)
        #expect(delivered(bench) == ["deliver m2"])
        bench.advance(milliseconds: 180_000)
        #expect(delivered(bench).isEmpty && bench.store.down.expired == 1)
        #expect(bench.store.holds)
    }

    @Test("Canary: all messages are sent at once when there is no rate")
    func canary() {
        let bench = bench(burst: 0)
        for requestID in 1...30 as ClosedRange<UInt32> {
            bench.submit(requestID, key: "k")
            bench.settle()
        }
        #expect(delivered(bench).count == 30)
    }
}
