import Basics

/// One thing that is wrong with the configuration, and where.
package struct ConfigProblem: Sendable, Equatable, CustomStringConvertible {
    /// Where a value was said.
    package enum Place: Sendable, Equatable {
        /// In a file; line and column count from 1, and are 0 where the file as a whole is meant.
        case file(String, line: Int, column: Int)
        /// By a flag of the command line.
        case flag(String)
        /// By an environment variable.
        case variable(String)
    }

    /// Where.
    package var place: Place
    /// The key as written; empty where there is none.
    package var key: String
    /// What is wrong.
    package var problem: String
    /// What to do about it; empty for nothing to add.
    package var hint: String

    /// `FILE:LINE:COLUMN: key: problem (hint)`.
    package var description: String {
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
package struct ConfigProblems: Error, Sendable {
    /// The problems, in the order in which they were found.
    package private(set) var list: [ConfigProblem] = []
    /// How many more there were.
    package private(set) var leftOut = 0

    /// Adds one, or counts it where there are many already.
    mutating func add(_ problem: ConfigProblem) {
        if list.count < Limits.configProblems { list.append(problem) } else { leftOut += 1 }
    }

    /// One line for each.
    package var lines: [String] {
        list.map(\.description) + (leftOut > 0 ? ["… and \(leftOut) more"] : [])
    }
}
