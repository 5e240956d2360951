import Basics
import BasicsSupport
import Delivery
import Store
import Synchronization
import Testing

@testable import Server

/// The limit of waiting queries, and latches.
@Suite("Limits of ports")
struct PortLimitTests {
    @Test("queries beyond the limit of waiting ones fail at once")
    func questions() throws {
        let reported = Mutex<[Event]>([])
        let thread = try StoreThreads(
            store: GatedStore(), metrics: MetricShard(), log: .silent,
            report: { reports in reported.withLock { $0 += reports.map(\.event) } })
        thread.load(
            Array(repeating: .device(DeviceID(1)), count: Limits.Store.waitingQueries + 1), partition: 0)
        let failed = reported.withLock { events in
            events.count { if case .partition(.loaded(.failed)) = $0 { true } else { false } }
        }
        #expect(failed == Limits.Store.waitingQueries + 1)
        thread.load([.device(DeviceID(1))], partition: 0)
        #expect(thread.stop() == nil)
        #expect(
            reported.withLock { $0.count } == Limits.Store.waitingQueries + 2,
            "canary: a query within the limit is answered")
    }

    @Test("a latch keeps the first of several answers")
    func firstAnswer() {
        let latch = Latch<Int>()
        #expect(latch.wait(milliseconds: 0) == nil)
        for answer in 1...2 { latch.fulfil(answer) }
        #expect(latch.wait(milliseconds: 0) == 1)
    }
}
