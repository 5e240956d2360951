import Basics
import Synchronization
import Transport

/// Counts failed logins per address and minute over all reactors, so that a guesser is refused at the door.
final class FailedLogins: Sendable {
    private struct Counts {
        var minute: Int64 = 0
        var failures: [SocketAddress: Int] = [:]
    }

    /// Touched once per connection and failure, never per message.
    private let counts = Mutex(Counts())
    private let capacity: Int

    /// Remembers so many addresses.
    init(capacity: Int = Limits.failedLoginAddresses) { self.capacity = capacity }

    /// Notes a failure.
    func note(_ peer: SocketAddress, now: Instant) {
        guard let network = peer.network else { return }
        let minute = Self.minute(now)
        counts.withLock { counts in
            if minute != counts.minute { counts = Counts(minute: minute) }
            // A table that is full takes no new address; those in it are counted on.
            guard counts.failures.count < capacity || counts.failures[network] != nil else { return }
            counts.failures[network, default: 0] += 1
        }
    }

    /// Whether an address has failed too often in this minute.
    func refuses(_ peer: SocketAddress, now: Instant) -> Bool {
        guard let network = peer.network else { return false }
        let failures = counts.withLock { counts in
            counts.minute == Self.minute(now) ? counts.failures[network] : nil
        }
        return failures ?? 0 >= Limits.failedLoginsPerAddressAndMinute
    }

    private static func minute(_ now: Instant) -> Int64 { now.nanoseconds / 60_000_000_000 }
}
