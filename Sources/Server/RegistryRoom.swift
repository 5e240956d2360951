import Basics
import Synchronization

/// How large the registry is, and how large it may become, for all threads.
///
/// The registry is what stays until somebody removes it: devices, registrations, subscriptions, installations, groups, senders.
/// Unlike messages it has no end of its own, so that without a bound it fills the disk in time, which stops messages too. The
/// store's thread measures it every `Limits.Registry.measureSeconds`; what is asked for in between may exceed the bound.
public final class RegistryRoom: Sendable {
    private let measured = Atomic<Int>(0)
    private let bound: Atomic<Int>
    /// Whether the log says that it is full.
    private let isLogged = Atomic<Bool>(false)

    /// Nothing has been measured; 0 disables the limit.
    public init(limit: Int) { bound = Atomic(limit) }

    /// Its size when it was last measured.
    public var bytes: Int { measured.load(ordering: .relaxed) }

    /// Bytes from which on nothing new is added; 0: no limit. Another one holds at once.
    public var limit: Int {
        get { bound.load(ordering: .relaxed) }
        set { bound.store(newValue, ordering: .relaxed) }
    }

    /// Whether nothing new may be added.
    public var isFull: Bool { Self.isFull(bytes, limit) }

    /// What is wrong, for `/readyz`; `nil` if there is room.
    public var problem: String? {
        let (bytes, limit) = (bytes, limit)
        guard Self.isFull(bytes, limit) else { return nil }
        return
            "the registry is full: \(bytes) of \(limit) bytes (registry_bytes); nothing new is added until the limit is raised or devices are removed"
    }

    /// Notes a measurement, and logs it if the registry has become full, or has room again. For one thread.
    func note(_ bytes: UInt64, _ log: Log) {
        let bytes = Int(clamping: bytes)
        measured.store(bytes, ordering: .relaxed)
        let isFull = Self.isFull(bytes, limit)
        guard isLogged.exchange(isFull, ordering: .relaxed) != isFull else { return }
        // A size on the verge is full, and is not, many times.
        if isFull {
            log.repeating(
                .error, "registry_full",
                ["bytes": LogValue(bytes), "limit": LogValue(limit), "setting": "registry_bytes"])
        } else {
            log.repeating(
                .notice, "registry_has_room", ["bytes": LogValue(bytes), "limit": LogValue(limit)])
        }
    }

    private static func isFull(_ bytes: Int, _ limit: Int) -> Bool { limit > 0 && bytes >= limit }
}
