import APNsGateway
import Basics
import Delivery
import Store

/// The real core and the real gateway between app servers, a disk and the simulated Apple, in simulated time. A seed repeats a run.
final class CoreWorld {
    /// One partition of the core.
    final class Host {
        var core: Partition
        init(_ core: consuming Partition) { self.core = core }
    }

    /// A fault that is planted to check the checkers.
    enum Canary: CaseIterable {
        case dropsAnswers
        case forgetsMarks
        case losesMessages
        case revivesTheDead
        case sendsTwice
        case endsGoodTokens
        case miscounts
    }

    static let sender = SenderID(100)
    static let partitions = 2
    /// The connection of all requests, which belongs to no session.
    private static let connection = ConnectionID(reactor: 0, slot: 1, generation: 1)

    let apple: GatewayWorld
    let canary: Canary?
    var checkers: CoreCheckers
    lazy var disk = CoreDisk(self)
    private(set) var hosts: [Host] = []
    /// The number of processes so far: work planned for an earlier one is void.
    private(set) var epoch = 0
    private(set) var isUp = false
    private var sequenceWatermark: UInt64 = 0
    private var latestWall: UnixMilliseconds = Samples.epoch
    private var requests: [UInt32: (SessionCommand?) -> Void] = [:]
    private var lastRequest: UInt32 = 0
    var phones: [Phone] = []
    /// Whether everything has been submitted.
    var isDone = false

    init(seed: UInt64, _ settings: GatewayWorld.Settings, canary: Canary? = nil) {
        var settings = settings
        settings.registrations = 0
        apple = GatewayWorld(seed: seed, settings) { (delivery, _) throws(APNsRefusal) in
            var request = try Samples.mapping(delivery, 0)
            request.id = String(decoding: delivery.message.messageID, as: UTF8.self)
            return request
        }
        self.canary = canary
        checkers = CoreCheckers(jumps: settings.jumps)
        disk.prepare([
            .putSender(SenderRecord(sender: Self.sender, label: "", keys: [], createdAt: 0))
        ])
    }

    var random: SeededRandom {
        _read { yield apple.random }
        _modify { yield &apple.random }
    }

    func number(_ range: ClosedRange<Int64>) -> Int64 { Int64.random(in: range, using: &random) }

    /// Plans work of the current process.
    func after(_ milliseconds: Int64, _ work: @escaping () -> Void) {
        let epoch = epoch
        apple.after(milliseconds) { [unowned self] _ in if epoch == self.epoch { work() } }
    }

    /// Plans work that the end of a process does not prevent.
    func always(_ milliseconds: Int64, _ work: @escaping () -> Void) {
        apple.after(milliseconds) { _ in work() }
    }

    // MARK: The process

    func boot() {
        isUp = true
        let watermark = UInt64(latestWall + 10_000) * 1_000
        if epoch > 0 { sequenceWatermark = max(sequenceWatermark + 1_000_000, watermark) }
        var settings = DeliverySettings()
        settings.sequenceWatermark = sequenceWatermark
        settings.trapsAtFailedInvariants = false
        settings.idleDevicesInMemory = Int(number(0...20))
        settings.clockMark = disk.state.settings[StoreMark.clock.rawValue].map {
            UnixMilliseconds(clamping: StoreMark.number($0))
        }
        hosts = (0..<Self.partitions).map { partition in
            let seed = random.next()
            return Host(
                Partition(
                    partition: partition, of: Self.partitions, seed: seed, hashKey: (seed, ~seed),
                    settings: settings))
        }
        for partition in hosts.indices {
            take([.senders(SenderDirectory(disk.state.senders))], partition)
            tick(partition)
        }
    }

    /// Kills the process: the core, the gateway and all connections are gone, the disk stays.
    func crash(losesPower: Bool) {
        guard isUp else { return }
        isUp = false
        epoch += 1
        hosts = []
        checkers.setBack(at: apple.time)
        disk.crash(losesPower: losesPower)
        apple.restart()
        for phone in phones { phone.isReviving = false }
        let open = requests
        requests = [:]
        for (_, answer) in open.sorted(by: { $0.key < $1.key }) { answer(nil) }
        always(number(1...3_000)) { [self] in boot() }
    }

    private func tick(_ partition: Int) {
        after(500) { [self] in
            take([.tick], partition)
            tick(partition)
        }
    }

    /// Has a partition handle events in one turn.
    func take(_ events: [Event], _ partition: Int) {
        let host = hosts[partition]
        latestWall = max(latestWall, apple.now.wall)
        for event in events {
            host.core.handle(event, now: apple.now)
            if canary == nil, let words = host.core.violation(of: event.key) {
                checkers.report("invariants: \(words)")
            }
        }
        let batch = host.core.endTurn()
        var effects = Effects()
        swap(&effects, &host.core.effects)
        if canary == nil {
            for failure in effects.invariantFailures { checkers.report("invariants: \(failure.what)") }
        }
        for load in effects.loads { disk.load(load, partition) }
        for event in effects.forwards { post(event) }
        for delivery in effects.deliveries { offer(delivery) }
        for (_, command) in effects.commands { perform(command) }
        if let batch { disk.submit(batch, partition) }
    }

    private func post(_ event: Event) {
        guard let key = event.key else { return }
        after(number(0...2)) { [self] in take([event], key.partition(of: Self.partitions)) }
    }

    // MARK: Requests

    /// Sends a request to the core. The answer is `nil` if the process ends before it answers, or is not running.
    func request(
        _ make: (Requester) -> Event, _ answer: @escaping (SessionCommand?) -> Void
    ) {
        lastRequest += 1
        let event = make(Requester(connection: Self.connection, requestID: lastRequest))
        guard isUp, let key = event.key else { return answer(nil) }
        requests[lastRequest] = answer
        take([event], key.partition(of: Self.partitions))
    }

    private func perform(_ command: SessionCommand) {
        switch command {
        case .submission(let id, _), .reply(let id, _): requests.removeValue(forKey: id)?(command)
        case .appServer, .device, .connection: break
        }
    }

    /// Whether requests wait for their answers.
    var hasRequests: Bool { !requests.isEmpty }

    // MARK: The gateway

    private func offer(_ delivery: GatewayDelivery) {
        after(number(0...2)) { [self] in
            apple.offer(delivery)
            if canary == .sendsTwice, chance(10) { apple.offer(delivery) }
            if canary == .revivesTheDead { revive(delivery) }
        }
    }

    /// A planted fault: sends to a registration that has ended meanwhile.
    private func revive(_ delivery: GatewayDelivery) {
        after(20_000) { [self] in
            if disk.hasEnded(delivery.registration) { apple.offer(delivery) }
        }
    }

    /// Passes an answer of the gateway on to the core.
    func gatewayAnswered(_ answer: GatewayAnswer) {
        var answer = answer
        if canary == .dropsAnswers, chance(10) { return }
        if canary == .endsGoodTokens, case .accepted = answer.outcome, chance(10) {
            answer.outcome = .tokenEnded(APNsVerdict(status: 410, reason: "Unregistered"))
        }
        checkers.judged(answer, phone(answer.registration))
        post(.gatewayAnswered(answer))
    }

    func phone(_ name: RegistrationName) -> Phone? { phones.first { $0.name == name } }

    func chance(_ percent: Int) -> Bool { number(0...99) < Int64(percent) }
}
