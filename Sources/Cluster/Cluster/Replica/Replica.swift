public import Basics
public import ClusterLog

/// A node's replica of a partition: what it reads from the log, and as the owner writes to it.
///
/// Every node applies the same frames in the same order. The owner submits batches, which become frames; a batch is applied and its
/// outcome reported only once its frame is confirmed. A content that is longer than a frame is spread over several; it counts with
/// the last one.
public struct Replica: ~Copyable {
    /// What this node is to the partition.
    enum Role: Sendable {
        case following
        /// This node needs records before a position that the log does not have any more: only a copy of another node's store has them.
        case absent(begins: LogPosition, Absence)
        /// It looks whether the log is whole before it claims.
        case checking(Check)
        /// It appends what the log has lost.
        case repairing
        case claiming
        /// It owns the partition, and applies what was written before.
        case entering
        case owning
        case releasing(to: NodeNumber, Surrender)
        case halted(LogHalt)
    }

    /// How an owner that releases the partition stops to decide.
    enum Surrender: Hashable, Sendable {
        /// Batches are without an outcome.
        case waiting
        /// The shell was asked to let no further decision out, by this number.
        case asked(UInt64)
        /// None leaves any more: the successor need not wait for the end of the lease.
        case done
    }

    /// Why records are not in the log any more.
    public enum Absence: Hashable, Sendable {
        /// They were purged, since enough nodes have them.
        case purged
        /// The log has lost them after they were confirmed.
        case lost
    }

    /// Batches that are on their way into frames.
    struct Sending: Sendable {
        var submissions: Range<UInt64>
        var content: [UInt8]
        /// How much of the content has been made into frames.
        var sent = 0
    }

    /// A frame that this node has made.
    struct OwnFrame: Sendable {
        /// A part of a content, or the last one of the content with these batches.
        enum Content: Sendable {
            case more([UInt8])
            case last(of: Range<UInt64>)
            /// None: it renews the lease.
            case renewal
        }

        var number: UInt64
        var content: Content
        var header: FrameHeader
        var bytes: [UInt8]
    }

    let log: LogKey
    /// The versions of frames that can be read, and the one that is written.
    let reads: ClosedRange<UInt8>
    var writes: UInt8
    var role = Role.following
    /// The claim in progress, or the ownership.
    var owner: LogOwner?
    /// Where this node is in the log, while it has no `owner`.
    var following: LogReader
    /// The last valid records, and the repair of a log that has lost some of them.
    var kept: KeptRecords
    var repair: LogRepair?
    /// Since when a look before a claim, or a repair, has had no answer.
    var lookedSince: Instant?
    /// The highest position that another node has read.
    var highest = LogPosition.start
    /// The parts of a content whose last part has not been read.
    var parts: [UInt8] = []
    var isConnected = false
    /// When the connection was lost.
    var disconnectedSince: Instant?
    /// Since when it is known to a follower that confirmed records are not in the log.
    var missingSince: Instant?
    /// How many batches of the next frame an earlier process has applied.
    var appliedBatches: UInt64
    var backlog = Backlog()
    /// The stream that has the log, as the last look has found it.
    var stream = StreamState.unseen

    // Batches of this node.
    var waiting = ByteBuffer()
    /// Where each waiting batch ends in `waiting`.
    var ends: [Int] = []
    /// The numbers of the next batch to be submitted, and of the first one that has no outcome.
    var nextSubmission: UInt64 = 0
    var firstUnresolved: UInt64 = 0
    var sending: Sending?
    var ownFrames: [OwnFrame] = []
    /// The mark of the claim or ownership.
    var ownMark: [UInt8] = []

    /// The last record that counts of another owner, and when this node read it: that owner may decide until its lease is over. What the store
    /// had at the start counts as read then.
    var foreign: (position: LogPosition, read: Instant)?
    /// Up to where an owner before has surrendered its lease: what it has written there lets it decide nothing any more.
    var surrendered = LogPosition.start
    /// From when on a confirmation must have been requested to let this node decide: it has surrendered the lease of an earlier one.
    var leaseFrom = Instant.distantPast
    /// How often it has surrendered its lease.
    var surrenders: UInt64 = 0
    /// Renewals in a row whose position the store has not noted.
    var renewals = 0

    /// The last frame that was passed to the store.
    public internal(set) var passed: LogPosition
    /// The last frame that the store has applied, and the last one that it has synced.
    var applied: LogPosition
    var durable: LogPosition
    /// Records that were skipped outside of the claims and ownerships of this node, and within the earlier ones.
    var voids = 0

    /// Starts where the store is: `batches` of the frame after it are applied as well.
    public init(
        log: LogKey, at reader: LogReader, batches: UInt64 = 0,
        reads: ClosedRange<UInt8> = 1...FrameHeader.newestVersion, now: Instant
    ) {
        self.log = log
        self.reads = reads
        writes = reads.upperBound
        following = reader
        kept = KeptRecords(after: reader)
        appliedBatches = batches
        passed = reader.position
        applied = reader.position
        durable = reader.position
        if reader.position > .start { foreign = (reader.position, now) }
    }

    /// Where this node is in the log.
    public var reader: LogReader { owner?.reader ?? following }

    /// Whether batches can be submitted.
    public var isOwning: Bool { if case .owning = role { true } else { false } }

    /// Whether nothing that this node has written is without an outcome.
    public var isIdle: Bool { firstUnresolved == nextSubmission && applied >= passed && unconfirmed == 0 }

    /// Until when this node may decide as the owner: answer, refuse, deliver. In the past unless the log has lately confirmed that no other
    /// node owns the partition.
    public var leaseEnd: Instant {
        switch role {
        case .owning, .releasing(_, .waiting), .releasing(_, .asked): break
        default: return .distantPast
        }
        guard let proved = owner?.provedAt, proved >= leaseFrom else { return .distantPast }
        return proved.advanced(milliseconds: Limits.ClusterLog.leaseMilliseconds)
    }

    /// When the lease of the owner before is over for certain.
    var entry: Instant {
        foreign.map { $0.read.advanced(milliseconds: Limits.ClusterLog.leaseWaitMilliseconds) }
            ?? .distantPast
    }

    /// Frames that were passed to the store and are not applied.
    public var lag: UInt64 { passed.number - min(applied, passed).number }

    /// Frames that this node has appended and that are not confirmed.
    public var unconfirmed: Int { owner?.unconfirmed ?? 0 }

    /// Records that were skipped since the start.
    public var voidRecords: Int { voids + (owner?.voids ?? 0) }

    /// Whether confirmed records are not in the log where this node has read it: another node may append them again.
    public var isMissingRecords: Bool { reader.isMissingRecords }

    /// Why nothing more can be applied. `nil` unless that is so.
    public var haltReason: LogHalt? { if case .halted(let reason) = role { reason } else { nil } }

    /// Before which position this node needs records that the log does not have: it applies nothing more. `nil` unless that is so.
    public var begins: LogPosition? { if case .absent(let position, _) = role { position } else { nil } }

    /// Why the log does not have them. `nil` unless that is so.
    public var absence: Absence? { if case .absent(_, let reason) = role { reason } else { nil } }

    /// Since when the log has confirmed nothing of what this node appends as owner or for a claim, or not answered. `nil` if nothing is
    /// due.
    public var stalledSince: Instant? { owner?.stalledSince ?? lookedSince }

    /// The last frame that the store has applied: a new process reads on from there, whatever marks and void records follow.
    public var stored: LogPosition { applied }

    /// The state for the membership.
    public var report: PartitionReport {
        let role: PartitionReport.Role =
            switch self.role {
            // It is no candidate, and no source of copies.
            case .following: reader.isMissingRecords ? .absent : .following
            case .absent: .absent
            case .checking, .repairing, .claiming, .entering: .claiming
            case .owning: .owning
            case .releasing(let node, .done): .releasing(to: node)
            case .releasing: .owning
            case .halted: .halted
            }
        let position = applied < passed ? applied : reader.position
        return PartitionReport(
            role: role, epoch: reader.term?.epoch ?? Epoch(0), applied: position,
            durable: min(durable, position))
    }

    /// The state for the membership at a time.
    public func report(at now: Instant) -> PartitionReport {
        var report = report
        report.isLeased = report.role == .owning && now < leaseEnd
        return report
    }

    /// Returns a frame that was to be appended. Returns `nil` if it is confirmed.
    public func frame(_ name: FrameName) -> [UInt8]? { owner?.frame(name) }

    /// When `tick` is due.
    public var nextTick: Instant {
        let isolation =
            disconnectedSince.map { $0.advanced(milliseconds: Limits.ClusterLog.isolationMilliseconds) }
        if case .checking(let check) = role { return check.due }
        if let repair { return repair.nextTick }
        if case .entering = role, applied >= passed, let owner { return min(entry, owner.nextTick) }
        if case .following = role, following.isMissingRecords {
            return missingSince?.advanced(milliseconds: Limits.ClusterLog.missingMilliseconds) ?? .distantPast
        }
        return min(
            owner?.nextTick ?? .distantFuture, owner == nil ? .distantFuture : isolation ?? .distantFuture)
    }

    /// Handles an event.
    public mutating func handle(_ event: ReplicaEvent, now: Now, effects: inout [ReplicaEffect]) {
        switch event {
        case .followed(let record, let position):
            followed(record, position, now, &effects)
            if backlog.pauses() { effects.append(.pauseFollowing) }
        case .record(let record, let position): read(record, position, now, &effects)
        case .stored(let name, let position): own(.stored(name, at: position), now, &effects)
        case .refused(let name): own(.refused(name), now, &effects)
        case .end(let position):
            guard !repairs(with: .end(position), now, &effects), !checked(end: position, now, &effects) else {
                return
            }
            own(.end(position), now, &effects)
        case .readFailed: if !repairs(with: .readFailed, now, &effects) { own(.readFailed, now, &effects) }
        case .removed(let first):
            guard !repairs(with: .removed(first: first), now, &effects) else { return }
            removed(first, &effects)
            _ = checked(first, now, &effects)
            own(.removed(first: first), now, &effects)
        case .lost(let last): lost(after: last, now, &effects)
        case .reached(let position): highest = position
        case .applied(let position):
            applied = max(applied, position)
            if backlog.resumes(after: applied) { effects.append(.resumeFollowing) }
            enterIfApplied(now.monotonic, &effects)
            surrenderIfIdle(&effects)
        case .unreadable(let position): halt(.unreadable(.damaged, at: position), &effects)
        case .synced(let position): durable = max(durable, position)
        case .disconnected: disconnect(now, &effects)
        case .connected: connect(now, &effects)
        case .claim(let claim, let released): self.claim(claim, released, now, &effects)
        case .abandon: abandon(&effects)
        case .release(let node): release(to: node, &effects)
        case .surrendered(let number):
            guard case .releasing(let node, .asked(number)) = role else { return }
            role = .releasing(to: node, .done)
            effects.append(.changed)
        case .resume: resume(now.monotonic, &effects)
        case .stop: if owner != nil { giveUp(&effects) }
        case .examined(let state): stream = state
        case .writes(let version):
            precondition(reads.contains(version), "frames are written that this node cannot read")
            writes = version
            owner?.version = version
        case .tick: tick(now, &effects)
        }
    }

    /// Has the log followed from where this node is.
    func follow(_ effects: inout [ReplicaEffect]) {
        effects.append(.follow(after: following.position))
        // What is followed anew is not paused.
        if case .paused = backlog.pace { effects.append(.pauseFollowing) }
    }

    /// Reads a record of the log.
    func header(_ record: [UInt8]) -> LogRecord {
        FrameHeader.read(record.raw, in: log, upTo: reads.upperBound)
    }

    private mutating func disconnect(_ now: Now, _ effects: inout [ReplicaEffect]) {
        guard isConnected else { return }
        isConnected = false
        disconnectedSince = now.monotonic
        guard !repairs(with: .disconnected, now, &effects) else { return }
        if case .checking = role { giveUp(&effects) }
        own(.disconnected, now, &effects)
    }

    private mutating func abandon(_ effects: inout [ReplicaEffect]) {
        switch role {
        case .claiming, .checking, .repairing: giveUp(&effects)
        case .following, .absent, .entering, .owning, .releasing, .halted: break
        }
    }

    private mutating func connect(_ now: Now, _ effects: inout [ReplicaEffect]) {
        guard !isConnected else { return }
        isConnected = true
        disconnectedSince = nil
        if case .unseen = stream { effects.append(.examine) }
        guard !repairs(with: .connected, now, &effects) else { return }
        if owner != nil { return own(.connected, now, &effects) }
        guard case .following = role else { return }
        follow(&effects)
    }

    private mutating func tick(_ now: Now, _ effects: inout [ReplicaEffect]) {
        guard !repairs(with: .tick, now, &effects) else { return }
        if case .checking(let check) = role, check.due <= now.monotonic { look(now, &effects) }
        own(.tick, now, &effects)
        enterIfApplied(now.monotonic, &effects)
        missed(now, &effects)
        guard let since = disconnectedSince, owner != nil,
            now.monotonic >= since.advanced(milliseconds: Limits.ClusterLog.isolationMilliseconds)
        else { return }
        giveUp(&effects)
    }
}
