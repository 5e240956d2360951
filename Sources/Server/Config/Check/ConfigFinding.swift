import Basics
public import Catalogue
import Wire

/// What `ccsd check` found in the configuration, or in the files, folders, sockets and ports that it names.
public struct ConfigFinding: Sendable, Equatable, CustomStringConvertible {
    /// How much it matters.
    public enum Severity: String, Sendable {
        /// The daemon would not start, or clients would refuse it.
        case error
        /// The daemon would start; someone should look at it.
        case warning
        /// Nothing is wrong; it explains why something was not tried.
        case note
    }

    /// How much it matters.
    public var severity: Severity
    /// Where the value was given; `nil` for a default.
    public var place: ConfigProblem.Place?
    /// The key that it is about; `nil` where there is none.
    public var key: ConfigKey?
    /// The key as written, for the text.
    var name: String
    /// What was found.
    public var problem: String
    /// What to do about it.
    public var hint: String

    /// Whether the exit code is that of a wrong configuration.
    public var isError: Bool { severity == .error }

    /// About the value of a key.
    init(
        _ severity: Severity, _ key: ConfigKey, at place: ConfigProblem.Place?, _ problem: String,
        _ hint: String = ""
    ) {
        self.severity = severity
        self.place = place
        self.key = key
        name = key.rawValue
        if let place {
            switch place {
            case .file: break
            // The place says which key it is.
            case .flag, .variable: name = ""
            }
        }
        self.problem = problem
        self.hint = hint
    }

    /// A mistake in the configuration itself.
    init(_ problem: ConfigProblem) {
        severity = .error
        place = problem.place
        key = ConfigKey(rawValue: problem.key)
        name = problem.key
        self.problem = problem.problem
        hint = problem.hint
    }

    /// `FILE:LINE:COLUMN: key: problem (hint)`.
    public var description: String {
        if let place {
            return ConfigProblem(place: place, key: name, problem: problem, hint: hint).description
        }
        return "\(name): \(problem)" + (hint.isEmpty ? "" : " (\(hint))")
    }

    /// The same for programs.
    var json: JSONValue {
        var members: [JSONValue.Member] = [.init("severity", .string(severity.rawValue))]
        switch place {
        case .file(let file, let line, let column)?:
            members.append(.init("file", .string(file)))
            if line > 0 {
                members += [.init("line", .integer(line)), .init("column", .integer(column))]
            }
        case .flag(let name)?: members.append(.init("flag", .string(name)))
        case .variable(let name)?: members.append(.init("variable", .string(name)))
        case nil: break
        }
        if let key { members.append(.init("key", .string(key.rawValue))) }
        return .object(
            members + [
                .init("problem", .string(problem)), .init("hint", .string(hint)),
                .init("text", .string(description)),
            ])
    }
}

/// Everything that one check found.
public struct CheckReport: Sendable {
    /// The findings, in the order in which they were made.
    public var findings: [ConfigFinding]
    /// Mistakes in the configuration beyond those that are listed.
    public var leftOut = 0

    /// Whether the daemon would start with this configuration.
    public var isSound: Bool { leftOut == 0 && !findings.contains(where: \.isError) }

    /// One line for each finding.
    public var lines: [String] {
        findings.map { "\($0.severity.rawValue): \($0)" } + (leftOut > 0 ? ["… and \(leftOut) more"] : [])
    }

    /// The answer of `ccsctl check` and `ccsd check --json`.
    var json: JSONValue {
        .object([
            .init("ok", .boolean(isSound)), .init("findings", .array(findings.map(\.json))),
            .init("left_out", .integer(leftOut)),
        ])
    }
}
