import Basics
import Synchronization
import Transport

/// Decides which refusals get a log line: the first of an address, and then one a minute with the number of those since.
///
/// Shared by all reactors. What the table has no room for is counted in the metrics alone.
final class RefusalLog: Sendable {
    private struct Key: Hashable {
        var listener: String
        var network: SocketAddress
        var reason: String
    }

    private struct Entry {
        var loggedAt: Instant
        /// Refusals since then.
        var count: Int
    }

    private let entries = Mutex<[Key: Entry]>([:])
    private let capacity: Int

    /// Remembers up to `capacity` addresses.
    init(capacity: Int = Limits.refusedAddresses) { self.capacity = capacity }

    /// Counts a refusal. Returns how many there were since the last line about this address, if it is time for the next line.
    func note(_ peer: SocketAddress, listener: String, reason: String, now: Instant) -> Int? {
        let key = Key(listener: listener, network: peer.network ?? peer, reason: reason)
        return entries.withLock { entries in
            guard let entry = entries[key] else {
                if entries.count >= capacity { entries = entries.filter { !Self.isOver($0.value, now) } }
                guard entries.count < capacity else { return nil }
                entries[key] = Entry(loggedAt: now, count: 0)
                return 1
            }
            guard Self.isOver(entry, now) else {
                entries[key]?.count += 1
                return nil
            }
            entries[key] = Entry(loggedAt: now, count: 0)
            return entry.count + 1
        }
    }

    private static func isOver(_ entry: Entry, _ now: Instant) -> Bool {
        entry.loggedAt.advanced(seconds: Limits.refusalLogSeconds) <= now
    }
}
