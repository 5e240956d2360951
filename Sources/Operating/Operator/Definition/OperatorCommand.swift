import Basics
public import Wire

/// The role of a caller, which determines the permitted operations.
public enum Role: String, Sendable, CaseIterable {
    /// May read.
    case viewer
    /// May also change data, and read tokens and keys.
    case `operator`
}

/// The description of an operation, without its fields.
public struct OperationSummary: Sendable {
    /// The name in requests, `ccsctl` and audit lines; no other place spells it.
    public let name: String
    /// The role that the caller needs.
    public let role: Role
    /// Whether it changes data.
    public let isChanging: Bool
    /// Whether it may remove or interrupt something that cannot be restored, so that front ends for people ask first.
    public let isDestroying: Bool
    /// A description in one sentence.
    public let text: String
    /// Further paragraphs of the description.
    public let details: [String]

    /// An operation that only reads.
    static func reading(
        _ name: String, role: Role = .viewer, _ text: String, details: [String] = []
    ) -> OperationSummary {
        OperationSummary(
            name: name, role: role, isChanging: false, isDestroying: false, text: text, details: details)
    }

    /// An operation that changes data, for the role `operator` only.
    static func changing(
        _ name: String, _ text: String, details: [String] = []
    ) -> OperationSummary {
        OperationSummary(
            name: name, role: .operator, isChanging: true, isDestroying: false, text: text, details: details)
    }

    /// An operation that changes data and may destroy some of it: `OperatorCommand.consequence` describes what.
    static func destroying(
        _ name: String, _ text: String, details: [String] = []
    ) -> OperationSummary {
        OperationSummary(
            name: name, role: .operator, isChanging: true, isDestroying: true, text: text, details: details)
    }
}

/// A command: one operation with its arguments.
///
/// The server's handlers, the tools, their command lines and the documentation all derive from this one definition.
public protocol OperatorCommand: Record {
    /// The result of the command.
    associatedtype Answer: Record
    /// The lines that the command sends before its answer.
    associatedtype Line: OperatorLine = NoLine

    /// The name, role and description.
    static var summary: OperationSummary { get }

    /// What this command removes or interrupts for good, in sentences for a question to the caller. `nil` if it does neither.
    var consequence: String? { get }

    /// Returns the result that the audit line records for an answer.
    static func auditResult(_ answer: Answer) -> String

    /// Seconds without a line after which a caller gives up.
    static var silenceSeconds: Int { get }
}

extension OperatorCommand {
    public static var silenceSeconds: Int { Limits.Operator.silenceSeconds }

    public static func auditResult(_ answer: Answer) -> String { "ok" }

    public var consequence: String? { nil }

    /// Decodes the arguments of a command. An unknown argument is refused, since it may be a misspelt limit.
    public init(arguments: JSONValue) throws(FieldProblem) {
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

    /// The arguments that the audit line records, in the order of their keys; secret ones are marked for replacement.
    public var auditEntries: [AuditEntry] { Self.fields.auditEntries(of: self) }

    /// The operation with its fields, for documentation and front ends.
    public static var definition: OperationDefinition {
        OperationDefinition(
            command: self, summary: summary, arguments: fields.descriptions,
            answer: Answer.fields.descriptions, lines: Line.definitions)
    }
}

/// A line that a command sends before its answer.
public protocol OperatorLine: Sendable {
    /// The names and fields of all lines.
    static var definitions: [LineDefinition] { get }

    /// Decodes a line. Returns `nil` if the command sends no line with this name. Throws `FieldProblem` if the line is invalid.
    init?(name: String, json: JSONValue) throws(FieldProblem)

    /// The name in JSON.
    var name: String { get }
    /// The encoded value.
    var json: JSONValue { get }
}

/// The line type of a command that sends no lines.
public enum NoLine: OperatorLine {
    public static var definitions: [LineDefinition] { [] }
    public init?(name: String, json: JSONValue) throws(FieldProblem) { return nil }
    public var name: String { switch self {} }
    public var json: JSONValue { switch self {} }
}

/// The name and the fields of a line.
public struct LineDefinition: Sendable {
    public let name: String
    public let fields: [FieldDescription]
}

/// The description of an operation with its fields, for documentation and front ends.
public struct OperationDefinition: Sendable {
    /// The type of its command.
    public let command: any OperatorCommand.Type
    public let summary: OperationSummary
    public let arguments: [FieldDescription]
    public let answer: [FieldDescription]
    /// The lines that the operation sends before its answer; most send none.
    public let lines: [LineDefinition]
}
