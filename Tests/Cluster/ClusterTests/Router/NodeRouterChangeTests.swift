import Basics
import Cluster
import ClusterLog
import Delivery
import Testing

/// Changes of the control plane that a router passes on.
extension NodeRouterTests {
    private func change() -> ControlChange {
        ControlChange(WriteBatch(batchNumber: 1, mutations: [], isDurable: false), of: partition)
    }

    /// A router that has sent a change of its own node, 1, to the owner, with the number of the change at that node.
    private func sent(_ count: Int = 1) throws -> (NodeRouter, UInt64) {
        var router = router()
        var effects: [NodeRouterEffect] = []
        let events: [NodeRouterEvent] = [.linked(two), .linked(three), .owner(partition: partition, two)]
        for event in events + (1...UInt64(count)).map({ .change(change(), $0) }) {
            router.handle(event, now: start, effects: &effects)
        }
        let numbers = effects.compactMap {
            if case .sendChange(_, let number, two) = $0 { number } else { nil }
        }
        #expect(numbers.count == count)
        return (router, try #require(numbers.first))
    }

    @Test("a change without an answer fails in time, and a written one counts although this node is behind")
    func overdueChanges() throws {
        var (router, number) = try sent(2)
        let written = NodeRouterEvent.receivedOutcome(number: number, at: LogPosition(9), from: two)
        #expect(pass([written], to: &router).isEmpty)
        let wait = Limits.ClusterHost.heldMilliseconds
        #expect(pass([.tick], to: &router, after: wait - 1).isEmpty)
        #expect(pass([.tick], to: &router, after: wait) == ["written"])
        #expect(pass([.tick], to: &router, after: Limits.NodeProtocol.answerMilliseconds) == ["failed"])
    }

    @Test("a change is written here, or by the owner; it counts once this node has applied its own position")
    func changes() throws {
        var router = router()
        #expect(pass([.change(change(), 1)], to: &router).isEmpty && router.changeCount == 1)
        #expect(pass([.took(partition: partition)], to: &router) == ["serve", "submit own"])
        #expect(pass([.completed(.here(1), at: LogPosition(4))], to: &router) == ["written"])
        var (other, number) = try sent()
        func outcome(_ node: NodeNumber) -> NodeRouterEvent {
            .receivedOutcome(number: number, at: LogPosition(9), from: node)
        }
        #expect(pass([outcome(three), outcome(two)], to: &other).isEmpty)
        #expect(pass([.applied(LogPosition(8), partition: partition)], to: &other).isEmpty)
        #expect(pass([.applied(LogPosition(9), partition: partition)], to: &other) == ["written"])
        #expect(other.changeCount == 0)
        _ = pass([.change(change(), 2)], to: &other)
        #expect(pass([.unlinked(two)], to: &other) == ["close sessions", "failed"])
    }

    @Test("a change that comes back goes to the next owner, until its time is over")
    func returnedChanges() throws {
        let limit = Limits.ClusterHost.heldMilliseconds
        for (elapsed, next) in [(0, ["change to 3"]), (limit - 1, ["change to 3"]), (limit, ["failed"])] {
            var (router, number) = try sent()
            let moves = NodeRouterEvent.owner(partition: partition, three)
            #expect(pass([moves], to: &router) == ["close sessions"])
            let back = [two, three].map { NodeRouterEvent.returnedChange(number: number, from: $0) }
            #expect(pass([back[1]], to: &router).isEmpty, "that node does not have it")
            #expect(pass(back, to: &router, after: elapsed) == next)
            #expect(pass(back, to: &router, after: elapsed).isEmpty, "it comes back once")
            #expect(router.changeCount == (next == ["failed"] ? 0 : 1))
        }
    }

    @Test("a change of another node is answered with the end of its frame, and is never passed on")
    func changesOfOthers() {
        var router = router()
        let asked = NodeRouterEvent.receivedChange(change(), number: 77, from: two)
        #expect(
            pass([.linked(two), .linked(three), .owner(partition: partition, three), asked], to: &router)
                == [])
        #expect(pass([.took(partition: partition)], to: &router) == ["serve", "submit of another"])
        let done = NodeRouterEvent.completed(.node(two, number: 77), at: LogPosition(6))
        #expect(pass([done], to: &router) == ["outcome 6 to 2"])
        // Who has asked finds the owner, once this node has had time to become it.
        _ = pass([.lost(partition: partition)], to: &router)
        #expect(pass([asked], to: &router).isEmpty)
        #expect(pass([.tick], to: &router) == ["return to 2"] && router.changeCount == 0)
        #expect(
            pass([.owner(partition: partition, nil), asked, .tick], to: &router) == ["close sessions"])
        #expect(pass([.owner(partition: partition, three)], to: &router) == ["return to 2"])
        _ = pass([.owner(partition: partition, nil), asked], to: &router)
        let limit = Limits.ClusterHost.heldMilliseconds
        #expect(pass([.tick], to: &router, after: limit) == ["outcome 0 to 2"])
    }
}
