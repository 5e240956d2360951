import Basics
import Cluster
import Delivery
import Sessions
import Transport

/// A reactor with everything on its thread: its partitions of the core, its connections and their sessions.
///
/// In a turn all readable connections are read and their input is handled. Then the effects of the partitions go to sessions,
/// other reactors and, in one call, to the store. Finally every connection with output is flushed once.
final class ReactorHost: ReactorDelegate {
    let index: Int
    let reactor: Reactor
    let map: PartitionMap
    let partitions: ReactorPartitions
    /// Commands from the host itself to its sessions.
    private var answers: [(ConnectionID, SessionCommand)] = []
    /// The faults that messages meet. `nil` without a test bench.
    let faults: FaultGate?
    /// How many messages a fault delays now.
    var delayed = 0
    /// The part of the partitions that ticks next.
    private var tickPart = 0
    private var links: [Link?] = []
    private var spareIO: SessionIO?
    let mailboxes: [ReactorMailbox]
    /// What goes to the other reactors in this turn.
    var outgoing: [Parcel]
    private let store: StoreThreads
    private let batches: any CommitLog
    private let apns: APNsPort
    let webhooks: WebhookPort
    /// The other nodes; `nil` for a daemon that belongs to no cluster.
    let cluster: ClusterPort?
    /// What goes to the thread of the cluster in this turn.
    var toCluster = ClusterParcel()
    /// Which way the events of each partition go; of those of this reactor, in a cluster.
    var doors: [PartitionDoor]
    /// Until when the leases hold by which this turn lets decisions out.
    var letOutUntil = Instant.distantFuture
    /// The partitions of this reactor that come back before the store has answered all that they had asked it before they left.
    var awaited: [Int: AwaitedPartition] = [:]
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
    var lastSessionTime = (machine: Now(monotonic: .distantPast, wall: 0), session: Now.read())
    let tally: ReactorTally
    let meter: TurnMeter
    let log: Log

    init(
        index: Int, reactor: Reactor, map: PartitionMap, partitions: ReactorPartitions,
        mailboxes: [ReactorMailbox],
        store: StoreThreads, batches: any CommitLog, cluster: ClusterPort?, apns: APNsPort,
        webhooks: WebhookPort, clock: ClockStatus, admission: Admission, tally: ReactorTally,
        meter: TurnMeter, faults: FaultGate?, log: Log
    ) {
        self.faults = faults
        self.index = index
        self.reactor = reactor
        self.map = map
        doors = Array(repeating: PartitionDoor(), count: map.partitions)
        self.partitions = partitions
        self.mailboxes = mailboxes
        self.store = store
        self.batches = batches
        self.cluster = cluster
        self.apns = apns
        self.webhooks = webhooks
        self.clock = clock
        self.admission = admission
        self.tally = tally
        self.meter = meter
        self.log = log
        outgoing = mailboxes.map { _ in Parcel() }
        reactor.report = { [unowned self] in
            tally.count($0)
            write($0)
        }
    }

    /// Returns the messages to topics that are being sent on this reactor; see `Partition.runningTopics`.
    func runningTopics(limit: Int) -> (jobs: [TopicJob], count: Int) {
        partitions.runningTopics(limit: limit)
    }

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
            partitions.handle(report: report.event, of: report.partition, now: now)
        }
        for event in parcel.events { accept(event, now: now) }
        // Only commands of leases have an end: without a cluster, the time is not read.
        if parcel.validUntil < .distantFuture {
            parcel.commands.close(from: parcel.validUntil, now: Now.read().monotonic)
        }
        perform(&parcel.commands, now)
        for job in parcel.jobs { job(self) }
        releaseBackpressure()
    }

    func reactorTurnEnded(_ reactor: Reactor, now: Now) {
        applyEffects(now)
        if letOutUntil != .distantFuture { checkLeases() }
        batches.submit(partitions.takeBatches())
        store.load(partitions.takeLoads())
        var deliveries = partitions.takeDeliveries()
        clock.moveToMachine(&deliveries)
        apns.deliver(&deliveries)
        var orders = partitions.takeWebhookOrders()
        webhooks.order(&orders)
        collectCounters()
        tally.beforeLogin(connections: reactor.beforeLoginCount)
        partitions.endTurn()
        if cluster != nil {
            removeLeft()
            vouch(now)
        }
        refusals.flush(to: log)
        for peer in outgoing.indices where !outgoing[peer].isEmpty {
            mailboxes[peer].post(outgoing[peer])
            outgoing[peer] = Parcel()
        }
        if let cluster { cluster.post(&toCluster) }
        letOutUntil = .distantFuture
        meter.endTurn(from: now.monotonic, to: Now.read().monotonic, advance: clock.advance)
    }

    /// Runs the reactor on the calling thread until it is stopped.
    func run() {
        partitions.handleInAll(.tick, now: reactor.now)
        tick(reactor.now)
        reactor.run()
        ended?()
    }

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

    /// Ticks one part of the partitions, so that they do not all query the store at once.
    private func tick(_ now: Now) {
        let parts = min(Limits.Partition.tickParts, max(1, partitions.count))
        partitions.tick(tickPart, of: parts, now: now)
        if tickPart == 0 { publishClock() }
        tickPart = (tickPart + 1) % parts
        releaseBackpressure()
        reactor.schedule(
            at: now.monotonic.advanced(milliseconds: Limits.Partition.tickMilliseconds / Int64(parts))
        ) {
            [unowned self] now in
            tick(now)
        }
    }

    /// Applies the commands and forwarded events of the partitions until there are none, since a command may cause further
    /// events.
    private func applyEffects(_ now: Now) {
        var hasOutput = true
        while hasOutput {
            hasOutput = partitions.handleQueued(now: now)
            if !answers.isEmpty {
                hasOutput = true
                var round: [(ConnectionID, SessionCommand)] = []
                swap(&round, &answers)
                perform(&round, now)
            }
            // More partitions may become active in the loop.
            var at = 0
            while at < partitions.active.count {
                let hosted = partitions.active[at]
                at += 1
                letOutUntil = min(letOutUntil, hosted.passGate())
                guard hosted.hasOutput else { continue }
                hasOutput = true
                // Moved out, since applying them may add more of both.
                var (commands, forwards) = hosted.takeOutput()
                if let faults { applyFaults(faults, to: &commands) }
                perform(&commands, now)
                for event in forwards { accept(event, now: now) }
                hosted.giveBack(&commands, &forwards)
            }
        }
    }

    /// Passes commands to the sessions of this reactor, and the others to their reactors. Empties the array.
    private func perform(_ commands: inout [(ConnectionID, SessionCommand)], _ now: Now) {
        var round = CommandRound(&commands)
        while let connection = round.next() {
            if connection.node != reactor.node {
                if let command = round.take(for: connection) {
                    toCluster.commands.append((connection, command))
                }
            } else if Int(connection.reactor) == index, let link = link(connection) {
                link.perform(&round, now: now)
            } else if let command = round.take(for: connection), Int(connection.reactor) != index {
                outgoing[Int(connection.reactor)].commands.append((connection, command))
            }
        }
        commands = round.storage()
    }

    /// Sends a command to a session at the end of this turn.
    func answer(_ command: SessionCommand, to connection: ConnectionID) {
        answers.append((connection, command))
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
    private func collectCounters() {
        var (expired, unused) = (0, 0)
        for hosted in partitions.active {
            tally.collect(&hosted.effects)
            meter.collect(&hosted.effects)
            expired += hosted.effects.expiredDevices
            unused += hosted.effects.unusedDevices
            hosted.effects.expiredDevices = 0
            hosted.effects.unusedDevices = 0
            if !hosted.effects.invariantFailures.isEmpty { record(&hosted.effects.invariantFailures) }
            if hosted.effects.confirmsClock {
                hosted.effects.confirmsClock = false
                confirmClock()
            }
        }
        guard expired + unused > 0 else { return }
        tally.forgotten(expired: expired, unused: unused)
        if expired > 0 { log.notice("devices_expired", ["devices": LogValue(expired)]) }
        // Unauthenticated peers create them, so they must not determine the number of log lines.
        if unused > 0 { log.repeating(.info, "devices_unused", occurrences: unused) }
    }

    /// Accepts the clock at the operator's command.
    func acceptClock() {
        partitions.handleInAll(.clockAccepted(by: .operator), now: Now.read())
        lastSessionTime.machine.monotonic = .distantPast
        publishClock()
    }

    /// Called before a session gets requests of senders.
    func readsSenders() {
        if cluster != nil { readSenders = senders() }
    }

    /// The time for sessions: the server's, but deadlines of connections are by the machine's monotonic clock.
    func sessionTime(_ now: Now) -> Now {
        if lastSessionTime.machine != now {
            var time =
                partitions.leader?.core.sessionTime(clock.serverTime(now)) ?? clock.judged(now)
            time.monotonic = now.monotonic
            lastSessionTime = (now, time)
        }
        return lastSessionTime.session
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
