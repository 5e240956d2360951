import Basics

/// Upstream messages that no app server took in time: their devices hear `send_error`, once, also after a restart (ccs-xmpp 4.3).
///
/// The sender's partition sends such a message back (`upstreamReturned`), and keeps it from every other end until it hears what came
/// of that. The device's partition has one mutation for its end there and the report here, so that no crash makes two of it or
/// none. The report waits in the device's mailbox as a message does.
extension DeviceHub {
    mutating func upstreamReturned(_ gone: UpstreamReturn, _ entry: DeviceEntry, _ turn: inout Turn) {
        let name = gone.author.from
        guard let at = entry.index(of: name.number) else {
            // The app is gone, and nobody is left to hear of it.
            turn.write(
                .returnUpstream(gone.sender, gone.sequence, expiresAt: gone.expiresAt, report: nil),
                then: .device(entry, .report(nil, gone)))
            return turn.touch(entry)
        }
        makeRoomForReport(entry, &turn)
        let report = StoredMessage(
            device: name.device, sequence: turn.nextSequence(), salt: turn.salt, registration: name.number,
            sender: gone.sender, kind: .sendError, messageID: gone.author.messageID,
            acceptedAt: turn.now.wall,
            expiresAt: turn.now.wall + Int64(Limits.Message.lifetimeSeconds) * 1_000, body: [])
        turn.write(
            .returnUpstream(gone.sender, gone.sequence, expiresAt: gone.expiresAt, report: report),
            then: .device(entry, .report(report, gone)))
        turn.touch(entry)
        entry.append(
            MailboxSlot(entry: MailboxEntry(report), state: .waiting(isStored: false)), registrationAt: at,
            &turn)
    }

    /// Lets the oldest report go where one more would be too many.
    private mutating func makeRoomForReport(_ entry: DeviceEntry, _ turn: inout Turn) {
        let slots = entry.mailbox.slots
        guard slots.count >= Limits.Message.sendErrorsPerDevice,
            slots.count(where: { $0.entry.kind == .sendError }) >= Limits.Message.sendErrorsPerDevice,
            let oldest = slots.firstIndex(where: { $0.entry.kind == .sendError })
        else { return }
        remove(at: oldest, of: entry, reason: .discarded, &turn)
    }

    /// The message is out of the sender's mailbox and its report on disk, or nothing of it is known to be.
    mutating func returnCommitted(
        _ report: StoredMessage?, _ gone: UpstreamReturn, _ entry: DeviceEntry, _ outcome: CommitOutcome,
        _ turn: inout Turn
    ) {
        turn.demand(
            gone.author.from.device == entry.device, "a message returns to another device", of: entry)
        turn.forward(.upstreamReturnSettled(gone.sender, gone.sequence))
        // The next search for what is over its time meets it again.
        guard !outcome.hasFailed else { return }
        let wasGone = outcome.duplicates.contains { $0.0 == gone.sender && $0.1 == gone.sequence }
        if !wasGone {
            turn.effects.upstream.expired += 1
            turn.traceReturned(gone)
        }
        guard let report else { return }
        guard wasGone else { return messageStored(report, entry, &turn) }
        if let at = entry.mailbox.index(of: report.sequence) { _ = entry.remove(at: at, &turn) }
    }
}
