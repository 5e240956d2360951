import Basics
public import Catalogue
public import Operator

/// What `ccsd check` found in the configuration, or in the files, folders, sockets and ports that it names.
public struct ConfigFinding: Sendable, Equatable, CustomStringConvertible {
    /// How much a finding matters.
    public typealias Severity = CheckConfiguration.Finding.Severity

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
    var row: CheckConfiguration.Finding {
        var row = CheckConfiguration.Finding(
            severity: severity, key: key?.rawValue, problem: problem, hint: hint, text: description)
        switch place {
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
    var answer: CheckConfiguration.Answer {
        CheckConfiguration.Answer(isSound: isSound, findings: findings.map(\.row), leftOut: leftOut)
    }
}
