import Basics

/// Upstream messages that no app server took in time: their devices hear `send_error`, once, also after a restart (ccs-xmpp 4.3).
///
/// The sender's partition sends such a message back (`upstreamReturned`), and keeps it from every other end until it hears what came
/// of that. The device's partition has one mutation for its end there and the report here, so that no crash makes two of it or
/// none. The report waits in the device's mailbox as a message does.
extension Dispatcher {
    mutating func upstreamReturned(_ gone: UpstreamReturn, _ now: Now, _ effects: inout Effects) {
        let name = gone.author.from
        guard let entry = ready(name.device, orWait: .upstreamReturned(gone), &effects) else { return }
        defer { devices.rest(entry) }
        guard let at = entry.index(of: name.number) else {
            // The app is gone, and nobody is left to hear of it.
            turn.waiters.append(.returned(gone, entry, mutation: effects.mutations.count))
            effects.mutations.append(
                .returnUpstream(gone.sender, gone.sequence, expiresAt: gone.expiresAt, report: nil))
            return touch(entry)
        }
        makeRoomForReport(entry, &effects)
        let report = StoredMessage(
            device: name.device, sequence: sequences.next(now), salt: salt, registration: name.number,
            sender: gone.sender, kind: .sendError, messageID: gone.author.messageID, acceptedAt: now.wall,
            expiresAt: now.wall + Int64(Limits.lifetimeSeconds) * 1_000, body: [])
        turn.waiters.append(.returned(gone, entry, mutation: effects.mutations.count))
        effects.mutations.append(
            .returnUpstream(gone.sender, gone.sequence, expiresAt: gone.expiresAt, report: report))
        touch(entry)
        entry.append(MailboxSlot(entry: MailboxEntry(report), isStored: false), registrationAt: at)
    }

    /// At the sender's partition: the message is gone, or the next search for what is over its time meets it again.
    func returnSettled(_ sender: SenderID, _ sequence: Sequence) {
        senders[sender]?.leaving.remove(sequence.number)
    }

    /// Lets the oldest report go where one more would be too many.
    private mutating func makeRoomForReport(_ entry: DeviceEntry, _ effects: inout Effects) {
        let slots = entry.mailbox.slots
        guard slots.count >= Limits.sendErrorsPerDevice,
            slots.count(where: { $0.entry.kind == .sendError }) >= Limits.sendErrorsPerDevice,
            let oldest = slots.firstIndex(where: { $0.entry.kind == .sendError })
        else { return }
        remove(at: oldest, of: entry, reason: .discarded, &effects)
    }

    /// The message is out of the sender's mailbox and its report on disk, or nothing of it is known to be.
    mutating func returnCommitted(
        _ gone: UpstreamReturn, _ entry: DeviceEntry, _ mutation: Mutation, _ outcome: CommitOutcome,
        _ now: Now, _ effects: inout Effects
    ) {
        effects.forwards.append(.upstreamReturnSettled(gone.sender, gone.sequence))
        // The next search for what is over its time meets it again.
        guard !outcome.hasFailed else { return }
        let wasGone = outcome.duplicates.contains { $0.0 == gone.sender && $0.1 == gone.sequence }
        if !wasGone {
            effects.upstream.expired += 1
            traceReturned(gone, &effects)
        }
        guard case .returnUpstream(_, _, _, let report?) = mutation else { return }
        guard wasGone else { return messageStored(report, entry, now, &effects) }
        if let at = entry.mailbox.index(of: report.sequence) { _ = entry.remove(at: at) }
    }
}
