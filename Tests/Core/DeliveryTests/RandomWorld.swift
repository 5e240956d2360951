import Basics
import Delivery

/// Devices and app servers that behave at random, and a list of the violations found.
///
/// Each step does one thing that a network, clock, store or client may do, in any order.
final class RandomWorld {
    struct DeviceClient {
        let device: DeviceID
        var link: ConnectionID?
        var isAccepted = false
        var owesReady = false
        var isCongested = false
        /// Sent on this connection and not acknowledged on it.
        var unacknowledged: [PersistentID] = []
        /// Received and not known to be removed: listed at the next login.
        var remembered: [PersistentID] = []
        var lastSequence = SequenceNumber(0)
        /// Sent on this connection.
        var handed: Set<SequenceNumber> = []
        var registrations: [RegistrationName]
    }
    struct AppServerClient {
        let link: ConnectionID
        var isDraining = false
        var isCongested = false
        var outstanding: [StoredUpstream] = []
    }

    let bench: Harness
    var random: SeededRandom
    var devices: [DeviceClient]
    var appServers: [AppServerClient] = []
    var problems: [String] = []
    /// Message IDs of unanswered submissions, by request ID.
    var waiting: [UInt32: [UInt8]] = [:]
    var acknowledged: Set<[UInt8]> = []
    var waitingUpstream: [UInt32: [UInt8]] = [:]
    var storedUpstream: Set<[UInt8]> = []
    var closed: Set<ConnectionID> = []
    var nextConnection: UInt32 = 1_000
    var nextRequestID: UInt32 = 1
    var failures = true
    let window: Int
    /// Whether messages with a collapse key are throttled, so that others may overtake them.
    let isThrottled: Bool
    /// Whether devices go idle, so that others may overtake messages that wait for them to become active.
    let goesIdle: Bool

    /// Creates a world. With `traps` false the world continues when the core detects that the test broke the store's contract.
    init(seed: UInt64, traps: Bool = true) {
        isThrottled = seed % 3 == 1
        goesIdle = seed % 4 == 2
        random = SeededRandom(seed: seed)
        var settings = DeliverySettings()
        if !traps { settings.trapsAtFailedInvariants = false }
        settings.mailboxPage = Int.random(in: 1...6, using: &random)
        settings.pendingWindow = Int.random(in: 1...5, using: &random)
        if isThrottled { settings.rates.collapsible = Rate(2, perSeconds: 8) }
        settings.storedMessages = 6
        settings.collapseKeys = 2
        settings.idleDevicesInMemory = 1
        settings.eventsWaitingForDevice = 30
        settings.waitingUpstream = 3
        settings.unacknowledgedPerDevice = 12
        window = settings.pendingWindow
        var store = FakeStore()
        devices = (0..<4).map { number in
            let device = DeviceID(1 << 60 | UInt64(number) << 20)
            store.records[device] = DeviceRecord(
                device: device, token: token, createdAt: 0, seenAt: 1_700_000_000_000, nextRegistration: 3)
            let names = (1...2).map {
                RegistrationName(device: device, number: RegistrationNumber(UInt64($0)))
            }
            for name in names {
                store.registrations[name] = Registration(
                    name: name, category: bytes("app\(name.number.number)"), subtype: [],
                    senderText: bytes("100"), sender: Harness.sender, createdAt: 0)
            }
            return DeviceClient(device: device, registrations: names)
        }
        bench = Harness(
            partitions: Int.random(in: 1...3, using: &random), store: store, seed: seed,
            settings: settings)
        bench.observe = { [unowned self] in observed($0, $1) }
    }

    func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    // MARK: What clients see

    private func observed(_ link: ConnectionID, _ command: SessionCommand) {
        switch command {
        case .submission(let requestID, .accepted):
            guard let id = waiting.removeValue(forKey: requestID) else {
                return problems.append("answer without a request: ack \(requestID)")
            }
            if id.isEmpty { return }
            acknowledged.insert(id)
            if !bench.store.put.contains(id) { problems.append("acknowledged before stored: \(requestID)") }
        case .submission(let requestID, .refused):
            if waiting.removeValue(forKey: requestID) == nil {
                problems.append("answer without a request: nack \(requestID)")
            }
        case .device(.upstreamStored(let requestID)):
            guard let id = waitingUpstream.removeValue(forKey: requestID) else {
                return problems.append("upstream answered twice: \(requestID)")
            }
            if id.isEmpty { return }
            storedUpstream.insert(id)
            if !bench.store.put.contains(id) {
                problems.append("upstream confirmed before stored: \(requestID)")
            }
        case .device(.upstreamRefused(let requestID, _)):
            if waitingUpstream.removeValue(forKey: requestID) == nil {
                problems.append("upstream answered twice: \(requestID)")
            }
        case .device(.deliver(let delivery)): received(delivery, link)
        case .appServer(.deliver(let message)): received(message, link)
        case .device(.loginAccepted):
            for at in devices.indices where devices[at].link == link {
                devices[at].isAccepted = true
                devices[at].remembered = []
            }
        case .device(.reportWhenWritable):
            for at in devices.indices where devices[at].link == link { devices[at].owesReady = true }
        case .reply(_, .registered(let token)):
            let name = token.registration
            for at in devices.indices where devices[at].device == name.device {
                devices[at].registrations[1] = name
            }
        case .connection(.close), .appServer(.loginRefused), .device(.loginRefused): closed.insert(link)
        default: break
        }
    }

    private func received(_ delivery: DeviceDelivery, _ link: ConnectionID) {
        if closed.contains(link) { problems.append("delivery after close") }
        guard let at = devices.firstIndex(where: { $0.link == link }) else { return }
        if !devices[at].isAccepted { problems.append("delivery before the login was accepted") }
        if delivery.message.device != devices[at].device { problems.append("delivery to the wrong device") }
        guard delivery.isStored else { return }
        let id = delivery.message.persistentID
        if !devices[at].handed.insert(id.sequence).inserted { problems.append("twice: \(id.text)") }
        if !isThrottled, !goesIdle, id.sequence <= devices[at].lastSequence {
            problems.append("out of order: \(id.text)")
        }
        if delivery.message.expiresAt <= bench.now.wall { problems.append("delivered after its expiry") }
        devices[at].lastSequence = id.sequence
        devices[at].unacknowledged.append(id)
        devices[at].remembered.append(id)
    }

    private func received(_ message: StoredUpstream, _ link: ConnectionID) {
        guard let at = appServers.firstIndex(where: { $0.link == link }) else {
            return problems.append("upstream to an unknown connection")
        }
        if appServers[at].isDraining { problems.append("upstream to a draining session") }
        if appServers[at].isCongested { problems.append("upstream to a congested session") }
        if closed.contains(link) { problems.append("upstream after close") }
        if appServers.contains(where: { $0.outstanding.contains { $0.sequence == message.sequence } }) {
            problems.append("upstream sent to two sessions at once")
        }
        appServers[at].outstanding.append(message)
        let alive = appServers[at].outstanding.count {
            $0.kind == .message && $0.expiresAt > bench.now.wall
        }
        if alive > window { problems.append("the window is exceeded") }
    }

    // MARK: What may happen

    func step() {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<22: submit()
        case 22..<30: upstream()
        case 30..<36: deviceStep()
        case 36..<44: acknowledge()
        case 44..<48: appServerStep()
        case 48..<56: answerUpstream()
        case 56..<59: bench.advance(milliseconds: Int64.random(in: 1...2_000, using: &random))
        case 59..<62: bench.post(.tick)
        case 62..<63: registrationStep()
        case 63..<65: noise()
        default: machineStep()
        }
        if !bench.store.holds { problems.append("the conservation law is broken") }
    }

    private func machineStep() {
        let partition = bench.partitions[Int.random(in: 0..<bench.partitions.count, using: &random)]
        switch Int.random(in: 0..<5, using: &random) {
        case 0: bench.apply(partition, failing: failures && chance(4))
        case 1: bench.reportOutcome(partition)
        case 2: bench.read(partition, failing: failures && chance(3))
        case 3: bench.reportAnswer(partition)
        default: bench.turn(partition, events: Int.random(in: 1...20, using: &random))
        }
    }

    private func submit() {
        let client = devices[Int.random(in: 0..<devices.count, using: &random)]
        let lifetime = chance(15) ? 0 : Int.random(in: 1...60, using: &random)
        let requestID = nextRequestID
        nextRequestID += 1
        var submission = Harness.submission(
            requestID, key: chance(40) ? "k\(Int.random(in: 0..<4, using: &random))" : nil,
            lifetime: lifetime, receipt: chance(30),
            to: client.registrations[Int.random(in: 0..<2, using: &random)])
        submission.content.delaysWhileIdle = goesIdle && chance(50)
        waiting[requestID] = lifetime == 0 ? [] : submission.content.messageID
        bench.post(.submitted(submission))
    }

    private func upstream() {
        let client = devices[Int.random(in: 0..<devices.count, using: &random)]
        guard client.isAccepted else { return }
        let requestID = nextRequestID
        nextRequestID += 1
        let isRepeat = chance(10) && requestID > 50
        let lifetime = chance(15) ? 0 : Int.random(in: 1...60, using: &random)
        let upstream = Harness.upstream(
            requestID, lifetime: lifetime, id: lifetime == 0 ? "" : isRepeat ? "again" : nil,
            content: isRepeat && lifetime > 0 ? 0 : nil,
            category: "app\(Int.random(in: 1...2, using: &random))", device: client.device)
        waitingUpstream[requestID] = lifetime == 0 || isRepeat ? [] : upstream.messageID
        bench.post(.upstreamReceived(upstream))
    }

    private func deviceStep() {
        let at = Int.random(in: 0..<devices.count, using: &random)
        if let link = devices[at].link, chance(40) {
            bench.post(.deviceClosed(link, devices[at].device))
            drop(at)
        } else if let link = devices[at].link, devices[at].isAccepted, chance(30) {
            bench.post(.deviceCongested(link, devices[at].device))
            devices[at].isCongested = true
        } else if let link = devices[at].link, devices[at].isAccepted, goesIdle, chance(60) {
            bench.post(.deviceIdleChanged(link, devices[at].device, isIdle: chance(50)))
        } else if devices[at].link == nil || chance(30) {
            login(at)
        }
    }

    func login(_ at: Int) {
        let old = devices[at].link
        drop(at)
        let link = connection(nextConnection)
        nextConnection += 1
        devices[at].link = link
        bench.post(
            .deviceLogin(
                DeviceLogin(
                    connection: link, device: devices[at].device, token: token,
                    received: chance(80) ? devices[at].remembered : [])))
        if let old { bench.post(.deviceClosed(old, devices[at].device)) }
    }

    func drop(_ at: Int) {
        devices[at].link = nil
        devices[at].isAccepted = false
        devices[at].owesReady = false
        devices[at].isCongested = false
        devices[at].unacknowledged = []
        devices[at].lastSequence = SequenceNumber(0)
        devices[at].handed = []
    }

    private func acknowledge() {
        let at = Int.random(in: 0..<devices.count, using: &random)
        guard let link = devices[at].link, devices[at].isAccepted else { return }
        if devices[at].owesReady || devices[at].isCongested, chance(60) {
            devices[at].owesReady = false
            devices[at].isCongested = false
            bench.post(.deviceWritable(link, devices[at].device))
            return
        }
        let count = Int.random(in: 0...devices[at].unacknowledged.count, using: &random)
        guard count > 0 else { return }
        let some = devices[at].unacknowledged.prefix(count)
        bench.post(.deviceAcknowledged(link, devices[at].device, some.map(\.sequence)))
        devices[at].unacknowledged.removeFirst(count)
    }

    private func appServerStep() {
        if appServers.count < 3, chance(60) {
            addAppServer()
        } else if !appServers.isEmpty {
            let at = Int.random(in: 0..<appServers.count, using: &random)
            // The core handles the event in this turn, so that its state matches the model's.
            let link = appServers[at].link
            let isDrain = chance(30)
            runSender()
            guard chance(60) else { return toggleReading(at) }
            bench.post(
                isDrain
                    ? .appServerDraining(link, Harness.sender) : .appServerClosed(link, Harness.sender))
            let before = appServers
            if isDrain { appServers[at].isDraining = true } else { appServers.remove(at: at) }
            runSender()
            if before.count > appServers.count { closed.insert(link) }
        }
    }

    private func toggleReading(_ at: Int) {
        let link = appServers[at].link
        if appServers[at].isCongested {
            appServers[at].isCongested = false
            bench.post(.appServerWritable(link, Harness.sender))
        } else {
            bench.post(.appServerCongested(link, Harness.sender))
            runSender()
            appServers[at].isCongested = true
        }
    }

    func addAppServer() {
        let link = connection(nextConnection)
        nextConnection += 1
        appServers.append(AppServerClient(link: link))
        bench.post(.appServerLogin(link, Harness.sender, key: Harness.key))
        bench.post(.appServerBound(link, Harness.sender))
    }

    private func runSender() {
        let address = PartitionKey.sender(Harness.sender)
        let partition = bench.partitions[address.partition(of: bench.partitions.count)]
        repeat { bench.turn(partition) } while !partition.events.isEmpty
    }

    private func answerUpstream() {
        guard !appServers.isEmpty else { return }
        let at = Int.random(in: 0..<appServers.count, using: &random)
        guard !appServers[at].outstanding.isEmpty, chance(80) else { return }
        let message = appServers[at].outstanding.removeFirst()
        let outcome: UpstreamOutcome =
            message.expiresAt <= bench.now.wall
            ? .expired : chance(90) ? .acknowledged : message.kind == .message ? .refused : .unanswered
        bench.post(.upstreamFinished(appServers[at].link, Harness.sender, message.sequence, outcome))
    }

    private func registrationStep() {
        let at = Int.random(in: 0..<devices.count, using: &random)
        let request = RegistrationRequest(
            requester: Requester(connection: web, requestID: 1), device: devices[at].device, token: token,
            category: bytes("app2"), subtype: [], senderText: bytes("100"))
        bench.post(chance(50) ? .unregister(request) : .register(request))
    }
}
