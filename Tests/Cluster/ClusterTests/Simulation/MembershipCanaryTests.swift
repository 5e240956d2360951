import Basics
import Cluster
import ClusterLog
import Testing

/// Planted faults: each is found in some of the first worlds.
@Suite("canaries of the memberships")
struct MembershipCanaryTests {
    private func finds(
        _ kind: String, _ settings: (UInt64) -> MemberWorld.Settings = MembershipSimulationTests.settings,
        _ plant: (MemberWorld) -> Void
    ) -> Bool {
        (0..<40 as Range<UInt64>).contains { seed in
            let world = MemberWorld(seed: seed, settings(seed))
            plant(world)
            return world.run().contains { $0.hasPrefix(kind) }
        }
    }

    private func calm(_ seed: UInt64) -> MemberWorld.Settings {
        var settings = MemberWorld.Settings()
        settings.faultMicroseconds = 10_000_000
        settings.pauses = 5
        return settings
    }

    @Test("a node that takes each heartbeat for one that was sent just now is found")
    func noEchoes() {
        #expect(
            finds("knowledge") { world in
                var sent: [NodeNumber: UInt64] = [:]
                world.tamperEffects = { effects, _, node in
                    for case .send(let heartbeat) in effects { sent[heartbeat.node] = heartbeat.count }
                }
                world.tamper = { event, node in
                    guard case .heartbeat(var heartbeat) = event, heartbeat.node != node.number else {
                        return event
                    }
                    for at in heartbeat.echoes.indices {
                        heartbeat.echoes[at].count = sent[heartbeat.echoes[at].node] ?? 1
                    }
                    return .heartbeat(heartbeat)
                }
            })
    }

    @Test("a node that never claims is found")
    func neverClaims() {
        #expect(
            finds("rest") { world in
                world.tamperEffects = { effects, _, node in
                    effects.removeAll { if case .claim = $0 { node == 0 } else { false } }
                }
            })
    }

    @Test("a node that claims whenever it is notified is found")
    func storm() {
        #expect(
            finds("storm") { world in
                var last: Int64 = 0
                world.tamperEffects = { effects, world, node in
                    guard world.time > last + 50_000, world.nodes[node].replicas[0].role == .following else {
                        return
                    }
                    last = world.time
                    effects.append(.claim(partition: 0, released: nil))
                }
            })
    }

    @Test("a node that takes all partitions when it goes on after a pause is found")
    func resumed() {
        #expect(
            finds("needless", calm) { world in
                var last: Int64 = 0
                world.tamperEffects = { effects, world, node in
                    let since = world.time - world.nodes[node].back
                    guard since < 50_000, world.time > last + 10_000, world.time > 5_000_000,
                        world.nodes[node].replicas[0].role == .following
                    else { return }
                    last = world.time
                    effects.append(.claim(partition: 0, released: nil))
                }
            })
    }

    @Test("a node that does not notice new owners is found")
    func staleMap() {
        #expect(
            finds("rest") { world in
                world.tamperEffects = { effects, world, node in
                    guard world.time > 4_000_000 else { return }
                    effects.removeAll { if case .owner(0, .some) = $0 { node == 0 } else { false } }
                }
            })
    }

    @Test("a node whose heartbeats report an epoch too low is found")
    func lowEpoch() {
        #expect(
            finds("rest") { world in
                world.tamper = { event, node in
                    guard case .local(let partition, var report) = event, report.role == .owning else {
                        return event
                    }
                    report.epoch = Epoch(1)
                    return .local(partition: partition, report)
                }
            })
    }

    @Test("a release that is never undone is found")
    func neverResumed() {
        #expect(
            finds("unserved", calm) { world in
                world.after(9_000_000) { $0.drain(0) }
                world.tamperEffects = { effects, _, _ in
                    effects.removeAll { if case .claim = $0 { world.time > 9_000_000 } else { false } }
                    effects.removeAll { if case .resume = $0 { true } else { false } }
                }
            })
    }

    @Test("a node that stops before it has handed over is found")
    func hasty() {
        #expect(
            finds("drain", calm) { world in
                var isDrained = false
                world.after(9_000_000) { $0.drain(0) }
                world.tamperEffects = { effects, world, node in
                    guard node == 0, world.nodes[0].isDraining else { return }
                    effects.removeAll { if case .release = $0 { true } else { false } }
                    if !isDrained { effects.append(.drained) }
                    isDrained = true
                }
            })
    }

    @Test("a node that reports as durable what it has only applied is found")
    func notDurable() {
        #expect(
            finds("purge") { world in
                world.tamper = { event, _ in
                    guard case .local(let partition, var report) = event else { return event }
                    report.durable = report.applied
                    return .local(partition: partition, report)
                }
            })
    }

    @Test("a node that never drains is found")
    func neverDrains() {
        #expect(
            finds("rest", calm) { world in
                world.after(9_000_000) { $0.drain(0) }
                world.tamper = { event, _ in if case .drain = event { nil } else { event } }
            })
    }

    @Test("partitions that are never moved to a node that joins are found")
    func unbalanced() {
        #expect(
            finds("rest") { world in
                world.tamperEffects = { effects, _, _ in
                    effects.removeAll { if case .release = $0 { true } else { false } }
                }
            })
    }

    @Test("a heartbeat that cannot be read is found")
    func unreadable() {
        #expect(
            finds("heartbeats") { world in
                world.tamperEffects = { effects, _, _ in
                    for index in effects.indices {
                        guard case .send(var heartbeat) = effects[index] else { continue }
                        heartbeat.name = ""
                        effects[index] = .send(heartbeat)
                    }
                }
            })
    }

    @Test("the worlds reach what they are made for")
    func coverage() {
        var counts: [String: Int] = [:]
        for seed in 0..<40 as Range<UInt64> {
            let world = MemberWorld(seed: seed, MembershipSimulationTests.settings(seed))
            world.tamperEffects = { effects, _, _ in
                for effect in effects {
                    let name = String("\(effect)".prefix { $0 != "(" })
                    counts[name, default: 0] += 1
                }
            }
            _ = world.run()
        }
        for name in ["claim", "abandon", "release", "resume", "drained", "owner", "member"] {
            #expect(counts[name, default: 0] > 2, "\(name): \(counts)")
        }
    }
}
