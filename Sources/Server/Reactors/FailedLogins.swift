import Basics
import Synchronization
import Transport

/// Counts failed logins per address and minute over all reactors, so that a guesser is refused at the door.
final class FailedLogins: Sendable {
    private struct Count {
        var minute: Int64
        var failures: Int
    }

    /// Touched once per connection and failure, never per message.
    private let counts = Mutex<[String: Count]>([:])

    /// Notes a failure.
    func note(_ peer: SocketAddress, now: Instant) {
        let minute = now.nanoseconds / 60_000_000_000
        let key = peer.host
        counts.withLock { counts in
            if counts.count >= Limits.failedLoginAddresses {
                counts = counts.filter { $0.value.minute == minute }
            }
            // Still full: all are of this minute, and each of those addresses is limited by itself.
            guard counts.count < Limits.failedLoginAddresses else { return }
            var count = counts[key] ?? Count(minute: minute, failures: 0)
            if count.minute != minute { count = Count(minute: minute, failures: 0) }
            count.failures += 1
            counts[key] = count
        }
    }

    /// Whether an address has failed too often in this minute.
    func refuses(_ peer: SocketAddress, now: Instant) -> Bool {
        let key = peer.host
        let count = counts.withLock { $0.isEmpty ? nil : $0[key] }
        guard let count, count.minute == now.nanoseconds / 60_000_000_000 else { return false }
        return count.failures >= Limits.failedLoginsPerAddressAndMinute
    }
}
