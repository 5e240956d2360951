import Glibc
import Synchronization

/// The log: one line for each event, to standard error, from any thread.
///
/// Copies share one sink. Fields are evaluated only if the level is enabled, and an event that repeats too fast is suppressed
/// and counted, so that a storm of requests does not become a storm of log lines.
public struct Log: Sendable {
    /// The severity of an event, lowest first.
    public enum Level: UInt8, CaseIterable, Sendable {
        case debug
        case info
        case notice
        case warning
        case error

        /// The word in log lines and in `log_level`.
        public var word: String { "\(self)" }

        /// Parses a level. Returns `nil` for an unknown word.
        public init?(word: String) {
            guard let level = Self.allCases.first(where: { $0.word == word }) else { return nil }
            self = level
        }

        /// The priority of syslog(3), for journald.
        var priority: Int {
            switch self {
            case .debug: 7
            case .info: 6
            case .notice: 5
            case .warning: 4
            case .error: 3
            }
        }
    }

    /// The format of lines; the raw value is the word in `log_format`.
    public enum Format: String, CaseIterable, Sendable {
        case text
        case json
    }

    private let sink: LogSink

    /// Creates a log that passes finished lines (newline included) to `write`, one at a time.
    public init(
        level: Level, format: Format = .text, journal: Bool = false,
        clock: @escaping @Sendable () -> Now = { Now.read() }, write: @escaping @Sendable ([UInt8]) -> Void
    ) {
        sink = LogSink(level: level, format: format, journal: journal, clock: clock) { line in
            write(line)
            return true
        }
    }

    /// Creates a log that writes to a descriptor. While its reader stands still, lines are lost and counted (`log_lines_lost`), and nothing
    /// waits for it: a log must not stop the server.
    init(
        level: Level, format: Format = .text, journal: Bool = false, descriptor: Int32,
        clock: @escaping @Sendable () -> Now = { Now.read() }
    ) {
        sink = LogSink(level: level, format: format, journal: journal, clock: clock) {
            DescriptorOutput.writeWithoutWaiting($0, to: descriptor)
        }
    }

    /// The log of a program: standard error, in journald's format if systemd reads it.
    public static func standardError(level: Level, format: Format) -> Log {
        let journal = unsafe getenv("JOURNAL_STREAM") != nil
        return Log(level: level, format: format, journal: journal, descriptor: STDERR_FILENO)
    }

    /// The lowest level that is written; may change while the program runs.
    public var level: Level {
        get { sink.level }
        nonmutating set { sink.level = newValue }
    }

    /// Lines suppressed so far because their event repeated too fast, or lost because the reader of the log stood still.
    public var suppressed: Int { sink.suppressed }

    /// Whether lines of a level are written.
    @inline(__always)
    public func isOn(_ level: Level) -> Bool { level.rawValue >= sink.level.rawValue }

    /// Writes a line; `fields` is evaluated only if the level is enabled.
    @inline(__always)
    public func write(_ level: Level, _ event: StaticString, _ fields: @autoclosure () -> LogFields = [:]) {
        if isOn(level) { sink.write(level, event, fields()) }
    }

    /// Writes an event that keeps failing: the first occurrence at once, then one line every `seconds` with the number of
    /// occurrences since the last line (`repeated`). Occurrences with the same event and the same `key` are counted together.
    @inline(__always)
    public func repeating(
        _ level: Level, _ event: StaticString, by key: @autoclosure () -> String = "",
        occurrences: Int = 1, every seconds: Int = Limits.Log.repeatedEventSeconds,
        _ fields: @autoclosure () -> LogFields = [:]
    ) {
        if isOn(level) { sink.repeating(level, event, key(), occurrences, seconds, fields()) }
    }

    /// Writes the lines of repeated events that are due; call it regularly, since otherwise only a new occurrence writes them.
    public func flushRepeated() { sink.flushRepeated() }

    /// Writes a line that is never suppressed, however many there are: what an operator did.
    public func record(_ level: Level, _ event: StaticString, _ fields: @autoclosure () -> LogFields = [:]) {
        if isOn(level) { sink.record(level, event, fields()) }
    }

    /// Details for debugging.
    @inline(__always)
    public func debug(_ event: StaticString, _ fields: @autoclosure () -> LogFields = [:]) {
        write(.debug, event, fields())
    }

    /// Normal operation. Nothing is logged at this level yet; it exists because `log_level` accepts it.
    @inline(__always)
    public func info(_ event: StaticString, _ fields: @autoclosure () -> LogFields = [:]) {
        write(.info, event, fields())
    }

    /// Rare and significant: start, reload, drain.
    @inline(__always)
    public func notice(_ event: StaticString, _ fields: @autoclosure () -> LogFields = [:]) {
        write(.notice, event, fields())
    }

    /// An operator should look at it.
    @inline(__always)
    public func warning(_ event: StaticString, _ fields: @autoclosure () -> LogFields = [:]) {
        write(.warning, event, fields())
    }

    /// An operator must act.
    @inline(__always)
    public func error(_ event: StaticString, _ fields: @autoclosure () -> LogFields = [:]) {
        write(.error, event, fields())
    }
}
