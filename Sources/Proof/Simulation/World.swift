import Basics
import Delivery
import Sessions
import Store
import Wire

/// A whole world in one thread: clients, network, server process, disk and time, all from one seed.
///
/// It starts with a storm of faults. After that no fault occurs, and every message must reach its recipient.
final class World {
    /// A channel that keeps its order.
    enum Lane {
        case loads
        /// From the store to a reactor.
        case store(Int)
        /// From one reactor to another.
        case crossing(from: Int, to: Int)

        /// Index in a list of all lanes of a world with `reactors` reactors.
        func place(_ reactors: Int) -> Int {
            switch self {
            case .loads: 0
            case .store(let reactor): 1 + reactor
            case .crossing(let from, let to): 1 + reactors + from * reactors + to
            }
        }
    }

    private(set) var settings: WorldSettings
    private var generator: SeededRandom
    private(set) var clock = SimulatedClock()
    private var agenda = Agenda()
    /// Time of the last item in each lane.
    private lazy var lanes = [Int64](
        repeating: 0, count: 1 + settings.reactors * (settings.reactors + 1))
    private(set) lazy var disk = SimulatedDisk(self)
    private(set) var server: SimulatedServer?
    var devices: [DeviceClient] = []
    var appServers: [AppServerClient] = []
    /// Apps that are reached only through Apple.
    var appleApps: [AppleApp] = []
    private(set) lazy var apple = SimulatedApple(self)
    private var pipes: [Pipe] = []
    var checkers = Checkers()
    var canaries = Canaries()
    /// Whether all clients are reconnecting at once.
    private(set) var isLoginStorm = false
    /// Whether nothing is left to do.
    private var isOver = false
    /// Whether the faults have ended.
    private(set) var isCalm = false
    /// When they ended, in nanoseconds of the clock.
    private(set) var calmSince = Int64.max
    var linkCount = 0
    /// Whether the wall clock has jumped: what is remembered for a day may have ended early.
    private(set) var clockWasSet = false
    private var generations: UInt32 = 0
    /// Watermark for sequence numbers of a new process: stored by the host, above all numbers of earlier processes.
    private(set) var sequenceWatermark: UInt64 = 0
    /// Last time at which the core had the clock in doubt, in nanoseconds.
    var lastDoubt = Int64.min / 2
    /// Whether the clock is in doubt, or was when the current answer was decided.
    var wasInDoubt: Bool { clock.nanoseconds - lastDoubt < 10_000_000_000 }
    /// Number of server processes so far.
    private(set) var boots = 0
    /// How often each rule was reached.
    private(set) var tally = RuleTally()
    private(set) var violations: [String] = []
    private var lines: [String] = []
    private let isTraced: Bool

    /// The latest wall clock time so far: decisions are made before they reach the disk.
    var latestWall: UnixMilliseconds { clock.latestWall }

    private var tokens: [RegistrationName: String] = [:]

    /// The pairs of a message that no session encodes.
    func body(_ text: [UInt8]) -> [UInt8] {
        guard settings.kind == .sessions else { return text }
        var body = ByteBuffer()
        AppData.append(key: "n", value: text.raw, to: &body)
        return body.copied()
    }

    /// The token of a registration, as app servers have it.
    func token(_ name: RegistrationName) -> String {
        if let token = tokens[name] { return token }
        let token = String(decoding: sessionSettings.value.seal.token(for: name), as: UTF8.self)
        tokens[name] = token
        return token
    }

    /// Settings of all sessions of this world.
    private(set) lazy var sessionSettings = SharedSettings(
        SimulatedHost.settings(seed: UInt64(bitPattern: random(0...(.max))), settings))

    var faults: Faults { settings.faults }
    /// Whether the server process may still crash.
    var mayCrash: Bool { settings.faults.secondsBetweenCrashes > 0 }
    var canary: WorldSettings.Canary? { settings.canary }

    private var wrongClock: WrongClock
    private var jumpingClock: JumpingClock
    private var cancellations: Cancellations
    /// Which messages are sent later.
    var schedules: Schedules
    /// Which messages take the place of others.
    var replacements: Replacements
    /// The number of processes that had started when the clock became wrong.
    private var bootsUntilWrong = 0
    /// Whether the process has believed the clock before it became wrong, and so measures the time.
    var keepsTime: Bool { boots > 0 && boots == bootsUntilWrong }
    /// Until when an event from another reactor has been handled, in nanoseconds: one sent in the storm may arrive after its end.
    let crossingNanoseconds: Int64

    init(_ seed: Simulation.Seed, canary: WorldSettings.Canary?, isTraced: Bool) {
        generator = SeededRandom(seed: seed.number)
        settings = WorldSettings(kind: seed.kind, isEarly: seed.isEarly, random: &generator, canary: canary)
        settings.drawTopics(seed)
        wrongClock = WrongClock(seed, settings)
        jumpingClock = JumpingClock(seed, settings, besides: wrongClock)
        cancellations = Cancellations(seed)
        schedules = Schedules(seed)
        replacements = Replacements(seed)
        let faults = settings.faults
        let longest = max(faults.crossingMicroseconds, faults.calmed.crossingMicroseconds)
        crossingNanoseconds = longest * 1_000 + 10_000_000
        self.isTraced = isTraced
    }

    // MARK: Running

    /// Runs the world. Returns the failed checks; empty if there are none.
    func run() -> [String] {
        Workload.prepare(self)
        wrongClock.plan(self)
        jumpingClock.plan(self)
        cancellations.plan(self)
        boot()
        planCrash()
        planClockChange()
        planDrain()
        planLoginStorm()
        at(settings.stormNanoseconds) { [self] in becomeCalm() }
        let end = settings.stormNanoseconds + 90_000_000_000
        while let next = agenda.next(), next < end, violations.isEmpty, !isOver,
            let work = agenda.removeNext()
        {
            clock.advance(to: next)
            work()
        }
        if violations.isEmpty { checkers.conservation.check(disk.state, "at the end", self) }
        if violations.isEmpty { ProgressChecker().finish(self) }
        if violations.isEmpty, let server { BoundsChecker().finish(server.figures, self) }
        breakCycles()
        return violations
    }

    /// Breaks the reference cycles.
    private func breakCycles() {
        for pipe in pipes { pipe.forget() }
        pipes = []
        agenda = Agenda()
        devices = []
        appServers = []
        appleApps = []
        server?.die()
        server = nil
    }

    /// Ends the world as soon as nothing is left to do; a quarter of the worlds runs to the last second.
    private func planEnd() {
        guard !chance(1, in: 4) else { return }
        for second in stride(from: 44 as Int64, to: 90, by: 4) {
            after(second * 1_000_000_000) { [self] in
                guard let server, !isOver else { return }
                isOver =
                    ProgressChecker().findings(self).isEmpty
                    && BoundsChecker().findings(server.figures, self).isEmpty
            }
        }
    }

    /// The last lines of the trace.
    var trace: [String] { lines }

    private func becomeCalm() {
        trace("--- calm")
        if clock.error != 0 { setClockWrong(by: 0) }
        isCalm = true
        calmSince = clock.nanoseconds
        settings.faults = settings.faults.calmed
        if chance(1, in: 2) { settings.faults.commitMilliseconds = 200 }
        if server == nil { boot() }
        for client in appServers { client.reconnect() }
        for device in devices { device.calm() }
        Workload.planCalm(self)
        planEnd()
    }

    // MARK: The process

    func boot() {
        trace("--- boot")
        if boots > 0 {
            checkers.sequences.processBegins()
            sequenceWatermark = max(sequenceWatermark + 1_000_000, UInt64(clock.latestWall + 10_000) * 1_000)
        }
        // Without a stored time any possible clock must be believed.
        let isNoted = disk.state.settings[StoreMark.clock.rawValue] != nil
        if !isNoted, clock.error != 0, ClockGuard.isPossible(clock.now.wall) { setClockWrong(by: 0) }
        // One that is ahead by up to days must be believed at a start.
        if clock.error > 0, clock.error <= Int64(Limits.Clock.aheadSeconds) * 1_000 { setClockWrong(by: 0) }
        jumpingClock.prepareStart(self)
        boots += 1
        let server = SimulatedServer(self)
        self.server = server
        server.start()
    }

    private func planCrash() {
        guard faults.secondsBetweenCrashes > 0 else { return }
        after(random(1...Int64(faults.secondsBetweenCrashes) * 2_000_000_000)) { [self] in
            guard !isCalm else { return }
            let isReboot = settings.rebootsIntoPast && chance(1, in: 3)
            crash(losesPower: isReboot || chance(1, in: 2))
            if isReboot { setClock(by: -random(0...10_000)) }
            bootLater(1_000_000...(isReboot ? 300_000_000 : 3_000_000_000))
            planCrash()
        }
    }

    func crash(losesPower: Bool) {
        trace("--- crash")
        countFault()
        server?.die()
        server = nil
        for pipe in pipes { pipe.serverDied() }
        pipes = []
        disk.crash(losesPower: losesPower)
    }

    private func planClockChange() {
        guard faults.setsClock else { return }
        after(random(1...settings.stormNanoseconds)) { [self] in
            guard !isCalm else { return }
            // Forward by up to a month, as after a suspension; back by little, as by a time server.
            setClock(by: chance(1, in: 2) ? random(0...2_700_000_000) : -random(0...2_000))
            planClockChange()
        }
    }

    private func setClock(by step: Int64) {
        trace("--- clock set by \(step) ms")
        clockWasSet = true
        countFault()
        clock.setWall(by: step)
    }

    /// Makes the wall clock wrong by an amount; 0 sets it right.
    func setClockWrong(by milliseconds: Int64) {
        trace("--- clock is wrong by \(milliseconds) ms")
        if milliseconds != 0 { countFault() } else { reached(.clockRighted) }
        if clock.error == 0 { bootsUntilWrong = boots }
        clock.error = milliseconds
    }

    /// The time of the sessions on a connection's reactor.
    func sessionTime(of id: ConnectionID) -> Now { server?.sessionTime(of: id) ?? clock.now }

    /// Plans an outage of the network, after which all clients reconnect at once.
    private func planLoginStorm() {
        guard faults.stormsLogins else { return }
        after(random(1...settings.stormNanoseconds)) { [self] in
            guard !isCalm else { return }
            trace("--- login storm")
            reached(.loginStorm)
            countFault()
            isLoginStorm = true
            for client in appServers { client.reconnect() }
            for device in devices { if let port = device.port { device.leave(port) } }
            after(2_000_000_000) { [self] in isLoginStorm = false }
        }
    }

    // MARK: Randomness and time

    /// Returns a random number in a range.
    func random(_ range: ClosedRange<Int64>) -> Int64 { Int64.random(in: range, using: &generator) }

    /// Returns `true` with a probability of `times` in `all`.
    func chance(_ times: Int, in all: Int) -> Bool {
        times > 0 && Int.random(in: 0..<all, using: &generator) < times
    }

    /// Plans work after a time in nanoseconds.
    func after(_ wait: Int64, _ work: consuming @escaping () -> Void) {
        agenda.add(at: clock.nanoseconds + wait, work)
    }

    /// Plans work at a time.
    func at(_ time: Int64, _ work: consuming @escaping () -> Void) { agenda.add(at: time, work) }

    /// Plans work after all that is planned in the same lane.
    func after(_ wait: Int64, lane: Lane, _ work: consuming @escaping () -> Void) {
        let place = lane.place(settings.reactors)
        let time = max(lanes[place], clock.nanoseconds + wait)
        lanes[place] = time
        agenda.add(at: time, work)
    }

    // MARK: Connections

    /// Returns a connection number that no other connection has.
    func nextGeneration() -> UInt32 {
        generations += 1
        return generations
    }

    func openPipe(_ client: any ClientEnd) -> Pipe {
        let pipe = Pipe(self, client: client)
        pipes.append(pipe)
        return pipe
    }

    /// Connects an app server. Returns `nil` while the server is not listening.
    func openAppServer(_ client: AppServerClient, _ link: AppServerClient.Link) -> (any AppServerPort)? {
        switch settings.kind {
        case .core: DirectAppServerPort(self, client, link)
        case .sessions: WireAppServerPort(self, client, link)
        }
    }

    /// Connects a device. Returns `nil` while the server is not listening.
    func openDevice(_ client: DeviceClient) -> (any DevicePort)? {
        let port: (any DevicePort)? =
            switch settings.kind {
            case .core: DirectDevicePort(self, client)
            case .sessions: WireDevicePort(self, client)
            }
        if let port { checkers.order.forget(ObjectIdentifier(port)) }
        return port
    }

    /// The server's end of an app server's connection.
    func makeAppServerEnd(_ id: ConnectionID, _ pipe: Pipe) -> ServerEnd {
        SessionEnd(
            id, self, pipe,
            AppServerSession(
                connection: id, settings: sessionSettings, now: clock.now,
                channelBinding: { [isBound = settings.scram == .bound] in
                    isBound ? SimulatedHost.binding : nil
                }))
    }

    /// The server's end of a device's connection.
    func makeDeviceEnd(_ id: ConnectionID, _ pipe: Pipe) -> ServerEnd {
        SessionEnd(id, self, pipe, DeviceSession(connection: id, settings: sessionSettings, now: clock.now))
    }

    /// Sends a request that is answered once, or with `nil` after a while.
    func request(_ make: @escaping (Requester) -> Event, _ answer: @escaping (SessionCommand?) -> Void) {
        guard let server else { return after(1_000_000_000) { answer(nil) } }
        let end = server.accept { RequestEnd($0, self, answer) }
        guard let request = end as? RequestEnd else { return }
        after(random(10_000...faults.networkMilliseconds * 1_000_000)) { [self] in
            if self.server?.connections[end.id] === end {
                end.report(make(Requester(connection: end.id, requestID: 1)))
            }
        }
        after(5_000_000_000) { request.finish(nil) }
    }

    // MARK: Verdicts

    /// Records a failed check.
    func fail(_ checker: String, _ text: String) {
        trace("!!! \(checker): \(text)")
        violations.append("\(checker): \(text)")
    }

    /// Counts a submitted message, downstream or upstream.
    func countMessage() { tally.messages += 1 }

    /// Counts an injected fault.
    func countFault() { tally.faults += 1 }

    /// Counts that a rule was reached.
    func reached(_ rule: Rule) { tally.count(rule) }

    /// Appends a line to the trace, in worlds that have one.
    func trace(_ line: @autoclosure () -> String) {
        guard isTraced else { return }
        lines.append("\(clock.nanoseconds / 1_000_000) \(line())")
        if lines.count > 4_000 { lines.removeFirst(2_000) }
    }
}
