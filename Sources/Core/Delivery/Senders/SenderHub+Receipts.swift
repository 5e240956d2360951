import Basics

/// Delivery receipts, which are stored in the sender's mailbox before their message is removed.
extension SenderHub {
    mutating func receiptDue(_ due: ReceiptDue, _ turn: inout Turn) {
        guard turn.directory[due.sender] != nil else {
            // The sender has been removed: there is no mailbox for the receipt.
            turn.forward(.receiptStored(due.message.device, due.sequence))
            return
        }
        var receipt = StoredUpstream(
            sender: due.sender, sequence: turn.nextSequence(), kind: .receipt(sentAt: due.deliveredAt),
            from: due.message, category: due.category, messageID: due.messageID,
            expiresAt: turn.now.expiry(after: Int64(Limits.Message.upstreamLifetimeSeconds) * 1_000),
            lifetimeSeconds: 0,
            body: due.isForwarded ? StoredUpstream.forwardedReceipt : [])
        receipt.tokenPrefix = due.tokenPrefix
        let entry = table.entry(due.sender)
        turn.demand(
            receipt.sequence > entry.newest && receipt.sequence > entry.cursor,
            "a receipt's sequence is not the newest", of: entry)
        entry.stored += 1
        // The stored receipt has no connection, so the waiter carries it.
        var routed = receipt
        routed.requester = due.requester
        turn.write(
            .putUpstream(receipt, now: turn.now.wall),
            then: .sender(due.sender, .receipt(routed, ofMessage: due.sequence)))
    }

    /// Answers a receipt whose batch is on disk or has failed, and routes it.
    mutating func receiptCommitted(
        _ receipt: StoredUpstream, ofMessage sequence: SequenceNumber, hasFailed: Bool, _ turn: inout Turn
    ) {
        let device = receipt.from.device
        guard !hasFailed else { return turn.forward(.receiptRefused(device, sequence)) }
        turn.forward(.receiptStored(device, sequence))
        turn.recordUpstream(receipt, .stored)
        route(receipt, &turn)
    }

    /// Counts receipts as delivered that app servers have left unanswered for too long.
    mutating func removeUnansweredReceipts(of entry: SenderEntry, _ turn: inout Turn) {
        let sentBy = turn.now.monotonic.advanced(seconds: -turn.settings.receiptAckSeconds)
        // On a congested connection the receipts may not have been written. A webhook answers each.
        for at in entry.sessions.indices
        where !entry.sessions[at].isCongested && entry.sessions[at].kind != .webhook {
            while let item = entry.sessions[at].window.removeReceipt(sentBy: sentBy) {
                turn.send(AppServerCommand.withdraw(item.sequence), to: entry.sessions[at].connection)
                remove(item, of: entry, reason: .delivered, &turn)
            }
        }
    }
}
