import Basics
import Operator
import Synchronization
import Wire

/// What only the operator API needs of the commands.
extension ControlServer {
    /// Sends the figures every second until the caller has left.
    func sendFigures(until left: Latch<Bool>, _ send: (OperatorReply) -> Void) {
        repeat {
            send(.line(name: EventStream.figures, recentFigures()))
        } while left.wait(milliseconds: Limits.OperatorAPI.figuresMilliseconds) == nil
    }

    /// The figures, which all streams share if they are recent.
    private func recentFigures() -> JSONValue {
        let now = Now.read().monotonic
        return figures.withLock { figures in
            if let figures, now.milliseconds(since: figures.at) < Limits.OperatorAPI.figuresMilliseconds / 2 {
                return figures.json
            }
            let json = showFigures().json
            figures = (now, json)
            return json
        }
    }
}
