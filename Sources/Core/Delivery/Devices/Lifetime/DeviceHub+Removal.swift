import Basics

/// Removal of messages from a mailbox: acknowledged, after storing the requested receipt, or expired.
extension DeviceHub {
    /// Removes a message from the mailbox, in memory and in the store. `step` is what is traced in place of the reason.
    mutating func remove(
        at index: Int, of entry: DeviceEntry, reason: Milestone, as step: TraceRecord.Step? = nil,
        _ turn: inout Turn
    ) {
        let slot = entry.remove(at: index, &turn)
        turn.demand(
            slot.state != .owingReceipt || reason == .delivered || reason == .forwarded || reason == .removed,
            "an acknowledged message is removed before its receipt is stored", of: entry)
        settleVerdict(of: slot.entry, reason, entry, &turn)
        remove(slot.entry, of: entry, reason: reason, as: step, &turn)
    }

    /// Removes the messages that a condition selects, oldest first.
    mutating func removeAll(
        of entry: DeviceEntry, reason: Milestone, _ turn: inout Turn,
        where isSelected: (MailboxSlot) -> Bool
    ) {
        var index = 0
        while index < entry.mailbox.slots.count {
            if isSelected(entry.mailbox.slots[index]) {
                remove(at: index, of: entry, reason: reason, &turn)
            } else {
                index += 1
            }
        }
    }

    /// Removes a message from the store that is not in the mailbox in memory.
    mutating func remove(
        _ message: MailboxEntry, of entry: DeviceEntry, reason: Milestone, as step: TraceRecord.Step? = nil,
        _ turn: inout Turn
    ) {
        turn.demand(
            reason.isTerminal && reason != .refused, "a message is removed for a reason that does not end it",
            of: entry)
        turn.write(
            .removeMessage(entry.device, message.sequence, expiresAt: message.expiresAt, reason: reason),
            of: entry)
        if let scheduled = message.scheduled(of: entry.device) { unschedule(scheduled, of: entry, &turn) }
        if let shared = message.shared { bodies.release(shared.name, in: turn.ledger.nextBatchNumber) }
        turn.traceEntry(message, of: entry.device, step ?? TraceRecord.Step(reason), reason.moment)
        guard message.kind == .message else { return }
        if let kind = SenderCount(reason, isUpstream: false) {
            turn.batch.senders.count(kind, of: message.sender)
        }
    }

    mutating func acknowledged(
        _ sequences: [SequenceNumber], on connection: ConnectionID, _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        // Only for messages of this connection: an acknowledgement on an old connection is repeated at the next login.
        if let link = entry.link, link.connection == connection {
            for sequence in sequences {
                guard let at = entry.mailbox.index(of: sequence), entry.mailbox.slots[at].state == .sent
                else { continue }
                let acceptedAt = entry.mailbox.slots[at].acceptedAt
                if acceptedAt >= link.since { turn.effects.delivered.add(acceptedAt) }
                removeAcknowledged(at, of: entry, &turn)
            }
        }
    }

    /// Removes an acknowledged message, after its receipt is stored if one was requested.
    mutating func removeAcknowledged(_ index: Int, of entry: DeviceEntry, _ turn: inout Turn) {
        guard entry.mailbox.slots[index].state != .owingReceipt else { return }
        if turn.isTracing, !entry.mailbox.slots[index].entry.isForGateway {
            turn.traceEntry(entry.mailbox.slots[index].entry, of: entry.device, .acknowledged)
        }
        guard let receipt = entry.mailbox.slots[index].entry.receipt else {
            let reason = entry.mailbox.slots[index].entry.lastMilestone
            return remove(at: index, of: entry, reason: reason, &turn)
        }
        let slot = entry.mailbox.slots[index]
        guard let at = entry.place(of: slot.entry.registration, &turn) else { return }
        entry.setState(.owingReceipt, at: index, &turn)
        let registration = entry.registrations[at].registration
        var due = ReceiptDue(
            message: registration.name, sequence: slot.entry.sequence, sender: receipt.sender,
            messageID: receipt.messageID, category: registration.category, deliveredAt: turn.now.wall,
            isForwarded: slot.entry.isForGateway, requester: receipt.requester)
        due.tokenPrefix = registration.tokenName.prefix
        turn.forward(.receiptDue(due))
    }

    mutating func receiptStored(_ entry: DeviceEntry, _ sequence: SequenceNumber, _ turn: inout Turn) {
        if let at = entry.mailbox.index(of: sequence) {
            let message = entry.mailbox.slots[at].entry
            remove(at: at, of: entry, reason: message.lastMilestone, &turn)
            awaitEnd(of: sequence, of: message.registration, entry, &turn)
        }
    }

    /// Marks the message as sent again, so that delivery and its receipt are retried at the next login.
    mutating func receiptRefused(_ entry: DeviceEntry, _ sequence: SequenceNumber, _ turn: inout Turn) {
        guard let at = entry.mailbox.index(of: sequence),
            entry.mailbox.slots[at].state == .owingReceipt
        else { return }
        let message = entry.mailbox.slots[at].entry
        let waits = entry.link == nil || message.isForGateway
        entry.setState(waits ? .waiting(isStored: true) : .sent, at: at, &turn)
        if message.isForGateway { endRefused(sequence, of: message.registration, entry, &turn) }
    }

    /// Removes a message that the store has found to be expired.
    mutating func expired(
        _ sequence: SequenceNumber, _ expiresAt: UnixMilliseconds, of device: DeviceID, _ turn: inout Turn
    ) {
        guard let entry = table[device], entry.state.isReady else {
            return removeUnread(sequence, expiresAt, of: device, &turn)
        }
        whileAwake(entry, &turn) { hub, turn in
            guard let at = entry.mailbox.index(of: sequence) else {
                // It has been removed already, unless the store still has it and no changes are outstanding.
                guard entry.batches.isEmpty else { return }
                turn.recordPosition(sequence, of: device, .expired, .committed)
                return turn.write(.removeMessage(device, sequence, expiresAt: expiresAt, reason: .expired))
            }
            // An acknowledged message must not be removed before its receipt is on disk.
            guard entry.mailbox.slots[at].state != .owingReceipt else { return }
            hub.remove(at: at, of: entry, reason: .expired, &turn)
        }
    }

    /// Removes an expired message of a device whose mailbox is not in memory. The device may be read before the removal is on disk,
    /// and the message must not end twice.
    private mutating func removeUnread(
        _ sequence: SequenceNumber, _ expiresAt: UnixMilliseconds, of device: DeviceID, _ turn: inout Turn
    ) {
        removedUnread.add(sequence, of: device, in: turn.ledger.nextBatchNumber)
        turn.recordPosition(sequence, of: device, .expired, .committed)
        turn.write(.removeMessage(device, sequence, expiresAt: expiresAt, reason: .expired))
    }
}

/// Expired messages of devices that were not in memory, by the uncommitted batch that removes them.
struct UnreadRemovals {
    private var batches: [UInt64: [DeviceID: Set<SequenceNumber>]] = [:]

    mutating func add(_ sequence: SequenceNumber, of device: DeviceID, in batch: UInt64) {
        batches[batch, default: [:]][device, default: []].insert(sequence)
    }

    /// Forgets a batch that is committed or has failed.
    mutating func committed(_ batch: UInt64) { batches[batch] = nil }

    /// Removes the messages from a state that the store returned before it had the batches.
    func drop(from state: inout DeviceState) {
        for gone in batches.values.compactMap({ $0[state.device] }) {
            state.mailbox.removeAll { gone.contains($0.sequence) }
        }
    }
}

extension MailboxEntry {
    /// The milestone with which it leaves the mailbox once its recipient has it.
    fileprivate var lastMilestone: Milestone { isForGateway ? .forwarded : .delivered }
}
