import Basics
public import Wire

/// Reads a page of an export.
public struct ExportRecords: OperatorCommand {
    /// The parts of an export, in its order. A device is followed by its registrations and their subscriptions.
    public enum Part: String, Sendable, CaseIterable {
        case secrets, senders, devices, installations, groups
    }

    /// The part to read.
    public var part: Part
    /// Where the page starts: `next` of the previous page. `nil` for the first page.
    public var after: String?
    public var limit: Int

    /// Creates the command.
    public init(part: Part, after: String? = nil, limit: Int = Self.presetLimit) {
        self.part = part
        self.after = after
        self.limit = limit
    }

    /// The default number of entries on a page.
    public static let presetLimit = 500

    public static let silenceSeconds = Limits.Operator.longSilenceSeconds
    public static let summary = OperationSummary.reading(
        "export", role: .operator,
        "Export senders, key digests, devices, registrations, topics, groups and installations as JSON lines.",
        details: [
            "For a server of another version, or on another machine: `ccsctl import` reads the file. Tokens, keys and devices stay valid there, since the export has the secret that authenticates tokens, and the digests of keys: keep it as safe as the data directory. Messages, credentials for APNs and certificates are not exported; `ccsctl backup` has them.",
            "On the control socket each request returns one page of one part.",
        ])
    public static let fields = Fields(
        ExportRecords.init(part:after:limit:),
        .required("part", .word, \.part, "The part of the export."),
        .optional("after", .text(1...100), \.after, "Continue after this position."),
        .preset(
            "limit", .integer(1...Limits.Backup.exportedEntries), \.limit, presetLimit,
            "The number of entries; each device counts once with all its rows."))

    /// A page.
    public struct Answer: Record {
        public var rows: [[JSONValue.Member]]
        public var next: String?

        /// Creates an answer.
        public init(rows: [[JSONValue.Member]], next: String?) {
            self.rows = rows
            self.next = next
        }

        public static let fields = Fields(
            Answer.init(rows:next:),
            .required("rows", .list(.pairs), \.rows, "The rows, each an object with its kind."),
            .nullable("next", .text, \.next, "The position of the next page, if there is one."))
    }
}

/// Imports rows of an export.
public struct ImportRecords: OperatorCommand {
    public var rows: [[JSONValue.Member]]
    /// The line number of the first row, for reports.
    public var line: Int
    public var replaces: Bool

    /// Creates the command.
    public init(rows: [[JSONValue.Member]], line: Int = 1, replaces: Bool = false) {
        self.rows = rows
        self.line = line
        self.replaces = replaces
    }

    public static let silenceSeconds = Limits.Operator.longSilenceSeconds
    public static let summary = OperationSummary.destroying(
        "import", "Import the JSON lines of an export.",
        details: [
            "An import can be repeated: rows that are here already count as unchanged. A row that differs from what is here is reported with its line and kept out, unless --replace is given. Invalid rows are reported with their line and field, and the others are imported.",
            "A server without devices takes over the secret that authenticates tokens, and needs a restart then. A server with devices and another secret refuses the import: its own tokens would become invalid.",
        ])

    public var consequence: String? {
        guard replaces else { return nil }
        return
            "Senders with their keys, devices, registrations, installations and groups that differ from the file are replaced by those in it."
    }
    public static let fields = Fields(
        ImportRecords.init(rows:line:replaces:),
        .required("rows", .list(.pairs), \.rows, "The rows, each an object with its kind."),
        .preset("line", .integer(1...Int.max), \.line, 1, "The line number of the first row."),
        .preset("replace", .boolean, \.replaces, false, "Replace rows that differ from those in the file."))

    /// A row that was not imported.
    public struct Problem: Record, Equatable {
        public var line: Int
        /// The field that is wrong. `nil` if the row as a whole is.
        public var field: String?
        /// Whether the row is valid, and differs from what is here or needs what is not here.
        public var isConflict: Bool
        public var text: String

        /// Creates a problem.
        public init(line: Int, field: String?, isConflict: Bool, text: String) {
            self.line = line
            self.field = field
            self.isConflict = isConflict
            self.text = text
        }

        public static let fields = Fields(
            Problem.init(line:field:isConflict:text:),
            .required("line", .count, \.line, "The line of the row."),
            .nullable("field", .text, \.field, "The field that is wrong."),
            .required(
                "conflict", .boolean, \.isConflict,
                "Whether the row is valid, but differs from what is here or needs what is not here."),
            .required("text", .text, \.text, "What is wrong."))
    }

    /// What was done with the rows.
    public struct Answer: Record {
        public var added: Int
        public var unchanged: Int
        public var replaced: Int
        public var problems: [Problem]
        public var needsRestart: Bool

        /// Creates an answer.
        public init(added: Int, unchanged: Int, replaced: Int, problems: [Problem], needsRestart: Bool) {
            self.added = added
            self.unchanged = unchanged
            self.replaced = replaced
            self.problems = problems
            self.needsRestart = needsRestart
        }

        public static let fields = Fields(
            Answer.init(added:unchanged:replaced:problems:needsRestart:),
            .required("added", .count, \.added, "Rows that are new here."),
            .required("unchanged", .count, \.unchanged, "Rows that were here already."),
            .required("replaced", .count, \.replaced, "Rows that have replaced others."),
            .required("problems", .list(.record), \.problems, "Rows that were not imported."),
            .required(
                "needs_restart", .boolean, \.needsRestart,
                "Whether ccsd must be restarted to use the imported secret."))
    }

    public static func auditResult(_ answer: Answer) -> String {
        "\(answer.added) added, \(answer.replaced) replaced, \(answer.problems.count) refused"
    }
}
