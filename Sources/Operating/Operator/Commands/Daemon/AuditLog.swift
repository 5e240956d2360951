public import Basics
import Wire

/// Lists the operator commands in the audit log.
public struct ListAuditLog: OperatorCommand {
    public var limit: Int = Limits.Operator.listedRowsDefault
    /// The entry before which the page ends; `nil` for the newest page.
    public var before: Int?
    public var command: String?
    public var user: String?
    public var since: UnixMilliseconds?
    public var isFailed: Bool = false

    public static let summary = OperationSummary.reading(
        "audit-log", role: .operator,
        "List the latest operator commands in the audit log, oldest first.",
        details: [
            "The audit log is the file audit.log in the data directory, with mode 0600. It has the commands that change data, also those that were refused or invalid, exports, and every command that the role of the caller does not permit, with the caller, the names and IDs among the arguments, and the result; no secret. Commands that only read are in the log of the daemon. Of the refused commands of one caller, \(Limits.OperatorAPI.recordedRefusals) in a minute are recorded in both logs; one more entry with the command several has the number of the others.",
            "The file is only appended to. At \(Limits.Operator.auditFileBytes / 1_048_576) MiB it is renamed to audit.log.1, and so on up to audit.log.\(Limits.Operator.auditFilesKept); the oldest is removed. A command that cannot be recorded is carried out all the same, and the log of the daemon has audit_log_failed.",
        ])
    public static let fields = Fields(
        ListAuditLog.init(limit:before:command:user:since:isFailed:),
        .preset(
            "limit", .integer(1...Limits.Operator.listedRows), \.limit, Limits.Operator.listedRowsDefault,
            "List up to N."),
        .optional(
            "before", .integer(1...Int.max), \.before,
            "Only entries with a lower number: next_before of the page after."),
        .optional(
            "command", .text(1...Limits.Operator.labelBytes, as: "NAME"), \.command,
            "Only this command, or the commands that begin with this word."),
        .optional(
            "user", .auditUser, \.user, "Only commands of this user ID, or of this operator of the API."),
        .optional("since", .time, \.since, "Only commands from this time on."),
        .preset("failed", .boolean, \.isFailed, false, "Only commands that were refused or failed."))

    /// A command in the audit log.
    public struct Row: Record {
        public var number: Int
        public var time: UnixMilliseconds
        public var user: String
        public var process: String
        public var command: String
        public var arguments: String
        public var result: String
        public var problem: String

        /// Creates a row.
        public init(
            number: Int, time: UnixMilliseconds, user: String, process: String, command: String,
            arguments: String, result: String, problem: String
        ) {
            self.number = number
            self.time = time
            self.user = user
            self.process = process
            self.command = command
            self.arguments = arguments
            self.result = result
            self.problem = problem
        }

        public static let fields = Fields(
            Row.init(number:time:user:process:command:arguments:result:problem:),
            .required(
                "number", .count, \.number, "The number of the entry; a gap means that entries are lost."),
            .required("time", .time, \.time, "When the command ended."),
            .required(
                "user", .text, \.user,
                "The user ID of the caller, or the name of an operator of the API; local if the kernel reports none."
            ),
            .required(
                "pid", .text, \.process,
                "The process ID of the caller, or the address of an operator; local if it is unknown."),
            .required("command", .text, \.command, "The command; unknown for an invalid request."),
            .required("arguments", .text, \.arguments, "Names and IDs among the arguments."),
            .required("result", .text, \.result, "ok, refused, or the error code of a message."),
            .required("problem", .text, \.problem, "Why the command was refused; empty otherwise."))
    }

    /// A page of the audit log.
    public struct Answer: Record {
        public var entries: [Row]
        public var unreadable: Int
        /// The entry before which earlier ones are listed; `nil` if there are none.
        public var nextBefore: Int?

        /// Creates an answer.
        public init(entries: [Row], unreadable: Int, nextBefore: Int?) {
            self.entries = entries
            self.unreadable = unreadable
            self.nextBefore = nextBefore
        }

        public static let fields = Fields(
            Answer.init(entries:unreadable:nextBefore:),
            .required("entries", .list(.record), \.entries, "The commands, oldest first."),
            .required("unreadable", .count, \.unreadable, "Lines of the file that cannot be read."),
            .optional(
                "next_before", .count, \.nextBefore,
                "The value of before for the page of earlier entries; left out if there are none."))
    }
}

extension FieldKind where Value == String {
    /// A user ID, or the name of an operator of the API.
    static var auditUser: FieldKind {
        scalar(
            .named("a user ID, or the name of an operator"), "UID|NAME",
            parse: { $0.integer.map { String($0) } ?? $0.text(of: 1...Limits.OperatorAPI.nameBytes) },
            encode: { .string($0) })
    }
}
