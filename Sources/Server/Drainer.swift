import Basics
import Delivery
import Synchronization
import Transport

/// Ends connections in a planned way: notice, grace, then closes spread over time to avoid a reconnect storm.
///
/// At the end of the process app servers are drained first, while devices are served as ever; then, with every listener
/// closed, `lastCall` ends the rest.
final class Drainer: Sendable {
    /// Where the daemon is.
    enum State: String, Sendable {
        case serving
        case draining
        case stopping
    }

    /// Whose connections are drained.
    enum Selection: Sendable {
        /// Those of all app servers.
        case appServers
        /// Those of one sender's app servers.
        case sender(SenderID)
        /// One, of an app server or a device.
        case session(ConnectionID)

        /// Whether a connection is among them.
        func takes(_ link: Link) -> Bool {
            switch self {
            case .appServers: link.kind.isAppServer
            case .sender(let sender): link.kind.isAppServer && link.peerNumber == sender.number
            case .session(let id): link.connection.id == id
            }
        }
    }

    /// How long the parts of a drain take.
    struct Pace: Sendable {
        var graceMilliseconds: Int64
        var spreadMilliseconds: Int64
        /// How long after both those that are still open are waited for.
        var slackMilliseconds = Limits.Shutdown.drainSlackMilliseconds
    }

    private let mailboxes: [ReactorMailbox]
    private let current = Mutex(State.serving)
    private let pace: Mutex<Pace>
    private let isHurried = Atomic(false)

    init(mailboxes: [ReactorMailbox], pace: Pace) {
        self.mailboxes = mailboxes
        self.pace = Mutex(pace)
    }

    /// Where the daemon is.
    var state: State { current.withLock { $0 } }

    /// Sets where the daemon is.
    func enter(_ state: State) { current.withLock { $0 = state } }

    /// Changes the pace of later drains.
    func setPace(_ pace: Pace) { self.pace.withLock { $0 = pace } }

    /// Ends grace and spread of a drain that is under way.
    func hurry() { isHurried.store(true, ordering: .relaxed) }

    /// Drains some of the sessions that are open now; new ones are welcome. Returns when they are gone, with their number.
    ///
    /// With all app servers the daemon as a whole is draining meanwhile; with fewer it goes on serving.
    func drainConnections(
        _ selection: Selection, progress: (_ done: Int, _ total: Int) -> Void
    ) -> Int {
        var pace = pace.withLock { $0 }
        switch selection {
        case .session:
            // One that comes back is no storm.
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

    /// Drains the app servers for the end of the process, within `seconds`; returns as soon as none is left.
    ///
    /// Closes are not spread: those who come back find the next process, however their ends were spread. The listeners of
    /// app servers are closed before this is called.
    func drainForShutdown(seconds: Int) {
        var limited = pace.withLock { $0 }
        let most = Int64(seconds) * 1_000
        limited.graceMilliseconds = min(limited.graceMilliseconds, most / 2)
        limited.spreadMilliseconds = 0
        limited.slackMilliseconds = min(limited.slackMilliseconds, most / 4)
        _ = drain(.appServers, limited, reason: .systemShutdown) { _, _ in }
    }

    /// Ends all that is left, once nothing is accepted any more: each device gets its Close; a connection that was accepted
    /// last finishes its login or its first request, for a short time.
    func lastCall(seconds: Int) {
        let most = min(Limits.Shutdown.lastCallMilliseconds, Int64(seconds) * 1_000 / 4)
        let deadline = Now.read().monotonic.advanced(milliseconds: most)
        for latch in mailboxes.ask({ $0.beginLastCall() }) { _ = latch.wait() }
        while !isHurried.load(ordering: .relaxed), Now.read().monotonic < deadline {
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
        var isHurriedAlready = false
        while Now.read().monotonic < deadline {
            let left = remaining(sessions)
            progress(sessions.count - left, sessions.count)
            if left == 0 { break }
            if isHurried.load(ordering: .relaxed), !isHurriedAlready {
                isHurriedAlready = true
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
    /// Gives notice to every session that is chosen and sets the time of its close; returns the sessions.
    ///
    /// Each is closed when the grace is over and its share of the spread. An app server that owes and is owed nothing, and
    /// sends nothing, need not sit out the grace: its connection ends once its share of the spread is over (ccs-xmpp 3.7).
    /// One without app-server protocol has no notice to heed, and messages to it may still be on their way. At the end of the
    /// process one that has been accepted and is still logging in has a short time to do so; in a drain it is left alone.
    func beginDrain(
        _ selection: Drainer.Selection, _ pace: Drainer.Pace, reason: CloseReason
    ) -> [ConnectionID] {
        let now = reactor.now
        var random = SeededRandom(seed: UInt64(bitPattern: now.wall) ^ UInt64(index))
        var drained: [ConnectionID] = []
        var closes: [CloseSchedule.Entry] = []
        for link in allLinks where selection.takes(link) {
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

    /// Closes every connection for the end of the process, those that have just been accepted after their login or their
    /// first request; connections of the control socket stay.
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

    /// Closes what is left of a drain at once.
    func endDrain(_ sessions: [ConnectionID], reason: CloseReason) {
        for id in sessions where Int(id.reactor) == index { close(id, reason, reactor.now) }
    }

    /// Closes a connection by its session, if it still lives.
    func close(_ id: ConnectionID, _ reason: CloseReason, _ now: Now) {
        link(id)?.perform(.connection(.close(reason)), now: now)
    }
}
