import APNsGateway
import Basics
import Delivery
import Testing
import Wire

/// Connections, their queue, and what is sent again.
@Suite("the gateway and its connections")
struct GatewayConnectionTests {
    @Test("a request that Apple has not processed is sent again five times, then comes back later")
    func resends() {
        let (desk, _) = GatewayDesk.connected()
        var effects = desk.deliver(1)
        var sends = 0
        while let send = effects.sends.first, sends < 100 {
            sends += 1
            effects = desk.fail(send, .unprocessed)
        }
        #expect(sends == 1 + Limits.APNsGateway.resends && effects.waits.count == 1)
    }

    @Test("a request that Apple may have processed is not sent again at once")
    func uncertain() {
        let (desk, _) = GatewayDesk.connected()
        let send = desk.deliver(1).sends.first
        let effects = desk.fail(send, .connectionEnded)
        #expect(effects.sends.isEmpty && effects.waits == [1_000])
    }

    @Test(
        "a request that ends a new connection is an attempt, and not tried on another one at once",
        arguments: [(429, "TooManyProviderTokenUpdates"), (400, "IdleTimeout")])
    func parked(status: Int, reason: String) {
        let desk = GatewayDesk()
        _ = desk.feed(.credentials([Samples.certificate()]))
        let send = desk.open(desk.deliver(1)).sends.first
        let effects = desk.answer(send, status, reason)
        let verdict = APNsVerdict(status: status, reason: reason)
        #expect(effects.outcomes == [.later(milliseconds: 1_000, APNsRefusal(.unavailable, verdict))])
        #expect(effects.opens.isEmpty)
    }

    @Test("what is sent again goes before what waits")
    func order() {
        let (desk, _) = GatewayDesk.connected(streams: 1)
        let first = desk.deliver(1).sends.first
        _ = desk.deliver(2)
        let again = desk.fail(first, .unprocessed).sends
        #expect(again.map(\.request.id) == ["1"])
        let next = desk.answer(again.first, 200).sends
        #expect(next.map(\.request.id) == ["2"])
    }

    @Test("a late answer to an earlier request answers no later one")
    func numbers() {
        let (desk, _) = GatewayDesk.connected()
        let first = desk.deliver(1).sends.first
        _ = desk.fail(first, .noAnswer)
        let second = desk.deliver(2).sends.first
        #expect(second != nil && second?.requestNumber != first?.requestNumber)
        #expect(desk.answer(first, 200).answers.isEmpty)
        #expect(desk.answer(second, 200).outcomes == [.accepted(.production)])
    }

    @Test("a server that allows fewer requests than are in flight gets no more until there is room")
    func fewerStreams() {
        let (desk, id) = GatewayDesk.connected()
        let sends = (1...3 as ClosedRange<UInt64>).compactMap { desk.deliver($0).sends.first }
        _ = desk.feed(.streams(id, available: -2))
        #expect(desk.deliver(4).sends.isEmpty && desk.answer(sends[0], 200).sends.isEmpty)
        #expect(desk.answer(sends[1], 200).sends.isEmpty)
        #expect(desk.answer(sends[2], 200).sends.map(\.request.id) == ["4"])
    }

    @Test("after a failed connect nothing is attempted for a while, and deliveries come back when it may be")
    func pace() {
        let desk = GatewayDesk()
        _ = desk.feed(.credentials([Samples.certificate()]))
        for wait in [1_200, 2_400, 4_800] as [Int64] {
            let asked = desk.deliver(1)
            guard let id = asked.opens.first?.connection else {
                Issue.record("no connection is opened")
                return
            }
            #expect(desk.feed(.openFailed(id, .unreachable)).waits.count == 1)
            let early = desk.deliver(2)
            #expect(early.opens.isEmpty && early.waits.allSatisfy { $0 >= wait * 10 / 12 })
            #expect(early.waits.count == 1)
            _ = desk.pass(milliseconds: wait)
        }
    }

    @Test("the end of a connection that has worked delays nothing")
    func provenEnd() {
        let (desk, id) = GatewayDesk.connected()
        _ = desk.feed(.closed(id))
        #expect(desk.deliver(1).opens.count == 1)
    }

    @Test("a connection of a day has one successor")
    func rotation() {
        let (desk, id) = GatewayDesk.connected()
        #expect(desk.pass(milliseconds: Int64(Limits.APNsGateway.rotationSeconds) * 1_000).opens.count == 1)
        #expect(desk.pass(milliseconds: 100).opens.isEmpty, "it is not open yet")
        let send = desk.deliver(1).sends.first
        #expect(send?.connection == id)
    }

    @Test("after GOAWAY, what is in flight has ten seconds")
    func leaving() {
        let (desk, id) = GatewayDesk.connected()
        _ = desk.deliver(1)
        #expect(desk.feed(.leaving(id, reason: [])).closes.isEmpty)
        #expect(desk.pass(milliseconds: 9_999).closes.isEmpty)
        let end = desk.pass(milliseconds: 1)
        #expect(end.closes.map(\.connection) == [id] && end.waits == [1_000])
    }

    @Test("what has waited for a stream for 30 seconds comes back later")
    func overdue() {
        let (desk, _) = GatewayDesk.connected(streams: 1)
        _ = desk.deliver(1)
        _ = desk.deliver(2)
        #expect(desk.pass(milliseconds: 29_999).answers.isEmpty)
        #expect(desk.pass(milliseconds: 1).answers.map(\.sequence.number) == [2])
    }

    @Test("a drain gives up after ten seconds")
    func drain() {
        let (desk, id) = GatewayDesk.connected()
        _ = desk.deliver(1)
        _ = desk.feed(.drain)
        #expect(desk.pass(milliseconds: 9_999).closes.isEmpty && !desk.isDrained)
        let end = desk.pass(milliseconds: 1)
        #expect(end.closes.map(\.connection) == [id] && end.waits.count == 1 && desk.isDrained)
    }
}
