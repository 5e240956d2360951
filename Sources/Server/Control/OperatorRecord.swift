import Basics
import Operator

/// The audit line of an operator command in the log: the caller, the arguments and the result.
///
/// It contains only names and IDs: no key, no payload, and a device number instead of a registration token.
struct OperatorRecord {
    /// The name of the command; `unknown` for an invalid one.
    let command: String
    /// The recorded arguments in the order of their keys.
    let named: [(name: String, value: String)]
    /// `ok`, `refused`, or the error code of a message.
    let result: String
    /// The reason of a refusal; empty otherwise.
    let problem: String
    /// Whether the audit log keeps the line: the command changes data, needs the role of an operator, or was refused or invalid.
    let isKept: Bool

    /// The outcome of a command.
    enum Outcome {
        /// The command was run, with this result for the audit line.
        case done(String)
        case refused(OperatorProblem)
    }

    /// Creates the line of a command.
    init(_ request: OperatorRequest, _ outcome: Outcome, seal: TokenSeal) {
        command = request.name.rawValue
        named = request.auditEntries.map { entry in
            switch entry.value {
            case .text(let text): (entry.key.rawValue, text)
            case .recipient(let text): (entry.key.rawValue, Self.target(text.revealed, seal))
            }
        }
        switch outcome {
        case .done(let result):
            self.result = result
            problem = ""
            let summary = request.name.definition.summary
            isKept = summary.isChanging || summary.role == .operator || result != "ok"
        case .refused(let problem):
            result = "refused"
            self.problem = problem.text
            isKept = true
        }
    }

    /// Creates the line of a command that the role of its caller does not permit, without its arguments.
    init(refused name: OperationName, _ problem: OperatorProblem) {
        command = name.rawValue
        named = []
        result = "refused"
        self.problem = problem.text
        isKept = true
    }

    /// Creates the line of an invalid request, without any of its content.
    init(_ problem: RequestProblem) {
        command = problem.operation?.rawValue ?? "unknown"
        named = []
        result = "refused"
        self.problem = problem.recordedText
        isKept = true
    }

    /// Returns the recipient for the log: a token grants its device's access, so it is replaced by the device's number.
    private static func target(_ text: String, _ seal: TokenSeal) -> String {
        if UInt64(text) != nil || text.hasPrefix("/topics/") { return text }
        let bytes = Array(text.utf8)
        if let name = seal.name(of: bytes.raw) { return "\(name.device.number)" }
        if let group = seal.group(of: bytes.raw) { return "group \(group.number)" }
        return "malformed"
    }

    /// The recorded arguments as text.
    var arguments: String {
        named.map { "\($0.name)=\(Printable.text($0.value))" }.joined(separator: " ")
    }

    /// Writes the line, which is never suppressed, even if there are many commands.
    func write(_ caller: ControlCaller, _ log: Log) {
        log.record(
            .notice, "operator_command",
            [
                "user": caller.user, "pid": caller.process, "command": .text(command),
                "arguments": .text(arguments), "result": .text(result), "problem": .text(problem),
            ])
    }
}
