import Basics

/// Confirmation, and what an owner does in doubt.
extension LogOwner {
    /// An answer of the log.
    mutating func stored(
        _ name: FrameName, _ position: LogPosition, _ now: Now, _ effects: inout [OwnerEffect]
    ) {
        // An answer for a confirmed frame is that of another copy, which is void.
        guard let index = index(name) else { return }
        guard position > frames[index].after else {
            return halt(.truncated(applied: frames[index].after, stored: position), &effects)
        }
        // A copy that was read as void.
        guard position > reader.position else { return }
        frames[index].stored = position
        confirmSuccessive(now, &effects)
        if state.isActive, frames.first?.stored != nil { doubt(now, &effects) }
    }

    /// Confirms the frames that directly follow what was read: no mark is between them.
    private mutating func confirmSuccessive(_ now: Now, _ effects: inout [OwnerEffect]) {
        while state.isActive, let frame = frames.first, let position = frame.stored,
            position == reader.position.next
        {
            confirm(reader.read(.frame(frame.header), at: position), position, now, &effects)
        }
    }

    /// The first unconfirmed frame was read, or is known to be at a position.
    private mutating func confirm(
        _ verdict: LogReader.Verdict, _ position: LogPosition, _ now: Now, _ effects: inout [OwnerEffect]
    ) {
        let frame = frames.removeFirst()
        repetitions = 0
        quietSince = now.monotonic
        switch verdict {
        case .begins:
            state = .owning
            mark = position
            effects.append(.took(term))
        case .applies: effects.append(.confirmed(frame.header.name, at: position))
        // What was confirmed before decides that the next frame is valid.
        case .void, .repeated, .gap, .unreadable: halt(.inconsistent(at: position), &effects)
        }
    }

    /// Something is unexpected: reads what the log has after the last confirmed frame.
    mutating func doubt(_ now: Now, _ effects: inout [OwnerEffect]) {
        guard mode == .steady else { return }
        ask(now, &effects)
    }

    /// Asks for the next record.
    mutating func ask(_ now: Now, _ effects: inout [OwnerEffect]) {
        mode = .reading(since: now.monotonic)
        effects.append(.read(reader.position.next))
    }

    /// Asks for the next record in a moment: the last answer did not help.
    mutating func readAgain(_ now: Now) {
        guard case .reading = mode else { return }
        mode = .waiting(until: now.monotonic.advanced(milliseconds: Limits.ClusterLog.rereadMilliseconds))
    }

    /// A record was read.
    mutating func read(
        _ record: LogRecord, _ position: LogPosition, _ now: Now, _ effects: inout [OwnerEffect]
    ) {
        guard position == reader.position.next else { return }
        shortSince = nil
        let verdict = reader.read(record, at: position)
        switch verdict {
        case .begins(let found) where found != term:
            state = .lost(to: found)
            frames = []
            effects.append(.lost(to: found))
            return
        case .applies where reader.term != term: effects.append(.apply(position))
        case .begins, .applies:
            guard let frame = frames.first, .frame(frame.header) == record else {
                return halt(.inconsistent(at: position), &effects)
            }
            confirm(verdict, position, now, &effects)
        case .void: voids += 1
        case .unreadable(let problem): return halt(.unreadable(problem, at: position), &effects)
        case .repeated, .gap: return halt(.inconsistent(at: position), &effects)
        }
        confirmSuccessive(now, &effects)
        guard state.isActive, mode != .disconnected else { return }
        // Where no frame is unconfirmed, nothing is in doubt.
        if frames.isEmpty { mode = .steady } else if mode != .steady { ask(now, &effects) }
    }

    /// The log has no record after a position.
    mutating func ended(_ position: LogPosition, _ now: Now, _ effects: inout [OwnerEffect]) {
        guard case .reading = mode else { return }
        // The answer is out of date if more is known to be stored.
        let isOld = position < reader.position || frames.contains { $0.stored.map { $0 > position } ?? false }
        guard !isOld else {
            if position < reader.position, isShort(now.monotonic) {
                return halt(.truncated(applied: reader.position, stored: position), &effects)
            }
            return readAgain(now)
        }
        shortSince = nil
        mode = .steady
        quietSince = now.monotonic
        guard !frames.isEmpty else { return }
        repetitions += 1
        for index in frames.indices {
            frames[index].appended = now.monotonic
            frames[index].stored = nil
            effects.append(.append(frames[index].header.name))
        }
    }

    /// Whether the log has ended before what was confirmed for so long that no leader is only out of date.
    private mutating func isShort(_ now: Instant) -> Bool {
        let since = shortSince ?? now
        shortSince = since
        return now.milliseconds(since: since) >= Limits.ClusterLog.lostMilliseconds
    }

    mutating func halt(_ reason: LogHalt, _ effects: inout [OwnerEffect]) {
        state = .halted(reason)
        effects.append(.halted(reason))
    }
}
