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

    @Test(
        "a device that agrees with the time before a jump as well confirms nothing, up to the last millisecond"
    )
    func confirmation() {
        let noon: UnixMilliseconds = 1_795_000_000_000
        let agreement = Int64(Limits.Clock.agreementSeconds) * 1_000
        let jump = 400 * 86_400_000 as Int64
        var clock = ClockGuard(mark: nil)
        _ = clock.read(machine(10, wall: noon), grace: 0)
        _ = clock.read(machine(11, wall: noon + 1_000 + jump), grace: 0)
        let (core, now) = (noon + 1_000, noon + 1_000 + jump)
        for (device, isConfirmed) in [
            (now, true), (now + agreement, true), (now + agreement + 1, false), (now - agreement, true),
            (core, false), (core + agreement, false), (core + agreement + 1, false),
        ] {
            #expect(clock.isConfirmed(by: device, madeAt: noon - 1) == isConfirmed, "\(device - now)")
        }
        #expect(!clock.isConfirmed(by: now, madeAt: noon + 1_000), "it was made after the jump")
        // After a jump of an hour, a device that is not ahead of it agrees with both times.
        var hour = ClockGuard(mark: nil)
        _ = hour.read(machine(10, wall: noon), grace: 0)
        _ = hour.read(machine(11, wall: core + agreement), grace: 0)
        #expect(!hour.isConfirmed(by: core + agreement, madeAt: noon - 1))
        #expect(hour.isConfirmed(by: core + agreement + 1, madeAt: noon - 1))
    }
}
