import Basics
import Testing

@testable import Delivery

/// Which way the events of a partition go at its reactor.
@Suite("the door of a partition") struct PartitionDoorTests {
    private func event(_ number: UInt32) -> Event {
        .forgetDevice(
            DeviceID(1),
            Requester(connection: ConnectionID(reactor: 0, slot: 0, generation: 1), requestID: number))
    }

    private func numbers(_ events: [Event]?) -> [UInt32]? {
        events?.map { event in
            if case .device(_, .forget(let requester)) = event { requester.requestID } else { 0 }
        }
    }

    @Test("a partition that is taken gets what it had passed on first, and later events behind it")
    func taken() {
        var door = PartitionDoor()
        #expect(door.way(isPassedBack: false) == .passOn && door.way(isPassedBack: true) == .passOn)
        let isFree = door.take()
        #expect(isFree)
        #expect(door.way(isPassedBack: false) == .passOn, "earlier events are still with the thread")
        #expect(door.way(isPassedBack: true) == .serve)
        door.fencePassed()
        #expect(door.way(isPassedBack: false) == .serve)
        door.fencePassed()
        #expect(door.way(isPassedBack: false) == .serve)
    }

    @Test("a partition that comes back before its place is free keeps its events, in order")
    func returning() {
        var door = PartitionDoor()
        _ = door.take()
        door.fencePassed()
        let left = door.leave()
        #expect(left.isEmpty && door.way(isPassedBack: true) == .passOn)
        let isFree = door.take()
        #expect(!isFree && door.way(isPassedBack: true) == .keep)
        for number: UInt32 in [1, 2] { door.keep(event(number)) }
        let kept = door.becomeFree()
        #expect(numbers(kept) == [1, 2])
        #expect(door.way(isPassedBack: true) == .serve && door.way(isPassedBack: false) == .passOn)
    }

    @Test("a partition that leaves again passes on what it has kept")
    func leavesAgain() {
        var door = PartitionDoor()
        _ = door.take()
        _ = door.leave()
        _ = door.take()
        door.keep(event(1))
        let kept = door.leave()
        #expect(numbers(kept) == [1])
        let none = door.becomeFree()
        #expect(numbers(none) == nil && door.way(isPassedBack: true) == .passOn)
    }
}
