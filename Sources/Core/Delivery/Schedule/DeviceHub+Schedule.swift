import Basics

/// Messages that are sent later: they are in the mailbox of their device like any other, and wait there until the store finds them due.
extension DeviceHub {
    /// Checks the time of a message, and its limits, of which those that it replaces leave their part to it. Removes a time that is
    /// over: such a message is sent at once.
    mutating func checkSchedule(
        _ content: inout MessageContent, of sender: SenderID?, replacing old: [SequenceNumber],
        _ entry: DeviceEntry, _ turn: inout Turn
    ) throws(Refusal) {
        guard let sendAt = content.sendAt else { return }
        guard turn.clock.knowsTime else { throw .unavailable }
        guard sendAt > turn.now.wall else { return content.sendAt = nil }
        guard sendAt - turn.now.wall <= Int64(Limits.Schedule.aheadSeconds) * 1_000 else {
            throw .sendAt("expected a time up to \(Limits.Schedule.aheadSeconds) seconds ahead")
        }
        guard content.lifetimeSeconds > 0 else {
            throw .sendAt("a message with a lifetime of 0 is not stored: use a lifetime of 1 second or more")
        }
        guard let sender else { throw .sendAt("a web push is sent at once: leave the field out") }
        guard !content.isDryRun else { return }
        let leaving = old.count { sequence in
            entry.mailbox.index(of: sequence).map { entry.mailbox.slots[$0].entry.dueAt != nil } ?? false
        }
        guard entry.mailbox.scheduled - leaving < Limits.Schedule.perDevice else {
            throw .scheduleFull(.device)
        }
        var full: ScheduleLimit?
        if schedule.count(of: sender) - leaving >= turn.shares.scheduledPerSender { full = .sender }
        if schedule.total - leaving >= turn.shares.scheduled { full = .server }
        if schedule.isDue(isFull: full != nil, turn.now.monotonic) {
            schedule.begin(with: turn.openMutations, turn.now.monotonic)
            loadSchedule(after: nil, &turn)
        }
        if let full { throw .scheduleFull(full) }
    }

    /// Puts a message on the schedule.
    mutating func schedule(_ entry: ScheduledMessage, _ turn: inout Turn) {
        schedule.add(entry)
        turn.write(.putSchedule(entry))
    }

    /// Takes a message off the schedule.
    mutating func unschedule(_ scheduled: ScheduledMessage, of entry: DeviceEntry, _ turn: inout Turn) {
        schedule.remove(scheduled)
        turn.write(
            .removeSchedule(scheduled.device, scheduled.sequence, dueAt: scheduled.dueAt), of: entry)
    }

    // MARK: Due messages

    /// Releases a message that the store has found due: from now on it waits like one that was accepted now.
    mutating func due(
        _ sequence: SequenceNumber, _ dueAt: UnixMilliseconds, _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        guard let at = entry.mailbox.index(of: sequence), entry.mailbox.slots[at].entry.dueAt == dueAt,
            let scheduled = entry.mailbox.slots[at].entry.scheduled(of: entry.device)
        else {
            // It was taken off, unless the store still has it and no changes are outstanding.
            guard entry.batches.isEmpty else { return }
            schedule.invalidate()
            return turn.write(.removeSchedule(entry.device, sequence, dueAt: dueAt), of: entry)
        }
        // The next search finds it again.
        guard turn.clock.knowsTime, dueAt <= turn.now.wall, entry.mailbox.slots[at].state.isStored
        else { return }
        unschedule(scheduled, of: entry, &turn)
        entry.updateMessage(at: at) { $0.takeOffSchedule() }
        guard case .scheduled = entry.mailbox.slots[at].state else { return }
        release(sequence, entry, &turn)
    }

    private mutating func release(_ sequence: SequenceNumber, _ entry: DeviceEntry, _ turn: inout Turn) {
        guard let found = entry.mailbox.index(of: sequence),
            let at = entry.place(of: entry.mailbox.slots[found].entry.registration, &turn)
        else { return }
        let message = entry.mailbox.slots[found].entry
        // Now, also if the batch fails: it stays released then, and may be sent before its batch is on disk.
        turn.traceEntry(message, of: entry.device, .released)
        guard message.expiresAt > turn.now.expiryCutoff else {
            return remove(at: found, of: entry, reason: .expired, &turn)
        }
        if message.isForGateway { entry.markForGateway(&turn) }
        if let key = message.collapseKey {
            makeRoom(
                for: key, isDelayed: false, isForGateway: message.isForGateway, registrationAt: at, entry,
                &turn)
        }
        // Others were removed.
        guard let index = turn.demand(entry.mailbox.index(of: sequence), "a due message is gone", of: entry)
        else { return }
        entry.setState(.waiting(isStored: true), at: index, &turn)
        guard !message.isForGateway else { return offerNext(at, entry, &turn) }
        if entry.registrations[at].counts.plainWaiting
            > deviceCap(entry, offline: turn.settings.storedMessages, turn)
        {
            discardPlain(isDelayed: false, registrationAt: at, entry, &turn)
        }
        redeliver(from: sequence, entry, &turn)
    }

    // MARK: Counting

    private func loadSchedule(after entry: ScheduledMessage?, _ turn: inout Turn) {
        turn.load(.schedule(after: entry, limit: Limits.Schedule.countedAtOnce, partition: turn.partition))
    }

    /// The store has returned a part of the schedule.
    mutating func scheduleLoaded(_ entries: [ScheduledMessage], isLast: Bool, _ turn: inout Turn) {
        turn.demand(
            entries.count <= Limits.Schedule.countedAtOnce, "a part of the schedule exceeds its limit")
        let (wasAsked, next) = schedule.found(entries, isLast: isLast)
        turn.demand(wasAsked, "the store returns the schedule unasked")
        if let next { loadSchedule(after: next, &turn) }
    }

    /// The store could not return it.
    mutating func scheduleFailed(_ turn: inout Turn) {
        turn.demand(schedule.findFailed(), "the store fails to return the schedule unasked")
    }
}

extension Refusal {
    /// The refusal of a time to send at.
    static func sendAt(_ reason: String) -> Refusal { .conflict(field: "send_at", reason: reason) }
}
