/// Why a command failed, and what to do instead.
public struct OperatorProblem: Error, Sendable, Equatable {
    /// What is wrong, without a full stop.
    public var text: String
    /// What to do instead; may be empty.
    public var hint: String
    /// The argument that is invalid; `nil` if it is none. Only the operator API reports it.
    public var field: String?

    /// Creates a problem.
    public init(_ text: String, hint: String = "", field: String? = nil) {
        self.text = text
        self.hint = hint
        self.field = field
    }
}

/// Why a request is not a valid command.
public struct RequestProblem: Error, Sendable {
    /// The requested operation; `nil` if none has that name.
    public let operation: (any OperatorCommand.Type)?
    /// The answer to the caller.
    public let problem: OperatorProblem
    /// The same without any input of the caller, which may be a secret in the wrong place.
    public let recordedText: String

    init(_ text: String, hint: String) {
        operation = nil
        problem = OperatorProblem(text, hint: hint)
        recordedText = ""
    }

    /// The problem of an invalid argument of an operation.
    public init(_ fault: FieldProblem, in operation: any OperatorCommand.Type) {
        self.operation = operation
        problem = OperatorProblem(fault.text, hint: fault.hint)
        recordedText = fault.recordedText
    }
}
