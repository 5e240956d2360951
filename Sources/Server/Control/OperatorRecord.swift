import Basics
import Operator

/// The audit line that each operator command leaves in the log: who gave it, for what, and how it ended.
///
/// It holds names and IDs only: no key, no payload, and a device instead of a registration token.
struct OperatorRecord {
    /// The command; `unknown` for one that is none.
    let command: String
    /// The arguments that name something, in the order of their words.
    let named: [(name: String, value: String)]
    /// `ok`, `refused`, or what became of a message.
    let result: String
    /// Why it was refused; empty otherwise.
    let problem: String

    /// How a command ended.
    enum Outcome {
        /// It was carried out; how the audit line reports its answer.
        case done(String)
        /// It was refused.
        case refused(OperatorProblem)
    }

    /// The line of a command.
    init(_ request: OperatorRequest, _ outcome: Outcome, seal: TokenSeal) {
        command = request.name.rawValue
        named = request.auditEntries.map { entry in
            switch entry.value {
            case .text(let text): (entry.word.rawValue, text)
            case .recipient(let text): (entry.word.rawValue, Self.target(text.revealed, seal))
            }
        }
        switch outcome {
        case .done(let result):
            self.result = result
            problem = ""
        case .refused(let problem):
            result = "refused"
            self.problem = problem.text
        }
    }

    /// The line of a request that is no command, without anything that it held.
    init(_ problem: RequestProblem) {
        command = problem.operation?.rawValue ?? "unknown"
        named = []
        result = "refused"
        self.problem = problem.recordedText
    }

    /// What a message or a command was for: a token allows what its device allows, so its device stands in the log instead.
    private static func target(_ text: String, _ seal: TokenSeal) -> String {
        if UInt64(text) != nil || text.hasPrefix("/topics/") { return text }
        let bytes = Array(text.utf8)
        if let name = seal.name(of: bytes.raw) { return "\(name.device.number)" }
        if let group = seal.group(of: bytes.raw) { return "group \(group.number)" }
        return "malformed"
    }

    /// Writes it; nothing holds it back, however many commands there are.
    func write(_ caller: ControlCaller, _ log: Log) {
        var text = ""
        for (name, value) in named { text += (text.isEmpty ? "" : " ") + "\(name)=\(Printable.text(value))" }
        log.record(
            .notice, "operator_command",
            [
                "user": caller.user, "pid": caller.process, "command": .text(command),
                "arguments": .text(text), "result": .text(result), "problem": .text(problem),
            ])
    }
}
