import Basics
import Delivery
import Sessions
import Transport

/// One reactor with all that lives on its thread: its partition of the core, its connections and their sessions.
///
/// A turn: everything readable is read and handled; what the core wants done goes to sessions, other reactors and, as one
/// batch, to the store; then every connection that has something to send is flushed once.
final class ReactorHost: ReactorDelegate {
    let index: Int
    let reactor: Reactor
    private var core: Partition
    private var effects = Effects()
    private var links: [Link?] = []
    private var spareIO: SessionIO?
    private let mailboxes: [ReactorMailbox]
    private var outgoing: [Parcel]
    private let store: StoreThread
    private let clock: ClockBoard
    let door: Door
    private var pressed: [Link] = []
    private var refusals = TurnRefusals()
    /// Octets that HTTP connections of strangers hold, together.
    var strangersBytes = 0
    private var closes = CloseSchedule()
    private var closeTimer: TimerID?
    private var ended: (() -> Void)?
    let tally: ReactorTally
    let log: Log

    init(
        index: Int, reactor: Reactor, core: consuming Partition, mailboxes: [ReactorMailbox],
        store: StoreThread, clock: ClockBoard, door: Door, tally: ReactorTally, log: Log
    ) {
        self.index = index
        self.reactor = reactor
        self.core = core
        self.mailboxes = mailboxes
        self.store = store
        self.clock = clock
        self.door = door
        self.tally = tally
        self.log = log
        outgoing = mailboxes.map { _ in Parcel() }
        reactor.report = { [unowned self] in
            tally.note($0)
            write($0)
        }
    }

    private func write(_ report: TransportReport) {
        switch report {
        case .acceptFailed(let listener, _, let code, let dropped):
            log.repeating(
                .error, "accept_failed", by: "\(listener.rawValue) \(code)",
                ["listener": LogValue(listener), "errno": LogValue(code), "dropped": LogValue(dropped)])
        case .acceptResumed(let listener):
            log.repeating(
                .notice, "accept_resumed", by: listener.rawValue, ["listener": LogValue(listener)])
        case .refused(let listener, let peer, let reason):
            logRefusal(of: peer, listener: listener.rawValue, reason: reason.rawValue)
        case .clientFull(let listener, let client):
            logRefusal(of: client, listener: listener.rawValue, reason: DoorRefusal.addressFull.rawValue)
        }
    }

    /// Logs that an address is refused: once, then once in a minute with the number of refusals since the last line.
    func logRefusal(of peer: SocketAddress, listener: String, reason: String) {
        log.repeating(
            .warning, "connection_refused", by: "\(listener) \(reason) \((peer.network ?? peer).host)",
            every: Limits.refusalLogSeconds,
            ["listener": .text(listener), "peer": .text("\(peer)"), "reason": .text(reason)])
    }

    // MARK: Events of sessions

    /// Takes the events of a link's session, in order, and leaves the array empty.
    func accept(_ events: inout [Event], from link: Link, now: Now) {
        guard !events.isEmpty else { return }
        for at in events.indices {
            // Taken out, not copied: a submission holds half a dozen counted references.
            var event = Event.tick
            swap(&event, &events[at])
            if !link.isLoggedIn {
                if refusesLogin(event, from: link) { continue }
                if link.kind == .https { admit(&event, from: link) }
            }
            accept(event, now: now)
        }
        events.removeAll(keepingCapacity: true)
        if mailboxes.count > 1, !link.isPressed, mailboxes.contains(where: { $0.isPressed }) {
            link.isPressed = true
            pressed.append(link)
        }
    }

    /// Hands an event to its partition: here at once, elsewhere with the parcel of this turn.
    func accept(_ event: consuming Event, now: Now) {
        if let key = event.key {
            let owner = key.partition(of: mailboxes.count)
            if owner != index {
                outgoing[owner].events.append(event)
                return
            }
        }
        handle(event, now: now)
    }

    private func handle(_ event: consuming Event, now: Now) {
        #if DEBUG
            let key = event.key
        #endif
        core.handle(event, now: now, effects: &effects)
        #if DEBUG
            if let words = core.violation(of: key) { preconditionFailure(words) }
        #endif
    }

    /// Messages to topics that are under way here; see `Partition.runningTopics`.
    func runningTopics(limit: Int) -> (jobs: [TopicJob], count: Int) {
        core.runningTopics(limit: limit)
    }

    /// Tells every connection of an app server how many messages may go unanswered on it.
    func changePendingWindow(_ window: Int) {
        for link in allLinks where link.kind.isAppServer {
            link.perform(.appServer(.changePendingWindow(window)), now: reactor.now)
        }
    }

    // MARK: Turn

    func reactorWoke(_ reactor: Reactor, now: Now) {
        let parcel = mailboxes[index].takeAll()
        for event in parcel.events {
            if case .partition(.committed(let outcome)) = event, !outcome.duplicates.isEmpty {
                tally.duplicates(outcome.duplicates.count)
            }
            handle(event, now: now)
        }
        for (connection, command) in parcel.commands { perform(command, on: connection, now: now) }
        for job in parcel.jobs { job(self) }
        releasePressed()
    }

    func reactorTurnEnded(_ reactor: Reactor, now: Now) {
        settleEffects(now)
        if let batch = core.endTurn(now: now, effects: &effects) {
            store.submit(batch, partition: index)
        }
        settleEffects(now)
        refusals.flush(to: log)
        for peer in outgoing.indices where !outgoing[peer].isEmpty {
            mailboxes[peer].post(outgoing[peer])
            outgoing[peer] = Parcel()
        }
        tally.turn(nanoseconds: Now.read().monotonic.nanoseconds - now.monotonic.nanoseconds)
    }

    /// Runs on the calling thread until the reactor is stopped.
    func run() {
        tick(reactor.now)
        reactor.run()
        ended?()
    }

    /// Ends `run` after this turn; `then` is called when nothing of this host touches a connection any more.
    func stop(then: @escaping @Sendable () -> Void) {
        ended = then
        reactor.stop()
    }

    /// Closes connections when their time comes.
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

    private func tick(_ now: Now) {
        handle(.tick, now: now)
        if index == 0 { noteClock() }
        releasePressed()
        reactor.schedule(at: now.monotonic.advanced(milliseconds: Limits.tickMilliseconds)) {
            [unowned self] now in
            tick(now)
        }
    }

    /// Carries out effects until none is left: a command may make a session tell more.
    private func settleEffects(_ now: Now) {
        tally.add(downstream: effects.downstream, upstream: effects.upstream)
        effects.downstream = MilestoneCounts()
        effects.upstream = MilestoneCounts()
        if effects.expiredDevices > 0 || effects.unusedDevices > 0 { noteForgottenDevices() }
        if effects.confirmsClock { confirmClock() }
        if !effects.invariantFailures.isEmpty { noteInvariantFailures() }
        noteTopics()
        while !effects.commands.isEmpty || !effects.forwards.isEmpty {
            var round = Effects()
            swap(&round.commands, &effects.commands)
            swap(&round.forwards, &effects.forwards)
            for at in round.commands.indices {
                let connection = round.commands[at].0
                // Taken out, not copied: a delivery holds half a dozen counted references.
                var command = SessionCommand.connection(.drain)
                swap(&command, &round.commands[at].1)
                perform(command, on: connection, now: now)
            }
            for event in round.forwards { accept(event, now: now) }
            if effects.commands.isEmpty {
                round.commands.removeAll(keepingCapacity: true)
                swap(&round.commands, &effects.commands)
            }
        }
        if !effects.loads.isEmpty {
            store.load(effects.loads, partition: index)
            effects.loads.removeAll(keepingCapacity: true)
        }
    }

    /// Has a session answered at the end of this turn.
    func answer(_ command: SessionCommand, to connection: ConnectionID) {
        effects.commands.append((connection, command))
    }

    private func noteInvariantFailures() {
        tally.invariantFailures(effects.invariantFailures.count)
        for failure in effects.invariantFailures {
            log.repeating(
                .error, "invariant_broken", by: failure.what,
                ["problem": .text(failure.what), "owner": .text(failure.owner.map { "\($0)" } ?? "")])
        }
        effects.invariantFailures.removeAll()
    }

    private func noteTopics() {
        guard effects.topicJobs > 0 || effects.topicJobsOpen != 0 || effects.topicMembers > 0 else { return }
        tally.topics(
            accepted: effects.topicJobs, opened: effects.topicJobsOpen, reached: effects.topicMembers)
        effects.topicJobs = 0
        effects.topicJobsOpen = 0
        effects.topicMembers = 0
    }

    private func noteForgottenDevices() {
        tally.forgotten(expired: effects.expiredDevices, unused: effects.unusedDevices)
        if effects.expiredDevices > 0 {
            log.notice("devices_expired", ["devices": LogValue(effects.expiredDevices)])
        }
        if effects.unusedDevices > 0 {
            // Strangers make them: their number must not be that of lines.
            log.repeating(.info, "devices_unused", occurrences: effects.unusedDevices)
        }
        effects.expiredDevices = 0
        effects.unusedDevices = 0
    }

    /// Tells everybody what is thought of the clock; an error as long as it is in doubt.
    private func noteClock() {
        let before = clock.current
        let state = core.clockDoubt.map {
            ClockBoard.State(doubt: $0, graceEnds: core.clockGraceEnds)
        }
        if state != before { clock.note(state) }
        if let state {
            log.repeating(.error, "clock_in_doubt", ["problem": .text(state.doubt.text)])
        } else if before != nil {
            log.notice("clock_believed")
        }
    }

    /// A device that was here before the doubt has the same time.
    private func confirmClock() {
        effects.confirmsClock = false
        log.repeating(.notice, "clock_confirmed_by_device")
        for mailbox in mailboxes { mailbox.post(Parcel(events: [.clockAccepted])) }
    }

    /// An operator says that the clock is right.
    func acceptClock() {
        handle(.clockAccepted, now: Now.read())
        if index == 0 { noteClock() }
    }

    /// The time by which sessions go.
    func sessionTime(_ now: Now) -> Now { core.sessionTime(now) }

    private func perform(_ command: SessionCommand, on connection: ConnectionID, now: Now) {
        guard Int(connection.reactor) == index else {
            outgoing[Int(connection.reactor)].commands.append((connection, command))
            return
        }
        link(connection)?.perform(command, now: now)
    }

    private func releasePressed() {
        guard !pressed.isEmpty, !mailboxes.contains(where: { $0.isPressed }) else { return }
        for link in pressed { link.isPressed = false }
        pressed.removeAll()
    }

    // MARK: Links

    /// The link of a connection that still lives.
    func link(_ connection: ConnectionID) -> Link? {
        guard Int(connection.slot) < links.count, let link = links[Int(connection.slot)],
            link.connection.id == connection
        else { return nil }
        return link
    }

    /// All links that live.
    var allLinks: [Link] { links.compactMap { $0 } }

    /// Keeps a new link.
    func opened(_ link: Link) {
        let slot = Int(link.connection.id.slot)
        if slot >= links.count {
            links.append(contentsOf: repeatElement(nil, count: max(slot + 1, links.count * 2) - links.count))
        }
        links[slot] = link
        tally.opened(link.kind)
    }

    /// Lets go of a link whose connection is gone.
    func closed(_ link: Link, reason: CloseReason) {
        links[Int(link.connection.id.slot)] = nil
        tally.closed(link.kind, reason)
        if link.kind.hasTLS, reason == .handshakeFailed || reason == .handshakeDeadline {
            tally.handshake(succeeded: false)
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

    /// Counts a refusal at once, and logs it at the end of the turn together with the same ones of this turn.
    func refused(_ refusal: TurnRefusals.Row) {
        tally.refused(refusal.interface, refusal.reason, refusal.count)
        refusals.add(refusal)
    }

    // MARK: Working memory

    /// Working memory for one call of a session.
    func takeIO() -> SessionIO { spareIO.take() ?? SessionIO() }

    /// Gives it back for the next call.
    func giveBack(_ io: consuming SessionIO) { spareIO = consume io }
}
