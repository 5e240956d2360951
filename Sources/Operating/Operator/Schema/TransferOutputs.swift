/// What `ccsctl export --json` prints.
public struct ExportOutput: Record {
    /// The written file.
    public var file: String
    /// Its rows, without the header and the end.
    public var rows: Int

    /// Creates an output.
    public init(file: String, rows: Int) {
        self.file = file
        self.rows = rows
    }

    public static let fields = Fields(
        ExportOutput.init(file:rows:),
        .required("file", .text, \.file, "The file that was written."),
        .required("rows", .count, \.rows, "Its rows, without the header and the end."))
}

/// What `ccsctl import --json` prints: the answers to all of its requests together.
public struct ImportOutput: Record {
    /// Rows by what was done with them.
    public var added: Int
    public var unchanged: Int
    public var replaced: Int
    public var invalid: Int
    public var conflicts: Int
    /// The first problems.
    public var problems: [ImportRecords.Problem]
    public var needsRestart: Bool

    /// Creates an output.
    public init(
        added: Int, unchanged: Int, replaced: Int, invalid: Int, conflicts: Int,
        problems: [ImportRecords.Problem], needsRestart: Bool
    ) {
        self.added = added
        self.unchanged = unchanged
        self.replaced = replaced
        self.invalid = invalid
        self.conflicts = conflicts
        self.problems = problems
        self.needsRestart = needsRestart
    }

    public static let fields = Fields(
        ImportOutput.init(added:unchanged:replaced:invalid:conflicts:problems:needsRestart:),
        .required("added", .count, \.added, "Rows that are new here."),
        .required("unchanged", .count, \.unchanged, "Rows that were here already."),
        .required("replaced", .count, \.replaced, "Rows that have replaced others."),
        .required("invalid", .count, \.invalid, "Rows that are invalid."),
        .required("conflicts", .count, \.conflicts, "Valid rows that differ from what is here."),
        .required("problems", .list(.record), \.problems, "The first rows that were not imported."),
        .required(
            "needs_restart", .boolean, \.needsRestart,
            "Whether ccsd must be restarted to use the imported secret."))
}
