import Basics
import Catalogue
import Server

/// For any config file: it is either refused with printable problems at lines of the file, or accepted; an accepted one is
/// parsed as the same when re-encoded as YAML.
func fuzzConfig(_ input: [UInt8]) throws(Violation) {
    let configuration: Configuration
    do throws(ConfigProblems) {
        configuration = try ConfigLoader.load(bytes: input, name: "ccsd.yaml")
        FuzzReach.record("taken")
    } catch {
        FuzzReach.record("refused")
        return try check(error, of: input)
    }
    var text = "format: 1\n"
    for key in ConfigKey.allCases where key != .format {
        text += "\(key.rawValue): \(configuration[key].yaml)\n"
    }
    let again: Configuration
    do throws(ConfigProblems) {
        again = try ConfigLoader.load(bytes: Array(text.utf8), name: "again")
    } catch {
        throw Violation(description: "an accepted configuration is refused when re-encoded: \(error.lines)")
    }
    try demand(again == configuration, "re-encoding changed a configuration: \(text)")
}

private func check(_ problems: ConfigProblems, of input: [UInt8]) throws(Violation) {
    try demand(!problems.list.isEmpty, "a config file was refused without a reason")
    // Besides line feeds, YAML has carriage returns and three Unicode line ends.
    let lines = 2 + input.count { $0 == 0x0A || $0 == 0x0D || $0 == 0x85 || $0 == 0xA8 || $0 == 0xA9 }
    for problem in problems.list {
        if case .file(_, let line, let column) = problem.location {
            try demand(line <= lines && column <= input.count + 2, "a location beyond the file: \(problem)")
        }
    }
    for line in problems.lines {
        try demand(line.utf8.count < 1_000, "a long line: \(line)")
        try demand(
            line.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }, "not printable: \(line)")
    }
}
