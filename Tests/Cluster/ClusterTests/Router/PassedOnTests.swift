import Basics
import Delivery
import Testing

@testable import Cluster

/// What a node passes on for others; who gets it is tested with the router.
@Suite("requests that are passed on") struct PassedOnTests {
    private func event(_ number: UInt32) -> Event {
        let connection = ConnectionID(node: 2, reactor: 0, slot: 0, generation: 1)
        return .forgetDevice(DeviceID(7), Requester(connection: connection, requestID: number))
    }

    @Test("they are limited, and count until they come back or their node has given them up")
    func limit() {
        var passedOn = PassedOn()
        let now = Instant(nanoseconds: 1)
        func pass(_ number: UInt32) -> Bool { passedOn.pass(event(number), of: 0, from: NodeNumber(1), now) }
        let limit = UInt32(Limits.ClusterHost.heldEvents)
        #expect((0..<limit).allSatisfy(pass) && !pass(limit))
        #expect(passedOn.receive(event(5), of: 1) == .none, "of another partition")
        #expect(passedOn.receive(event(5), of: 0) == .inOrder)
        #expect(passedOn.receive(event(5), of: 0) == .none, "it is here")
        #expect(pass(limit) && !pass(5))
        passedOn.expire(now.advanced(milliseconds: Limits.NodeProtocol.answerMilliseconds - 1))
        #expect(passedOn.count == limit)
        passedOn.expire(now.advanced(milliseconds: Limits.NodeProtocol.answerMilliseconds))
        #expect(passedOn.count == 0)
    }
}
