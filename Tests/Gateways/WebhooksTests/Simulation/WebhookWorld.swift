import Basics
import Delivery
import Store

@testable import Webhooks

/// The real core and the real gateway between devices, an app server, a disk and a faulty endpoint, in simulated time. A seed repeats
/// a run.
final class WebhookWorld {
    /// A fault that is planted to check the checkers.
    enum Canary: CaseIterable {
        case losesAnswers
        case acknowledgesFailures
        case ignoresOrder
        case sendsTwice
        case reordersCommits
    }

    static let sender = SenderID(100)
    static let devices = (1...4 as ClosedRange<UInt64>).map { DeviceID($0) }
    private static let phone = ConnectionID(reactor: 0, slot: 1, generation: 1)
    /// When the faults end, and when everything must be over.
    static let faultMilliseconds: Int64 = 120_000
    static let endMilliseconds: Int64 = 3_600_000
    /// How long the world goes on after the last message has left the store.
    private static let settlingMilliseconds: Int64 = 120_000

    private let canary: Canary?
    private var random: SeededRandom
    private var agenda: [(at: Int64, order: Int, work: () -> Void)] = []
    private var planned = 0
    private(set) var time: Int64 = 0
    /// When the store had nothing left.
    private var doneAt: Int64?
    private var turns: TurnLoop
    private var gateway: WebhookGateway
    private var gatewayTick: Int64 = .max
    private var state = MemoryState(partitions: 1)
    /// The number of processes so far: work planned for an earlier one is void.
    private var epoch = 0
    private var sequenceWatermark: UInt64 = 0
    /// When the outcome of the last batch is reported.
    private var reportedAt: Int64 = 0
    private var appServer: ConnectionID?
    private var connections: UInt32 = 10
    private var directory = SenderDirectory()
    private var isDown = false
    private let refusesDevice: Bool
    var checker = WebhookChecker()

    init(seed: UInt64, canary: Canary? = nil) {
        self.canary = canary
        random = SeededRandom(seed: seed)
        refusesDevice = seed % 3 == 0
        turns = Self.turns(seed: seed, watermark: 0)
        gateway = WebhookGateway(writer: Samples.writer, seed: seed)
        var mutations: [Mutation] = [.putSender(Self.record(.active))]
        for device in Self.devices {
            mutations.append(
                .putDevice(
                    DeviceRecord(
                        device: device, token: SecretDigest(bytes: [UInt8](repeating: 1, count: 32)),
                        createdAt: Samples.epoch, seenAt: Samples.epoch, nextRegistration: 2)))
            mutations.append(
                .putRegistration(
                    Registration(
                        name: RegistrationName(device: device, number: RegistrationNumber(1)),
                        category: bytes("app"), subtype: [], senderText: bytes("100"), sender: Self.sender,
                        createdAt: Samples.epoch)))
        }
        _ = state.commit(WriteBatch(batchNumber: 0, mutations: mutations, isDurable: true))
    }

    private static func turns(seed: UInt64, watermark: UInt64) -> TurnLoop {
        var settings = DeliverySettings()
        settings.sequenceWatermark = watermark
        // Small, so that more waits than is read at once.
        settings.mailboxPage = 8
        return TurnLoop(reactor: 0, of: PartitionMap(partitions: 1, reactors: 1)) {
            Partition(partition: $0, of: 1, seed: seed, hashKey: (seed, ~seed), settings: settings)
        }
    }

    private static func record(_ state: WebhookRecord.State) -> SenderRecord {
        SenderRecord(
            sender: sender, label: "",
            keys: [ServerKey(digest: SecretDigest(bytes: [UInt8](repeating: 1, count: 32)), createdAt: 0)],
            createdAt: 0,
            webhook: WebhookRecord(url: "https://a.example/", secrets: [], state: state, createdAt: 0))
    }

    private var now: Now {
        Now(
            monotonic: Instant(nanoseconds: 0).advanced(milliseconds: time), wall: Samples.epoch + time)
    }

    private var isFaulty: Bool { time < Self.faultMilliseconds }
    private func number(_ range: ClosedRange<Int64>) -> Int64 { Int64.random(in: range, using: &random) }
    private func chance(_ percent: Int64) -> Bool { number(0...99) < percent }

    private func after(_ milliseconds: Int64, _ work: @escaping () -> Void) {
        planned += 1
        let epoch = epoch
        agenda.append((time + milliseconds, planned, { [unowned self] in if epoch == self.epoch { work() } }))
    }

    private func always(_ milliseconds: Int64, _ work: @escaping () -> Void) {
        planned += 1
        agenda.append((time + milliseconds, planned, work))
    }

    /// Runs the world. Returns what the checker has found.
    func run() -> [String] {
        boot()
        for device in Self.devices { always(number(0...500)) { [self] in send(device, 1) } }
        always(number(5_000...30_000)) { [self] in crash() }
        always(number(1_000...20_000)) { [self] in changeAppServer() }
        always(number(10_000...60_000)) { [self] in changeRecord(.paused) }
        while let at = agenda.indices.min(by: {
            (agenda[$0].at, agenda[$0].order) < (agenda[$1].at, agenda[$1].order)
        }),
            agenda[at].at <= Self.endMilliseconds
        {
            let next = agenda.remove(at: at)
            time = max(time, next.at)
            next.work()
            if doneAt == nil, time > Self.faultMilliseconds, checker.isDone(state) { doneAt = time }
            // Requests for messages that another session has delivered meanwhile are still answered.
            if let doneAt, time - doneAt > Self.settlingMilliseconds { break }
        }
        checker.end(state)
        checker.idle(gateway, now.monotonic)
        return checker.problems
    }

    // MARK: The process

    private func boot() {
        isDown = false
        sequenceWatermark = max(sequenceWatermark + 1_000_000, UInt64(Samples.epoch + time + 10_000) * 1_000)
        turns = Self.turns(seed: random.next(), watermark: sequenceWatermark)
        turns.witness = { [unowned self] event, hosted, now in
            hosted.core.handle(event, now: now)
            if let words = hosted.core.violation(of: event.key) {
                checker.problems.append("invariants: \(words)")
            }
        }
        gateway = WebhookGateway(writer: Samples.writer, seed: random.next())
        gatewayTick = .max
        useDirectory()
        tick()
    }

    private func useDirectory() {
        directory = SenderDirectory(state.senders)
        let isActive = directory[Self.sender]?.usesWebhook ?? false
        feed(.endpoints([Samples.endpoint(Self.sender, isActive: isActive)]))
        take([.senders(directory)])
    }

    /// Kills the process: the core and the gateway are gone, the disk stays.
    private func crash() {
        guard isFaulty else { return }
        epoch += 1
        isDown = true
        appServer = nil
        checker.killed()
        always(number(100...2_000)) { [self] in boot() }
        always(number(5_000...40_000)) { [self] in crash() }
    }

    private func tick() {
        after(500) { [self] in
            take([.tick])
            tick()
        }
    }

    private func take(_ events: [Event]) {
        for event in events { turns.accept(event, now: now) }
        endTurn()
    }

    private func take(report event: Event) {
        turns.handle(report: event, of: 0, now: now)
        endTurn()
    }

    private func endTurn() {
        var commands: [(ConnectionID, SessionCommand)] = []
        while turns.next(&commands, now: now) {
            for (connection, command) in commands { perform(command, connection) }
            turns.giveBack(&commands, now: now)
        }
        let effects = turns.takeEffects()
        turns.endTurn()
        for batch in effects.batches.map(\.batch) {
            let outcome = state.commit(batch)
            checker.committed(batch)
            // In the order of the batches, as the core's contract demands.
            let report = time + number(1...8)
            reportedAt = canary == .reordersCommits ? report : max(reportedAt, report)
            after(reportedAt - time) { [self] in take(report: .committed(outcome)) }
        }
        for query in effects.loads.map(\.query) {
            after(number(1...5)) { [self] in take(report: .loaded(state.load(query))) }
        }
        if !effects.webhooks.isEmpty {
            let orders = effects.webhooks
            // One queue in order, as between two threads.
            after(1) { [self] in feed(.orders(orders)) }
        }
    }

    private func perform(_ command: SessionCommand, _ connection: ConnectionID) {
        switch command {
        case .device(.upstreamStored(let request)): checker.stored(request)
        case .device(.upstreamRefused(let request, _)): checker.refused(request)
        case .appServer(.deliver(let message)):
            // In the order of the stream; the acknowledgements are late.
            guard appServer == connection else { return }
            checker.received(message, at: now.wall)
            after(number(1...200)) { [self] in
                guard appServer == connection else { return }
                take([.upstreamFinished(connection, Self.sender, message.sequence, .acknowledged)])
            }
        default: break
        }
    }

    // MARK: Peers

    /// A device sends its next message, and waits for its acknowledgement like a careful app: it sends the same one again.
    private func send(_ device: DeviceID, _ number: UInt32) {
        guard isFaulty else { return }
        let request = UInt32(device.number) * 1_000 + number
        if !isDown, !checker.isAnswered(request) {
            let lifetime = number % 10 == 0 ? 20 : 86_400
            take([
                .upstreamReceived(
                    UpstreamSubmission(
                        requester: Requester(connection: Self.phone, requestID: request), device: device,
                        sender: Self.sender, isFCMDomain: false, category: bytes("app"),
                        messageID: bytes("\(request)"), persistentID: bytes("p\(request)"),
                        lifetimeSeconds: lifetime, body: []))
            ])
        }
        let next = checker.isAnswered(request) ? number + 1 : number
        always(self.number(50...1_500)) { [self] in send(device, next) }
    }

    private func changeAppServer() {
        guard isFaulty else {
            if let connection = appServer { take([.appServerClosed(connection, Self.sender)]) }
            appServer = nil
            return
        }
        if !isDown {
            if let connection = appServer {
                appServer = nil
                take([.appServerClosed(connection, Self.sender)])
            } else {
                connections += 1
                let connection = ConnectionID(reactor: 0, slot: connections, generation: connections)
                appServer = connection
                take([
                    .appServerLogin(
                        connection, Self.sender, key: SecretDigest(bytes: [UInt8](repeating: 1, count: 32))),
                    .appServerBound(connection, Self.sender),
                ])
            }
        }
        always(number(1_000...20_000)) { [self] in changeAppServer() }
    }

    private func changeRecord(_ wanted: WebhookRecord.State) {
        _ = state.commit(
            WriteBatch(batchNumber: 0, mutations: [.putSender(Self.record(wanted))], isDurable: true))
        if !isDown { useDirectory() }
        if wanted != .active { always(number(1_000...10_000)) { [self] in changeRecord(.active) } }
    }

    // MARK: The gateway and the endpoint

    private func feed(_ event: WebhookEvent) {
        var effects = WebhookEffects()
        gateway.handle(event, now: now, effects: &effects)
        for request in effects.aborts { checker.ended(request) }
        for start in effects.starts { serve(start) }
        if !effects.outcomes.isEmpty {
            let outcomes = canary == .losesAnswers && chance(20) ? [] : effects.outcomes
            after(1) { [self] in take(outcomes) }
        }
        if let sender = effects.gone.first, sender == Self.sender {
            after(number(10...2_000)) { [self] in changeRecord(.gone) }
        }
        guard gateway.nextTick(now.monotonic) != nil, gatewayTick == .max else { return }
        gatewayTick = time + Limits.Webhook.tickMilliseconds
        after(Limits.Webhook.tickMilliseconds) { [self] in
            gatewayTick = .max
            feed(.tick)
        }
    }

    /// The endpoint gets a request. It may process it and fail all the same.
    private func serve(_ request: WebhookRequest) {
        checker.started(request)
        if canary == .sendsTwice, chance(5) { checker.started(request) }
        let isLate = isFaulty && chance(15)
        // In some worlds, the messages of one device are never taken.
        let isPoison = isFaulty && refusesDevice && checker.number(request) / 1_000 == 1
        let fails = isFaulty && chance(35) || isPoison
        let isProcessed = !fails || chance(50) && !isPoison
        let delay = isLate ? number(1_000...14_000) : number(5...300)
        // It may process a request of a process that has ended.
        if isProcessed { always(delay) { [self] in checker.received(request, at: now.wall) } }
        var answer = WebhookAnswer.status(200, retryAfter: nil)
        if fails, canary != .acknowledgesFailures || isProcessed {
            let answers: [WebhookAnswer] = [
                .status(500, retryAfter: nil), .status(429, retryAfter: 3), .status(302, retryAfter: nil),
                .failed(.timedOut, detail: ""), .status(chance(5) ? 410 : 503, retryAfter: nil),
            ]
            answer = answers[Int(number(0...4))]
        }
        after(delay) { [self] in
            checker.ended(request.number)
            feed(.answered(request: request.number, answer))
            answerWrongly(request.number)
        }
        if isFaulty, chance(3) {
            // For a request that was never made.
            feed(.answered(request: request.number + 1_000_000, .status(200, retryAfter: nil)))
        }
        if canary == .ignoresOrder, chance(5) {
            let number = checker.number(request)
            after(500) { [self] in checker.received(number + 1, at: now.wall) }
        }
    }

    /// Answers a request again that is over: at once or later, with success or failure.
    private func answerWrongly(_ request: UInt64) {
        guard isFaulty, chance(10) else { return }
        let answer = WebhookAnswer.status(chance(50) ? 200 : 410, retryAfter: nil)
        after(chance(50) ? 0 : number(1...20_000)) { [self] in feed(.answered(request: request, answer)) }
    }
}
