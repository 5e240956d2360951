import Delivery
import Synchronization
import Transport

/// The queue through which other threads pass work to the APNs gateway.
///
/// It is not bounded here: the core has at most one unanswered delivery per registration.
final class APNsMailbox: Sendable {
    /// The work of one turn.
    struct Parcel: Sendable {
        var deliveries: [GatewayDelivery] = []
        /// Control-plane work that must run on the gateway's thread.
        var jobs: [@Sendable (APNsHost) -> Void] = []
    }

    private struct Inbox {
        var parcel = Parcel()
        var isAwake = false
    }

    private let inbox = Mutex(Inbox())
    private let handle: ReactorHandle

    /// Creates a mailbox that wakes this reactor.
    init(handle: ReactorHandle) { self.handle = handle }

    /// Adds deliveries, and empties the array; can be called on any thread.
    func post(_ deliveries: inout [GatewayDelivery]) {
        guard !deliveries.isEmpty else { return }
        var batch: [GatewayDelivery] = []
        swap(&batch, &deliveries)
        add { $0.deliveries.append(contentsOf: batch) }
    }

    /// Runs a job on the gateway's thread; can be called on any thread.
    func post(_ job: @escaping @Sendable (APNsHost) -> Void) { add { $0.jobs.append(job) } }

    /// Runs a query on the gateway's thread. Returns the latch of its answer.
    func ask<Answer: Sendable>(_ question: @escaping @Sendable (APNsHost) -> Answer) -> Latch<Answer> {
        let latch = Latch<Answer>()
        post { host in latch.fulfil(question(host)) }
        return latch
    }

    private func add(_ body: (inout Parcel) -> Void) {
        let mustWake = inbox.withLock { inbox in
            body(&inbox.parcel)
            defer { inbox.isAwake = true }
            return !inbox.isAwake
        }
        if mustWake { handle.wake() }
    }

    /// Removes and returns all queued work; only on the gateway's thread.
    func takeAll() -> Parcel {
        inbox.withLock { inbox in
            var taken = Parcel()
            swap(&taken, &inbox.parcel)
            inbox.isAwake = false
            return taken
        }
    }
}
