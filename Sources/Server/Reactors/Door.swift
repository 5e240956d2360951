import Basics
import Delivery
import Sessions
import Transport

/// What all reactors know together of those that are refused.
final class Door: Sendable {
    /// Who fails to log in.
    let failedLogins: FailedLogins

    /// Who asks to be added to the registry.
    let strangers: Strangers

    /// How large the registry is, and may be.
    let registry: RegistryRoom

    /// Nothing has happened yet.
    init(_ settings: DoorSettings, registry: RegistryRoom) {
        failedLogins = FailedLogins(settings.failedLogins)
        strangers = Strangers(settings.strangers)
        self.registry = registry
    }

    /// Says of a request that may add to the registry how much it may. Where that is nothing, it takes no stranger's place.
    func admit(_ event: inout Event, from peer: SocketAddress, now: Instant) {
        guard event.growth != nil else { return }
        if registry.isFull {
            event.growth = .full
        } else if event.needsNoAccount {
            event.growth = strangers.admit(peer, now: now)
        }
    }
}

/// What an operator sets about those that have not logged in.
struct DoorSettings: Sendable, Equatable {
    /// How many failed logins are too many.
    var failedLogins = FailedLogins.Bounds()
    /// How many requests of strangers are answered.
    var strangers = Strangers.Bounds()
    /// Connections of one address, on one reactor and listener, that have not logged in; 0 disables the limit.
    var anonymousPerAddress = Limits.Connection.anonymousPerAddress
    /// Addresses of proxies that send a PROXY header.
    var proxies: [AddressNetwork] = []
}

extension ReactorHost {
    /// Other settings hold from now on.
    func changeDoor(_ settings: DoorSettings) {
        door.failedLogins.change(to: settings.failedLogins)
        door.strangers.change(to: settings.strangers)
        reactor.changeListeners(
            anonymousPerAddress: settings.anonymousPerAddress, proxies: settings.proxies)
    }

    /// Counts a failed login of a peer, in the name that it gave.
    func noteFailedLogin(of link: Link) {
        door.failedLogins.note(
            link.connection.peer, link.kind, claim: link.peerNumber ?? 0, now: reactor.now.monotonic)
    }

    /// Whether an address has failed to log in too often to be let in at this listener; logged and, at accept, counted.
    func refuses(_ peer: SocketAddress, _ kind: Link.Kind, isAccepting: Bool) -> Bool {
        guard kind.isAppServer || kind == .device,
            door.failedLogins.refuses(peer, kind, now: reactor.now.monotonic)
        else { return false }
        if isAccepting { tally.refused(kind, .failedLogins) }
        logRefusal(of: peer, listener: kind.rawValue, reason: DoorRefusal.failedLogins.rawValue)
        return true
    }

    /// Says of a request that may add to the registry how much it may.
    func admit(_ event: inout Event, from link: Link) {
        door.admit(&event, from: link.connection.peer, now: reactor.now.monotonic)
    }

    /// Refuses a login in a name that failed too often from this address: the core is not asked, so that no further secret is
    /// tried. Returns whether it was refused.
    func refusesLogin(_ event: borrowing Event, from link: Link) -> Bool {
        let refusal: SessionCommand
        switch event {
        case .sender(_, .login), .sender(_, .keysWanted):
            refusal = .appServer(.loginRefused(.tooManyFailures))
        case .device(_, .login): refusal = .device(.loginRefused(.tooManyFailures))
        default: return false
        }
        guard let claim = link.peerNumber,
            door.failedLogins.refuses(
                link.connection.peer, link.kind, claim: claim, now: reactor.now.monotonic)
        else { return false }
        answer(refusal, to: link.connection.id)
        return true
    }
}
