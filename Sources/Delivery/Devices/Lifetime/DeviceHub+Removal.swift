import Basics

/// Messages on their way out of a mailbox: acknowledged, with a receipt where one is owed, or expired.
extension DeviceHub {
    /// Takes a message out of the mailbox, here and in the store.
    mutating func remove(
        at index: Int, of entry: DeviceEntry, reason: Milestone, _ turn: inout Turn
    ) {
        let slot = entry.remove(at: index, &turn)
        turn.demand(
            slot.state != .owingReceipt || reason == .delivered || reason == .removed,
            "a message that the device has ends before its receipt", of: entry)
        remove(slot.entry, of: entry, reason: reason, &turn)
    }

    /// Takes a message out of the store that is not in the mailbox here.
    mutating func remove(
        _ message: MailboxEntry, of entry: DeviceEntry, reason: Milestone, _ turn: inout Turn
    ) {
        turn.demand(
            reason.isTerminal && reason != .refused, "a message is removed that has not ended", of: entry)
        turn.write(
            .removeMessage(
                entry.device, message.sequence, expiresAt: message.expiresAt, reason: reason))
        turn.touch(entry)
        turn.traceEntry(message, of: entry.device, TraceNote.Step(reason))
        if message.kind == .message { turn.batch.downstream[reason] += 1 }
    }

    mutating func acknowledged(
        _ connection: ConnectionID, _ entry: DeviceEntry, _ sequences: [Sequence], _ turn: inout Turn
    ) {
        // Only what this connection was given: a late word of an old one is said again at login.
        if entry.link?.connection == connection {
            for sequence in sequences {
                guard let at = entry.mailbox.index(of: sequence), entry.mailbox.slots[at].state == .sent
                else { continue }
                settle(at, of: entry, &turn)
            }
        }
    }

    /// The device has a message: it goes, after its receipt if one is owed.
    mutating func settle(_ index: Int, of entry: DeviceEntry, _ turn: inout Turn) {
        let slot = entry.mailbox.slots[index]
        guard slot.state != .owingReceipt else { return }
        turn.traceEntry(slot.entry, of: entry.device, .acknowledged)
        guard let receipt = slot.entry.receipt else {
            return remove(at: index, of: entry, reason: .delivered, &turn)
        }
        let at = turn.demand(
            entry.index(of: slot.entry.registration), "a receipt is owed for no registration", of: entry)
        guard let at else { return }
        entry.setState(.owingReceipt, at: index, &turn)
        let registration = entry.registrations[at].registration
        turn.forward(
            .receiptDue(
                ReceiptDue(
                    message: registration.name, sequence: slot.entry.sequence, sender: receipt.sender,
                    messageID: receipt.messageID, category: registration.category,
                    deliveredAt: turn.now.wall, origin: receipt.origin)))
    }

    mutating func receiptStored(_ entry: DeviceEntry, _ sequence: Sequence, _ turn: inout Turn) {
        if let at = entry.mailbox.index(of: sequence) {
            remove(at: at, of: entry, reason: .delivered, &turn)
        }
    }

    /// It counts as sent again, so that it is delivered, and its receipt tried, at the next login.
    func receiptRefused(_ entry: DeviceEntry, _ sequence: Sequence, _ turn: inout Turn) {
        guard let at = entry.mailbox.index(of: sequence),
            entry.mailbox.slots[at].state == .owingReceipt
        else { return }
        entry.setState(entry.link == nil ? .waiting(isStored: true) : .sent, at: at, &turn)
    }

    /// A message has expired, as the store says.
    mutating func expired(
        _ sequence: Sequence, _ expiresAt: UnixMilliseconds, of device: DeviceID, _ turn: inout Turn
    ) {
        guard let entry = table[device], entry.state.isReady else {
            return removeUnread(sequence, expiresAt, of: device, &turn)
        }
        table.wake(entry)
        expired(sequence, expiresAt, entry, &turn)
        table.rest(entry)
    }

    private mutating func expired(
        _ sequence: Sequence, _ expiresAt: UnixMilliseconds, _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        guard let at = entry.mailbox.index(of: sequence) else {
            // Gone already, unless the store knows better and nothing is on its way.
            guard entry.batchesInFlight == 0, !entry.isTouched else { return }
            return turn.write(
                .removeMessage(entry.device, sequence, expiresAt: expiresAt, reason: .expired))
        }
        // What the device has is removed when its receipt is on disk, not before.
        guard entry.mailbox.slots[at].state != .owingReceipt else { return }
        remove(at: at, of: entry, reason: .expired, &turn)
    }

    /// Removes an expired message of a device whose mailbox is not in memory.
    private func removeUnread(
        _ sequence: Sequence, _ expiresAt: UnixMilliseconds, of device: DeviceID, _ turn: inout Turn
    ) {
        turn.batch.downstream.expired += 1
        turn.write(.removeMessage(device, sequence, expiresAt: expiresAt, reason: .expired))
    }

    /// Removes what is over its time from a device that has just been read.
    mutating func removeExpired(_ entry: DeviceEntry, _ turn: inout Turn) {
        var index = 0
        while index < entry.mailbox.slots.count {
            if entry.mailbox.slots[index].entry.expiresAt <= turn.now.ended {
                remove(at: index, of: entry, reason: .expired, &turn)
            } else {
                index += 1
            }
        }
    }
}
