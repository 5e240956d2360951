import Basics

/// The pairs that the messages of a request to many share in the store (http 2.1, 8.8).
extension DeviceHub {
    /// Has a message share its pairs with others of its request, if there are enough in this partition.
    mutating func shareBody(of message: inout StoredMessage, _ turn: inout Turn) {
        guard message.body.count >= turn.settings.leastSharedBytes, let sender = message.sender else {
            return
        }
        let place = bodies.place(
            message, of: sender, after: turn.settings.unsharedMessages, limit: turn.shares.countedBodies,
            turn.now.monotonic)
        switch place {
        case .own: endRequests(&turn)
        case .shared(let reference, let put):
            message.shared = reference
            guard let (shared, end) = put else { return }
            turn.write(.putSharedBody(shared, partition: turn.partition, expiresAt: end))
        }
    }

    /// Ends the requests whose time is over.
    mutating func endRequests(_ turn: inout Turn) {
        for removal in bodies.endRequests(turn.now.monotonic) { removeBody(removal, &turn) }
    }

    /// Mailbox entries are gone with a batch, or it has failed.
    mutating func mailboxesCommitted(_ outcome: CommitOutcome, _ turn: inout Turn) {
        for removal in bodies.committed(outcome.batchNumber, hasFailed: outcome.hasFailed) {
            removeBody(removal, &turn)
        }
    }

    /// Removes pairs that nothing needs any more.
    func removeBody(_ removal: SharedBodies.Removal?, _ turn: inout Turn) {
        guard let removal else { return }
        turn.write(
            .removeSharedBody(removal.name, partition: turn.partition, expiresAt: removal.endsAt))
    }
}
