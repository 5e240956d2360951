/// A command line that was understood.
package struct Invocation: Sendable {
    /// What is to be done.
    package var command: Command
    /// Arguments, in order; as many as the command allows.
    package var arguments: [String] = []
    private var values: [String: [String]] = [:]

    /// Nothing given yet.
    init(command: Command) { self.command = command }

    /// Notes the value of an option; false if it was given before and may not be.
    mutating func take(_ option: Option, _ value: String) -> Bool {
        guard option.isRepeatable || values[option.name] == nil else { return false }
        values[option.name, default: []].append(value)
        return true
    }

    /// Whether an option was given, and not as `=false`.
    package func has(_ name: String) -> Bool { values[name].map { $0 != ["false"] } ?? false }

    /// The value of an option; the last one where there are several, nil where there is none.
    package func text(_ name: String) -> String? { values[name]?.last }

    /// The values of an option that may be repeated.
    package func texts(_ name: String) -> [String] { values[name] ?? [] }

    /// The number that an option holds; the parser has checked its range.
    package func integer(_ name: String) -> Int? { text(name).flatMap { Int($0) } }

    /// The options given, with their values, in the order of their names.
    package var given: [(name: String, values: [String])] {
        values.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

/// What a command line asks for.
package enum Request: Sendable {
    /// Do it.
    case run(Invocation)
    /// Print this text and exit 0: help or version.
    case print(String)
}

/// What is wrong with a command line; the program prints `lines` to standard error and exits 64.
package struct UsageError: Error, Sendable, Equatable {
    /// The program.
    package var program: String
    /// What is wrong.
    package var problem: String
    /// What to do instead.
    package var hint: String

    /// The lines to print.
    package var lines: [String] { ["\(program): \(problem)", "\(hint)"] }
}
