import Basics
import Delivery
import Wire

/// What an operator sees of the machine's clock, and says of it.
extension ControlServer {
    func showClock(_ request: Request) -> JSONValue {
        let now = Now.read()
        let state = daemon.clock.current
        var members: [JSONValue.Member] = [
            .init("time", .string(Timestamp.text(now.wall))), .init("in_doubt", .boolean(state != nil)),
        ]
        if let state { members.append(.init("problem", .string(state.doubt.text))) }
        if let end = state?.graceEnds {
            members.append(
                .init(
                    "believed_in_seconds",
                    .integer(Int(max(0, end.milliseconds(since: now.monotonic)) / 1_000))))
        }
        return .object(members)
    }

    func acceptClock(_ request: Request) throws(Problem) -> JSONValue {
        let now = Now.read()
        guard ClockGuard.isPossible(now.wall) else {
            throw Problem(
                text: "the clock shows \(Timestamp.text(now.wall)), which cannot be",
                hint: "set the clock of the machine first; then it is believed by itself or by this command")
        }
        let wasInDoubt = daemon.clock.current != nil
        for latch in mailboxes.ask({ $0.acceptClock() }) {
            guard latch.wait() != nil else {
                throw Problem(
                    text: "a reactor did not answer in \(Limits.controlAnswerSeconds) s",
                    hint: "see the log of ccsd")
            }
        }
        return .object([
            .init("accepted", .boolean(wasInDoubt)), .init("time", .string(Timestamp.text(now.wall))),
        ])
    }
}
