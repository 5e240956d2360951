import Basics

/// A mistake in the configuration, with its location.
public struct ConfigProblem: Sendable, Equatable, CustomStringConvertible {
    /// Where a value was given.
    public enum Location: Sendable, Equatable {
        /// In a file; line and column count from 1, and are 0 for the file as a whole.
        case file(String, line: Int, column: Int)
        /// As a flag of the command line.
        case flag(String)
        /// As an environment variable.
        case variable(String)
    }

    /// Where the value was given.
    public var location: Location
    /// The key as written; may be empty.
    public var key: String
    public var problem: String
    /// What to do about it; may be empty.
    public var hint: String

    /// `FILE:LINE:COLUMN: key: problem (hint)`.
    public var description: String {
        let start =
            switch location {
            case .file(let file, let line, let column): line > 0 ? "\(file):\(line):\(column)" : file
            case .flag(let name), .variable(let name): name
            }
        let named = key.isEmpty ? start : "\(start): \(key)"
        return "\(named): \(problem)" + (hint.isEmpty ? "" : " (\(hint))")
    }
}

/// All mistakes in the configuration; the caller prints them and exits with 78.
public struct ConfigProblems: Error, Sendable {
    /// The mistakes in the order in which they were found.
    public private(set) var list: [ConfigProblem] = []
    /// The number of mistakes that are not in the list.
    public private(set) var leftOut = 0

    /// Adds a mistake, or only counts it if the list is full.
    mutating func add(_ problem: ConfigProblem) {
        if list.count < Limits.Config.problems { list.append(problem) } else { leftOut += 1 }
    }

    /// One line per mistake.
    public var lines: [String] {
        list.map(\.description) + (leftOut > 0 ? ["… and \(leftOut) more"] : [])
    }
}
