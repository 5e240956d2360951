import Basics
import Delivery
import Synchronization
import Transport

/// Counts what strangers ask to be added to the registry, over all reactors, minute by minute.
///
/// A request takes a place when it comes, before anybody knows whose it is, so that no number of them that are under way at once
/// gets past the bound. The core gives the place back where the device turns out to be known.
final class Strangers: Sendable {
    /// How many requests in a minute are answered; 0 disables a bound.
    struct Bounds: Sendable, Equatable {
        /// From one address, or one IPv6 network.
        var perAddress = Limits.Registry.requestsPerAddressAndMinute
        /// From all together.
        var total = Limits.Registry.requestsPerMinute
    }

    private struct Counts {
        var bounds: Bounds
        /// By network; nil is all of them together.
        var requests: MinuteTable<SocketAddress?>
    }

    /// Touched once per check-in or registration, never per message.
    private let counts: Mutex<Counts>

    /// Remembers up to `capacity` addresses.
    init(_ bounds: Bounds = Bounds(), capacity: Int = Limits.Registry.addressesRemembered) {
        counts = Mutex(Counts(bounds: bounds, requests: MinuteTable(capacity: capacity)))
    }

    /// Other bounds hold from now on; what was counted stays.
    func change(to bounds: Bounds) { counts.withLock { $0.bounds = bounds } }

    /// Takes a place for a request, if there is one, and returns what the request may add.
    func admit(_ peer: SocketAddress, now: Instant) -> Origin.Growth {
        guard let network = peer.network else { return .unbounded }
        return counts.withLock { counts in
            let bounds = counts.bounds
            guard !counts.requests.isFull(nil, bound: bounds.total, now: now),
                !counts.requests.isFull(network, bound: bounds.perAddress, now: now)
            else { return .knownOnly }
            counts.requests.add(nil, now: now)
            counts.requests.add(network, now: now)
            return .counted
        }
    }

    /// A request was no stranger's: its place is free again.
    func giveBack(_ peer: SocketAddress, now: Instant) {
        guard let network = peer.network else { return }
        counts.withLock { counts in
            counts.requests.takeBack(nil, now: now)
            counts.requests.takeBack(network, now: now)
        }
    }
}
