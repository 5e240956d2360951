import Basics
import BasicsSupport
import Cluster
import ClusterLog
import ClusterLogSupport
import Testing

/// Replicas of a partition in simulated worlds: `CCS_CLUSTER_SEEDS` sets how many.
@Suite("replicas") struct ReplicaTests {
    /// Some that are known to reach what the worlds are made for, and fresh ones.
    private static let seeds =
        Array(0..<10 as Range<UInt64>) + FreshSeeds.draw(10, number: "CCS_CLUSTER_SEEDS")

    @Test("stores stay the same, and no batch that succeeded is lost")
    func worlds() {
        var (submitted, succeeded, failed, handovers, copies) = (0, 0, 0, 0, 0)
        var (losses, repairs, decisions, compared) = (0, 0, 0, 0)
        for seed in Self.seeds {
            let world = ReplicaWorld(seed: seed)
            let found = world.run()
            #expect(found.isEmpty, "seed \(seed): \(found)")
            submitted += Int(world.submitted)
            succeeded += world.succeeded.count
            failed += world.failed.count
            handovers += world.handovers
            copies += world.copies
            losses += world.losses
            decisions += world.decisions
            repairs += world.repairs
            compared += world.compared
        }
        #expect(compared > 0, "no nodes were compared")
        #expect(decisions > submitted / 4, "owners were seldom allowed to decide")
        #expect(copies > 0, "no node was ever behind")
        #expect(losses > 0 && repairs > 0, "no log has lost anything")
        #expect(submitted > 100 && succeeded > submitted / 2 && failed > 10)
        #expect(handovers > 0, "no partition was handed over")
    }

    private func findings(of kind: String, _ plant: (ReplicaWorld) -> Void) -> Bool {
        (0..<400 as Range<UInt64>).contains { seed in
            let world = ReplicaWorld(seed: seed)
            plant(world)
            return world.run().contains { $0.hasPrefix(kind) }
        }
    }

    @Test("an owner that decides without a lease is found")
    func noLease() { #expect(findings(of: "leases") { $0.ignoresLeases = true }) }

    @Test("an owner that does not wait for the end of the lease before it is found")
    func noWait() {
        #expect(findings(of: "leases") { $0.releasedAt = { _ in LogPosition(1 << 60) } })
    }

    @Test("an owner that surrenders its lease and goes on to decide is found")
    func keepsDeciding() { #expect(findings(of: "leases") { $0.keepsDeciding = true }) }

    @Test("a store that drops a frame of another node is found")
    func dropped() {
        #expect(
            findings(of: "stores") { world in
                world.tamper = { effect, node in
                    guard case .apply(let frame) = effect, case .foreign = frame.content, node.number == 1,
                        frame.number % 7 == 0
                    else { return effect }
                    var empty = frame
                    empty.content = .foreign([])
                    return .apply(empty)
                }
            })
    }

    @Test("a batch that is reported as applied without a frame that counts is found")
    func lost() {
        #expect(
            findings(of: "outcomes") { world in
                world.tamper = { effect, node in
                    guard case .fail(let range) = effect else { return effect }
                    for number in range {
                        if let batch = node.open[number] { world.succeeded.insert(batch) }
                    }
                    return effect
                }
            })
    }

    @Test("a store that applies a batch again after a restart is found")
    func repeated() { #expect(findings(of: "stores") { world in world.skips = { _ in 0 } }) }

    @Test("a log that is purged up to what one node has not synced is found")
    func purgedUnsynced() {
        #expect(
            findings(of: "") { world in
                world.purgePosition = { $0.map { $0.replica.report.applied }.max() ?? .start }
            })
    }

    @Test("a position that counts as durable although a new process begins before it is found")
    func durableMarks() {
        #expect(findings(of: "purge") { world in world.syncPosition = { $0.replica.report.applied } })
    }

    @Test("a claim that does not look whether the log is whole is found")
    func blindClaim() { #expect(findings(of: "") { $0.isBlind = true }) }

    @Test("a node that does not keep a record for the repair of the log is found")
    func forgetful() {
        #expect(findings(of: "kept") { $0.forgets = { $0.number == 1 && $1.number % 100 == 50 } })
    }

    @Test("a repair that appends something else than what was lost is found")
    func wrongRepair() {
        #expect(
            findings(of: "") { world in
                world.tamper = { effect, _ in
                    guard case .appendRecord = effect else { return effect }
                    return .appendRecord([1, 2, 3])
                }
            })
    }

    @Test("a repair whose records come to earlier positions than they had is found")
    func earlierPositions() {
        #expect(
            findings(of: "") { world in
                world.tamper = { effect, _ in
                    guard case .appendRecord(let bytes) = effect, bytes.count < FrameHeader.length else {
                        return effect
                    }
                    return nil
                }
            })
    }

    @Test("a copy of a store whose progress is not that of its content is found")
    func tornCopy() {
        #expect(
            findings(of: "stores") { world in
                world.arrived = { copy, giver in copy.reader = giver.store.reader }
            })
    }

    @Test("a node whose records are purged follows no more, claims nothing, and is healed by a new store")
    func removed() {
        let now = Now(monotonic: Instant(nanoseconds: 0), wall: 0)
        var effects: [ReplicaEffect] = []
        var replica = Replica(log: LogKey(cluster: 1, partition: 0), at: LogReader(), now: now.monotonic)
        replica.handle(.connected, now: now, effects: &effects)
        replica.handle(.removed(first: LogPosition(1)), now: now, effects: &effects)
        #expect(effects == [.examine, .follow(after: .start)] && replica.begins == nil, "nothing is missing")
        effects = []
        replica.handle(.removed(first: LogPosition(9)), now: now, effects: &effects)
        #expect(
            effects == [.stopFollowing, .lost, .changed, .absent(begins: LogPosition(9), .purged)])
        #expect(replica.begins == LogPosition(9) && replica.report.role == .absent)
        effects = []
        for event in [
            .examined(.fit), .claim(Claim(1), released: nil), .disconnected, .connected, .tick,
            .removed(first: LogPosition(20)),
        ] as [ReplicaEvent] { replica.handle(event, now: now, effects: &effects) }
        #expect(effects == [.changed] && replica.begins == LogPosition(9), "the order to claim is answered")
    }

    @Test("an owner that serves before its store has everything is found")
    func early() {
        #expect(
            findings(of: "serving") { world in
                world.tamper = { effect, node in
                    if case .apply(let frame) = effect, !node.isServing, node.replica.report.role == .claiming
                    {
                        world.perform([.took(frame.term)], node)
                    }
                    return effect
                }
            })
    }
}
