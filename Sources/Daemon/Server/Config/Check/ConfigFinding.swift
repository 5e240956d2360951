import Basics
public import Catalogue
public import Operator

/// A finding of `ccsd check` in the configuration, or in its files, folders, sockets and ports.
public struct ConfigFinding: Sendable, Equatable, CustomStringConvertible {
    /// How serious a finding is.
    public typealias Severity = CheckConfiguration.Finding.Severity

    /// How serious the finding is.
    public var severity: Severity
    /// Where the value was given; `nil` for a default.
    public var location: ConfigProblem.Location?
    /// The key with the value; `nil` if the finding is not about a key.
    public var key: ConfigKey?
    /// The key as written, for the text.
    var name: String
    /// What is wrong.
    public var problem: String
    /// What to do about it; may be empty.
    public var hint: String

    /// Whether the finding makes the check fail.
    public var isError: Bool { severity == .error }

    /// Creates a finding about the value of a key.
    init(
        _ severity: Severity, _ key: ConfigKey, at location: ConfigProblem.Location?, _ problem: String,
        _ hint: String = ""
    ) {
        self.severity = severity
        self.location = location
        self.key = key
        name = key.rawValue
        if let location {
            switch location {
            case .file: break
            // The name of the flag or variable already identifies the key.
            case .flag, .variable: name = ""
            }
        }
        self.problem = problem
        self.hint = hint
    }

    /// Creates a finding from a mistake in the configuration.
    init(_ problem: ConfigProblem) {
        severity = .error
        location = problem.location
        key = ConfigKey(rawValue: problem.key)
        name = problem.key
        self.problem = problem.problem
        hint = problem.hint
    }

    /// `FILE:LINE:COLUMN: key: problem (hint)`.
    public var description: String {
        if let location {
            return ConfigProblem(location: location, key: name, problem: problem, hint: hint).description
        }
        return "\(name): \(problem)" + (hint.isEmpty ? "" : " (\(hint))")
    }

    /// The finding as JSON clients get it.
    var row: CheckConfiguration.Finding {
        var row = CheckConfiguration.Finding(
            severity: severity, key: key?.rawValue, problem: problem, hint: hint, text: description)
        switch location {
        case .file(let file, let line, let column)?:
            row.file = file
            if line > 0 { (row.line, row.column) = (line, column) }
        case .flag(let name)?: row.flag = name
        case .variable(let name)?: row.variable = name
        case nil: break
        }
        return row
    }
}

/// The findings of a check.
public struct CheckReport: Sendable {
    /// The findings in the order of the checks.
    public var findings: [ConfigFinding]
    /// The number of mistakes that are not listed.
    public var leftOut = 0

    /// Whether the daemon would start with this configuration.
    public var isSound: Bool { leftOut == 0 && !findings.contains(where: \.isError) }

    /// One line per finding.
    public var lines: [String] {
        findings.map { "\($0.severity.rawValue): \($0)" } + (leftOut > 0 ? ["… and \(leftOut) more"] : [])
    }

    /// The answer of `ccsctl check` and `ccsd check --json`.
    var answer: CheckConfiguration.Answer {
        CheckConfiguration.Answer(isSound: isSound, findings: findings.map(\.row), leftOut: leftOut)
    }
}
