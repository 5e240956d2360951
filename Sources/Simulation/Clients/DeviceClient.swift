import Basics
import Delivery

/// What a device hears.
enum DeviceWord {
    /// The login stands.
    case loggedIn
    case refusedLogin
    case message(HeardMessage)
    case upstreamStored(number: Int)
    case upstreamRefused(number: Int, UpstreamRefusal, mayRetry: Bool)
    /// No app server has taken a message that was stored.
    case returned(messageID: [UInt8])
    case lost
}

/// A message or marker as its device hears it.
struct HeardMessage {
    /// Nil for a marker of discarded messages.
    var number: Int?
    /// How many messages a marker stands for.
    var deleted: Int?
    /// Nil for what was not stored.
    var id: PersistentID?
    var from: [UInt8]
}

/// How a device speaks: in events or in octets.
protocol DevicePort: AnyObject {
    func login(_ identity: DeviceIdentity, received: [PersistentID])
    /// Acknowledges what came on this connection: these, or all there is.
    func acknowledge(_ ids: [PersistentID])
    /// Acknowledges what never came on this connection.
    func acknowledgeForeign(_ ids: [PersistentID])
    func send(_ draft: UpstreamDraft)
    /// Says that it goes idle, or is active again.
    func setIdle(_ isIdle: Bool)
    func close()
    /// Says no more, and reads on.
    func endInput()
    func cut()
}

/// What check-in gave.
struct DeviceIdentity {
    var device: DeviceID
    var token: UInt64
}

/// A device: checks in, registers, comes and goes, acknowledges late, twice or never.
final class DeviceClient {
    /// How it behaves during the storm.
    enum Manner {
        case steady
        /// Is there for a moment, again and again.
        case flapping
        /// Comes only when the storm is over.
        case away
        /// Acknowledges nothing.
        case silent
    }

    /// An app on it.
    struct App {
        let category: [UInt8]
        /// Who may send to it.
        let audience: [SenderID]
        /// Its token; nil while it has none.
        var name: RegistrationName?
        /// All tokens that it ever had, as app servers know them.
        var known: [RegistrationName] = []
        /// New after its data was cleared.
        var instance = 0

        /// `sender` of its registration.
        var senderText: [UInt8] { Array(audience.map { "\($0.number)" }.joined(separator: ",").utf8) }
    }

    let world: World
    let number: Int
    var identity: DeviceIdentity?
    var apps: [App]
    var port: (any DevicePort)?
    /// Earlier connections that the server has not closed yet.
    var replaced: [any DevicePort] = []
    var isOnline = false
    /// Whether its connection may end by what the device or the network does.
    var isDisturbed = false
    /// When it connected last, and to which process.
    private var connected: (at: Int64, process: Int) = (0, 0)
    /// Received, and not known to be acknowledged.
    var received: [PersistentID] = []
    private var named: [PersistentID] = []
    /// The numbers of all that it ever received.
    private var numbers: [PersistentID: Int] = [:]
    /// Received on this connection and not acknowledged on it.
    private var unacknowledged: [PersistentID: Int] = [:]
    /// Upstream messages not known to be stored.
    var unconfirmed: [UpstreamDraft] = []
    /// Upstream messages that are known to be stored and were sent once more on this connection.
    var repeated: [UpstreamDraft] = []
    /// Messages that it has sent, whose IDs an app may use again.
    var sentDrafts: [UpstreamDraft] = []
    /// How many persistent ids it has made: other devices make the same.
    private var persistentIDs = 0
    let manner: Manner

    init(_ world: World, number: Int, audiences: [[SenderID]]) {
        self.world = world
        self.number = number
        apps = audiences.enumerated().map { App(category: Array("app\($0).x".utf8), audience: $1) }
        let manners: [Manner] = [.steady, .steady, .away, .flapping, .silent, .steady, .away]
        manner = manners[Int(world.random(0...Int64(manners.count - 1)))]
    }

    /// Whether it is enrolled and connected, and owes nothing.
    var isSettled: Bool {
        isOnline && isEnrolled && unacknowledged.isEmpty && replaced.isEmpty && repeated.isEmpty
    }

    /// Whether all its apps are registered.
    var isEnrolled: Bool { identity != nil && !apps.contains { $0.name == nil } }

    /// An id that it has not used before.
    func nextPersistentID() -> [UInt8] {
        persistentIDs += 1
        return Array("p\(persistentIDs)".utf8)
    }

    // MARK: Coming and going

    func planConnect() {
        var longest: Int64 = 500_000_000
        if !world.isCalm, manner != .flapping {
            longest = world.chance(1, in: 5) ? 60_000_000_000 : 3_000_000_000
        }
        if world.isLoginStorm { longest = 50_000_000 }
        world.after(world.random(1_000_000...longest)) { [self] in
            if port == nil, identity != nil { connect() }
        }
    }

    private func connect() {
        guard let identity, let port = world.openDevice(self) else { return planConnect() }
        self.port = port
        isOnline = false
        isDisturbed = false
        connected = (world.clock.nanoseconds, world.boots)
        unacknowledged = [:]
        named = received
        world.checkers.truth.cameOnline.insert(identity.device)
        world.checkers.reported(named.compactMap { numbers[$0] })
        if !named.isEmpty { world.met(.receivedNamed) }
        port.login(identity, received: named)
        // A login that is never answered is given up.
        world.after(15_000_000_000) { [self] in
            guard self.port === port, !isOnline else { return }
            checkAnswer()
            leave(port)
        }
        planEnd(of: port)
    }

    /// Goes idle for a while, again and again.
    private func planIdleness(of port: any DevicePort) {
        guard !world.isCalm else { return }
        world.after(world.random(100_000_000...8_000_000_000)) { [self] in
            guard self.port === port, isOnline, !world.isCalm else { return }
            port.setIdle(true)
            world.met(.deviceIdle)
            world.after(world.random(100_000_000...5_000_000_000)) { [self] in
                guard self.port === port else { return }
                port.setIdle(false)
                planIdleness(of: port)
            }
        }
    }

    private func planEnd(of port: any DevicePort) {
        guard !world.isCalm, world.faults.secondsBetweenCuts > 0 || manner == .flapping else { return }
        let longest =
            manner == .flapping ? 1_500_000_000 : Int64(world.faults.secondsBetweenCuts) * 2_000_000_000
        world.after(world.random(1...longest)) { [self] in
            guard self.port === port, !world.isCalm else { return }
            isDisturbed = true
            switch world.random(0...5) {
            case 0...1: port.cut()
            case 2: port.endInput()
            case 3: replace(port)
            default: leave(port)
            }
        }
    }

    /// Connects anew while the earlier connection is still open, as after a change of networks.
    func replace(_ old: any DevicePort) {
        replaced.append(old)
        forgetConnection()
        connect()
    }

    func leave(_ port: any DevicePort) {
        isDisturbed = true
        port.close()
        hear(.lost, port)
    }

    /// The faults are over: a new connection on which everything is acknowledged.
    func calm() {
        for old in replaced { old.close() }
        replaced = []
        if let port { leave(port) } else { start() }
    }

    private func forgetConnection() {
        port = nil
        isOnline = false
        // Now or never is not said twice.
        unconfirmed.removeAll { $0.lifetimeSeconds == 0 }
        repeated = []
        unacknowledged = [:]
    }

    /// Something came.
    func hear(_ word: DeviceWord, _ from: (any DevicePort)?) {
        if case .lost = word, let at = replaced.firstIndex(where: { $0 === from }) {
            replaced.remove(at: at)
            return world.met(.connectionReplaced)
        }
        guard let port, from === port else { return }
        switch word {
        case .loggedIn:
            isOnline = true
            planIdleness(of: port)
            received.removeAll { named.contains($0) }
            for draft in unconfirmed { transmit(draft, port) }
        case .refusedLogin: vanish()
        case .message(let heard): message(heard, port)
        case .upstreamStored(let number): confirmed(number)
        case .upstreamRefused(let number, let refusal, let mayRetry):
            refused(number, refusal, mayRetry: mayRetry)
        case .returned(let messageID):
            if let device = identity?.device { world.checkers.returnHeard(messageID, device, world) }
        case .lost:
            checkAnswer()
            forgetConnection()
            if isEnrolled { planConnect() } else { start() }
        }
    }

    /// A login that has no answer yet will have none.
    private func checkAnswer() {
        guard !isOnline, !isDisturbed else { return }
        world.checkers.logins.unanswered(number, since: connected.at, process: connected.process, world)
    }

    private func message(_ heard: HeardMessage, _ port: any DevicePort) {
        if let id = heard.id {
            if !received.contains(id) { received.append(id) }
            numbers[id] = heard.number
            unacknowledged[id] = heard.number
        }
        world.checkers.deviceHeard(
            heard, ObjectIdentifier(port), unacknowledged: Set(unacknowledged.values), world)
        guard let id = heard.id else { return }
        if !world.isCalm, manner == .silent || world.chance(world.faults.lazyDevices, in: 100) { return }
        let longest: Int64 = world.isCalm ? 20_000_000 : 1_500_000_000
        world.after(world.random(0...longest)) { [self] in
            if self.port === port { acknowledge(id, port) }
        }
    }

    private func acknowledge(_ id: PersistentID, _ port: any DevicePort) {
        unacknowledged[id] = nil
        world.checkers.reported(numbers[id].map { [$0] } ?? [])
        port.acknowledge([id])
        if world.chance(1, in: 10) {
            port.acknowledge([id])
            world.met(.deviceAckRepeated)
        }
        guard world.chance(1, in: 10) else { return }
        let others = world.devices.filter { $0 !== self }.compactMap(\.received.last)
        guard let other = others.first else { return }
        port.acknowledgeForeign([other])
        world.met(.deviceAckForeign)
    }

    /// The port's acknowledgement covers all that has come on this connection.
    func acknowledgedAll() {
        world.checkers.reported(unacknowledged.values)
        unacknowledged = [:]
    }
}
