import Basics
import Delivery
import Synchronization
import Transport

/// Drains connections: a notice, a grace period, then closes spread over time to avoid a reconnect storm.
///
/// At shutdown app servers are drained first, while devices are still served; then, with every listener closed, `lastCall`
/// closes the other connections.
final class Drainer: Sendable {
    /// The state of the daemon.
    enum State: String, Sendable {
        case serving
        case draining
        case stopping
    }

    /// The connections to drain.
    enum Selection: Sendable {
        /// The connections of all app servers.
        case appServers
        /// The connections of one sender's app servers.
        case sender(SenderID)
        /// One connection, of an app server or a device.
        case session(ConnectionID)

        /// Whether a connection is selected.
        func contains(_ link: Link) -> Bool {
            switch self {
            case .appServers: link.kind.isAppServer
            case .sender(let sender): link.kind.isAppServer && link.peerNumber == sender.number
            case .session(let id): link.connection.id == id
            }
        }
    }

    /// The durations of a drain.
    struct Pace: Sendable {
        var graceMilliseconds: Int64
        var spreadMilliseconds: Int64
        /// How long after both the drain waits for connections that are still open.
        var slackMilliseconds = Limits.Shutdown.drainSlackMilliseconds
    }

    private let mailboxes: [ReactorMailbox]
    private let current = Mutex(State.serving)
    private let pace: Mutex<Pace>
    private let isCutShort = Atomic(false)

    init(mailboxes: [ReactorMailbox], pace: Pace) {
        self.mailboxes = mailboxes
        self.pace = Mutex(pace)
    }

    /// The state of the daemon.
    var state: State { current.withLock { $0 } }

    /// Sets the state of the daemon.
    func enter(_ state: State) { current.withLock { $0 = state } }

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
        let wasServing = current.withLock { state in
            guard state == .serving else { return false }
            state = .draining
            return true
        }
        defer { if wasServing { current.withLock { if $0 == .draining { $0 = .serving } } } }
        return drain(selection, pace, reason: .connectionDraining, progress: progress)
    }

    /// Drains the app servers at shutdown within `seconds`. Returns as soon as no app server is connected.
    ///
    /// Closes are not spread, since reconnecting app servers wait for the next process in any case. The listeners of app servers
    /// must be closed before.
    func drainForShutdown(seconds: Int) {
        var limited = pace.withLock { $0 }
        let most = Int64(seconds) * 1_000
        limited.graceMilliseconds = min(limited.graceMilliseconds, most / 2)
        limited.spreadMilliseconds = 0
        limited.slackMilliseconds = min(limited.slackMilliseconds, most / 4)
        _ = drain(.appServers, limited, reason: .systemShutdown) { _, _ in }
    }

    /// Closes the remaining connections after all listeners: each device gets a Close; connections accepted last get a short
    /// time to finish the login or the first request.
    func lastCall(seconds: Int) {
        let most = min(Limits.Shutdown.lastCallMilliseconds, Int64(seconds) * 1_000 / 4)
        let deadline = Now.read().monotonic.advanced(milliseconds: most)
        for latch in mailboxes.ask({ $0.beginLastCall() }) { _ = latch.wait() }
        while !isCutShort.load(ordering: .relaxed), Now.read().monotonic < deadline {
            let left = mailboxes.ask { host in host.allLinks.count { $0.kind != .control } }
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

    /// Closes every connection at shutdown, a recently accepted one after its login or its first request; connections of the
    /// control socket stay open.
    func beginLastCall() {
        let now = reactor.now
        for link in allLinks {
            switch link.kind {
            case .appServer, .appServerPreproduction:
                link.perform(.connection(.close(.systemShutdown)), now: now)
            case .device, .https, .admin:
                link.perform(.connection(.endWhenIdle(from: now.monotonic, .systemShutdown)), now: now)
            case .control: break
            }
        }
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
