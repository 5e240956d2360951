import Basics
import Transport

/// Counts failed logins per address and minute, so that a guesser is refused at the door.
struct FailedLogins {
    private struct Count {
        var minute: Int64
        var failures: Int
    }

    private var counts: [String: Count] = [:]

    /// Notes a failure.
    mutating func note(_ peer: SocketAddress, now: Instant) {
        let minute = now.nanoseconds / 60_000_000_000
        if counts.count >= Limits.failedLoginAddresses {
            counts = counts.filter { $0.value.minute == minute }
        }
        // Still full: all are of this minute, and each of those addresses is limited by itself.
        guard counts.count < Limits.failedLoginAddresses else { return }
        let key = peer.host
        var count = counts[key] ?? Count(minute: minute, failures: 0)
        if count.minute != minute { count = Count(minute: minute, failures: 0) }
        count.failures += 1
        counts[key] = count
    }

    /// Whether an address has failed too often in this minute.
    func refuses(_ peer: SocketAddress, now: Instant) -> Bool {
        guard let count = counts[peer.host], count.minute == now.nanoseconds / 60_000_000_000 else {
            return false
        }
        return count.failures >= Limits.failedLoginsPerAddressAndMinute
    }
}
