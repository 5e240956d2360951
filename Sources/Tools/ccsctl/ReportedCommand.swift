import Basics
import Catalogue
import Operator
import Wire

/// A command with a text form of its answer.
protocol ReportedCommand: OperatorCommand {
    /// Returns the answer as text.
    static func text(of answer: Answer) -> String

    /// Returns a line that precedes the answer as text.
    static func text(of line: Line) -> String

    /// Returns the exit code for an answer, which may be a failure although the command itself succeeded.
    static func verdict(on answer: Answer) -> ExitCode
}

extension ReportedCommand {
    static func verdict(on answer: Answer) -> ExitCode { .success }

    static func text(of line: Line) -> String { Printable.json(OperatorReply(line).json.compact) + "\n" }
}
