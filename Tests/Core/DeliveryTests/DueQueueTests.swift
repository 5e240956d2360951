import Basics
import Delivery
import Testing

@Suite struct DueQueueTests {
    private func name(_ number: Int) -> RegistrationName {
        RegistrationName(device: DeviceID(1), number: RegistrationNumber(UInt64(number)))
    }

    private func instant(_ number: Int) -> Instant { Instant(nanoseconds: Int64(number)) }

    @Test("Entries come out in the order of their due times, and none early, when added in any order")
    func order() {
        for seed in 1...20 as ClosedRange<UInt64> {
            var random = SeededRandom(seed: seed)
            var queue = DueQueue()
            for number in (1...60).shuffled(using: &random) { queue.add(name(number), due: instant(number)) }
            #expect(queue.count == 60)
            for number in 1...60 {
                #expect(queue.popFirst(dueBy: instant(number - 1)) == nil)
                #expect(queue.popFirst(dueBy: instant(number)) == name(number))
            }
            #expect(queue.count == 0 && queue.popFirst(dueBy: instant(100)) == nil)
        }
    }

    @Test("Canary: an entry that is due later is not first")
    func canary() {
        var queue = DueQueue()
        queue.add(name(2), due: instant(2))
        queue.add(name(1), due: instant(1))
        #expect(queue.popFirst(dueBy: instant(5)) != name(2))
    }
}
