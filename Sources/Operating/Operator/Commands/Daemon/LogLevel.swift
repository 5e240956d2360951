public import Basics
import Wire

/// A level of the log.
public enum LogLevelWord: String, CaseIterable, Sendable {
    case debug
    case info
    case notice
    case warning
    case error
}

extension FieldKind where Value == Int {
    /// A duration: a number of seconds, or of the unit that follows it.
    static func duration(upTo seconds: Int) -> FieldKind {
        let units = [("s", 1), ("m", 60), ("h", 3_600), ("d", 86_400), ("w", 604_800)]
        return scalar(
            .named("a duration such as 90s, 10m or 2h, up to \(seconds / 3_600)h"), "DURATION",
            parse: { value in
                guard let text = value.text ?? value.integer.map({ "\($0)" }) else { return nil }
                let unit = units.first { text.hasSuffix($0.0) }
                let digits = unit == nil ? text[...] : text.dropLast()
                guard let number = JSONValue.string(String(digits)).digits.flatMap({ Int($0) }) else {
                    return nil
                }
                let (product, isOver) = number.multipliedReportingOverflow(by: unit?.1 ?? 1)
                return !isOver && (1...seconds).contains(product) ? product : nil
            }, encode: { .string("\($0)s") })
    }
}

/// Shows or changes the level of the log while the daemon runs.
public struct ChangeLogLevel: OperatorCommand {
    /// The new level; `nil` shows the current one.
    public var level: LogLevelWord?
    /// Seconds after which the configured level returns; `nil` until the next reload or restart.
    public var seconds: Int?

    public static let summary = OperationSummary.changing(
        "log level", "Show the level of the log, or change it while ccsd runs.",
        details: [
            "The configured level (log_level) returns after the given time, with a reload, and with a restart. The audit log does not depend on the level."
        ])
    public static let fields = Fields(
        ChangeLogLevel.init(level:seconds:),
        .optional(
            "level", .word, \.level, audit: .level, "The new lowest level. Default: the level is only shown."),
        .optional(
            "duration", .duration(upTo: Limits.Operator.logLevelSeconds), \.seconds, audit: .duration,
            "Return to the configured level after this time. Default: at the next reload or restart."))

    public func check() throws(FieldProblem) {
        guard seconds == nil || level != nil else {
            throw .conflict("duration needs a level", hint: "give both, or only the level")
        }
    }

    /// The level in use.
    public struct Answer: Record {
        public var level: LogLevelWord
        public var configured: LogLevelWord
        public var until: UnixMilliseconds?

        /// Creates an answer.
        public init(level: LogLevelWord, configured: LogLevelWord, until: UnixMilliseconds?) {
            self.level = level
            self.configured = configured
            self.until = until
        }

        public static let fields = Fields(
            Answer.init(level:configured:until:),
            .required("level", .word, \.level, "The level in use."),
            .required("configured", .word, \.configured, "The configured level."),
            .optional("until", .time, \.until, "When the configured level returns by itself."))
    }
}
