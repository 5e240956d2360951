/// A parsed command line.
public struct Invocation: Sendable {
    public var command: Command
    /// The arguments in order; their number and words have been checked.
    public var arguments: [String] = []
    private var values: [String: [String]] = [:]

    init(command: Command) { self.command = command }

    /// Adds the value of an option. Returns `false` if the option was given before and is not repeatable.
    mutating func add(_ option: Option, _ value: String) -> Bool {
        guard option.isRepeatable || values[option.name] == nil else { return false }
        values[option.name, default: []].append(value)
        return true
    }

    /// Whether an option was given, other than as `=false`.
    public func has(_ name: String) -> Bool { values[name].map { $0 != ["false"] } ?? false }

    /// Returns the value of an option, the last one if it was repeated. Returns `nil` if it was not given.
    public func text(_ name: String) -> String? { values[name]?.last }

    /// Returns all values of a repeatable option.
    public func texts(_ name: String) -> [String] { values[name] ?? [] }

    /// Returns the value of an integer option, whose range the parser has checked. Returns `nil` if it was not given.
    public func integer(_ name: String) -> Int? { text(name).flatMap { Int($0) } }
}

/// The result of parsing a command line.
public enum Request: Sendable {
    /// Run this command.
    case run(Invocation)
    /// Print this text (help or version) and exit with 0.
    case print(String)
}

/// A mistake in a command line; the program prints `lines` to standard error and exits with 64.
public struct UsageError: Error, Sendable, Equatable {
    public var program: String
    public var problem: String
    /// What to write instead.
    public var hint: String

    /// The lines to print.
    public var lines: [String] { ["\(program): \(problem)", "\(hint)"] }
}
