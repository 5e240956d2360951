import Basics
import Delivery
import Synchronization
import Transport

/// Drains connections: a notice, a grace period, then closes spread over time to avoid a reconnect storm.
///
/// At shutdown app servers are drained first, while devices are still served; then, with every listener closed, `lastCall`
/// closes the other connections. A drain that holds does the same with listeners that wait, and the daemon goes on.
final class Drainer: Sendable {
    /// The connections to drain.
    enum Selection: Sendable {
        /// The connections of all app servers.
        case appServers
        /// The connections of one sender's app servers.
        case sender(SenderID)
        /// One connection, of an app server or a device.
        case session(SessionID)

        /// Whether a connection is selected.
        func contains(_ link: Link) -> Bool {
            switch self {
            case .appServers: link.kind.isAppServer
            case .sender(let sender): link.kind.isAppServer && link.peerNumber == sender.number
            case .session(let id): SessionID(link.connection.id) == id
            }
        }
    }

    /// The durations of a drain.
    struct Pace: Sendable {
        var graceMilliseconds: Int64
        var spreadMilliseconds: Int64
        /// How long after both the drain waits for connections that are still open.
        var slackMilliseconds = Limits.Shutdown.drainSlackMilliseconds

        /// Returns the pace at a shutdown that has `seconds`: half of them for the grace period, a quarter to wait for what is still
        /// open, and the rest for what follows. Closes are not spread, since reconnecting app servers wait for the next process in
        /// any case.
        func atShutdown(within seconds: Int) -> Pace {
            let most = Int64(seconds) * 1_000
            return Pace(
                graceMilliseconds: min(graceMilliseconds, most / 2), spreadMilliseconds: 0,
                slackMilliseconds: min(slackMilliseconds, most / 4))
        }
    }

    private let mailboxes: [ReactorMailbox]
    private let current = Mutex(ServiceState.serving)
    private let pace: Mutex<Pace>
    private let isCutShort = Atomic(false)

    init(mailboxes: [ReactorMailbox], pace: Pace) {
        self.mailboxes = mailboxes
        self.pace = Mutex(pace)
    }

    /// The state of the daemon.
    var state: ServiceState { current.withLock { $0 } }

    /// Sets the state of the daemon.
    func enter(_ state: ServiceState) { current.withLock { $0 = state } }

    /// Changes the pace of later drains.
    func setPace(_ pace: Pace) { self.pace.withLock { $0 = pace } }

    /// Ends the grace period and spread of the current drain at once.
    func cutShort() { isCutShort.store(true, ordering: .relaxed) }

    /// Drains the selected open sessions; new ones are accepted. Returns the number of sessions when they are closed.
    ///
    /// The daemon is in the state `draining` if all app servers are drained, else it remains in the state `serving`.
    func drainConnections(
        _ selection: Selection, progress: (_ done: Int, _ total: Int) -> Void
    ) -> Int {
        var pace = pace.withLock { $0 }
        switch selection {
        case .session:
            // A single reconnect is not a storm.
            pace.spreadMilliseconds = 0
            fallthrough
        case .sender: return drain(selection, pace, reason: .connectionDraining, progress: progress)
        case .appServers: break
        }
        let isOwn = current.withLock { $0.beginDrain() }
        defer { if isOwn { current.withLock { $0.endDrain() } } }
        return drain(selection, pace, reason: .connectionDraining, progress: progress)
    }

    /// Closes the ports of clients, drains the app servers, and closes the connections of all other clients. New connections wait
    /// in the sockets. Returns the number of app servers, or `nil` if the daemon is stopping.
    ///
    /// Closes are not spread, since nothing can reconnect.
    func hold(progress: (_ done: Int, _ total: Int) -> Void) -> Int? {
        // Under the lock, so that a release at the same time comes before or after it on every reactor.
        let isHeld = current.withLock { state in
            guard state.hold() else { return false }
            for mailbox in mailboxes { mailbox.post { $0.holdClients() } }
            return true
        }
        guard isHeld else { return nil }
        var pace = pace.withLock { $0 }
        pace.spreadMilliseconds = 0
        let sessions = drain(.appServers, pace, reason: .connectionDraining, progress: progress)
        guard state == .draining(holds: true) else { return sessions }
        lastCall(
            milliseconds: Limits.Shutdown.lastCallMilliseconds, to: Link.Kind.clients,
            reason: .connectionDraining)
        // What has not finished its login or request by now is closed in the middle of it.
        for latch in mailboxes.ask({ $0.closeAll(Link.Kind.clients, .connectionDraining) }) {
            _ = latch.wait()
        }
        _ = current.withLock { $0.endHold() }
        return sessions
    }

    /// Opens the ports of clients again. Returns false if the daemon is stopping.
    func release() -> Bool {
        current.withLock { state in
            guard state.release() else { return false }
            for mailbox in mailboxes { mailbox.post { $0.releaseClients() } }
            return true
        }
    }

    /// Drains the app servers at shutdown within `seconds`. Returns as soon as no app server is connected.
    ///
    /// The listeners of app servers must be closed before.
    func drainForShutdown(seconds: Int) {
        let pace = pace.withLock { $0 }.atShutdown(within: seconds)
        _ = drain(.appServers, pace, reason: .systemShutdown) { _, _ in }
    }

    /// Closes the remaining connections after all listeners: each device gets a Close; connections accepted last get a short
    /// time to finish the login or the first request.
    func lastCall(seconds: Int) {
        lastCall(
            milliseconds: min(Limits.Shutdown.lastCallMilliseconds, Int64(seconds) * 1_000 / 4),
            to: Link.Kind.clients.union([.admin]), reason: .systemShutdown)
    }

    private func lastCall(milliseconds: Int64, to kinds: Set<Link.Kind>, reason: CloseReason) {
        let deadline = Now.read().monotonic.advanced(milliseconds: milliseconds)
        for latch in mailboxes.ask({ $0.beginLastCall(to: kinds, reason) }) { _ = latch.wait() }
        while !isCutShort.load(ordering: .relaxed), Now.read().monotonic < deadline {
            let left = mailboxes.ask { host in host.allLinks.count { kinds.contains($0.kind) } }
                .reduce(0) { $0 + ($1.wait() ?? 0) }
            if left == 0 { break }
            Threads.sleep(milliseconds: Limits.Shutdown.lastCallPollMilliseconds)
        }
    }

    private func drain(
        _ selection: Selection, _ pace: Pace, reason: CloseReason,
        progress: (_ done: Int, _ total: Int) -> Void
    ) -> Int {
        let sessions = mailboxes.ask { $0.beginDrain(selection, pace, reason: reason) }
            .flatMap { $0.wait() ?? [] }
        let deadline = Now.read().monotonic.advanced(
            milliseconds: pace.graceMilliseconds + pace.spreadMilliseconds + pace.slackMilliseconds)
        var isCutShortAlready = false
        while Now.read().monotonic < deadline {
            let left = remaining(sessions)
            progress(sessions.count - left, sessions.count)
            if left == 0 { break }
            if isCutShort.load(ordering: .relaxed), !isCutShortAlready {
                isCutShortAlready = true
                for mailbox in mailboxes { mailbox.post { host in host.endDrain(sessions, reason: reason) } }
            }
            Threads.sleep(milliseconds: Limits.Shutdown.drainPollMilliseconds)
        }
        return sessions.count
    }

    private func remaining(_ sessions: [ConnectionID]) -> Int {
        mailboxes.ask { host in sessions.count { Int($0.reactor) == host.index && host.link($0) != nil } }
            .reduce(0) { $0 + ($1.wait() ?? 0) }
    }
}

extension ReactorHost {
    /// Notifies every selected session and schedules its close. Returns the sessions.
    ///
    /// A session is closed after the grace period and its random share of the spread. An idle app server without
    /// unacknowledged messages in either direction is closed after its share of the spread already (ccs-xmpp 3.7). Sessions of
    /// other protocols get no notice, and messages to them may still be in flight. A connection that is still logging in has a
    /// short time for it at shutdown, and is left alone in a drain.
    func beginDrain(
        _ selection: Drainer.Selection, _ pace: Drainer.Pace, reason: CloseReason
    ) -> [ConnectionID] {
        let now = reactor.now
        var random = SeededRandom(seed: UInt64(bitPattern: now.wall) ^ UInt64(index))
        var drained: [ConnectionID] = []
        var closes: [CloseSchedule.Entry] = []
        for link in allLinks where selection.contains(link) {
            let id = link.connection.id
            guard link.isLoggedIn || reason == .systemShutdown else { continue }
            drained.append(id)
            link.perform(.connection(.drain), now: now)
            let jitter =
                pace.spreadMilliseconds > 0
                ? Int64.random(in: 0...pace.spreadMilliseconds, using: &random) : 0
            let grace =
                link.isLoggedIn
                ? pace.graceMilliseconds : min(pace.graceMilliseconds, Limits.Shutdown.lastCallMilliseconds)
            let at = now.monotonic.advanced(milliseconds: grace + jitter)
            if link.kind.isAppServer {
                let from = now.monotonic.advanced(milliseconds: jitter)
                link.perform(.connection(.endWhenIdle(from: from, reason)), now: now)
            }
            closes.append(CloseSchedule.Entry(at: at, connection: id, reason: reason))
        }
        closeLater(closes)
        return drained
    }

    /// Closes the connections of some kinds, a recently accepted one after its login or its first request; those of app servers at
    /// once.
    func beginLastCall(to kinds: Set<Link.Kind>, _ reason: CloseReason) {
        let now = reactor.now
        for link in allLinks where kinds.contains(link.kind) {
            link.perform(
                .connection(
                    link.kind.isAppServer ? .close(reason) : .endWhenIdle(from: now.monotonic, reason)),
                now: now)
        }
    }

    /// Closes all connections of some kinds at once.
    func closeAll(_ kinds: Set<Link.Kind>, _ reason: CloseReason) {
        for link in allLinks where kinds.contains(link.kind) {
            close(link.connection.id, reason, reactor.now)
        }
    }

    /// Accepts no connection of clients until `releaseClients`.
    func holdClients() {
        for kind in Link.Kind.clients { reactor.holdListening(ListenerName(rawValue: kind.rawValue)) }
    }

    /// Accepts connections of clients again.
    func releaseClients() {
        for kind in Link.Kind.clients { reactor.releaseListening(ListenerName(rawValue: kind.rawValue)) }
    }

    /// Closes the remaining sessions of a drain at once.
    func endDrain(_ sessions: [ConnectionID], reason: CloseReason) {
        for id in sessions where Int(id.reactor) == index { close(id, reason, reactor.now) }
    }

    /// Closes a connection if it is still open.
    func close(_ id: ConnectionID, _ reason: CloseReason, _ now: Now) {
        link(id)?.perform(.connection(.close(reason)), now: now)
    }
}
