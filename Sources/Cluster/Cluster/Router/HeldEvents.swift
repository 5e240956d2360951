import Basics
import Delivery

/// Events for partitions whose owner is unknown or is changing, until there is one or their time is over.
struct HeldEvents: Sendable {
    struct Held: Sendable {
        var event: Event
        var until: Instant
        /// Whether it comes back from the owner before: it is older than what has begun to wait here.
        var isBack: Bool
    }

    private var byPartition: [Int: [Held]] = [:]
    private(set) var count = 0

    /// Adds an event. Returns `false` if too many wait.
    mutating func add(_ event: Event, of partition: Int, until: Instant, isBack: Bool = false) -> Bool {
        guard count < Limits.ClusterHost.heldEvents else { return false }
        count += 1
        let entry = Held(event: event, until: until, isBack: isBack)
        let place = isBack ? byPartition[partition]?.firstIndex { !$0.isBack } : nil
        if let place {
            byPartition[partition]?.insert(entry, at: place)
        } else {
            byPartition[partition, default: []].append(entry)
        }
        return true
    }

    /// The partitions whose events wait, in order.
    var partitions: [Int] { byPartition.keys.sorted() }

    /// Whether events of a partition wait.
    func isHolding(_ partition: Int) -> Bool { byPartition[partition] != nil }

    /// Removes and returns the events of a partition, in order.
    mutating func take(_ partition: Int) -> [Held] {
        guard let held = byPartition.removeValue(forKey: partition) else { return [] }
        count -= held.count
        return held
    }

    /// Removes and returns the events whose time is over.
    mutating func takeOverdue(_ now: Instant) -> [Event] {
        var overdue: [Event] = []
        for (partition, held) in byPartition.sorted(by: { $0.key < $1.key }) {
            let late = held.filter { $0.until <= now }
            guard !late.isEmpty else { continue }
            overdue += late.map(\.event)
            count -= late.count
            byPartition[partition] = late.count == held.count ? nil : held.filter { $0.until > now }
        }
        return overdue
    }
}
