import Basics
import ClusterLog

/// The look at the log before a claim, and the repair of a log that has lost what was applied.
extension Replica {
    /// The look before a claim: a mark that came before lost records would void them.
    struct Check: Sendable {
        let claim: Claim
        /// The position that the log must have.
        let position: LogPosition
        /// When to ask again.
        var due: Instant
        /// How often the log ended before it.
        var shortEnds = 0
    }

    /// Begins a claim: first with a look whether the log has everything that any node has read.
    mutating func claim(
        _ claim: Claim, _ released: LogPosition?, _ now: Now, _ effects: inout [ReplicaEffect]
    ) {
        guard stream.isClaimable, begins == nil else { return effects.append(.changed) }
        guard case .following = role, isConnected else { return }
        // What the owner has written since, it has written with a new lease.
        if let released { surrendered = max(surrendered, released) }
        if let read = foreign?.position, read <= surrendered { foreign = nil }
        // The mark would void what others have.
        guard !following.isMissingRecords else { return effects.append(.changed) }
        effects.append(.stopFollowing)
        let last = max(highest, reader.position)
        guard last > .start else { return begin(claim, now, &effects) }
        role = .checking(Check(claim: claim, position: last, due: now.monotonic))
        look(now, &effects)
        effects.append(.changed)
    }

    mutating func look(_ now: Now, _ effects: inout [ReplicaEffect]) {
        guard case .checking(var check) = role else { return }
        check.due = now.monotonic.advanced(milliseconds: Limits.ClusterLog.answerMilliseconds)
        role = .checking(check)
        lookedSince = lookedSince ?? now.monotonic
        effects.append(.read(check.position))
    }

    /// The log ends here. Returns whether a look was answered by that.
    mutating func checked(end: LogPosition, _ now: Now, _ effects: inout [ReplicaEffect]) -> Bool {
        guard case .checking(var check) = role else { return false }
        check.shortEnds += 1
        lookedSince = nil
        check.due = now.monotonic.advanced(milliseconds: Limits.ClusterLog.rereadMilliseconds)
        role = .checking(check)
        guard check.shortEnds >= Limits.ClusterLog.shortLooks else { return true }
        effects.append(.shortened(to: end))
        // Who has more repairs the log.
        guard reader.position >= check.position else {
            giveUp(&effects)
            return true
        }
        beginRepair(unconfirmed: [], now, &effects)
        return true
    }

    /// The log has the record, or goes on after it.
    mutating func checked(_ position: LogPosition, _ now: Now, _ effects: inout [ReplicaEffect]) -> Bool {
        guard case .checking(let check) = role else { return false }
        if position >= check.position { begin(check.claim, now, &effects) }
        return true
    }

    // MARK: Repair

    /// Appends again what the log has lost, and what this node has appended as the owner and is not confirmed.
    mutating func beginRepair(
        unconfirmed: [(FrameHeader, [UInt8])], _ now: Now, _ effects: inout [ReplicaEffect]
    ) {
        failAll(&effects)
        dropOwner()
        role = .repairing
        lookedSince = now.monotonic
        var made: [RepairEffect] = []
        repair = LogRepair(
            kept, unconfirmed: unconfirmed, read: following.position, highest: highest, in: log,
            isConnected: isConnected, now: now, effects: &made)
        effects.append(contentsOf: [.stopFollowing, .lost, .changed])
        perform(made, &effects)
    }

    /// The log has lost records while this node owns the partition, and nothing was appended since.
    mutating func lost(after last: LogPosition, _ now: Now, _ effects: inout [ReplicaEffect]) {
        switch role {
        case .owning, .releasing:
            guard last < reader.position else { return }
            effects.append(.shortened(to: last))
            beginRepair(unconfirmed: owner?.unconfirmedFrames ?? [], now, &effects)
        // The owner repairs it, or the next one.
        case .following, .absent, .checking, .repairing, .claiming, .entering, .halted: break
        }
    }

    /// Passes an event to a repair. Returns whether there is one.
    mutating func repairs(with event: RepairEvent, _ now: Now, _ effects: inout [ReplicaEffect]) -> Bool {
        guard var repair = repair.take() else { return false }
        var made: [RepairEffect] = []
        switch event {
        case .record, .end, .removed: lookedSince = now.monotonic
        case .disconnected: lookedSince = nil
        case .connected: lookedSince = lookedSince ?? now.monotonic
        case .readFailed, .tick: break
        }
        repair.handle(event, now: now, effects: &made)
        self.repair = repair
        perform(made, &effects)
        switch repair.state {
        case .underWay: break
        case .done:
            giveUp(&effects)
            effects.append(.repaired(records: repair.appended))
        case .unable: giveUp(&effects)
        case .overruled(let position): absent(before: position, .lost, &effects)
        case .failed(let reason): halt(reason, &effects)
        }
        return true
    }

    private func perform(_ made: [RepairEffect], _ effects: inout [ReplicaEffect]) {
        for effect in made {
            switch effect {
            case .append(let bytes): effects.append(.appendRecord(bytes))
            case .read(let position): effects.append(.read(position))
            }
        }
    }
}
