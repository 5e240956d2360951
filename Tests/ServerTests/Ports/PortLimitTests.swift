import Basics
import BasicsSupport
import Delivery
import Store
import Synchronization
import Testing

@testable import Server

/// Bounds of what waits for the store's threads, and of what one waits for.
@Suite("Limits of ports")
struct PortLimitTests {
    @Test("more questions than may wait come back at once, failed")
    func questions() throws {
        let heard = Mutex<[Event]>([])
        let thread = try StoreThread(
            store: GatedStore(), metrics: MetricShard(), log: .silent,
            report: { reports in heard.withLock { $0 += reports.map(\.event) } })
        thread.load(
            Array(repeating: .device(DeviceID(1)), count: Limits.Store.waitingLoads + 1), partition: 0)
        let failed = heard.withLock { events in
            events.count { if case .partition(.loaded(.failed(_))) = $0 { true } else { false } }
        }
        #expect(failed == Limits.Store.waitingLoads + 1)
        thread.load([.device(DeviceID(1))], partition: 0)
        #expect(thread.stop() == nil)
        #expect(heard.withLock { $0.count } == Limits.Store.waitingLoads + 2, "canary: one more is answered")
    }

    @Test("of several answers the first counts")
    func firstAnswer() {
        let latch = Latch<Int>()
        #expect(latch.wait(milliseconds: 0) == nil)
        for answer in 1...2 { latch.fulfil(answer) }
        #expect(latch.wait(milliseconds: 0) == 1)
    }
}
