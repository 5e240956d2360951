import Basics

/// Return of expired upstream messages: their devices receive `send_error`, also after a restart (ccs-xmpp 4.3).
///
/// The sender's partition returns such a message (`upstreamReturned`) and does not end it otherwise until the return is answered.
/// The device's partition stores the report, which waits in the device's mailbox like a message. Only then does the sender's partition
/// remove the message (`upstreamReturnFinished`): each writes its own rows, so that a crash between the two cannot lose the report. It
/// leads to a second return, which is recognized while the report is stored. If the device has acknowledged it meanwhile, it is stored
/// again: a device gets a report at least once, and always under the ID of its message.
extension DeviceHub {
    mutating func upstreamReturned(_ gone: UpstreamReturn, _ entry: DeviceEntry, _ turn: inout Turn) {
        let name = gone.author.from
        let isReported = entry.mailbox.slots.contains {
            $0.entry.kind == .sendError(of: gone.sequence) && $0.entry.sender == gone.sender
        }
        guard entry.index(of: name.number) != nil, !isReported else {
            // The app has unregistered, so that there is no registration to report to; or the report is there already. Either counts
            // once it is on disk.
            guard !waitUntilCommitted(.report(nil, gone), entry, &turn) else { return }
            return turn.forward(.upstreamReturnFinished(gone.sender, gone.sequence, hasFailed: false))
        }
        makeRoomForReport(entry, &turn)
        let report = StoredMessage(
            device: name.device, sequence: turn.nextSequence(), salt: turn.salt, registration: name.number,
            sender: gone.sender, kind: .sendError(of: gone.sequence), messageID: gone.author.messageID,
            acceptedAt: turn.now.wall,
            expiresAt: turn.now.wall + Int64(Limits.Message.lifetimeSeconds) * 1_000, body: [])
        entry.add(report, then: .report(report, gone), &turn)
    }

    /// Discards the oldest report if the device has the maximum number of reports.
    private mutating func makeRoomForReport(_ entry: DeviceEntry, _ turn: inout Turn) {
        let slots = entry.mailbox.slots
        guard slots.count >= Limits.Message.sendErrorsPerDevice,
            slots.count(where: \.entry.kind.isReport) >= Limits.Message.sendErrorsPerDevice,
            let oldest = slots.firstIndex(where: \.entry.kind.isReport)
        else { return }
        remove(at: oldest, of: entry, reason: .discarded, &turn)
    }

    /// Answers a return: the report is on disk, or nothing is left to report to, or the batch has failed.
    mutating func returnCommitted(
        _ report: StoredMessage?, _ gone: UpstreamReturn, _ entry: DeviceEntry, _ outcome: CommitOutcome,
        _ turn: inout Turn
    ) {
        turn.demand(
            gone.author.from.device == entry.device, "a message was returned to another device", of: entry)
        turn.forward(.upstreamReturnFinished(gone.sender, gone.sequence, hasFailed: outcome.hasFailed))
        if let report, !outcome.hasFailed { messageStored(report, entry, &turn) }
    }
}
