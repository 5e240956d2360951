import Basics
import Catalogue
import Operator
import Wire

/// What an import did, over all of its requests.
struct ImportResult {
    private(set) var added = 0
    private(set) var unchanged = 0
    private(set) var replaced = 0
    private(set) var invalid = 0
    private(set) var conflicts = 0
    private(set) var needsRestart = false
    /// The first problems.
    private(set) var problems: [ImportRecords.Problem] = []

    /// Adds the answer to a request.
    mutating func add(_ answer: ImportRecords.Answer) {
        added += answer.added
        unchanged += answer.unchanged
        replaced += answer.replaced
        needsRestart = answer.needsRestart
        for problem in answer.problems { add(problem) }
    }

    /// Adds a line that was not sent.
    mutating func report(_ line: Int, _ text: String) {
        add(ImportRecords.Problem(line: line, field: nil, isConflict: false, text: text))
    }

    private mutating func add(_ problem: ImportRecords.Problem) {
        if problem.isConflict { conflicts += 1 } else { invalid += 1 }
        if problems.count < Limits.Backup.shownProblems { problems.append(problem) }
    }

    /// The exit code.
    var exitCode: ExitCode { invalid > 0 ? .badData : conflicts > 0 ? .failure : .success }

    /// The result for programs.
    var json: JSONValue {
        ImportOutput(
            added: added, unchanged: unchanged, replaced: replaced, invalid: invalid, conflicts: conflicts,
            problems: problems, needsRestart: needsRestart
        ).json
    }

    /// The result as text.
    func text(file: String) -> String {
        var text = problems.map { problem in
            "\(Report.safe(file)):\(problem.line): \(Report.safe(problem.text))\n"
        }.joined()
        let left = invalid + conflicts - problems.count
        if left > 0 { text += "and \(left) more\n" }
        text += "added      \(added)\nunchanged  \(unchanged)\nreplaced   \(replaced)\n"
        text += "invalid    \(invalid)\nconflicts  \(conflicts)\n"
        if needsRestart {
            text +=
                "\nRestart ccsd now: it uses the imported secret, which authenticates tokens, after a restart.\n"
        }
        return text
    }
}
