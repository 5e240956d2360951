import Basics
import Delivery

/// The cluster as other threads see it.
struct ClusterPort: Sendable {
    let mailbox: ClusterMailbox

    /// Passes a parcel on, and empties it.
    func post(_ parcel: inout ClusterParcel) {
        guard !parcel.isEmpty else { return }
        var taken = ClusterParcel()
        swap(&taken, &parcel)
        mailbox.post(taken)
    }
}

extension ClusterPort: CommitLog {
    func submit(_ batches: [PartitionBatch]) {
        guard !batches.isEmpty else { return }
        mailbox.post(ClusterParcel(batches: batches))
    }

    func submit(_ batch: WriteBatch, completed: @escaping @Sendable (CommitOutcome) -> Void) {
        mailbox.post(ClusterParcel(writes: [ControlWrite(batch: batch, completed: completed)]))
    }
}

extension Mutation {
    /// The sender whose record it changes. `nil` for other mutations.
    var sender: SenderID? {
        switch self {
        case .putSender(let record): record.sender
        case .removeSender(let sender): sender
        default: nil
        }
    }
}
