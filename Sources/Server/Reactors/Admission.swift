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
    /// Addresses of proxies that send a PROXY header.
    var proxies: [AddressNetwork] = []
}

extension ReactorHost {
    /// Applies new settings.
    func changeAdmission(_ settings: AdmissionSettings) {
        admission.failedLogins.change(to: settings.failedLogins)
        admission.unauthenticatedRequests.change(to: settings.unauthenticatedRequests)
        reactor.changeListeners(
            anonymousPerAddress: settings.anonymousPerAddress, proxies: settings.proxies)
    }

    /// Counts a failed login of a peer under the identity that it claimed.
    func countFailedLogin(of link: Link) {
        admission.failedLogins.record(
            link.connection.peer, link.kind, claim: link.peerNumber ?? 0, now: reactor.now.monotonic)
    }

    /// Returns whether an address has too many failed logins at this listener. Logs and, at accept, counts the refusal.
    func refuses(_ peer: SocketAddress, _ kind: Link.Kind, isAccepting: Bool) -> Bool {
        guard kind.isAppServer || kind == .device,
            admission.failedLogins.refuses(peer, kind, now: reactor.now.monotonic)
        else { return false }
        if isAccepting { tally.refused(kind, .failedLogins) }
        logRefusal(of: peer, listener: kind.rawValue, reason: ConnectionRefusal.failedLogins.rawValue)
        return true
    }

    /// Sets how much a request may add to the registry.
    func admit(_ event: inout Event, from link: Link) {
        admission.admit(&event, from: link.connection.peer, now: reactor.now.monotonic)
    }

    /// Refuses a login if its identity has failed too often from this address. The core is not asked, so no further secret is
    /// checked. Returns whether the login was refused.
    func refusesLogin(_ event: borrowing Event, from link: Link) -> Bool {
        let refusal: SessionCommand
        switch event {
        case .sender(_, .login), .sender(_, .keysRequested):
            refusal = .appServer(.loginRefused(.tooManyFailures))
        case .device(_, .login): refusal = .device(.loginRefused(.tooManyFailures))
        default: return false
        }
        guard let claim = link.peerNumber,
            admission.failedLogins.refuses(
                link.connection.peer, link.kind, claim: claim, now: reactor.now.monotonic)
        else { return false }
        answer(refusal, to: link.connection.id)
        return true
    }
}
