import Basics
import Synchronization
import Transport

/// Counts failed logins per minute over all reactors, to end the connections of peers that guess secrets.
///
/// Only failures are counted, after the secret was checked: a peer with a valid secret is never refused because of others behind the
/// same address, or of others that claim its identity. Failures count per claimed identity, address and listener; all failures of an
/// address together have a second, far higher limit.
final class FailedLogins: Sendable {
    /// The limits of failures per minute; 0 disables a limit.
    struct Bounds: Sendable, Equatable {
        /// The limit for one claimed identity from one address at one listener.
        var perIdentity = Limits.Login.failuresPerIdentityAndMinute
        /// The limit for one address at one listener.
        var perAddress = Limits.Login.failuresPerAddressAndMinute
    }

    private struct Source: Hashable {
        var network: SocketAddress
        var listener: Link.Kind
    }

    private struct Identity: Hashable {
        var source: Source
        var claim: UInt64
    }

    private struct Counts {
        var bounds: Bounds
        var sources: MinuteTable<Source>
        var identities: MinuteTable<Identity>
    }

    /// Locked once per login and failure, never per message.
    private let counts: Mutex<Counts>

    /// Creates a counter for up to `capacity` addresses and `capacity` identities.
    init(_ bounds: Bounds = Bounds(), capacity: Int = Limits.Login.failuresRemembered) {
        counts = Mutex(
            Counts(
                bounds: bounds, sources: MinuteTable(capacity: capacity),
                identities: MinuteTable(capacity: capacity)))
    }

    /// Changes the limits; the counts remain.
    func change(to bounds: Bounds) { counts.withLock { $0.bounds = bounds } }

    /// Counts a failure; `claim` is the number of the sender or device that the peer claimed to be.
    func record(_ peer: SocketAddress, _ listener: Link.Kind, claim: UInt64, now: Instant) {
        guard let network = peer.network else { return }
        let source = Source(network: network, listener: listener)
        counts.withLock { counts in
            counts.sources.add(source, now: now)
            counts.identities.add(Identity(source: source, claim: claim), now: now)
        }
    }

    /// Returns whether an identity has failed more often from this address in this minute than its limit, or the address with all
    /// identities. `claim` is that of the latest failure, which was recorded.
    func isExceeded(_ peer: SocketAddress, _ listener: Link.Kind, claim: UInt64, now: Instant) -> Bool {
        guard let network = peer.network else { return false }
        let source = Source(network: network, listener: listener)
        let identity = Identity(source: source, claim: claim)
        return counts.withLock { counts in
            counts.identities.isOver(identity, bound: counts.bounds.perIdentity, now: now)
                || counts.sources.isOver(source, bound: counts.bounds.perAddress, now: now)
        }
    }
}
