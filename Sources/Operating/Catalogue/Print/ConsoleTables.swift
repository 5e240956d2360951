import Operator
import Wire

/// Prints the tables of the console as a module of JavaScript: operations, words, and the errors of messages.
public enum ConsoleTables {
    /// Returns the module. `errors` are the error codes of refused messages, with the words of their reasons.
    public static func script(errors: [(code: String, reason: String, isRetryable: Bool)]) -> String {
        let operations = OperatorRoute.all.map(operation)
        let words = Glossary.entries.filter { wantedKinds.contains($0.kind) }.map(word)
        let codes = errors.map { error -> JSONValue in
            .object([
                .init("code", .string(error.code)), .init("reason", .string(error.reason)),
                .init("again", .string(error.isRetryable ? "later" : "no")),
            ])
        }
        return [("operations", operations), ("words", words), ("errors", codes)]
            .map { "export const \($0.0) = \(JSONValue.array($0.1).compact);\n" }.joined()
    }

    /// The kinds of words that the console explains.
    private static let wantedKinds: Set = [
        "close reason", "refusal", "milestone", "alarm of a cluster", "role in a partition",
    ]

    private static func word(_ entry: Glossary.Entry) -> JSONValue {
        .object([
            .init("word", .string(entry.word)), .init("kind", .string(entry.kind)),
            .init("meaning", .string(entry.meaning)),
        ])
    }

    /// The route of an operation, and what its command line needs: arguments in order, options, and what ccsctl fills in.
    private static func operation(_ route: OperatorRoute) -> JSONValue {
        let summary = route.operation.summary
        let form = OperationForm.of(route.operation.command)
        return .object([
            .init("name", .string(summary.name)), .init("method", .string(route.method.rawValue)),
            .init("path", .string(route.path)), .init("role", .string(summary.role.rawValue)),
            .init("destroys", .boolean(summary.isDestroying)),
            .init("positions", .array(form.positions.map { .string($0) })),
            .init("flags", .object(form.flags.map { .init($0.field, .string($0.flag)) })),
            .init("supplied", .array(form.supplied.map { .string($0) })),
        ])
    }
}
