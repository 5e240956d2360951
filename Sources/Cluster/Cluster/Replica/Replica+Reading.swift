import Basics
import ClusterLog

/// Reading of what others write.
extension Replica {
    /// A record that was followed.
    mutating func followed(
        _ record: [UInt8], _ position: LogPosition, _ now: Now, _ effects: inout [ReplicaEffect]
    ) {
        // What was followed before a claim.
        guard owner == nil, case .following = role else { return }
        let epoch = following.term?.epoch
        defer { noteMissing(now, &effects) }
        switch following.read(header(record), at: position) {
        case .begins:
            parts = []
            note(foreign: position, now.monotonic)
            keep(record, FrameHeader.read(record.raw, in: log), position)
            if following.term?.epoch != epoch { effects.append(.changed) }
        case .applies(let header):
            note(foreign: position, now.monotonic)
            kept.add(KeptRecord(header, record, at: position))
            apply(record, header, position, &effects)
        case .void: voids += 1
        case .repeated: break
        case .gap: follow(&effects)
        case .missing: absent(before: position, .lost, &effects)
        case .unreadable(let problem): halt(.unreadable(problem, at: position), &effects)
        }
    }

    /// A record that the owner's rule has asked for.
    mutating func read(
        _ record: [UInt8], _ position: LogPosition, _ now: Now, _ effects: inout [ReplicaEffect]
    ) {
        let read = header(record)
        guard !repairs(with: .record(read, at: position), now, &effects), !checked(position, now, &effects)
        else {
            return
        }
        own(.record(read, at: position), reading: record, now, &effects)
    }

    /// A valid frame of another owner.
    mutating func apply(
        _ record: [UInt8], _ header: FrameHeader, _ position: LogPosition, _ effects: inout [ReplicaEffect]
    ) {
        let entries = record.dropFirst(FrameHeader.length)
        guard !entries.isEmpty else {
            // It renews the lease of its owner.
            if isRenewalNoted() { pass(.foreign([]), header.term, header.number, position, &effects) }
            return
        }
        guard let flag = entries.first, flag <= FramePart.more else {
            return halt(.inconsistent(at: position), &effects)
        }
        parts.append(contentsOf: entries.dropFirst())
        guard flag == FramePart.last else { return }
        var content: [UInt8] = []
        swap(&content, &parts)
        pass(.foreign(content), header.term, header.number, position, &effects)
    }

    mutating func pass(
        _ content: AppliedFrame.Content, _ term: Term, _ number: UInt64, _ position: LogPosition,
        _ effects: inout [ReplicaEffect]
    ) {
        passed = position
        renewals = 0
        effects.append(
            .apply(
                AppliedFrame(
                    content: content, term: term, number: number, position: position, skips: appliedBatches)))
        appliedBatches = 0
        backlog.add(position)
    }

    private mutating func keep(_ bytes: [UInt8], _ record: LogRecord, _ position: LogPosition) {
        if case .frame(let header) = record { kept.add(KeptRecord(header, bytes, at: position)) }
    }

    /// The log begins after what this node has read. It can apply nothing more, and writes nothing.
    mutating func removed(_ first: LogPosition, _ effects: inout [ReplicaEffect]) {
        guard first > reader.position.next else { return }
        switch role {
        // An owner that was stopped for long is behind like any other: the log went on without it.
        case .following, .checking, .repairing, .claiming, .entering, .owning, .releasing: break
        case .absent, .halted: return
        }
        absent(before: first, .purged, &effects)
    }

    /// This node can apply nothing more, since it needs records that the log does not have.
    mutating func absent(
        before position: LogPosition, _ reason: Absence, _ effects: inout [ReplicaEffect]
    ) {
        failAll(&effects)
        dropOwner()
        missingSince = nil
        role = .absent(begins: position, reason)
        effects.append(contentsOf: [.stopFollowing, .lost, .changed, .absent(begins: position, reason)])
    }

    /// Notes since when a follower misses records: it has no replica that can be used until they come again.
    private mutating func noteMissing(_ now: Now, _ effects: inout [ReplicaEffect]) {
        guard case .following = role else { return }
        let isMissing = following.isMissingRecords
        guard isMissing != (missingSince != nil) else { return }
        missingSince = isMissing ? now.monotonic : nil
        effects.append(.changed)
    }

    /// Takes records as lost that have not come again for long.
    mutating func missed(_ now: Now, _ effects: inout [ReplicaEffect]) {
        noteMissing(now, &effects)
        guard let missingSince, case .following = role,
            now.monotonic >= missingSince.advanced(milliseconds: Limits.ClusterLog.missingMilliseconds)
        else { return }
        absent(before: following.position.next, .lost, &effects)
    }

    mutating func halt(_ reason: LogHalt, _ effects: inout [ReplicaEffect]) {
        failAll(&effects)
        dropOwner()
        role = .halted(reason)
        effects.append(contentsOf: [.stopFollowing, .lost, .halted(reason), .changed])
    }
}

/// The first byte of the entries of a frame: whether its content is complete.
enum FramePart {
    static let last: UInt8 = 0
    static let more: UInt8 = 1
    /// The most bytes of content in a frame.
    static var bytes: Int { Limits.ClusterLog.frameBytes - FrameHeader.length - 1 }
}
