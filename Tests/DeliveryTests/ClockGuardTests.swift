import Basics
import Testing

@testable import Delivery

@Suite("the judgement of a clock")
struct ClockGuardTests {
    private func machine(_ seconds: Int, wall: UnixMilliseconds) -> Now {
        Now(monotonic: Instant(nanoseconds: 0).advanced(seconds: seconds), wall: wall)
    }

    @Test("a clock that is accepted is believed at once, also for a reading that was made before")
    func accepted() {
        let noon: UnixMilliseconds = 1_795_000_000_000
        let ahead = noon + 400 * 86_400_000
        for witness in [ClockWitness.operator, .device] {
            var clock = ClockGuard(mark: noon)
            let doubted = clock.read(machine(10, wall: ahead), grace: 0)
            #expect(doubted.wall == noon && clock.doubt == .ahead(milliseconds: ahead - noon))
            let isAccepted = clock.accept(machine(10, wall: ahead), by: witness)
            let believed = clock.read(machine(10, wall: ahead), grace: 0)
            #expect(isAccepted && believed.wall == ahead && clock.doubt == nil)
        }
    }
}
