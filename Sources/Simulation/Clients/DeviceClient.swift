import Basics
import Delivery

/// What a device hears.
enum DeviceWord {
    /// The login stands; these upstream messages are known to be stored.
    case loggedIn(stored: [[UInt8]])
    case refusedLogin
    /// A message; nil: a marker of discarded ones. Without a persistent id it was not stored.
    case message(number: Int?, PersistentID?)
    case upstreamStored(number: Int)
    case upstreamRefused(number: Int, mayRetry: Bool)
    case lost
}

/// How a device speaks: in events or in octets.
protocol DevicePort: AnyObject {
    func login(_ identity: DeviceIdentity, received: [PersistentID])
    func acknowledge(_ ids: [PersistentID])
    func send(_ draft: UpstreamDraft)
    func close()
    func cut()
}

/// What check-in gave.
struct DeviceIdentity {
    var device: DeviceID
    var token: UInt64
}

/// A device: checks in, registers, comes and goes, acknowledges late, twice or never.
final class DeviceClient {
    private unowned let world: World
    let number: Int
    private(set) var identity: DeviceIdentity?
    /// Its registrations, by app.
    private(set) var names: [RegistrationName?]
    /// What app servers know: also those that are gone.
    private(set) var knownNames: [RegistrationName?]
    let senders: [SenderID]
    private var port: (any DevicePort)?
    private var isOnline = false
    /// Received, and not known to be acknowledged.
    private var received: [PersistentID] = []
    private var named: [PersistentID] = []
    /// Received on this connection and not acknowledged on it.
    private var unacknowledged: [PersistentID: Int] = [:]
    /// Upstream messages not known to be stored.
    private var unconfirmed: [UpstreamDraft] = []
    /// Comes only when the storm is over.
    private let isAway: Bool

    init(_ world: World, number: Int, senders: [SenderID]) {
        self.world = world
        self.number = number
        self.senders = senders
        names = Array(repeating: nil, count: senders.count)
        knownNames = names
        isAway = world.chance(1, in: 4)
    }

    /// Whether it is enrolled and connected, and owes nothing.
    var isSettled: Bool { isOnline && !names.contains { $0 == nil } && unacknowledged.isEmpty }

    /// The app's name.
    func category(_ app: Int) -> [UInt8] { Array("app\(app)".utf8) }

    // MARK: Enrolment

    /// Checks in and registers until both are done, then comes and goes.
    func start() {
        world.after(world.random(1_000_000...2_000_000_000)) { [self] in enrol() }
    }

    private func enrol() {
        guard let identity else { return checkIn() }
        guard let app = names.firstIndex(where: { $0 == nil }) else {
            if port == nil, !isAway || world.isCalm { planConnect() }
            return
        }
        let token = SimulatedHost.digest(identity.token)
        world.request(
            { [self] origin in
                .register(
                    RegistrationRequest(
                        origin: origin, device: identity.device, token: token, category: category(app),
                        subtype: [],
                        senderText: Array("\(senders[app].number)".utf8)))
            },
            { [self] answer in
                if case .registered(_, let name) = answer, self.identity?.device == name.device {
                    world.checkers.registered(name, world)
                    names[app] = name
                    knownNames[app] = name
                }
                start()
            })
    }

    private func checkIn() {
        let fresh = DeviceIdentity(
            device: DeviceID(UInt64(world.random(1 << 59...(.max)))), token: UInt64(world.random(1...(.max))))
        world.request(
            { origin in
                .checkIn(
                    CheckIn(
                        origin: origin, claimed: nil, freshDevice: fresh.device, freshToken: fresh.token,
                        freshDigest: SimulatedHost.digest(fresh.token), refusesWrongToken: false))
            },
            { [self] answer in
                // Two may be on their way; the first answer makes the device.
                if identity == nil, case .checkedIn(_, fresh.device, fresh.token) = answer {
                    identity = fresh
                }
                start()
            })
    }

    /// An app is removed from the device, or put back later.
    func unregister(_ app: Int) {
        guard let identity, let name = names[app] else { return }
        names[app] = nil
        world.checkers.unregistering(name)
        world.request(
            { [self] origin in
                .unregister(
                    RegistrationRequest(
                        origin: origin, device: identity.device, token: SimulatedHost.digest(identity.token),
                        category: category(app), subtype: [], senderText: []))
            },
            { [self] answer in
                if case .unregistered = answer { world.checkers.unregistered(name) }
                start()
            })
    }

    /// An operator forgets the device: it has to begin anew.
    func forget() {
        guard let identity else { return }
        for case let name? in names { world.checkers.unregistering(name) }
        self.identity = nil
        names = Array(repeating: nil, count: senders.count)
        received = []
        named = []
        unconfirmed = []
        world.request(
            { .forgetDevice(identity.device, $0) },
            { [self] _ in
                port?.close()
                hear(.lost, port)
                start()
            })
    }

    // MARK: Coming and going

    private func planConnect() {
        let longest: Int64 =
            world.isCalm ? 500_000_000 : world.chance(1, in: 5) ? 60_000_000_000 : 3_000_000_000
        world.after(world.random(1_000_000...longest)) { [self] in
            if port == nil, identity != nil { connect() }
        }
    }

    private func connect() {
        guard let identity, let port = world.openDevice(self) else { return planConnect() }
        self.port = port
        isOnline = false
        unacknowledged = [:]
        named = received
        port.login(identity, received: named)
        // A login that is never answered is given up.
        world.after(15_000_000_000) { [self] in
            if self.port === port, !isOnline { leave(port) }
        }
        guard world.faults.secondsBetweenCuts > 0, !world.isCalm else { return }
        world.after(world.random(1...Int64(world.faults.secondsBetweenCuts) * 2_000_000_000)) { [self] in
            guard self.port === port, !world.isCalm else { return }
            if world.chance(1, in: 2) { port.cut() } else { leave(port) }
        }
    }

    private func leave(_ port: any DevicePort) {
        port.close()
        hear(.lost, port)
    }

    /// The faults are over: a new connection on which everything is acknowledged.
    func calm() {
        if let port { leave(port) } else { start() }
    }

    /// Something came.
    func hear(_ word: DeviceWord, _ from: (any DevicePort)?) {
        guard let port, from === port else { return }
        switch word {
        case .loggedIn(let stored):
            isOnline = true
            received.removeAll { named.contains($0) }
            for id in stored {
                if let number = Number.of(id) { confirmed(number) }
            }
            for draft in unconfirmed { port.send(draft) }
        case .refusedLogin: break
        case .message(let number, let id): message(number, id, port)
        case .upstreamStored(let number): confirmed(number)
        case .upstreamRefused(let number, let mayRetry): refused(number, mayRetry: mayRetry)
        case .lost:
            self.port = nil
            isOnline = false
            // Now or never is not said twice.
            unconfirmed.removeAll { $0.lifetimeSeconds == 0 }
            unacknowledged = [:]
            if identity != nil, !names.contains(where: { $0 == nil }) { planConnect() } else { start() }
        }
    }

    private func message(_ number: Int?, _ id: PersistentID?, _ port: any DevicePort) {
        if let id {
            if !received.contains(id) { received.append(id) }
            unacknowledged[id] = number
        }
        world.checkers.deviceHeard(
            number, id, ObjectIdentifier(port), unacknowledged: Set(unacknowledged.values), world)
        guard let id else { return }
        if !world.isCalm, world.chance(world.faults.lazyDevices, in: 100) { return }
        let longest: Int64 = world.isCalm ? 20_000_000 : 1_500_000_000
        world.after(world.random(0...longest)) { [self] in
            guard self.port === port else { return }
            unacknowledged[id] = nil
            port.acknowledge([id])
            if world.chance(1, in: 10) { port.acknowledge([id]) }
        }
    }

    /// The port's acknowledgement covers all that has come on this connection.
    func acknowledgedAll() { unacknowledged = [:] }

    // MARK: Upstream

    /// An app sends.
    func send(_ draft: UpstreamDraft) {
        unconfirmed.append(draft)
        world.checkers.upstreamSent(draft, identity?.device, world)
        if isOnline { port?.send(draft) }
    }

    private func confirmed(_ number: Int) {
        guard let at = unconfirmed.firstIndex(where: { $0.number == number }) else { return }
        unconfirmed.remove(at: at)
        world.checkers.upstreamConfirmed(number, world)
    }

    private func refused(_ number: Int, mayRetry: Bool) {
        guard let at = unconfirmed.firstIndex(where: { $0.number == number }) else { return }
        let draft = unconfirmed[at]
        guard mayRetry, draft.lifetimeSeconds > 0 else {
            unconfirmed.remove(at: at)
            world.checkers.upstreamRefused(number)
            return
        }
        world.after(world.random(100_000_000...2_000_000_000)) { [self] in
            if isOnline, unconfirmed.contains(where: { $0.number == number }) { port?.send(draft) }
        }
    }
}
