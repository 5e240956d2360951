public import Basics

/// Registrations whose throttled messages may continue at an instant, earliest first: a binary heap.
///
/// A registration is in it at most once, so it is no longer than the registrations in memory.
public struct DueQueue: Sendable {
    private var items: [(due: Instant, name: RegistrationName)] = []

    /// Creates an empty queue.
    public init() {}

    /// Number of waiting registrations.
    public var count: Int { items.count }

    /// Adds a registration.
    public mutating func add(_ name: RegistrationName, due: Instant) {
        items.append((due, name))
        var at = items.count - 1
        while at > 0, items[at].due < items[(at - 1) / 2].due {
            items.swapAt(at, (at - 1) / 2)
            at = (at - 1) / 2
        }
    }

    /// Removes and returns the earliest registration if its time has come; otherwise returns `nil`.
    public mutating func popFirst(dueBy now: Instant) -> RegistrationName? {
        guard let first = items.first, first.due <= now else { return nil }
        items.swapAt(0, items.count - 1)
        items.removeLast()
        var at = 0
        while true {
            var least = at
            for child in [2 * at + 1, 2 * at + 2] where child < items.count {
                if items[child].due < items[least].due { least = child }
            }
            guard least != at else { return first.name }
            items.swapAt(at, least)
            at = least
        }
    }
}
