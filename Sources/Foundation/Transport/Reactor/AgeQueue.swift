import Basics

/// Connections in the order in which they came, any of which may leave.
///
/// Those that have left stay in the array until it has twice the number of those that are still in the queue, so each change takes
/// constant time on average.
struct AgeQueue {
    private var entries: [ConnectionID] = []
    /// The index of the first one that may still be in the queue.
    private var first = 0
    /// The number of connections in the queue.
    private(set) var count = 0

    /// Appends a connection; `isIn` returns whether an earlier one is still in the queue.
    mutating func append(_ connection: ConnectionID, isIn: (ConnectionID) -> Bool) {
        if entries.count - first > 2 * count + Self.slack {
            entries = entries[first...].filter(isIn)
            first = 0
        }
        entries.append(connection)
        count += 1
    }

    /// Counts that one of them has left.
    mutating func leave() {
        count -= 1
        guard count == 0 else { return }
        entries.removeAll()
        first = 0
    }

    /// Returns the connection that came first; `nil` if there is none.
    mutating func oldest(isIn: (ConnectionID) -> Bool) -> ConnectionID? {
        while first < entries.count {
            if isIn(entries[first]) { return entries[first] }
            first += 1
        }
        return nil
    }

    /// The number of entries in memory.
    var held: Int { entries.count }

    /// Entries of connections that have left, beyond which a short array is cleared as well.
    private static let slack = 16
}
