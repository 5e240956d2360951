public import Wire

/// What a caller may do.
public enum Role: String, Sendable, CaseIterable {
    /// Look at what there is.
    case viewer
    /// Look and change, and read what allows somebody to do something.
    case `operator`
}

/// What an operation is, apart from its fields.
public struct OperationSummary: Sendable {
    /// Its name.
    public let name: OperationName
    /// Who may ask for it.
    public let role: Role
    /// Whether it changes anything.
    public let isChanging: Bool
    /// What it does, in one sentence.
    public let text: String
    /// More about it, in paragraphs.
    public let details: [String]

    /// An operation that changes nothing.
    static func reading(
        _ name: OperationName, role: Role = .viewer, _ text: String, details: [String] = []
    ) -> OperationSummary {
        OperationSummary(name: name, role: role, isChanging: false, text: text, details: details)
    }

    /// An operation that changes something: it needs an operator, and leaves a line in the audit log.
    static func changing(
        _ name: OperationName, _ text: String, details: [String] = []
    ) -> OperationSummary {
        OperationSummary(name: name, role: .operator, isChanging: true, text: text, details: details)
    }
}

/// A command: one operation with its arguments.
///
/// It is defined once: the server's handlers, the tools, their command lines and the documentation read it from here.
public protocol OperatorCommand: Record {
    /// What comes back when it is done.
    associatedtype Answer: Record
    /// What comes before that, line by line.
    associatedtype Line: OperatorLine = NoLine

    /// What it does, and who may ask for it.
    static var summary: OperationSummary { get }

    /// How the audit line reports an answer.
    static func auditResult(_ answer: Answer) -> String
}

extension OperatorCommand {
    public static func auditResult(_ answer: Answer) -> String { "ok" }

    /// Reads the arguments of a command; one that the command does not have is refused, since it may be a misspelt limit.
    init(arguments: JSONValue) throws(FieldProblem) {
        let names = Self.fields.descriptions.map(\.name)
        for member in arguments.members ?? [] where !names.contains(member.key) {
            let expected = names.isEmpty ? "no arguments" : "one of \(names.joined(separator: ", "))"
            throw FieldProblem(
                .unknown, at: member.key, expected: expected, hint: "leave it out, or correct its name")
        }
        do throws(FieldProblem) { try self.init(json: arguments) } catch {
            guard error.path.isEmpty, error.fault != .conflict else { throw error }
            throw error.inside(
                "arguments", hint: "name each argument with its value, or leave all of them out")
        }
    }

    /// What the audit line has of its arguments, in the order of their words; nothing that is secret as it is.
    public var auditEntries: [AuditEntry] { Self.fields.auditEntries(of: self) }

    /// The operation with its fields, for documentation and front ends.
    public static var definition: OperationDefinition {
        OperationDefinition(
            summary: summary, arguments: fields.descriptions, answer: Answer.fields.descriptions,
            lines: Line.definitions)
    }
}

/// A line that a command sends before its answer.
public protocol OperatorLine: Sendable {
    /// The lines that there are: their names and fields.
    static var definitions: [LineDefinition] { get }

    /// Reads a line; `nil` if the command sends none of that name. Throws `FieldProblem` for one that is not what it should be.
    init?(name: String, json: JSONValue) throws(FieldProblem)

    /// Its name.
    var name: String { get }
    /// Its value as it is written.
    var json: JSONValue { get }
}

/// The lines of a command that sends none.
public enum NoLine: OperatorLine {
    public static var definitions: [LineDefinition] { [] }
    public init?(name: String, json: JSONValue) throws(FieldProblem) { return nil }
    public var name: String { switch self {} }
    public var json: JSONValue { switch self {} }
}

/// A line by its name, with its fields.
public struct LineDefinition: Sendable {
    /// Its name in JSON.
    public let name: String
    /// Its fields.
    public let fields: [FieldDescription]
}

/// An operation as documentation and front ends read it.
public struct OperationDefinition: Sendable {
    /// What it does, and who may ask for it.
    public let summary: OperationSummary
    /// Its arguments.
    public let arguments: [FieldDescription]
    /// The fields of its answer.
    public let answer: [FieldDescription]
    /// The lines that come before the answer; empty for most.
    public let lines: [LineDefinition]
}
