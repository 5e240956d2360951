import Basics

/// One thing that is wrong with the configuration, and where.
public struct ConfigProblem: Sendable, Equatable, CustomStringConvertible {
    /// Where a value was said.
    public enum Place: Sendable, Equatable {
        /// In a file; line and column count from 1, and are 0 where the file as a whole is meant.
        case file(String, line: Int, column: Int)
        /// By a flag of the command line.
        case flag(String)
        /// By an environment variable.
        case variable(String)
    }

    /// Where.
    public var place: Place
    /// The key as written; empty where there is none.
    public var key: String
    /// What is wrong.
    public var problem: String
    /// What to do about it; empty for nothing to add.
    public var hint: String

    /// `FILE:LINE:COLUMN: key: problem (hint)`.
    public var description: String {
        let start =
            switch place {
            case .file(let file, let line, let column): line > 0 ? "\(file):\(line):\(column)" : file
            case .flag(let name), .variable(let name): name
            }
        let named = key.isEmpty ? start : "\(start): \(key)"
        return "\(named): \(problem)" + (hint.isEmpty ? "" : " (\(hint))")
    }
}

/// Everything that is wrong with the configuration; the caller prints it and exits 78.
public struct ConfigProblems: Error, Sendable {
    /// The problems, in the order in which they were found.
    public private(set) var list: [ConfigProblem] = []
    /// How many more there were.
    public private(set) var leftOut = 0

    /// Adds one, or counts it where there are many already.
    mutating func add(_ problem: ConfigProblem) {
        if list.count < Limits.Config.problems { list.append(problem) } else { leftOut += 1 }
    }

    /// One line for each.
    public var lines: [String] {
        list.map(\.description) + (leftOut > 0 ? ["… and \(leftOut) more"] : [])
    }
}
