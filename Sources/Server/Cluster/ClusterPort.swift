import Basics
import Cluster
import Delivery
import Transport

/// The cluster as other threads see it.
struct ClusterPort: Sendable {
    /// What this node is.
    let member: Membership.Settings
    let mailbox: ClusterMailbox
    /// Whether there is a connection to the log.
    let contact: ClusterContact
    let restart = RestartRequest()

    /// The port of the thread with this reactor.
    init(_ handle: ReactorHandle, _ member: Membership.Settings) {
        self.member = member
        mailbox = ClusterMailbox(handle: handle)
        contact = ClusterContact()
    }

    /// Passes a parcel on, and empties it.
    func post(_ parcel: inout ClusterParcel) {
        guard !parcel.isEmpty else { return }
        var taken = ClusterParcel()
        swap(&taken, &parcel)
        mailbox.post(taken)
    }

    /// Gives the partitions of this node to others, and waits for that up to `seconds`.
    func drain(seconds: Int) {
        let latch = Latch<Bool>()
        let most = max(1, min(Limits.ClusterHost.drainSeconds, seconds / 2))
        mailbox.post { $0.drain { latch.fulfil(true) } }
        _ = latch.wait(milliseconds: Int64(most) * 1_000)
    }

    /// Ends the thread of the cluster. Returns when it uses no connection any more.
    func stop() {
        let latch = Latch<Bool>()
        mailbox.post { $0.stop { latch.fulfil(true) } }
        _ = latch.wait()
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
