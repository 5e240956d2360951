/// A command line that was understood.
public struct Invocation: Sendable {
    /// What is to be done.
    public var command: Command
    /// Arguments, in order; as many as the command allows.
    public var arguments: [String] = []
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
    public func has(_ name: String) -> Bool { values[name].map { $0 != ["false"] } ?? false }

    /// The value of an option; the last one where there are several, nil where there is none.
    public func text(_ name: String) -> String? { values[name]?.last }

    /// The values of an option that may be repeated.
    public func texts(_ name: String) -> [String] { values[name] ?? [] }

    /// The number that an option holds; the parser has checked its range.
    public func integer(_ name: String) -> Int? { text(name).flatMap { Int($0) } }
}

/// What a command line asks for.
public enum Request: Sendable {
    /// Do it.
    case run(Invocation)
    /// Print this text and exit 0: help or version.
    case print(String)
}

/// What is wrong with a command line; the program prints `lines` to standard error and exits 64.
public struct UsageError: Error, Sendable, Equatable {
    /// The program.
    public var program: String
    /// What is wrong.
    public var problem: String
    /// What to do instead.
    public var hint: String

    /// The lines to print.
    public var lines: [String] { ["\(program): \(problem)", "\(hint)"] }
}
