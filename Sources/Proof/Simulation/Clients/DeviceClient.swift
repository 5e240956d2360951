import Basics
import Delivery

/// An event of a device's connection.
enum DeviceNotice {
    /// The login was accepted.
    case loggedIn
    case refusedLogin
    case message(DeliveredMessage)
    case upstreamStored(number: Int)
    case upstreamRefused(number: Int, UpstreamRefusal, mayRetry: Bool)
    /// A stored upstream message expired without an acknowledgement of an app server.
    case returned(messageID: [UInt8])
    case lost
}

/// A message or marker as its device receives it.
struct DeliveredMessage {
    /// `nil` for a marker of discarded messages.
    var number: Int?
    /// The number of discarded messages in a marker.
    var deleted: Int?
    /// `nil` if the message was not stored.
    var id: PersistentID?
    var from: [UInt8]
}

/// The transport of a device: events or bytes.
protocol DevicePort: AnyObject {
    func login(_ identity: DeviceIdentity, received: [PersistentID])
    /// Acknowledges messages of this connection: these, or all of them.
    func acknowledge(_ ids: [PersistentID])
    /// Acknowledges messages that never arrived on this connection.
    func acknowledgeForeign(_ ids: [PersistentID])
    func send(_ draft: UpstreamDraft)
    /// Reports that the device is idle, or active again.
    func setIdle(_ isIdle: Bool)
    func close()
    /// Sends no more, but continues to read.
    func endInput()
    func cut()
}

/// The result of check-in.
struct DeviceIdentity {
    var device: DeviceID
    var token: UInt64
}

/// A device: checks in, registers, connects and disconnects, acknowledges late, twice or never.
final class DeviceClient {
    /// The behaviour of a device during the storm.
    enum Manner {
        case steady
        /// Connects for a moment, again and again.
        case flapping
        /// Connects only after the storm.
        case away
        /// Acknowledges nothing.
        case silent
    }

    struct App {
        let category: [UInt8]
        /// Senders that can address it.
        let audience: [SenderID]
        /// Its token; `nil` while it has none.
        var name: RegistrationName?
        /// All tokens that it ever had, as app servers may have stored them.
        var known: [RegistrationName] = []
        /// Increased when its data is cleared.
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
    /// When it was logged in on its connection; `nil` if it is not.
    var onlineSince: Int64? { isOnline ? loggedInAt : nil }
    private var loggedInAt: Int64 = 0
    /// Whether its connection may end because of the device or the network.
    var isDisturbed = false
    /// When it last connected, and to which process.
    private var connected: (at: Int64, process: Int) = (0, 0)
    /// Received messages that the server may not have removed.
    var received: [PersistentID] = []
    private var named: [PersistentID] = []
    /// The numbers of all received messages.
    private var numbers: [PersistentID: Int] = [:]
    /// Messages received on this connection and not acknowledged on it.
    private var unacknowledged: [PersistentID: Int] = [:]
    /// Upstream messages that are not confirmed.
    var unconfirmed: [UpstreamDraft] = []
    /// Confirmed upstream messages that were sent again on this connection.
    var repeated: [UpstreamDraft] = []
    /// Upstream messages whose IDs may be reused.
    var sentDrafts: [UpstreamDraft] = []
    /// Number of persistent IDs that it has generated; other devices generate the same ones.
    private var persistentIDs = 0
    let manner: Manner

    init(_ world: World, number: Int, audiences: [[SenderID]]) {
        self.world = world
        self.number = number
        apps = audiences.enumerated().map { App(category: Array("app\($0).x".utf8), audience: $1) }
        let manners: [Manner] = [.steady, .steady, .away, .flapping, .silent, .steady, .away]
        manner = manners[Int(world.random(0...Int64(manners.count - 1)))]
    }

    /// Whether it is enrolled and connected, and has nothing outstanding.
    var isFinished: Bool {
        isOnline && isEnrolled && unacknowledged.isEmpty && replaced.isEmpty && repeated.isEmpty
    }

    /// Whether all of its apps are registered.
    var isEnrolled: Bool { identity != nil && !apps.contains { $0.name == nil } }

    /// Returns an ID that it has not used before.
    func nextPersistentID() -> [UInt8] {
        persistentIDs += 1
        return Array("p\(persistentIDs)".utf8)
    }

    // MARK: Connecting and disconnecting

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
        if !named.isEmpty { world.reached(.receivedNamed) }
        port.login(identity, received: named)
        // The device gives up on a login without an answer.
        world.after(15_000_000_000) { [self] in
            guard self.port === port, !isOnline else { return }
            checkAnswer()
            leave(port)
        }
        planEnd(of: port)
    }

    /// Makes the device idle for a while, repeatedly.
    private func planIdleness(of port: any DevicePort) {
        guard !world.isCalm else { return }
        world.after(world.random(100_000_000...8_000_000_000)) { [self] in
            guard self.port === port, isOnline, !world.isCalm else { return }
            port.setIdle(true)
            world.reached(.deviceIdle)
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

    /// Connects again while the earlier connection is still open, as after a change of networks.
    func replace(_ old: any DevicePort) {
        replaced.append(old)
        forgetConnection()
        connect()
    }

    func leave(_ port: any DevicePort) {
        isDisturbed = true
        port.close()
        receive(.lost, port)
    }

    /// Opens a new connection, on which everything is acknowledged, after the faults have ended.
    func calm() {
        for old in replaced { old.close() }
        replaced = []
        if let port { leave(port) } else { start() }
    }

    private func forgetConnection() {
        port = nil
        isOnline = false
        // A now-or-never message is not sent again.
        let lost = unconfirmed.filter { $0.lifetimeSeconds == 0 }
        world.checkers.reconnects.lost(lost, of: identity?.device, world.checkers.truth)
        unconfirmed.removeAll { $0.lifetimeSeconds == 0 }
        repeated = []
        unacknowledged = [:]
    }

    /// Handles an event of a connection.
    func receive(_ notice: DeviceNotice, _ from: (any DevicePort)?) {
        if case .lost = notice, let at = replaced.firstIndex(where: { $0 === from }) {
            replaced.remove(at: at)
            return world.reached(.connectionReplaced)
        }
        guard let port, from === port else { return }
        switch notice {
        case .loggedIn:
            isOnline = true
            loggedInAt = world.clock.nanoseconds
            planIdleness(of: port)
            received.removeAll { named.contains($0) }
            for draft in unconfirmed { transmit(draft, port) }
        case .refusedLogin: vanish()
        case .message(let delivered): message(delivered, port)
        case .upstreamStored(let number): confirmed(number)
        case .upstreamRefused(let number, let refusal, let mayRetry):
            refused(number, refusal, mayRetry: mayRetry)
        case .returned(let messageID):
            if let device = identity?.device { world.checkers.returnReceived(messageID, device, world) }
        case .lost:
            checkAnswer()
            forgetConnection()
            if isEnrolled { planConnect() } else { start() }
        }
    }

    /// Reports a login that ended without an answer.
    private func checkAnswer() {
        guard !isOnline, !isDisturbed else { return }
        world.checkers.logins.unanswered(number, since: connected.at, process: connected.process, world)
    }

    private func message(_ delivered: DeliveredMessage, _ port: any DevicePort) {
        if let id = delivered.id {
            if !received.contains(id) { received.append(id) }
            numbers[id] = delivered.number
            unacknowledged[id] = delivered.number
        }
        world.checkers.deviceReceived(
            delivered, identity?.device, ObjectIdentifier(port), since: connected.at,
            unacknowledged: unacknowledged.keys, world)
        guard let id = delivered.id else { return }
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
            world.reached(.deviceAckRepeated)
        }
        guard world.chance(1, in: 10) else { return }
        let others = world.devices.filter { $0 !== self }.compactMap(\.received.last)
        guard let other = others.first else { return }
        port.acknowledgeForeign([other])
        world.reached(.deviceAckForeign)
    }

    /// Records that the port acknowledged everything received on this connection.
    func acknowledgedAll() {
        world.checkers.reported(unacknowledged.values)
        unacknowledged = [:]
    }
}
