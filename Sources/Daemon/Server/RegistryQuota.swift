import Basics
import Synchronization

/// The size and the limit of the registry, for all threads.
///
/// The registry is the data that stays until it is removed: devices, registrations, subscriptions, installations, groups and
/// senders. Unlike messages it does not expire, so without a limit it would fill the disk, which stops messages too. The
/// store's thread measures it every `Limits.Registry.measureSeconds`; additions in between may exceed the limit.
public final class RegistryQuota: Sendable {
    private let measured = Atomic<Int>(0)
    private let bound: Atomic<Int>
    /// Whether the last logged state is that the registry is full.
    private let isLogged = Atomic<Bool>(false)

    /// Creates the accounting before the first measurement; 0 disables the limit.
    public init(limit: Int) { bound = Atomic(limit) }

    /// The size at the last measurement.
    public var bytes: Int { measured.load(ordering: .relaxed) }

    /// The size in bytes at which nothing more is added; 0 disables the limit. A change applies at once.
    public var limit: Int {
        get { bound.load(ordering: .relaxed) }
        set { bound.store(newValue, ordering: .relaxed) }
    }

    /// Whether nothing more may be added.
    public var isFull: Bool { Self.isFull(bytes, limit) }

    /// The problem for `/readyz`; `nil` if the registry is not full.
    public var problem: String? {
        let (bytes, limit) = (bytes, limit)
        guard Self.isFull(bytes, limit) else { return nil }
        return
            "the registry is full: \(bytes) of \(limit) bytes (registry_bytes); nothing is added until the limit is raised or devices are removed"
    }

    /// Records a measurement, and logs it if the registry has become full or has room again. For one thread.
    func record(_ bytes: UInt64, _ log: Log) {
        let bytes = Int(clamping: bytes)
        measured.store(bytes, ordering: .relaxed)
        let isFull = Self.isFull(bytes, limit)
        guard isLogged.exchange(isFull, ordering: .relaxed) != isFull else { return }
        // A size near the limit would otherwise log a line at every change.
        if isFull {
            log.repeating(
                .error, "registry_full",
                ["bytes": LogValue(bytes), "limit": LogValue(limit), "setting": "registry_bytes"])
        } else {
            log.repeating(
                .notice, "registry_below_limit", ["bytes": LogValue(bytes), "limit": LogValue(limit)])
        }
    }

    private static func isFull(_ bytes: Int, _ limit: Int) -> Bool { limit > 0 && bytes >= limit }
}
