import Basics

/// Cancellation of messages that wait.
extension DeviceHub {
    /// Removes those of the messages that wait: one that was passed to the device or to APNs counts as delivered.
    mutating func cancel(
        _ messages: [PersistentID], for requester: Requester, _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        var count = 0
        for message in messages {
            guard let at = entry.mailbox.index(of: message.sequence) else { continue }
            let slot = entry.mailbox.slots[at]
            guard slot.entry.salt == message.salt, slot.entry.kind == .message, slot.isCancellable else {
                continue
            }
            // It was accepted: its submission, if that still waits, is not refused as that of a removed registration.
            settleVerdict(of: slot.entry, .discarded, entry, &turn)
            remove(at: at, of: entry, reason: .removed, as: .cancelled, &turn)
            count += 1
        }
        guard count > 0 else { return turn.reply(.cancelled(0), to: requester) }
        turn.replyWhenStored(.cancelled(count), to: requester)
    }
}
