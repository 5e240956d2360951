import Basics
import Cluster
import Delivery
import Sessions
import Transport

/// A reactor with everything on its thread: its partitions of the core, its connections and their sessions.
///
/// It is the shell of a `TurnLoop`. In a turn all readable connections are read and their input is handled. Then the effects of the
/// partitions go to sessions, other reactors and, in one call, to the store. Finally every connection with output is flushed once.
final class ReactorHost: ReactorDelegate {
    let reactor: Reactor
    /// The partitions, and the ways of events and commands.
    let turns: TurnLoop
    /// The faults that messages meet. `nil` without a test bench.
    let faults: FaultGate?
    /// How many messages a fault delays now.
    var delayed = 0
    private var links: [Link?] = []
    private var spareIO: SessionIO?
    let mailboxes: [ReactorMailbox]
    private let store: StoreThreads
    private let batches: any CommitLog
    private let apns: APNsPort
    let webhooks: WebhookPort
    /// The other nodes; `nil` for a daemon that belongs to no cluster.
    let cluster: ClusterPort?
    /// What goes to the thread of the cluster in this turn.
    var toCluster = ClusterParcel()
    /// Requests of HTTP by senders of which this node may not have the last changes.
    var vouching = Vouching()
    /// What this node has of a sender.
    var senders: () -> SenderDirectory = { SenderDirectory() }
    /// The senders before the last session of a node of a cluster got bytes: what it has checked credentials by is no older.
    private(set) var readSenders = SenderDirectory()
    let clock: ClockStatus
    let admission: Admission
    var backpressured: [Link] = []
    /// When a connection was last refused for lack of a descriptor; `nil` if none was.
    var lastDescriptorRefusal: Instant?
    private var refusals = TurnRefusals()
    /// Bytes buffered by all unauthenticated HTTP connections together.
    var unauthenticatedBytes = 0
    private var closes = CloseSchedule()
    private var closeTimer: TimerID?
    private var ended: (() -> Void)?
    /// The last reading of the clock and the time for sessions that followed from it: all calls of a turn have the same reading.
    var lastSessionTime: (machine: Now, session: Now)?
    /// Takes the steps of messages to the history. `nil` if it is switched off.
    var history: HistoryGatherer?
    let tally: ReactorTally
    let meter: TurnMeter
    let log: Log

    init(
        reactor: Reactor, turns: TurnLoop, core: Daemon.Core, store: StoreThreads,
        gateways: Daemon.Gateways, clock: ClockStatus, admission: Admission, tally: ReactorTally,
        meter: TurnMeter, faults: FaultGate?, log: Log
    ) {
        self.faults = faults
        self.reactor = reactor
        self.turns = turns
        mailboxes = core.mailboxes
        self.store = store
        batches = core.cluster ?? store
        cluster = core.cluster
        apns = gateways.apns
        webhooks = gateways.webhooks
        self.clock = clock
        self.admission = admission
        self.tally = tally
        self.meter = meter
        self.log = log
        reactor.report = { [unowned self] in
            tally.count($0)
            write($0)
        }
    }

    /// Returns the live messages to topics of the partitions of this reactor; see `Partition.runningTopics`.
    func runningTopics(limit: Int) -> (messages: [LiveTopicMessage], count: Int) {
        turns.runningTopics(limit: limit)
    }

    /// The number of the reactor.
    var index: Int { turns.index }
    /// The assignment of partitions to reactors.
    var map: PartitionMap { turns.map }

    /// Sets the window of unacknowledged messages on all connections of app servers.
    func changePendingWindow(_ window: Int) {
        for link in allLinks where link.kind.isAppServer {
            link.perform(.appServer(.changePendingWindow(window)), now: reactor.now)
        }
    }

    // MARK: Turn

    func reactorWoke(_ reactor: Reactor, now: Now) {
        var parcel = mailboxes[index].takeAll()
        for report in parcel.reports {
            if case .partition(.committed(let outcome)) = report.event, !outcome.duplicates.isEmpty {
                tally.duplicates(outcome.duplicates.count)
            }
            turns.handle(report: report.event, of: report.partition, now: clock.serverTime(now))
        }
        for event in parcel.events { accept(event) }
        // Only commands of leases have an end: without a cluster, the time is not read.
        if parcel.validUntil < .distantFuture {
            parcel.commands.close(from: parcel.validUntil, now: Now.read().monotonic)
        }
        perform(&parcel.commands, now)
        for job in parcel.jobs { job(self) }
        releaseBackpressure()
    }

    func reactorTurnEnded(_ reactor: Reactor, now: Now) {
        applyOutput(now)
        var effects = turns.takeEffects()
        let validUntil = turns.letOutUntil
        batches.submit(effects.batches)
        store.load(effects.loads)
        clock.moveToMachine(&effects.deliveries)
        apns.deliver(&effects.deliveries)
        webhooks.order(&effects.webhooks)
        collectCounters(now)
        history?.endTurn(now: now.monotonic)
        if effects.confirmsClock { confirmClock() }
        tally.beforeLogin(connections: reactor.beforeLoginCount)
        turns.endTurn()
        if cluster != nil {
            removeLeft()
            vouch(now)
        }
        refusals.flush(to: log)
        for peer in turns.outgoing.indices where !turns.outgoing[peer].isEmpty {
            mailboxes[peer].post(Parcel(turns.outgoing[peer].take()))
        }
        if let cluster {
            toCluster.add(turns.elsewhere.take())
            cluster.post(&toCluster)
        }
        // Last: what was written in this turn leaves next. What crosses is looked at where it arrives.
        if validUntil != .distantFuture { checkLeases(validUntil) }
        meter.endTurn(from: now.monotonic, to: Now.read().monotonic, advance: clock.advance)
    }

    /// Runs the reactor on the calling thread until it is stopped.
    func run() {
        accept(.tick)
        tick(reactor.now)
        reactor.run()
        postHistory()
        ended?()
    }

    /// Posts the steps of messages that were gathered.
    func postHistory() { history?.flush(now: reactor.now.monotonic) }

    /// Ends `run` after this turn; `then` is called when the host no longer uses any connection.
    func stop(then: @escaping @Sendable () -> Void) {
        ended = then
        reactor.stop()
    }

    /// Schedules closes of connections.
    func closeLater(_ entries: [CloseSchedule.Entry]) {
        closes.add(entries)
        armCloses()
    }

    private func armCloses() {
        if let timer = closeTimer { reactor.cancel(timer) }
        closeTimer = closes.next.map { next in
            reactor.schedule(at: next) { [unowned self] now in
                closeTimer = nil
                for entry in closes.takeDue(now.monotonic) { close(entry.connection, entry.reason, now) }
                armCloses()
            }
        }
    }

    /// Ticks one part of the partitions.
    private func tick(_ now: Now) {
        let isFirst = turns.tickPart == 0
        let pause = turns.tick(now: clock.serverTime(now))
        if isFirst { publishClock() }
        releaseBackpressure()
        reactor.schedule(at: now.monotonic.advanced(milliseconds: pause)) { [unowned self] now in
            tick(now)
        }
    }

    /// Has sessions perform the commands of the partitions until there are none, since a command may cause further events.
    private func applyOutput(_ now: Now) {
        let time = clock.serverTime(now)
        var commands: [(ConnectionID, SessionCommand)] = []
        while turns.next(&commands, now: time) {
            if let faults { applyFaults(faults, to: &commands) }
            perform(&commands, now)
            turns.giveBack(&commands, now: time)
        }
    }

    /// Passes commands to the sessions of this reactor, and the others to what crosses. Empties the array.
    private func perform(_ commands: inout [(ConnectionID, SessionCommand)], _ now: Now) {
        var round = CommandRound(&commands)
        while let connection = turns.nextSession(&round) {
            if let link = link(connection) {
                link.perform(&round, now: now)
            } else {
                // The connection is closed.
                _ = round.take(for: connection)
            }
        }
        commands = round.storage()
    }

    /// Sends a command to a session at the end of this turn.
    func answer(_ command: SessionCommand, to connection: ConnectionID) {
        turns.answer(command, to: connection)
    }

    /// Counts and logs violated invariants.
    private func record(_ failures: inout [InvariantFailure]) {
        tally.invariantFailures(failures.count)
        for failure in failures {
            log.repeating(
                .error, "invariant_broken", by: failure.what,
                ["problem": .text(failure.what), "owner": .text(failure.owner.map { "\($0)" } ?? "")])
        }
        failures.removeAll()
    }

    /// Collects the counters of the partitions for this turn.
    private func collectCounters(_ now: Now) {
        var (expired, unused) = (0, 0)
        for hosted in turns.active {
            tally.collect(&hosted.effects)
            meter.collect(&hosted.effects)
            history?.take(&hosted.effects.history, now: now.monotonic)
            expired += hosted.effects.expiredDevices
            unused += hosted.effects.unusedDevices
            hosted.effects.expiredDevices = 0
            hosted.effects.unusedDevices = 0
            if !hosted.effects.invariantFailures.isEmpty { record(&hosted.effects.invariantFailures) }
        }
        guard expired + unused > 0 else { return }
        tally.forgotten(expired: expired, unused: unused)
        if expired > 0 { log.notice("devices_expired", ["devices": LogValue(expired)]) }
        // Unauthenticated peers create them, so they must not determine the number of log lines.
        if unused > 0 { log.repeating(.info, "devices_unused", occurrences: unused) }
    }

    /// Accepts the clock at the operator's command.
    func acceptClock() {
        turns.handleInAll(.clockAccepted(by: .operator), now: clock.serverTime(.read()))
        lastSessionTime = nil
        publishClock()
    }

    /// Called before a session gets requests of senders.
    func readsSenders() {
        if cluster != nil { readSenders = senders() }
    }

    /// The time for sessions: the server's, but deadlines of connections are by the machine's monotonic clock.
    func sessionTime(_ now: Now) -> Now {
        if let lastSessionTime, lastSessionTime.machine == now { return lastSessionTime.session }
        var time = turns.leader?.core.sessionTime(clock.serverTime(now)) ?? clock.judged(now)
        time.monotonic = now.monotonic
        lastSessionTime = (now, time)
        return time
    }

    private func releaseBackpressure() {
        guard !backpressured.isEmpty, !mailboxes.contains(where: { $0.hasBackpressure }) else { return }
        for link in backpressured { link.hasBackpressure = false }
        backpressured.removeAll()
    }

    // MARK: Links

    /// Returns the link of a connection. Returns `nil` if the connection is closed.
    func link(_ connection: ConnectionID) -> Link? {
        guard Int(connection.slot) < links.count, let link = links[Int(connection.slot)],
            link.connection.id == connection
        else { return nil }
        return link
    }

    /// All open links.
    var allLinks: [Link] { links.compactMap { $0 } }

    /// Registers a new link.
    func opened(_ link: Link) {
        let slot = Int(link.connection.id.slot)
        if slot >= links.count {
            links.append(contentsOf: repeatElement(nil, count: max(slot + 1, links.count * 2) - links.count))
        }
        links[slot] = link
        tally.opened(link.kind)
    }

    /// Removes the link of a closed connection.
    func closed(_ link: Link, reason: CloseReason) {
        links[Int(link.connection.id.slot)] = nil
        tally.closed(link.kind, reason)
        if !link.connection.isPlain, reason == .handshakeFailed || reason == .handshakeDeadline {
            tally.handshake(succeeded: false)
            noteProblem(of: link)
        }
        if link.isLoggedIn { tally.logout(link.kind) }
        log.debug(
            "connection_closed",
            [
                "listener": LogValue(link.kind), "peer": .text("\(link.connection.peer)"),
                "name": .text(link.peerName), "reason": LogValue(reason),
                "detail": .text(link.connection.failure),
            ])
    }

    /// Counts a refusal at once, and logs it at the end of the turn together with equal ones.
    func refused(_ refusal: TurnRefusals.Row) {
        tally.refused(refusal.interface, refusal.reason, refusal.count)
        refusals.add(refusal)
    }

    // MARK: Session I/O buffers

    /// Returns buffers for one call of a session.
    func takeIO() -> SessionIO { spareIO.take() ?? SessionIO() }

    /// Returns buffers for reuse by the next call.
    func giveBack(_ io: consuming SessionIO) { spareIO = consume io }
}
