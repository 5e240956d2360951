import Basics
import Store
import Transport

/// The thread that reads the checksums of all tables, round after round (`StoreScrub` decides when).
final class StoreScrubber: Sendable {
    private let store: any Store
    private let metrics: MetricShard
    /// Called with an error of a table, or of the list of tables.
    private let failed: @Sendable (StoreError) -> Void
    private let stopping = Monitor(false)

    init(store: any Store, metrics: MetricShard, failed: @escaping @Sendable (StoreError) -> Void) {
        self.store = store
        self.metrics = metrics
        self.failed = failed
    }

    /// Reads until `stop` is called.
    func run() {
        var scrub = StoreScrub()
        while !isStopping(until: Now.read().monotonic) {
            switch scrub.next(now: Now.read().monotonic) {
            case .wait(let end): if isStopping(until: end) { return }
            case .list:
                do throws(StoreError) { scrub.begin(try store.tables(), now: Now.read().monotonic) } catch {
                    failed(error)
                    scrub.endRound(Now.read().monotonic)
                }
            case .verify(let table):
                do throws(StoreError) { try store.verify(table) } catch { failed(error) }
                metrics.add(table.bytes, to: .storeScrubbedBytes)
                scrub.finished(table, now: Now.read().monotonic)
            }
            metrics.set(.storeScrubRemainingBytes, to: scrub.remainingBytes)
        }
    }

    /// Ends the thread after the present table.
    func stop() { stopping.change { $0 = true } }

    /// Waits until a time. Returns whether `stop` was called.
    private func isStopping(until end: Instant) -> Bool {
        stopping.wait { isStopping in
            if isStopping { return .done(true) }
            return Now.read().monotonic >= end ? .done(false) : .wait(until: end)
        }
    }
}
