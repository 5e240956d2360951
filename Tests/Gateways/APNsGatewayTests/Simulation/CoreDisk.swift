import Basics
import Delivery
import Store

/// A disk that groups commits, takes time, fails, and loses what was not synced when the power fails.
final class CoreDisk {
    private struct Waiting {
        var batch: WriteBatch
        var partition: Int
    }

    private unowned let world: CoreWorld
    /// What the process reads.
    private(set) var state = MemoryState(partitions: CoreWorld.partitions)
    /// What a loss of power leaves.
    private var synced = MemoryState(partitions: CoreWorld.partitions)
    private var unsynced: [WriteBatch] = []
    private var submitted: [Waiting] = []
    private var running: [Waiting] = []
    private var orders = Array(repeating: BatchOrder(), count: CoreWorld.partitions)

    init(_ world: CoreWorld) { self.world = world }

    /// Applies changes that an operator made before the first process.
    func prepare(_ mutations: [Mutation]) {
        apply(WriteBatch(batchNumber: 0, mutations: mutations, isDurable: true))
        sync()
    }

    // MARK: Committing

    func submit(_ batch: WriteBatch, _ partition: Int) {
        guard orders[partition].allows(batch) else {
            return world.after(1) { [self] in
                world.take([.committed(.failed(batch.batchNumber))], reportedTo: partition)
            }
        }
        submitted.append(Waiting(batch: batch, partition: partition))
        if running.isEmpty { begin() }
    }

    private func begin() {
        guard !submitted.isEmpty else { return }
        running = submitted
        submitted = []
        world.after(world.number(1...(world.apple.isFaulty ? 60 : 5))) { [self] in end() }
    }

    private func end() {
        var ended = running
        running = []
        let hasFailed = world.apple.isFaulty && world.chance(3)
        if hasFailed { world.checkers.setBack(at: world.apple.time) }
        // If the sync failed, the changes may have reached the disk nevertheless.
        if !hasFailed || world.chance(50) { for entry in ended { apply(entry.batch) } }
        if hasFailed || ended.contains(where: \.batch.isDurable) { sync() }
        if hasFailed {
            let partitions = Set(ended.map(\.partition))
            ended += submitted.filter { partitions.contains($0.partition) }
            submitted.removeAll { partitions.contains($0.partition) }
        }
        for partition in 0..<CoreWorld.partitions {
            let events = ended.filter { $0.partition == partition }.map { entry in
                let number = entry.batch.batchNumber
                return Event.committed(
                    hasFailed ? orders[partition].fail(number) : CommitOutcome(batchNumber: number))
            }
            guard !events.isEmpty else { continue }
            world.after(world.number(0...1)) { [self] in world.take(events, reportedTo: partition) }
        }
        begin()
    }

    private func apply(_ batch: WriteBatch) {
        var batch = batch
        if world.canary == .forgetsMarks {
            batch.mutations.removeAll { if case .markForGateway = $0 { true } else { false } }
        }
        if world.canary == .losesMessages, world.chance(10) {
            batch.mutations.removeAll { if case .putMessage = $0 { true } else { false } }
        }
        if world.canary == .miscounts {
            for index in batch.mutations.indices {
                guard case .removeMessage(let device, let sequence, let end, _) = batch.mutations[index]
                else {
                    continue
                }
                batch.mutations[index] = .removeMessage(device, sequence, expiresAt: end, reason: .discarded)
            }
        }
        if state.commit(batch).hasFailed {
            world.checkers.report("disk: batch \(batch.batchNumber) is refused")
        }
        unsynced.append(batch)
        checkAudit("after a commit")
    }

    private func sync() {
        for batch in unsynced { _ = synced.commit(batch) }
        unsynced = []
    }

    /// The audit's law: what was accepted has ended once, or is pending.
    func checkAudit(_ when: String) {
        let audit = state.audit()
        world.checkers.mustHold(audit.holds, "conservation: \(when): \(audit)")
    }

    // MARK: Reading

    /// Runs a query; answers may overtake outcomes and be overtaken by them.
    func load(_ load: StoreQuery, _ partition: Int) {
        world.after(world.number(1...4)) { [self] in
            let hasFailed = world.apple.isFaulty && world.chance(3)
            world.take([.loaded(hasFailed ? .failed(load) : state.load(load))], reportedTo: partition)
        }
    }

    /// Whether a registration has ended in the store.
    func hasEnded(_ name: RegistrationName) -> Bool {
        guard case .device(let device) = state.load(.device(name.device)) else { return false }
        return device.registrations.contains { $0.name == name && $0.apnsState.end != nil }
    }

    /// Whether messages wait.
    var hasMessages: Bool { state.audit().downstreamPending > 0 }

    /// The messages that wait.
    var waiting: [String] {
        var found: [String] = []
        state.forEachMessage { found.append(String(decoding: $0.messageID, as: UTF8.self)) }
        return found
    }

    // MARK: Dying

    /// Ends the process; a loss of power loses what was not synced, but for some of it.
    func crash(losesPower: Bool) {
        let kept = losesPower ? Int(world.number(0...Int64(unsynced.count))) : unsynced.count
        // The commit in progress is torn anywhere between its batches.
        let found = kept == unsynced.count ? Int(world.number(0...Int64(running.count))) : 0
        let torn = running.prefix(found).map(\.batch)
        running = []
        submitted = []
        orders = Array(repeating: BatchOrder(), count: orders.count)
        unsynced.removeLast(unsynced.count - kept)
        sync()
        state = synced
        for batch in torn { apply(batch) }
        sync()
        checkAudit("after a crash")
    }
}
