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
        var perIdentity = Limits.Login.failuresPerIdentityAndMinute
        /// From one address at one listener.
        var perAddress = Limits.Login.failuresPerAddressAndMinute
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
        var places: MinuteTable<Place>
        var identities: MinuteTable<Identity>
    }

    /// Touched once per login and failure, never per message.
    private let counts: Mutex<Counts>

    /// Remembers up to `capacity` addresses, and as many identities.
    init(_ bounds: Bounds = Bounds(), capacity: Int = Limits.Login.failuresRemembered) {
        counts = Mutex(
            Counts(
                bounds: bounds, places: MinuteTable(capacity: capacity),
                identities: MinuteTable(capacity: capacity)))
    }

    /// Other bounds hold from now on; what was counted stays.
    func change(to bounds: Bounds) { counts.withLock { $0.bounds = bounds } }

    /// Counts a failure; `claim` is the sender or device that the peer said it was.
    func note(_ peer: SocketAddress, _ listener: Link.Kind, claim: UInt64, now: Instant) {
        guard let network = peer.network else { return }
        let place = Place(network: network, listener: listener)
        counts.withLock { counts in
            counts.places.add(place, now: now)
            counts.identities.add(Identity(place: place, claim: claim), now: now)
        }
    }

    /// Returns whether an identity has failed too often from this address in this minute.
    func refuses(_ peer: SocketAddress, _ listener: Link.Kind, claim: UInt64, now: Instant) -> Bool {
        guard let network = peer.network else { return false }
        let identity = Identity(place: Place(network: network, listener: listener), claim: claim)
        return counts.withLock { $0.identities.isFull(identity, bound: $0.bounds.perIdentity, now: now) }
    }

    /// Returns whether an address has failed too often in this minute, whatever it claimed to be.
    func refuses(_ peer: SocketAddress, _ listener: Link.Kind, now: Instant) -> Bool {
        guard let network = peer.network else { return false }
        let place = Place(network: network, listener: listener)
        return counts.withLock { $0.places.isFull(place, bound: $0.bounds.perAddress, now: now) }
    }
}
