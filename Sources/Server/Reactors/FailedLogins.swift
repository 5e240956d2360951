import Basics
import Synchronization
import Transport

/// Counts failed logins over all reactors, minute by minute, so that a guesser is refused and others are not.
///
/// Each claimed identity counts by itself, by address and listener: a device or app server with a wrong secret does not shut out
/// those that share its address. All failures of an address together have a second, far higher bound.
final class FailedLogins: Sendable {
    /// How many failures in a minute are too many; 0 disables a limit.
    struct Bounds: Sendable, Equatable {
        /// Of one claimed identity from one address at one listener.
        var perIdentity = Limits.failedLoginsPerIdentityAndMinute
        /// From one address at one listener.
        var perAddress = Limits.failedLoginsPerAddressAndMinute
    }

    private struct Place: Hashable {
        var network: SocketAddress
        var listener: Link.Kind
    }

    private struct Identity: Hashable {
        var place: Place
        var claim: UInt64
    }

    private struct Counts {
        var bounds: Bounds
        var minute: Int64 = 0
        var places: [Place: Int] = [:]
        var identities: [Identity: Int] = [:]
    }

    /// Touched once per login and failure, never per message.
    private let counts: Mutex<Counts>
    private let capacity: Int

    /// Remembers up to `capacity` addresses, and as many identities.
    init(_ bounds: Bounds = Bounds(), capacity: Int = Limits.failedLoginsRemembered) {
        counts = Mutex(Counts(bounds: bounds))
        self.capacity = capacity
    }

    /// Other bounds hold from now on; what was counted stays.
    func change(to bounds: Bounds) { counts.withLock { $0.bounds = bounds } }

    /// Counts a failure; `claim` is the sender or device that the peer said it was.
    func note(_ peer: SocketAddress, _ listener: Link.Kind, claim: UInt64, now: Instant) {
        guard let network = peer.network else { return }
        let place = Place(network: network, listener: listener)
        let minute = Self.minute(now)
        counts.withLock { counts in
            if minute != counts.minute { counts = Counts(bounds: counts.bounds, minute: minute) }
            Self.count(place, &counts.places, capacity)
            Self.count(Identity(place: place, claim: claim), &counts.identities, capacity)
        }
    }

    /// A full table takes no new entry, so that a flood of addresses refuses no one; those in it are counted on.
    private static func count<Key>(_ key: Key, _ table: inout [Key: Int], _ capacity: Int) {
        guard table.count < capacity || table[key] != nil else { return }
        table[key, default: 0] += 1
    }

    /// Returns whether an identity has failed too often from this address in this minute.
    func refuses(_ peer: SocketAddress, _ listener: Link.Kind, claim: UInt64, now: Instant) -> Bool {
        guard let network = peer.network else { return false }
        let identity = Identity(place: Place(network: network, listener: listener), claim: claim)
        return counts.withLock { counts in
            counts.minute == Self.minute(now) && counts.bounds.perIdentity > 0
                && counts.identities[identity, default: 0] >= counts.bounds.perIdentity
        }
    }

    /// Returns whether an address has failed too often in this minute, whatever it claimed to be.
    func refuses(_ peer: SocketAddress, _ listener: Link.Kind, now: Instant) -> Bool {
        guard let network = peer.network else { return false }
        let place = Place(network: network, listener: listener)
        return counts.withLock { counts in
            counts.minute == Self.minute(now) && counts.bounds.perAddress > 0
                && counts.places[place, default: 0] >= counts.bounds.perAddress
        }
    }

    private static func minute(_ now: Instant) -> Int64 { now.nanoseconds / 60_000_000_000 }
}
