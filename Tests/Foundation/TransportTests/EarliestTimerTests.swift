import Basics
import Testing
import Transport

@Suite("A timer that fires at the earliest instant") struct EarliestTimerTests {
    @Test("it fires once for several instants, with the closure of the earliest, and can be set again")
    func fires() throws {
        let reactor = try Reactor(index: 0)
        defer { reactor.end() }
        let timer = EarliestTimer(reactor)
        var fired: [String] = []
        func set(_ name: String, after milliseconds: Int64) {
            timer.set(at: Now.read().monotonic.advanced(milliseconds: milliseconds)) { _ in fired.append(name)
            }
        }
        func turn(until count: Int) {
            while fired.count < count { reactor.turn(waitMilliseconds: 20) }
        }
        set("late", after: 600_000)
        set("early", after: 20)
        set("between", after: 300_000)
        turn(until: 1)
        set("again", after: 20)
        turn(until: 2)
        #expect(fired == ["early", "again"])
    }
}
