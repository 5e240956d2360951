import Basics
import Delivery
import Testing

/// The counts of metrics are those of the store's audit, message by message, after each kind of ending.
@Suite("Counts of the core and the store") struct AuditCountTests {
    /// The endings, which only the store decides.
    private static let endings: [Milestone] = [
        .delivered, .forwarded, .replaced, .expired, .discarded, .removed,
    ]

    private func settings(_ body: (inout DeliverySettings) -> Void) -> DeliverySettings {
        var settings = DeliverySettings()
        body(&settings)
        return settings
    }

    private func compare(_ bench: Harness, _ at: SourceLocation = #_sourceLocation) {
        for ending in Self.endings {
            #expect(bench.down[ending] == bench.store.down[ending], "\(ending)", sourceLocation: at)
            #expect(bench.up[ending] == bench.store.up[ending], "\(ending)", sourceLocation: at)
        }
        #expect(bench.down.stored == bench.store.down.accepted, sourceLocation: at)
        #expect(bench.up.stored == bench.store.up.accepted, sourceLocation: at)
    }

    private func sweep(_ bench: Harness) {
        bench.advance(milliseconds: Int64(Limits.Store.sweepMilliseconds))
        bench.post(.tick)
        bench.runTurns()
        for partition in bench.partitions {
            while !partition.loads.isEmpty {
                bench.read(partition)
                bench.reportAnswer(partition)
            }
        }
        bench.runTurns()
    }

    @Test(
        "An expired message of a device that is not in memory counts once, though it is found several times")
    func foundAgain() {
        let bench = Harness.withDevice()
        for number in 1...5 as ClosedRange<UInt32> { bench.submit(number, lifetime: 60) }
        bench.settle()
        bench.crash(seed: 9)
        let before = bench.down.expired
        bench.advance(milliseconds: 61_000)
        for _ in 0..<3 { sweep(bench) }
        #expect(bench.partitions[0].batches.count > 1, "canary: it is found before its removal is on disk")
        bench.settle()
        #expect(bench.down.expired - before == 5 && bench.store.down.expired == 5)
        #expect(bench.store.downPending == 0)
    }

    @Test("Each ending of a message to a device counts the same")
    func downstream() {
        let bench = Harness.withDevice(settings: settings { $0.storedMessages = 2 })
        bench.submit(1, key: "a")
        bench.submit(2, key: "a")
        for number in 3...6 as ClosedRange<UInt32> { bench.submit(number) }
        bench.submit(7, lifetime: 60)
        bench.settle()
        bench.advance(milliseconds: 61_000)
        bench.post(.tick)
        bench.settle()
        compare(bench)
        bench.submit(8)
        bench.login()
        bench.settle()
        bench.post(.deviceWritable(phone, device))
        bench.settle()
        let sequences = bench.take(phone).compactMap(\.delivery?.message.sequence)
        bench.post(.deviceAcknowledged(phone, device, Array(sequences.prefix(2))))
        bench.settle()
        compare(bench)
        let down = bench.store.down
        #expect(down.replaced == 1 && down.discarded > 0 && down.delivered > 0, "\(down)")
    }

    @Test("Each ending of a message to an app server counts the same")
    func upstream() {
        let bench = Harness.withDevice()
        bench.login()
        for number in 1...3 as ClosedRange<UInt32> {
            bench.post(.upstreamReceived(Harness.upstream(number)))
        }
        bench.settle()
        bench.advance(milliseconds: Int64(Limits.Message.lifetimeSeconds) * 1_000 + 1_000)
        for _ in 0..<3 { sweep(bench) }
        bench.settle()
        #expect(bench.store.up.expired == 3, "\(bench.store.up)")
        compare(bench)
    }
}
