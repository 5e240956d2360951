import APNsGateway
import Basics
import Delivery
import Store

/// The real core and the real gateway between app servers, a disk and the simulated Apple, in simulated time. A seed repeats a run.
final class CoreWorld {
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
    /// The core, on one reactor. `nil` while no process runs.
    private var turns: TurnLoop?
    private var isInTurn = false
    /// The number of processes so far: work planned for an earlier one is void.
    private(set) var epoch = 0
    var isUp: Bool { turns != nil }
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
        let watermark = UInt64(latestWall + 10_000) * 1_000
        if epoch > 0 { sequenceWatermark = max(sequenceWatermark + 1_000_000, watermark) }
        var settings = DeliverySettings()
        settings.sequenceWatermark = sequenceWatermark
        settings.trapsAtFailedInvariants = false
        settings.idleDevicesInMemory = Int(number(0...20))
        settings.clockMark = disk.state.settings[StoreMark.clock.rawValue].map {
            UnixMilliseconds(clamping: StoreMark.number($0))
        }
        let turns = TurnLoop(reactor: 0, of: PartitionMap(partitions: Self.partitions, reactors: 1)) {
            let seed = random.next()
            return Partition(
                partition: $0, of: Self.partitions, seed: seed, hashKey: (seed, ~seed), settings: settings)
        }
        turns.witness = { [unowned self] event, hosted, now in
            hosted.core.handle(event, now: now)
            if canary == nil, let words = hosted.core.violation(of: event.key) {
                checkers.report("invariants: \(words)")
            }
        }
        self.turns = turns
        take([.senders(SenderDirectory(disk.state.senders))])
        tick()
    }

    /// Kills the process: the core, the gateway and all connections are gone, the disk stays.
    func crash(losesPower: Bool) {
        guard isUp else { return }
        epoch += 1
        turns = nil
        checkers.setBack(at: apple.time)
        disk.crash(losesPower: losesPower)
        apple.restart()
        for phone in phones { phone.isReviving = false }
        let open = requests
        requests = [:]
        for (_, answer) in open.sorted(by: { $0.key < $1.key }) { answer(nil) }
        always(number(1...3_000)) { [self] in boot() }
    }

    private func tick() {
        after(500) { [self] in
            take([.tick])
            tick()
        }
    }

    /// Has the core handle events: reports of the disk to a partition, or others. They make a turn, or belong to the one that is running.
    func take(_ events: [Event], reportedTo partition: Int? = nil) {
        guard let turns else { return }
        latestWall = max(latestWall, apple.now.wall)
        for event in events {
            if let partition {
                turns.handle(report: event, of: partition, now: apple.now)
            } else {
                turns.accept(event, now: apple.now)
            }
        }
        if !isInTurn { run(turns) }
    }

    private func run(_ turns: TurnLoop) {
        isInTurn = true
        var commands: [(ConnectionID, SessionCommand)] = []
        while turns.next(&commands, now: apple.now) {
            for (_, command) in commands { perform(command) }
            turns.giveBack(&commands, now: apple.now)
        }
        let effects = turns.takeEffects()
        for hosted in turns.active where canary == nil {
            for failure in hosted.effects.invariantFailures { checkers.report("invariants: \(failure.what)") }
        }
        turns.endTurn()
        isInTurn = false
        for entry in effects.batches { disk.submit(entry.batch, entry.partition) }
        for entry in effects.loads { disk.load(entry.query, entry.partition) }
        for delivery in effects.deliveries { offer(delivery) }
    }

    private func post(_ event: Event) { after(number(0...2)) { [self] in take([event]) } }

    // MARK: Requests

    /// Sends a request to the core. The answer is `nil` if the process ends before it answers, or is not running.
    func request(
        _ make: (Requester) -> Event, _ answer: @escaping (SessionCommand?) -> Void
    ) {
        lastRequest += 1
        let event = make(Requester(connection: Self.connection, requestID: lastRequest))
        guard isUp else { return answer(nil) }
        requests[lastRequest] = answer
        take([event])
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
