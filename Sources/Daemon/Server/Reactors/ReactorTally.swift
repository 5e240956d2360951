import Basics
import Delivery
import Sessions
import Transport

/// The counters of one reactor, in its own shard of the metrics.
struct ReactorTally {
    let shard: MetricShard

    /// Creates counters in a shard.
    init(shard: MetricShard) { self.shard = shard }

    /// Adds the milestones that messages passed in a turn.
    private func add(downstream: MilestoneCounts, upstream: MilestoneCounts) {
        if downstream != MilestoneCounts() { add(downstream, direction: 0) }
        if upstream != MilestoneCounts() { add(upstream, direction: 1) }
    }

    private func add(_ counts: MilestoneCounts, direction: Int) {
        for (position, milestone) in Milestone.allCases.enumerated() {
            let count = counts[milestone]
            if count != 0 { shard.add(count, to: .messages, direction, position) }
        }
    }

    /// Counts an accepted connection.
    func opened(_ kind: Link.Kind) {
        shard.add(to: .connectionsAccepted, kind.position)
        shard.add(to: .connectionsOpen, kind.position)
    }

    /// Counts connections closed at accept, or before their login for newer ones.
    func refused(_ kind: Link.Kind, _ reason: ConnectionRefusal, _ count: Int = 1) {
        shard.add(count, to: .connectionsRefused, kind.position, reason.position)
    }

    /// Counts a report of a listener.
    func count(_ report: TransportReport) {
        switch report {
        case .acceptFailed(let listener, let reason, _, let dropped):
            if let kind = Link.Kind(rawValue: listener.rawValue) { refused(kind, reason, dropped) }
        case .refused(let listener, _, let reason):
            if let kind = Link.Kind(rawValue: listener.rawValue) { refused(kind, reason) }
        case .acceptResumed: break
        }
    }

    /// Sets the memory of the connections that have not logged in.
    func beforeLogin(connections: Int) {
        shard.set(.beforeLoginBytes, to: connections * Limits.Connection.beforeLoginCost)
    }

    /// Counts a closed connection.
    func closed(_ kind: Link.Kind, _ reason: CloseReason) {
        shard.add(-1, to: .connectionsOpen, kind.position)
        shard.add(to: .connectionsClosed, reason.position)
    }

    /// Counts a successful or failed login.
    func login(_ kind: Link.Kind, succeeded: Bool) {
        let session = kind == .device ? 1 : 0
        shard.add(to: .logins, session, succeeded ? 0 : 1)
        if succeeded { shard.add(to: .sessionsOpen, session) }
    }

    /// Counts the end of a session.
    func logout(_ kind: Link.Kind) { shard.add(-1, to: .sessionsOpen, kind == .device ? 1 : 0) }

    /// Counts refused messages or requests.
    func refused(_ interface: RefusalInterface, _ reason: RefusalReason, _ count: Int = 1) {
        shard.add(count, to: .refusals, interface.position, reason.position)
    }

    /// Counts received bytes.
    func received(_ count: Int, _ kind: Link.Kind) { shard.add(count, to: .receivedBytes, kind.position) }

    /// Counts sent bytes.
    func sent(_ count: Int, _ kind: Link.Kind) { shard.add(count, to: .sentBytes, kind.position) }

    /// Counts a TLS handshake.
    func handshake(succeeded: Bool) { shard.add(to: .handshakes, succeeded ? 0 : 1) }

    /// Counts upstream messages that were dropped as duplicates.
    func duplicates(_ count: Int) { shard.add(count, to: .upstreamDuplicates) }

    /// Counts devices removed because they expired or were never used.
    func forgotten(expired: Int, unused: Int) {
        shard.add(expired, to: .devicesExpired)
        shard.add(unused, to: .devicesUnused)
    }

    /// Adds and resets the message counters of a partition.
    func collect(_ effects: inout Effects) {
        add(downstream: effects.downstream, upstream: effects.upstream)
        effects.downstream = MilestoneCounts()
        effects.upstream = MilestoneCounts()
        guard effects.topicJobs > 0 || effects.topicJobsOpen != 0 || effects.topicMembers > 0 else { return }
        shard.add(effects.topicJobs, to: .topicMessages)
        shard.add(effects.topicJobsOpen, to: .topicMessagesOpen)
        shard.add(effects.topicMembers, to: .topicRecipients)
        effects.topicJobs = 0
        effects.topicJobsOpen = 0
        effects.topicMembers = 0
    }

    /// Counts violated invariants for which a batch was refused.
    func invariantFailures(_ count: Int) { shard.add(count, to: .invariantFailures, 1) }

    /// Adds and resets the counters of a session.
    func collect(_ counts: inout SessionCounts, _ kind: Link.Kind) {
        guard counts != SessionCounts() else { return }
        shard.add(counts.unknownAcks, to: .unknownAcks)
        shard.add(counts.keepalives, to: .keepalives, kind == .device ? 1 : 0)
        shard.add(counts.requests, to: .httpRequests)
        shard.add(counts.inconsistentLogins, to: .inconsistentLogins)
        shard.add(counts.misdirectedCommands, to: .invariantFailures, 0)
        counts = SessionCounts()
    }
}
