import Basics
import Operator
import Wire

/// The commands and streams of the operator API that run, each of which has a thread.
struct CommandPlaces {
    private var all = 0
    private var byOperator: [String: Int] = [:]

    /// Takes a place for a command of an operator. Throws if all places are taken, or the operator has those of one.
    mutating func take(for name: String) throws(APIProblem) {
        guard all < Limits.OperatorAPI.commands else {
            throw .busy("\(Limits.OperatorAPI.commands) commands and streams are running, which is the most")
        }
        let own = byOperator[name, default: 0]
        guard own < Limits.OperatorAPI.commandsPerOperator else {
            throw .busy(
                "\(own) commands and streams of \(name) are running, which is the most for one operator",
                hint: "end some of them, or try again later")
        }
        all += 1
        byOperator[name] = own + 1
    }

    /// Frees the place of a command.
    mutating func free(for name: String) {
        guard let own = byOperator[name] else {
            return assertionFailure("no command of \(name) is running")
        }
        all -= 1
        byOperator[name] = own > 1 ? own - 1 : nil
    }
}

extension APIProblem {
    /// The server cannot run one more command now.
    static func busy(_ text: String, hint: String = "try again later") -> APIProblem {
        var problem = APIProblem(.unavailable, text, hint: hint)
        problem.header = ("Retry-After", String(Limits.OperatorAPI.retrySeconds))
        return problem
    }
}
