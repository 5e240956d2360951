import Basics
import Delivery
import History
import Testing

/// Random histories against the plain list of their steps.
@Suite struct HistoryRandomTests {
    private static let details = ["", "", "", "now_or_never", "device_rate_exceeded", "apns"]

    /// Draws one of a few sessions, also of high numbers, or none.
    private func session(_ random: inout SeededRandom) -> SessionID? {
        guard random.next() % 2 == 0 else { return nil }
        let nodes: [UInt16] = [0, 0, 1, 14, 15, .max]
        let reactors: [UInt16] = [0, 1, 15, 16]
        return SessionID(
            node: nodes[Int(random.next() % 6)], reactor: reactors[Int(random.next() % 4)],
            generation: random.next() % 8 == 0 ? .max : UInt32(random.next() % 3))
    }

    /// Draws steps of a few hundred messages of a few devices in random order and batches.
    private func world(_ random: inout SeededRandom, batches: Int) -> (HistoryWorld, ids: [String]) {
        let world = HistoryWorld()
        var ids: [String] = []
        var open: [(HistoryStep, Int)] = []
        var clock: Int64 = 1_700_000_000_000
        for _ in 0..<batches {
            var steps: [HistoryWorld.Given] = []
            for _ in 0..<Int(random.next() % 300) {
                clock += Int64(random.next() % 5)
                if !open.isEmpty, random.next() % 3 > 0 {
                    let at = Int(random.next() % UInt64(open.count))
                    open[at].0.time = clock
                    open[at].0.step = TraceRecord.Step.byCode[2 + Int(random.next() % 12)]
                    open[at].0.session = session(&random)
                    steps.append(
                        .init(
                            step: open[at].0, id: "",
                            detail: Self.details[Int(random.next() % UInt64(Self.details.count))]))
                    open[at].1 -= 1
                    if open[at].1 == 0 { open.remove(at: at) }
                    continue
                }
                let kind = HistoryStep.Kind(rawValue: UInt8(random.next() % 5)) ?? .downstream
                var step = HistoryStep(kind, .stored, at: clock)
                step.device = kind == .topic || kind == .group ? 0 : random.next() % 4 * 0x0123_4567_89ab + 1
                step.sender = random.next() % 3 + 1
                step.registration = random.next() % 3
                step.salt = UInt32(truncatingIfNeeded: random.next() % 3)
                // Partitions count alike, so positions of several mailboxes are equal.
                step.sequence = random.next() % 8 == 0 ? 0 : UInt64(clock) * 1_000 + random.next() % 2
                if open.contains(where: { $0.0.owner == step.owner && $0.0.sequence == step.sequence }) {
                    continue
                }
                if world.given.contains(where: {
                    $0.step.owner == step.owner && $0.step.sequence == step.sequence
                })
                    || steps.contains(where: {
                        $0.step.owner == step.owner && $0.step.sequence == step.sequence
                    })
                {
                    continue
                }
                let id = random.next() % 10 == 0 ? ids.last ?? "first" : "m-\(random.next() % 1_000_000)"
                ids.append(id)
                steps.append(.init(step: step, id: id, detail: ""))
                if step.sequence != 0 { open.append((step, 1 + Int(random.next() % 40))) }
            }
            world.write(steps)
            if random.next() % 4 == 0 { world.roll() }
        }
        return (world, ids)
    }

    @Test(arguments: 0..<6) func aSearchFindsWhatTheListHas(_ round: Int) {
        let state = UInt64.random(in: 0...UInt64.max)
        var random = SeededRandom(seed: state)
        let (world, ids) = world(&random, batches: 12)
        var search = world.search()
        for id in Set(ids).union(["absent"]) {
            let found = search.messages(MessageName(Array(id.utf8)), limit: 1_000).messages
            let expected = world.expected(id: id)
            #expect(found.count == expected.count, "\(id) \(state)")
            for message in expected {
                #expect(found.contains { HistoryWorld.expected($0) == message }, "\(id) \(message) \(state)")
            }
        }
        #expect(search.damaged == 0)
    }

    @Test func aPageOfADeviceHasEachMessageOnce() {
        var random = SeededRandom(seed: UInt64.random(in: 0...UInt64.max))
        let (world, _) = world(&random, batches: 12)
        for device in Set(world.given.map(\.step.device)) where device != 0 {
            var search = world.search()
            var positions: [HistoryPosition] = []
            var before: HistoryPosition?
            repeat {
                let page = search.messages(device: device, registration: nil, before: before, limit: 7)
                positions += page.messages.map(\.position)
                before = page.next
            } while before != nil
            #expect(positions == positions.sorted(by: >))
            let messages = Set(
                world.given.filter { $0.step.device == device && $0.step.sequence != 0 }.map {
                    "\($0.step.kind) \($0.step.owner) \($0.step.sequence)"
                })
            let single = world.given.count { $0.step.device == device && $0.step.sequence == 0 }
            #expect(positions.count == messages.count + single)
        }
    }

    @Test("canary: the list differs if a step is missing") func theListDiffersIfAStepIsMissing() {
        let world = HistoryWorld()
        world.write([HistoryWorld.step(.stored, sequence: 5, id: "a")])
        let found = world.search().finding("a")
        world.given.append(HistoryWorld.step(.delivered, sequence: 5))
        #expect(found.map(HistoryWorld.expected) != world.expected(id: "a"))
    }
}

extension HistorySearch {
    /// Returns the messages with an ID.
    func finding(_ id: String) -> [HistoryMessage] {
        var search = self
        return search.messages(MessageName(Array(id.utf8)), limit: 100).messages
    }
}
