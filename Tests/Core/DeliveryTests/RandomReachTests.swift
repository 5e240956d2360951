import Basics
import Delivery
import Testing

/// What random worlds are meant to reach: events, answers, ends of messages and faults. The raw values of events and answers are
/// their labels.
enum WorldEvent: String, CaseIterable {
    // Events.
    case submitted = "device.submitted"
    case upstreamReceived = "device.upstreamReceived"
    case deviceLogin = "device.login"
    case deviceWritable = "device.writable"
    case deviceAcknowledged = "device.acknowledged"
    case deviceCongested = "device.congested"
    case deviceIdleChanged = "device.idleChanged"
    case deviceClosed = "device.closed"
    case messageFoundExpired = "message found expired"
    case register = "device.register"
    case unregister = "device.unregister"
    case appServerLogin = "sender.login"
    case appServerBound = "sender.bound"
    case appServerCongested = "sender.congested"
    case appServerWritable = "sender.writable"
    case appServerDraining = "sender.draining"
    case appServerClosed = "sender.closed"
    case upstreamFinished = "sender.upstreamFinished"
    case upstreamFoundExpired = "upstream message found expired"
    case tick = "partition.tick"
    case committed = "partition.committed"
    // Answers.
    case accepted = "submission accepted"
    case refused = "submission refused"
    case upstreamStored = "device upstreamStored"
    case upstreamRefused = "device upstreamRefused"
    case deliver = "device deliver"
    case deliverUpstream = "appServer deliver"
    case loginAccepted = "appServer loginAccepted"
    case deviceLoginAccepted = "device loginAccepted"
    case loginRefused = "device loginRefused"
    case reportWhenWritable = "device reportWhenWritable"
    case registered = "reply registered"
    case unregistered = "reply unregistered"
    case close = "connection close"
    // Ends of messages.
    case acceptedDown = "accepted down"
    case deliveredDown = "delivered down"
    case expiredDown = "expired down"
    case replacedDown = "replaced down"
    case discardedDown = "discarded down"
    case removedDown = "removed down"
    case acceptedUp = "accepted up"
    case deliveredUp = "delivered up"
    case expiredUp = "expired up"
    // Faults.
    case failedBatch = "failed batch"
    case failedLoad = "failed load"
    case crash
}

extension RandomWorld {
    /// Starts to count what the world reaches.
    func count() -> Counter {
        let counter = Counter()
        let observe = bench.observe
        bench.observe = { link, command in
            observe?(link, command)
            counter.count(command.label)
        }
        bench.observeEvent = { event in
            counter.count(event.label)
            if case .partition(.committed(let outcome)) = event, outcome.hasFailed {
                counter.tally.record(.failedBatch)
            }
            if case .partition(.loaded(.failed)) = event { counter.tally.record(.failedLoad) }
            guard case .partition(.loaded(.expired(let entries))) = event else { return }
            for entry in entries {
                if case .message = entry { counter.tally.record(.messageFoundExpired) }
                if case .upstream = entry { counter.tally.record(.upstreamFoundExpired) }
            }
        }
        return counter
    }

    final class Counter {
        var tally = ReachTally<WorldEvent>()

        func count(_ label: String) {
            if let event = WorldEvent(rawValue: label) { tally.record(event) }
        }

        /// Adds the counts of a store.
        func count(_ store: FakeStore) {
            tally.record(.acceptedDown, Int(store.down.accepted))
            tally.record(.deliveredDown, Int(store.down.delivered))
            tally.record(.expiredDown, Int(store.down.expired))
            tally.record(.replacedDown, Int(store.down.replaced))
            tally.record(.discardedDown, Int(store.down.discarded))
            tally.record(.removedDown, Int(store.down.removed))
            tally.record(.acceptedUp, Int(store.up.accepted))
            tally.record(.deliveredUp, Int(store.up.delivered))
            tally.record(.expiredUp, Int(store.up.expired))
        }
    }
}

@Suite struct RandomReachTests {
    @Test(
        "Twelve random worlds reach every kind of event, answer, end and fault, and leave nothing in progress"
    )
    func reach() throws {
        var reached = ReachTally<WorldEvent>()
        for seed in 0..<12 as Range<UInt64> {
            let world = RandomWorld(seed: seed)
            let counter = world.count()
            for step in 0..<1_500 {
                world.step()
                guard seed % 3 == 0, step % 700 == 699 else { continue }
                world.crash(seed: seed &* 31 &+ UInt64(step))
                counter.tally.record(.crash)
            }
            world.heal()
            #expect(world.problems.isEmpty, "seed \(seed): \(world.problems.prefix(3))")
            counter.count(world.bench.store)
            reached.add(counter.tally)
            try expectNothingUnderWay(in: world.bench)
        }
        // What only some of the twelve worlds can reach occurs a few times, the rest hundreds of times.
        #expect(reached.missing(below: 8).isEmpty, "\(reached)")
    }
}
