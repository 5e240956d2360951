import Basics
import Delivery
import Sessions
import Transport

/// The admission checks for unauthenticated peers, shared by all reactors.
final class Admission: Sendable {
    let failedLogins: FailedLogins

    /// Counts requests of unauthenticated peers that add to the registry.
    let unauthenticatedRequests: UnauthenticatedRequests

    /// The size and the limit of the registry.
    let registry: RegistryQuota

    init(_ settings: AdmissionSettings, registry: RegistryQuota) {
        failedLogins = FailedLogins(settings.failedLogins)
        unauthenticatedRequests = UnauthenticatedRequests(settings.unauthenticatedRequests)
        self.registry = registry
    }

    /// Sets how much a request may add to the registry. A full registry refuses it without counting it.
    func admit(_ event: inout Event, from peer: SocketAddress, now: Instant) {
        guard event.growth != nil else { return }
        if registry.isFull {
            event.growth = .full
        } else if event.needsNoAccount {
            event.growth = unauthenticatedRequests.admit(peer, now: now)
        }
    }
}

/// The configured limits for peers that have not logged in.
struct AdmissionSettings: Sendable, Equatable {
    var failedLogins = FailedLogins.Bounds()
    var unauthenticatedRequests = UnauthenticatedRequests.Bounds()
    /// Connections without a login from one address on one reactor and listener; 0 disables the limit.
    var anonymousPerAddress = Limits.Connection.anonymousPerAddress
    /// Bytes of all connections without a login together; 0 disables the limit.
    var beforeLoginBytes = Limits.Connection.beforeLoginBytes
    /// Addresses of proxies that send a PROXY header.
    var proxies: [AddressNetwork] = []

    /// How many connections without a login one of several reactors may have; at least one.
    func connectionsBeforeLogin(reactors: Int) -> Int {
        guard beforeLoginBytes > 0 else { return .max }
        return max(1, beforeLoginBytes / Limits.Connection.beforeLoginCost / max(1, reactors))
    }
}

extension ReactorHost {
    /// Applies new settings.
    func changeAdmission(_ settings: AdmissionSettings) {
        admission.failedLogins.change(to: settings.failedLogins)
        admission.unauthenticatedRequests.change(to: settings.unauthenticatedRequests)
        reactor.changeListeners(
            anonymousPerAddress: settings.anonymousPerAddress,
            beforeLogin: settings.connectionsBeforeLogin(reactors: mailboxes.count), proxies: settings.proxies
        )
    }

    /// Counts a failed login of a peer under the identity that it claimed. Returns the refusal to answer with.
    ///
    /// The secret was wrong, so no client with a valid one is affected; beyond the limits the connection ends at once.
    func refusal(ofWrongLogin link: Link) -> LoginRefusal {
        let (peer, claim, now) = (link.connection.peer, link.peerNumber ?? 0, reactor.now.monotonic)
        admission.failedLogins.record(peer, link.kind, claim: claim, now: now)
        return admission.failedLogins.isExceeded(peer, link.kind, claim: claim, now: now)
            ? .tooManyFailures : .wrongCredentials
    }

    /// Sets how much a request may add to the registry.
    func admit(_ event: inout Event, from link: Link) {
        admission.admit(&event, from: link.connection.peer, now: reactor.now.monotonic)
    }
}
