import Basics
import Delivery
import Store

/// A disk that groups commits like the store's thread, takes time, fails, and loses what was not synced when the process crashes.
///
/// It runs the reference store twice: as the process sees it, and as a power loss would leave it.
final class SimulatedDisk {
    private struct Waiting {
        var batch: WriteBatch
        var partition: Int
    }

    private unowned let world: World
    /// What the process reads.
    private(set) var state: MemoryState
    /// What a power loss leaves; kept only as long as one is possible.
    private(set) var synced: MemoryState
    /// Batches that are in `state` but not in `synced`.
    private var unsynced: [WriteBatch] = []
    private var waiting: [Waiting] = []
    private var running: [Waiting] = []
    /// By partition.
    private var orders: [BatchOrder]
    /// Number of crashes: work planned for an earlier process is void.
    private var epoch = 0

    init(_ world: World) {
        self.world = world
        state = MemoryState(partitions: world.settings.partitions)
        synced = state
        orders = Array(repeating: BatchOrder(), count: state.partitions)
    }

    // MARK: Committing

    /// Submits the batch of a partition.
    func submit(_ batch: WriteBatch, partition: Int) {
        if !orders[partition].allows(batch) {
            world.trace("batch \(batch.batchNumber) of \(partition) comes too late")
            world.server?.receive([.committed(.failed(batch.batchNumber))], partition)
            return
        }
        if world.chance(world.faults.refusedBatches, in: 1_000) {
            world.countFault()
            world.trace("disk refuses batch \(batch.batchNumber) of \(partition)")
            world.server?.receive([.committed(orders[partition].fail(batch.batchNumber))], partition)
            return
        }
        world.trace(
            "\(partition): batch \(batch.batchNumber): \(batch.mutations.map { Describe.mutation($0) })")
        waiting.append(Waiting(batch: batch, partition: partition))
        if running.isEmpty { begin() }
    }

    private func begin() {
        guard !waiting.isEmpty else { return }
        running = waiting
        waiting = []
        let epoch = epoch
        let wait = world.random(1_000...max(1_001, world.faults.commitMilliseconds * 1_000_000))
        world.after(wait) { [self] in
            if epoch == self.epoch { end() }
        }
    }

    private func end() {
        let batches = running.map(\.batch)
        var outcomes: [CommitOutcome]
        if world.chance(world.faults.failedCommits, in: 100) {
            // If the sync failed, the changes may have reached the disk nevertheless.
            world.countFault()
            let isApplied = world.chance(1, in: 2)
            world.trace("commit of \(batches.count) fails\(isApplied ? ", yet is applied" : "")")
            // The store reopens its files before it reports the failure, which writes out all that it finds.
            if isApplied { _ = apply(torn(batches), isDurable: true) } else { sync(unsynced.count) }
            outcomes = running.map { orders[$0.partition].fail($0.batch.batchNumber) }
            failWaiting(&outcomes)
            world.crashSoon()
        } else {
            let isDurable = batches.contains { $0.isDurable }
            outcomes = apply(batches, isDurable: isDurable && world.canary != .answersBeforeSync)
        }
        let ended = running
        running = []
        for partition in 0..<world.settings.partitions {
            let own = zip(ended, outcomes).filter { $0.0.partition == partition }.map {
                Event.committed($0.1)
            }
            if !own.isEmpty { world.server?.receive(own, partition) }
        }
        begin()
    }

    /// Has the waiting batches fail whose partitions have failed ones in the commit that ends.
    private func failWaiting(_ outcomes: inout [CommitOutcome]) {
        let failed = Set(running.map(\.partition))
        let refused = waiting.filter { failed.contains($0.partition) }
        waiting.removeAll { failed.contains($0.partition) }
        running += refused
        outcomes += refused.map { .failed($0.batch.batchNumber) }
    }

    private func apply(_ batches: [WriteBatch], isDurable: Bool) -> [CommitOutcome] {
        var outcomes: [CommitOutcome] = []
        for batch in batches {
            var batch = batch
            if world.canary == .losesMutation, batch.mutations.count > 1 { batch.mutations.removeFirst() }
            if world.canary == .losesUpstream, world.chance(1, in: 10) {
                batch.mutations.removeAll(where: isUpstream)
            }
            if world.canary != nil { removeLost(&batch) }
            let outcome = state.commit(batch)
            if outcome.hasFailed {
                world.fail("sequences", "batch \(batch.batchNumber) puts a message under a used key")
            }
            world.checkers.didApply(batch, outcome, world)
            outcomes.append(outcome)
            unsynced.append(batch)
        }
        if isDurable { sync(unsynced.count) }
        return outcomes
    }

    /// A planted fault: tears batches, so that one part is found and the other is not.
    private func torn(_ batches: [WriteBatch]) -> [WriteBatch] {
        guard world.canary == .tearsBatches else { return batches }
        return batches.map { batch in
            var batch = batch
            batch.mutations.removeLast(batch.mutations.count / 2)
            return batch
        }
    }

    private func isUpstream(_ mutation: Mutation) -> Bool {
        if case .putUpstream = mutation { true } else { false }
    }

    /// A planted fault: mutations never reach the disk.
    private func removeLost(_ batch: inout WriteBatch) {
        let hasSubscription = batch.mutations.contains {
            if case .putSubscription = $0 { true } else { false }
        }
        let hasPosition = batch.mutations.contains {
            if case .putTopicPosition = $0 { true } else { false }
        }
        let isReplacement = batch.mutations.contains { world.isReplacement($0) }
        batch.mutations.removeAll { mutation in
            switch (world.canary, mutation) {
            case (.losesReplacedEnds, .removeMessage(_, _, _, reason: .removed)): isReplacement
            case (.losesReplacements, .putMessage): world.isReplacement(mutation)
            case (.losesSubscription, .putSubscription): true
            case (.losesPositionOfChange, .putTopicPosition): hasSubscription
            case (.movesPositionAlone, .putMessage(let message)): message.topicMessage != nil
            case (.losesSharedBodies, .putSharedBody): true
            case (.losesTopicNotices, .putMessage(let message)):
                hasPosition && message.messageID.isEmpty && world.chance(1, in: 2)
            case (.losesCancellation, .removeMessage(_, _, _, reason: .removed)): true
            case (.losesReport, .putMessage(let message)): message.kind.isReport
            case (.losesTopicEntries, .putTopicEntry), (.losesTopicEnds, .removeTopicEntry),
                (.losesTopicMarks, .putTopicMark), (.losesTopicBodyEnds, .removeSharedBody),
                (.losesTopicProgress, .putTopicProgress), (.losesAppleList, .listForGateway),
                (.keepsSubscription, .removeSubscription), (.losesSchedule, .putSchedule),
                (.losesScheduleEnds, .removeSchedule):
                true
            default: false
            }
        }
    }

    /// Applies changes that an operator made before the world starts.
    func prepare(_ mutations: [Mutation]) {
        _ = apply([WriteBatch(batchNumber: 0, mutations: mutations, isDurable: true)], isDurable: true)
    }

    private func sync(_ count: Int) {
        for batch in unsynced.prefix(count) {
            if world.mayCrash { _ = synced.commit(batch) }
            world.checkers.didSync(batch, world)
        }
        unsynced.removeFirst(count)
    }

    // MARK: Reading

    /// Runs the queries of a partition; answers may overtake outcomes and be overtaken by them, but not by each other.
    func load(_ loads: [StoreQuery], partition: Int) {
        let epoch = epoch
        for load in loads {
            let wait = world.replacements.searchTime(load) ?? world.random(1_000...2_000_000)
            world.after(wait, lane: .loads) { [self] in
                guard epoch == self.epoch else { return }
                let hasFailed = world.chance(world.faults.failedLoads, in: 100)
                if hasFailed { world.countFault() }
                let answer = hasFailed ? .failed(load) : world.canaries.alter(state.load(load), world)
                world.server?.receive([.loaded(answer)], partition)
            }
        }
    }

    // MARK: Dying

    /// Crashes the process: a prefix of what was not synced is left.
    func crash(losesPower: Bool) {
        epoch += 1
        let kept = losesPower ? Int(world.random(0...Int64(unsynced.count))) : unsynced.count
        // The commit in progress is torn anywhere between its batches.
        let found = kept == unsynced.count ? Int(world.random(0...Int64(running.count))) : 0
        var batches = running.prefix(found).map(\.batch)
        if world.canary == .tearsBatches { batches = torn((running + waiting).map(\.batch)) }
        sync(kept)
        unsynced = []
        state = synced
        if !batches.isEmpty { _ = apply(batches, isDurable: true) }
        running = []
        waiting = []
        orders = Array(repeating: BatchOrder(), count: orders.count)
        world.checkers.rolledBack(to: state, world)
    }
}
