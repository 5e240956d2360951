import Basics

/// Confirmation, and what an owner does in doubt.
extension LogOwner {
    /// An answer of the log.
    mutating func stored(
        _ name: FrameName, _ position: LogPosition, _ now: Now, _ effects: inout [OwnerEffect]
    ) {
        // An answer for a confirmed frame is that of another copy, which is void.
        guard let index = index(name) else { return }
        guard position > frames[index].after else { return shortened(to: position, &effects) }
        // A copy that was read as void.
        guard position > reader.position else { return }
        frames[index].stored = position
        confirmSuccessive(now, &effects)
        guard state.isActive else { return }
        if frames.isEmpty {
            // An answer that came late has ended the doubt, also where nothing can be read.
            if mode != .disconnected { mode = .steady }
        } else if frames.first?.stored != nil {
            doubt(now, &effects)
        }
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
        stalledSince = frames.isEmpty ? nil : now.monotonic
        quietSince = now.monotonic
        switch verdict {
        case .begins:
            state = .owning
            mark = position
            effects.append(.took(term))
        case .applies: effects.append(.confirmed(frame.header.name, at: position))
        case .missing: return miss(position, &effects)
        // What was confirmed before decides that the next frame is valid.
        case .void, .repeated, .gap, .unreadable: return halt(.inconsistent(at: position), &effects)
        }
        last = ValidRecord(header: frame.header, position: position)
        provedAt = max(provedAt ?? frame.requested, frame.requested)
    }

    /// The log has refused a frame. One that refuses each repetition at once, since its disk is full, is asked more and more slowly.
    mutating func refused(_ now: Now, _ effects: inout [OwnerEffect]) {
        guard mode == .steady else { return }
        guard repetitions > 0 else { return verify(now, &effects) }
        let pause = min(
            Limits.ClusterLog.rereadMilliseconds << min(repetitions, 8), Limits.ClusterLog.refusedMilliseconds
        )
        mode = .waiting(
            last.map(Question.last) ?? .next, until: now.monotonic.advanced(milliseconds: pause))
    }

    /// Something is unexpected: reads what the log has after the last confirmed frame.
    mutating func doubt(_ now: Now, _ effects: inout [OwnerEffect]) {
        guard mode == .steady else { return }
        verify(now, &effects)
    }

    /// Begins to read: first whether the log still has the last valid record.
    mutating func verify(_ now: Now, _ effects: inout [OwnerEffect]) {
        ask(last.map(Question.last) ?? .next, now, &effects)
    }

    mutating func ask(_ question: Question, _ now: Now, _ effects: inout [OwnerEffect]) {
        mode = .reading(question, since: now.monotonic)
        stalledSince = stalledSince ?? now.monotonic
        switch question {
        case .last(let record): effects.append(.read(record.position))
        case .next: effects.append(.read(reader.position.next))
        }
    }

    /// Earlier records were purged: what others have stored durably is not lost.
    mutating func removed(_ first: LogPosition, _ now: Now, _ effects: inout [OwnerEffect]) {
        guard case .reading(.last(let record), _) = mode, first > record.position else { return }
        answered()
        ask(.next, now, &effects)
    }

    /// The log has answered what was asked. While frames are unconfirmed, only a confirmation counts.
    private mutating func answered() { if frames.isEmpty { stalledSince = nil } }

    /// Asks for the next record in a moment: the last answer did not help.
    mutating func readAgain(_ now: Now) {
        guard case .reading(let question, _) = mode else { return }
        // The last record is still there, and nothing is in doubt: the position of the next frame decides who owns the partition.
        guard question != .next || !frames.isEmpty || !renews else { return mode = .steady }
        let until = now.monotonic.advanced(milliseconds: Limits.ClusterLog.rereadMilliseconds)
        mode = .waiting(question, until: until)
    }

    /// A record was read.
    mutating func read(
        _ record: LogRecord, _ position: LogPosition, _ now: Now, _ effects: inout [OwnerEffect]
    ) {
        switch mode {
        case .reading(.last(let last), _), .waiting(.last(let last), _):
            guard position == last.position else { return }
            shortSince = nil
            answered()
            guard record == .frame(last.header) else { return shortened(to: position, &effects) }
            ask(.next, now, &effects)
        case .reading(.next, _), .waiting(.next, _), .steady, .disconnected:
            guard position == reader.position.next else { return }
            shortSince = nil
            answered()
            readNext(record, position, now, &effects)
        }
    }

    private mutating func readNext(
        _ record: LogRecord, _ position: LogPosition, _ now: Now, _ effects: inout [OwnerEffect]
    ) {
        let verdict = reader.read(record, at: position)
        switch verdict {
        case .begins(let found) where found != term:
            state = .lost(to: found)
            frames = []
            effects.append(.lost(to: found))
            return
        case .applies(let header) where reader.term != term:
            last = ValidRecord(header: header, position: position)
            effects.append(.apply(position))
        case .begins, .applies:
            guard let frame = frames.first, .frame(frame.header) == record else {
                return halt(.inconsistent(at: position), &effects)
            }
            confirm(verdict, position, now, &effects)
        case .void: voids += 1
        case .missing: return miss(position, &effects)
        case .unreadable(let problem): return halt(.unreadable(problem, at: position), &effects)
        case .repeated, .gap: return halt(.inconsistent(at: position), &effects)
        }
        confirmSuccessive(now, &effects)
        guard state.isActive, mode != .disconnected else { return }
        // Where no frame is unconfirmed, nothing is in doubt.
        if frames.isEmpty { mode = .steady } else if mode != .steady { ask(.next, now, &effects) }
    }

    /// The log has no record after a position.
    mutating func ended(_ position: LogPosition, _ now: Now, _ effects: inout [OwnerEffect]) {
        guard case .reading(let question, _) = mode else { return }
        // An answer to an earlier question, since the log has the record that is verified.
        if case .last(let record) = question, position >= record.position { return }
        answered()
        // The answer is out of date if more is known to be stored.
        let known = max(reader.position, frames.compactMap(\.stored).max() ?? .start)
        guard position >= known else {
            guard isShort(now.monotonic) else { return readAgain(now) }
            return shortened(to: position, &effects)
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

    /// Whether the log has ended before what was stored for so long that no leader is only out of date.
    private mutating func isShort(_ now: Instant) -> Bool {
        let since = shortSince ?? now
        shortSince = since
        return now.milliseconds(since: since) >= Limits.ClusterLog.lostMilliseconds
    }

    private mutating func miss(_ position: LogPosition, _ effects: inout [OwnerEffect]) {
        state = .missing
        frames = []
        effects.append(.missing(before: position))
    }

    private mutating func shortened(to position: LogPosition, _ effects: inout [OwnerEffect]) {
        state = .shortened
        effects.append(.shortened(to: position))
    }

    mutating func halt(_ reason: LogHalt, _ effects: inout [OwnerEffect]) {
        state = .halted(reason)
        effects.append(.halted(reason))
    }
}
