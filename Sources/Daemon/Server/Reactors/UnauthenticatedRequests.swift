import Basics
import Delivery
import Synchronization
import Transport

/// Counts requests of unauthenticated peers that add to the registry, per minute over all reactors.
///
/// A request is counted on arrival, before its device is known, so that concurrent requests cannot exceed the limit. The count
/// is taken back if the device turns out to be one that has logged in.
final class UnauthenticatedRequests: Sendable {
    /// The limits of requests per minute; 0 disables a limit.
    struct Bounds: Sendable, Equatable {
        /// The limit for one address or IPv6 network.
        var perAddress = Limits.Registry.requestsPerAddressAndMinute
        /// The limit for all addresses together.
        var total = Limits.Registry.requestsPerMinute
    }

    private struct Counts {
        var bounds: Bounds
        /// Requests by network; the key `nil` counts all of them.
        var requests: MinuteTable<SocketAddress?>
    }

    /// Locked once per check-in or registration, never per message.
    private let counts: Mutex<Counts>

    /// Creates a counter for up to `capacity` addresses.
    init(_ bounds: Bounds = Bounds(), capacity: Int = Limits.Registry.addressesRemembered) {
        counts = Mutex(Counts(bounds: bounds, requests: MinuteTable(capacity: capacity)))
    }

    /// Changes the limits; the counts remain.
    func change(to bounds: Bounds) { counts.withLock { $0.bounds = bounds } }

    /// Counts a request if the limits allow it. Returns what the request may add to the registry.
    func admit(_ peer: SocketAddress, now: Instant) -> Requester.Growth {
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

    /// Takes back the count of a request whose device is known.
    func withdraw(_ peer: SocketAddress, now: Instant) {
        guard let network = peer.network else { return }
        counts.withLock { counts in
            counts.requests.takeBack(nil, now: now)
            counts.requests.takeBack(network, now: now)
        }
    }
}
