import Basics
import Delivery
import Operator

/// The commands for the machine's clock.
extension ControlServer {
    func showClock() -> ShowClock.Answer {
        let now = Now.read()
        let state = daemon.clock.current
        var answer = ShowClock.Answer(
            time: now.wall, isInDoubt: state != nil, problem: state?.doubt.text)
        if let end = state?.graceEnds {
            answer.trustedInSeconds = Int(max(0, end.milliseconds(since: now.monotonic)) / 1_000)
        }
        return answer
    }

    func acceptClock() throws(OperatorProblem) -> AcceptClock.Answer {
        let now = Now.read()
        guard ClockGuard.isPossible(now.wall) else {
            throw OperatorProblem(
                "the clock shows \(Timestamp.text(now.wall)), which is outside of 2023 to 2099",
                hint: "set the clock of the machine first, then repeat the command if it is still in doubt")
        }
        let wasInDoubt = daemon.clock.current != nil
        _ = try ask { $0.acceptClock() }
        return AcceptClock.Answer(wasInDoubt: wasInDoubt, time: now.wall)
    }
}
