import Basics
import Operator
import Store
import Synchronization

/// The clock of a server for tests, which operators can move forward.
///
/// What it was moved by is a setting of the store, since the store then has times that the machine's clock has not reached.
final class TestClock: Sendable {
    /// The name of the setting: milliseconds in decimal.
    private static let setting = "test_clock"

    private let store: any Store
    private let status: ClockStatus
    /// Serialises changes: each is based on the result of the previous one.
    private let changes = Mutex(())

    /// Continues with the time of earlier processes.
    init(store: any Store, status: ClockStatus) throws(StoreError) {
        self.store = store
        self.status = status
        status.move(to: try Self.advance(in: store))
    }

    /// Milliseconds by which the times in a store may be ahead of the machine's.
    static func advance(in store: any Store) throws(StoreError) -> Int64 {
        guard let bytes = try store.setting(setting), !bytes.isEmpty else { return 0 }
        guard let advance = Int64(String(decoding: bytes, as: UTF8.self)), advance >= 0 else {
            throw StoreError(.damaged, "the setting \(setting) cannot be read")
        }
        return advance
    }

    /// Moves the time forward. It is stored first, since everything stored after that may have the new time.
    func advance(seconds: Int) throws(OperatorProblem) {
        try changes.withLock { _ throws(OperatorProblem) in
            let advance = status.advance + Int64(seconds) * 1_000
            let most = Int64(Limits.TestClock.advanceSeconds)
            guard advance <= most * 1_000 else {
                throw OperatorProblem(
                    "the clock would be \(advance / 1_000) s ahead of the machine, but the most is \(most) s",
                    hint: "start ccsd with an empty data directory, which has the machine's time")
            }
            do throws(StoreError) {
                try store.setSetting(Self.setting, Array("\(advance)".utf8))
            } catch {
                throw OperatorProblem(
                    "the store did not accept the change: \(error.description)",
                    hint: "see the log of ccsd for the reason")
            }
            status.move(to: advance)
        }
    }
}
