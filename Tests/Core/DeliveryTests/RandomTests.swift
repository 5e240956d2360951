import Basics
import Delivery
import Testing

extension RandomWorld {
    /// Kills the process: unconfirmed changes may be lost, confirmed ones must survive.
    func crash(seed: UInt64) {
        bench.crash(seed: seed)
        waiting = [:]
        waitingUpstream = [:]
        appServers = []
        for at in devices.indices { drop(at) }
        for id in acknowledged.union(storedUpstream) where !bench.store.put.contains(id) {
            problems.append("lost by a crash: \(String(decoding: id, as: UTF8.self))")
        }
    }

    /// Ends the faults, reconnects all clients and answers everything: nothing may be left.
    func heal() {
        failures = false
        bench.settle()
        for at in devices.indices { login(at) }
        for _ in 0..<3 { addAppServer() }
        for at in appServers.indices where appServers[at].isCongested {
            appServers[at].isCongested = false
            bench.post(.appServerWritable(appServers[at].link, Harness.sender))
        }
        // Messages that could not be returned to their device are found again by the next search.
        bench.advance(milliseconds: Int64(Limits.Store.sweepMilliseconds))
        for _ in 0..<200 {
            bench.post(.tick)
            bench.settle()
            for at in devices.indices { comply(at) }
            for at in appServers.indices {
                for message in appServers[at].outstanding {
                    bench.post(
                        .upstreamFinished(
                            appServers[at].link, Harness.sender, message.sequence, .acknowledged))
                }
                appServers[at].outstanding = []
            }
            bench.advance(milliseconds: isThrottled ? 500 : 1)
        }
        bench.settle()
        if !waiting.isEmpty { problems.append("\(waiting.count) submissions never answered") }
        if !waitingUpstream.isEmpty { problems.append("\(waitingUpstream.count) upstream never answered") }
        if bench.store.downPending > 0 { problems.append("\(bench.store.downPending) never delivered") }
        if bench.store.upPending > 0 { problems.append("\(bench.store.upPending) upstream never delivered") }
        let receipts = bench.store.upstream.values.reduce(0) { $0 + $1.count } - bench.store.upPending
        if receipts > 0 { problems.append("\(receipts) receipts never delivered") }
        if !bench.store.missingReceipts.isEmpty {
            problems.append("\(bench.store.missingReceipts.count) receipts missing")
        }
        if !bench.store.holds { problems.append("the conservation law is broken at the end") }
        if bench.store.collisions > 0 {
            problems.append("\(bench.store.collisions) message keys were used twice")
        }
    }

    private func comply(_ at: Int) {
        guard let link = devices[at].link, !closed.contains(link) else { return login(at) }
        bench.post(
            .deviceAcknowledged(
                link, devices[at].device, devices[at].unacknowledged.map(\.sequence)))
        devices[at].unacknowledged = []
        bench.post(.deviceIdleChanged(link, devices[at].device, isIdle: false))
        bench.post(.deviceWritable(link, devices[at].device))
    }
}

@Suite struct RandomTests {
    @Test(
        "Random worlds lose, duplicate and leave no message",
        arguments: 0..<60 as Range<UInt64>)
    func anything(seed: UInt64) {
        let world = RandomWorld(seed: seed)
        for step in 0..<2_500 {
            world.step()
            if seed % 3 == 0, step % 700 == 699 { world.crash(seed: seed &* 31 &+ UInt64(step)) }
            if !world.problems.isEmpty { break }
        }
        if world.problems.isEmpty { world.heal() }
        #expect(world.problems.isEmpty, "seed \(seed): \(world.problems.prefix(3))")
    }

    @Test("Canary: a message removed from the store is detected")
    func canaryLoss() {
        let world = RandomWorld(seed: 1)
        for _ in 0..<500 { world.step() }
        guard let device = world.bench.store.messages.first(where: { !$0.value.isEmpty })?.key else {
            Issue.record("nothing was stored")
            return
        }
        world.bench.store.messages[device]?.removeFirst()
        world.step()
        #expect(world.problems.contains("the conservation law is broken"))
    }
}
