/// What is to happen in a simulated world, in order of time; what is due at the same time happens in the order of planning.
@frozen public struct Agenda<World> {
    /// An entry of the agenda.
    @frozen public struct Entry {
        /// When it is due, in the unit of the world.
        public let at: Int64
        @usableFromInline let order: Int
        /// What happens.
        public let action: (World) -> Void

        @inlinable init(at: Int64, order: Int, action: @escaping (World) -> Void) {
            (self.at, self.order, self.action) = (at, order, action)
        }
    }

    /// The next entry is the last element.
    @usableFromInline var entries: [Entry] = []
    @usableFromInline var order = 0

    /// Creates an empty agenda.
    @inlinable public init() {}

    /// Plans an action.
    @inlinable public mutating func add(at time: Int64, _ action: @escaping (World) -> Void) {
        order += 1
        let entry = Entry(at: time, order: order, action: action)
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].at > entry.at { low = middle + 1 } else { high = middle }
        }
        entries.insert(entry, at: low)
    }

    /// Removes and returns the next entry that is due by a time. Returns `nil` if there is none.
    @inlinable public mutating func next(until end: Int64) -> Entry? {
        guard let last = entries.last, last.at <= end else { return nil }
        return entries.popLast()
    }
}
