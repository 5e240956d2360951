import Basics
import Operator
import Wire

/// The commands and streams of the operator API that run, each of which has a thread.
///
/// Some places are kept: viewers leave some for operators, and streams, which last, leave some for short commands.
struct CommandPlaces {
    /// What takes a place.
    struct Kind: Hashable {
        /// The role of the operator.
        var role: Role
        /// Whether it is a stream of events, which lasts until its caller leaves.
        var isStream: Bool
    }

    private var byKind: [Kind: Int] = [:]
    private var byOperator: [String: Int] = [:]

    /// Takes a place for a command of an operator. Throws if there is no place left of its kind, or the operator has those of one.
    mutating func take(for name: String, _ kind: Kind) throws(APIProblem) {
        try require(Limits.OperatorAPI.commands, "commands and streams") { _ in true }
        if kind.isStream { try require(Limits.OperatorAPI.streams, "streams") { $0.isStream } }
        if kind.role == .viewer {
            try require(Limits.OperatorAPI.viewerCommands, "commands and streams of viewers") {
                $0.role == .viewer
            }
            if kind.isStream {
                try require(Limits.OperatorAPI.viewerStreams, "streams of viewers") {
                    $0.role == .viewer && $0.isStream
                }
            }
        }
        let own = byOperator[name, default: 0]
        guard own < Limits.OperatorAPI.commandsPerOperator else {
            throw .busy(
                "\(own) commands and streams of \(name) are running, which is the most for one operator",
                hint: "end some of them, or try again later")
        }
        byKind[kind, default: 0] += 1
        byOperator[name] = own + 1
    }

    private func require(_ most: Int, _ what: String, _ counts: (Kind) -> Bool) throws(APIProblem) {
        guard byKind.reduce(0, { counts($1.key) ? $0 + $1.value : $0 }) < most else {
            throw .busy("\(most) \(what) are running, which is the most")
        }
    }

    /// Frees the place of a command.
    mutating func free(for name: String, _ kind: Kind) {
        guard let own = byOperator[name], let others = byKind[kind] else {
            return assertionFailure("no command of \(name) is running")
        }
        byKind[kind] = others > 1 ? others - 1 : nil
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
