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
    /// Gets the outcomes of batches that the thread does not take any more.
    private let reports: StoreReports
    let restart = RestartRequest()

    /// The port of the thread with this reactor.
    init(_ handle: ReactorHandle, _ member: Membership.Settings, _ reports: StoreReports) {
        self.member = member
        self.reports = reports
        mailbox = ClusterMailbox(waking: handle)
        contact = ClusterContact(partitions: member.partitions)
    }

    /// Passes a parcel on, and empties it.
    func post(_ parcel: inout ClusterParcel) {
        guard !parcel.isEmpty else { return }
        var taken = ClusterParcel()
        swap(&taken, &parcel)
        if !mailbox.add({ $0.append(taken) }) { refuse(taken) }
    }

    /// Reports the batches as failed: the thread has ended.
    private func refuse(_ parcel: ClusterParcel) {
        reports.post(
            parcel.batches.map { .failed($0.batch.batchNumber, of: $0.partition) })
        for write in parcel.writes { write.completed(.failed(write.batch.batchNumber)) }
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
        var parcel = ClusterParcel(batches: batches)
        post(&parcel)
    }

    func submit(_ batch: WriteBatch, completed: @escaping @Sendable (CommitOutcome) -> Void) {
        var parcel = ClusterParcel(writes: [ControlWrite(batch: batch, completed: completed)])
        post(&parcel)
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
