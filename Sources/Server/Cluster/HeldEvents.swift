import Basics
import Delivery

/// Events for partitions whose owner is unknown or is changing, until there is one or their time is over.
struct HeldEvents {
    private struct Held {
        var event: Event
        var until: Instant
    }

    private var byPartition: [Int: [Held]] = [:]
    private(set) var count = 0

    /// Adds an event. Returns `false` if too many wait.
    mutating func add(_ event: Event, of partition: Int, until: Instant) -> Bool {
        guard count < Limits.ClusterHost.heldEvents else { return false }
        count += 1
        byPartition[partition, default: []].append(Held(event: event, until: until))
        return true
    }

    /// Whether events of a partition wait.
    func isHolding(_ partition: Int) -> Bool { byPartition[partition] != nil }

    /// Removes and returns the events of a partition, in order, with the ends of their waits.
    mutating func take(_ partition: Int) -> [(event: Event, until: Instant)] {
        guard let held = byPartition.removeValue(forKey: partition) else { return [] }
        count -= held.count
        return held.map { ($0.event, $0.until) }
    }

    /// Removes and returns the events whose time is over.
    mutating func takeOverdue(_ now: Instant) -> [Event] {
        var overdue: [Event] = []
        for (partition, held) in byPartition {
            let late = held.prefix { $0.until <= now }
            guard !late.isEmpty else { continue }
            overdue += late.map(\.event)
            count -= late.count
            byPartition[partition] = late.count == held.count ? nil : Array(held.dropFirst(late.count))
        }
        return overdue
    }
}
