/// Why a command was not carried out, and what to do instead.
public struct OperatorProblem: Error, Sendable, Equatable {
    /// What is wrong, without a full stop.
    public var text: String
    /// What to do instead; empty where there is nothing to say.
    public var hint: String

    /// A problem.
    public init(_ text: String, hint: String = "") {
        self.text = text
        self.hint = hint
    }
}

/// Why a request is no command.
public struct RequestProblem: Error, Sendable {
    /// The operation that was asked for; `nil` if there is none of that name.
    public let operation: OperationName?
    /// The answer to the caller.
    public let problem: OperatorProblem
    /// The same without anything that the caller wrote: a secret may stand in the wrong place.
    public let recordedText: String

    init(_ text: String, hint: String) {
        operation = nil
        problem = OperatorProblem(text, hint: hint)
        recordedText = ""
    }

    init(_ fault: FieldProblem, in operation: OperationName) {
        self.operation = operation
        problem = OperatorProblem(fault.text, hint: fault.hint)
        recordedText = fault.recordedText
    }
}
