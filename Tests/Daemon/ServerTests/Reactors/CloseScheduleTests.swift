import Basics
import Testing

@testable import Server

/// The scheduled closes of drains, which share one timer.
@Suite("Close schedule")
struct CloseScheduleTests {
    private func entry(_ milliseconds: Int64, _ slot: UInt32, _ reason: CloseReason = .connectionDraining)
        -> CloseSchedule.Entry
    {
        CloseSchedule.Entry(
            at: Instant(nanoseconds: milliseconds * 1_000_000),
            connection: ConnectionID(reactor: 0, slot: slot, generation: 1), reason: reason)
    }

    private func time(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

    @Test("due entries are returned once, earliest first")
    func order() {
        var schedule = CloseSchedule()
        schedule.add([entry(30, 3), entry(10, 1), entry(20, 2)])
        #expect(schedule.next == time(10))
        #expect(schedule.takeDue(time(20)).map(\.connection.slot) == [1, 2])
        #expect(schedule.takeDue(time(25)).isEmpty)
        #expect(schedule.takeDue(time(99)).map(\.connection.slot) == [3])
        #expect(schedule.next == nil)
    }

    @Test("a schedule accepts more sessions than a reactor has timers, and repeated drains add nothing")
    func many() {
        var schedule = CloseSchedule()
        let all = (0..<UInt32(Limits.Connection.timersPerReactor * 2)).map { entry(Int64($0 % 1_000), $0) }
        for _ in 0..<3 { schedule.add(all) }
        #expect(schedule.takeDue(time(1_000)).count == all.count)
    }

    @Test("a later drain can bring a close forward, but not delay it")
    func again() {
        var schedule = CloseSchedule()
        schedule.add([entry(100, 1)])
        schedule.add([entry(50, 1, .systemShutdown)])
        schedule.add([entry(70, 1)])
        let due = schedule.takeDue(time(100))
        #expect(due.map(\.at) == [time(50)])
        #expect(due.map(\.reason) == [.systemShutdown])
    }

    @Test("canary: another generation of the same slot is another connection")
    func canary() {
        var schedule = CloseSchedule()
        var other = entry(10, 1)
        other.connection = ConnectionID(reactor: 0, slot: 1, generation: 2)
        schedule.add([entry(10, 1), other])
        #expect(schedule.takeDue(time(10)).count == 2)
    }
}
