import Glibc
import Synchronization

/// The log: one line for each event, to standard error, from any thread.
///
/// It is a value to be handed around; copies share one sink. Fields are built only when the level is on, and an
/// event that repeats too fast is held back and counted, so that a storm outside never becomes a storm here.
public struct Log: Sendable {
    /// How much an event matters, least first.
    public enum Level: UInt8, CaseIterable, Sendable {
        case debug
        case info
        case notice
        case warning
        case error

        /// The word in lines and in `log_level`.
        public var word: String { "\(self)" }

        /// The level of a word; nil if there is none.
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

    /// The shape of lines; the raw value is the word in `log_format`.
    public enum Format: String, CaseIterable, Sendable {
        case text
        case json
    }

    private let sink: LogSink

    /// A log that hands finished lines (newline included) to `write`, one at a time.
    public init(
        level: Level, format: Format = .text, journal: Bool = false,
        clock: @escaping @Sendable () -> Now = { Now.read() }, write: @escaping @Sendable ([UInt8]) -> Void
    ) {
        sink = LogSink(level: level, format: format, journal: journal, clock: clock, write: write)
    }

    /// The log of a program: standard error, in journald's manner where systemd says that it listens.
    public static func standardError(level: Level, format: Format) -> Log {
        let journal = unsafe getenv("JOURNAL_STREAM") != nil
        return Log(level: level, format: format, journal: journal) {
            DescriptorOutput.write($0, to: STDERR_FILENO)
        }
    }

    /// The least level that is written; may change while the program runs.
    public var level: Level {
        get { sink.level }
        nonmutating set { sink.level = newValue }
    }

    /// Lines held back so far because their event repeated too fast.
    public var suppressed: Int { sink.suppressed }

    /// Whether lines of a level are written.
    @inline(__always)
    public func isOn(_ level: Level) -> Bool { level.rawValue >= sink.level.rawValue }

    /// Writes a line; `fields` is evaluated only if the level is on.
    @inline(__always)
    public func write(_ level: Level, _ event: StaticString, _ fields: @autoclosure () -> LogFields = [:]) {
        if isOn(level) { sink.write(level, event, fields()) }
    }

    /// Writes an event that goes on failing: once at once, then every `seconds` with the number of occurrences since the last
    /// line (`repeated`). Occurrences with the same event and the same `key` are one.
    @inline(__always)
    public func repeating(
        _ level: Level, _ event: StaticString, by key: @autoclosure () -> String = "",
        occurrences: Int = 1, every seconds: Int = Limits.Log.repeatedEventSeconds,
        _ fields: @autoclosure () -> LogFields = [:]
    ) {
        if isOn(level) { sink.repeating(level, event, key(), occurrences, seconds, fields()) }
    }

    /// Writes the lines of repeated events that are due although nothing has happened anew; call it now and then.
    public func flushRepeated() { sink.flushRepeated() }

    /// Writes a line that must not be left out, however many there are: what an operator did.
    public func record(_ level: Level, _ event: StaticString, _ fields: @autoclosure () -> LogFields = [:]) {
        if isOn(level) { sink.record(level, event, fields()) }
    }

    /// For the search for a fault.
    @inline(__always)
    public func debug(_ event: StaticString, _ fields: @autoclosure () -> LogFields = [:]) {
        write(.debug, event, fields())
    }

    /// The ordinary course. Nothing is logged at this level yet; it is one of those that `log_level` names.
    @inline(__always)
    public func info(_ event: StaticString, _ fields: @autoclosure () -> LogFields = [:]) {
        write(.info, event, fields())
    }

    /// Rare and worth knowing: start, reload, drain.
    @inline(__always)
    public func notice(_ event: StaticString, _ fields: @autoclosure () -> LogFields = [:]) {
        write(.notice, event, fields())
    }

    /// Something an operator should look at.
    @inline(__always)
    public func warning(_ event: StaticString, _ fields: @autoclosure () -> LogFields = [:]) {
        write(.warning, event, fields())
    }

    /// Something that needs an operator.
    @inline(__always)
    public func error(_ event: StaticString, _ fields: @autoclosure () -> LogFields = [:]) {
        write(.error, event, fields())
    }
}
