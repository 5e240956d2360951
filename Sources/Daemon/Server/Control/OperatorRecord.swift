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
    /// Whether the audit log keeps the line: the command changes data or exports it, whatever its result, or its caller has not the
    /// role for it.
    let isKept: Bool

    /// Whether the command was refused or invalid.
    var isRefused: Bool { result == Self.refused }

    private static let refused = "refused"

    /// The outcome of a command.
    enum Outcome {
        /// The command was run, with this result for the audit line.
        case done(String)
        case refused(OperatorProblem)
    }

    /// Creates the line of a command.
    init(_ request: any OperatorCommand, _ outcome: Outcome, seal: TokenSeal) {
        command = type(of: request).summary.name
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
        case .refused(let problem):
            result = Self.refused
            self.problem = problem.text
        }
        isKept = Self.isKept(type(of: request))
    }

    /// Creates the line of a command that the role of its caller does not permit, without its arguments.
    init(refused operation: any OperatorCommand.Type, _ problem: OperatorProblem) {
        command = operation.summary.name
        named = []
        result = Self.refused
        self.problem = problem.text
        isKept = true
    }

    /// Creates the line of an invalid request, without any of its content.
    init(_ problem: RequestProblem) {
        command = problem.operation?.summary.name ?? "unknown"
        named = []
        result = Self.refused
        self.problem = problem.recordedText
        isKept = problem.operation.map { Self.isKept($0) } ?? true
    }

    /// Creates the line for refusals that have no lines of their own.
    init(leftOut: RefusalLimit.LeftOut) {
        command = "several"
        named = []
        result = Self.refused
        isKept = leftOut.kept > 0
        let count = isKept ? leftOut.kept : leftOut.count
        problem =
            "\(count) more refused within \(Limits.OperatorAPI.refusalSeconds) s, beyond the \(Limits.OperatorAPI.recordedRefusals) of a caller that are recorded"
    }

    /// Whether the audit log keeps a command: one that only reads would soon be most of the log, since programs repeat it. An export
    /// is kept all the same, since it hands out the digests of all keys.
    private static func isKept(_ operation: any OperatorCommand.Type) -> Bool {
        operation is ExportRecords.Type || operation.summary.isChanging
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

    /// Writes the line, which the log never suppresses, even if there are many commands.
    func write(_ caller: ControlCaller, _ log: Log) {
        log.record(
            .notice, "operator_command",
            [
                "user": caller.user, "pid": caller.process, "command": .text(command),
                "arguments": .text(arguments), "result": .text(result), "problem": .text(problem),
            ])
    }
}
