import Basics

/// Return of expired upstream messages: their devices receive `send_error` exactly once, also after a restart (ccs-xmpp 4.3).
///
/// The sender's partition returns such a message (`upstreamReturned`) and does not end it otherwise until the return is answered.
/// The device's partition removes the message and stores the report in one mutation, so that a crash can neither lose nor
/// duplicate the report. The report waits in the device's mailbox like a message.
extension DeviceHub {
    mutating func upstreamReturned(_ gone: UpstreamReturn, _ entry: DeviceEntry, _ turn: inout Turn) {
        let name = gone.author.from
        guard let at = entry.index(of: name.number) else {
            // The app has unregistered: there is no registration to report to.
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

    /// Discards the oldest report if the device has the maximum number of reports.
    private mutating func makeRoomForReport(_ entry: DeviceEntry, _ turn: inout Turn) {
        let slots = entry.mailbox.slots
        guard slots.count >= Limits.Message.sendErrorsPerDevice,
            slots.count(where: { $0.entry.kind == .sendError }) >= Limits.Message.sendErrorsPerDevice,
            let oldest = slots.firstIndex(where: { $0.entry.kind == .sendError })
        else { return }
        remove(at: oldest, of: entry, reason: .discarded, &turn)
    }

    /// Finishes a return: the message is removed and its report on disk, or the batch has failed.
    mutating func returnCommitted(
        _ report: StoredMessage?, _ gone: UpstreamReturn, _ entry: DeviceEntry, _ outcome: CommitOutcome,
        _ turn: inout Turn
    ) {
        turn.demand(
            gone.author.from.device == entry.device, "a message was returned to another device", of: entry)
        turn.forward(.upstreamReturnFinished(gone.sender, gone.sequence))
        // The next search for expired messages finds it again.
        guard !outcome.hasFailed else { return }
        let wasGone = outcome.duplicates.contains { $0.0 == gone.sender && $0.1 == gone.sequence }
        if !wasGone {
            turn.effects.upstream.expired += 1
            turn.effects.senders.count(.upstreamExpired, of: gone.sender)
            turn.traceReturned(gone)
        }
        guard let report else { return }
        guard wasGone else { return messageStored(report, entry, &turn) }
        if let at = entry.mailbox.index(of: report.sequence) { _ = entry.remove(at: at, &turn) }
    }
}
