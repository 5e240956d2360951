import Basics
import Delivery
import Operator

/// The commands for the machine's clock and for the clock of tests.
extension ControlServer {
    func showClock() -> ShowClock.Answer {
        let now = daemon.clock.now()
        let state = daemon.clock.current
        var answer = ShowClock.Answer(
            time: now.wall, testClock: testClockRow, isInDoubt: state != nil, problem: state?.doubt.text)
        if let end = state?.graceEnds {
            answer.trustedInSeconds = Int(max(0, end.milliseconds(since: now.monotonic)) / 1_000)
        }
        return answer
    }

    func acceptClock() throws(OperatorProblem) -> AcceptClock.Answer {
        let now = daemon.clock.serverTime(.read())
        guard ClockGuard.isPossible(now.wall) else {
            throw OperatorProblem(
                "the clock shows \(Timestamp.text(now.wall)), which is outside of 2023 to 2099",
                hint: "set the clock of the machine first, then repeat the command if it is still in doubt")
        }
        let wasInDoubt = daemon.clock.current != nil
        _ = try ask { $0.acceptClock() }
        return AcceptClock.Answer(wasInDoubt: wasInDoubt, time: now.wall)
    }

    /// The clock for tests. `nil` if it is off.
    var testClockRow: TestClockRow? {
        guard daemon.testClock != nil else { return nil }
        let now = daemon.clock.now()
        return TestClockRow(
            time: now.wall, machineTime: now.machineWall, advancedSeconds: Int(now.advance / 1_000))
    }

    /// Moves the time forward; when it returns, every partition has begun what is due.
    func advanceClock(_ command: AdvanceClock) throws(OperatorProblem) -> TestClockRow {
        guard let clock = daemon.testClock else {
            throw OperatorProblem(
                "the test clock is off", hint: "set test_clock to true and restart ccsd, for tests only")
        }
        guard daemon.clock.current == nil else {
            throw OperatorProblem(
                "the clock is in doubt, so nothing expires",
                hint: "see ccsctl clock show, and accept it first with ccsctl clock accept")
        }
        try clock.advance(seconds: command.seconds)
        daemon.gateways.webhooks.clockAdvanced()
        _ = try ask { $0.clockAdvanced() }
        guard let row = testClockRow else { throw OperatorProblem("the test clock is off", hint: "") }
        return row
    }
}
