import Basics
import Wire

/// Why JSON is not a valid command or answer: the field, what is wrong with it, and what was expected.
public struct FieldProblem: Error, Sendable, Equatable {
    /// What is wrong with a field.
    public enum Fault: Sendable, Equatable {
        /// The field is required and absent.
        case missing
        /// No field has this name.
        case unknown
        /// The value is invalid; `nil` if the value must not be shown.
        case invalid(value: String?)
        /// The fields contradict each other; `expected` describes how.
        case conflict
    }

    /// The path of the field: `limit`, `devices[3].created_at`; empty for the whole object.
    public private(set) var path: String
    public let fault: Fault
    public let expected: String
    /// What to do.
    public private(set) var hint: String

    public init(_ fault: Fault, at path: String = "", expected: String, hint: String = "") {
        self.path = path
        self.fault = fault
        self.expected = expected
        self.hint = hint
    }

    /// A problem of fields that contradict each other.
    public static func conflict(_ text: String, hint: String) -> FieldProblem {
        FieldProblem(.conflict, expected: text, hint: hint)
    }

    /// A problem of a field that only the server can check.
    public static func invalid(field: String, expected: String) -> FieldProblem {
        FieldProblem(.invalid(value: nil), at: field, expected: expected)
    }

    /// A problem of an invalid value.
    static func invalid(_ value: JSONValue, isSecret: Bool, expected: String) -> FieldProblem {
        FieldProblem(.invalid(value: isSecret ? nil : shown(value)), expected: expected)
    }

    /// The problem in one sentence, for the caller.
    public var text: String { text(showsValues: true) }

    /// The same without any input of the caller, which may be a secret in the wrong field.
    public var recordedText: String { text(showsValues: false) }

    /// Returns the same problem in a field of a larger object.
    func inside(_ name: String, hint: String = "") -> FieldProblem {
        var problem = self
        let isIndexed = path.hasPrefix("[")
        problem.path = path.isEmpty ? name : isIndexed ? name + path : "\(name).\(path)"
        if problem.hint.isEmpty { problem.hint = hint }
        return problem
    }

    private func text(showsValues: Bool) -> String {
        switch fault {
        case .missing: "missing \(path): expected \(expected)"
        case .unknown:
            "unknown argument\(showsValues ? " \(Printable.text(path, limit: Limits.Config.shownCharacters))" : ""): expected \(expected)"
        case .invalid(let value):
            "invalid \(path.isEmpty ? "value" : path)\(showsValues ? value.map { " \"\($0)\"" } ?? "" : ""): expected \(expected)"
        case .conflict: expected
        }
    }

    /// The start of a value, cut to fit a line. Returns `nil` for arrays and objects.
    private static func shown(_ value: JSONValue) -> String? {
        switch value {
        case .array, .object: nil
        case .string(let text): Printable.text(text, limit: Limits.Config.shownCharacters)
        case .null, .boolean, .integer, .number:
            Printable.text(value.compact, limit: Limits.Config.shownCharacters)
        }
    }
}
