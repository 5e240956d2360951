import Synchronization

/// The state that all copies of a log share: the level, the lock and the counts of repeated events.
final class LogSink: Sendable {
    private let threshold: Atomic<UInt8>
    private let format: Log.Format
    private let journal: Bool
    private let clock: @Sendable () -> Now
    /// Writes a line. Returns `false` if it is lost.
    private let output: @Sendable ([UInt8]) -> Bool
    private let state = Mutex(State())

    init(
        level: Log.Level, format: Log.Format, journal: Bool, clock: @escaping @Sendable () -> Now,
        write: @escaping @Sendable ([UInt8]) -> Bool
    ) {
        threshold = Atomic(level.rawValue)
        self.format = format
        self.journal = journal
        self.clock = clock
        output = write
    }

    var level: Log.Level {
        get { Log.Level(rawValue: threshold.load(ordering: .relaxed)) ?? .error }
        set { threshold.store(newValue.rawValue, ordering: .relaxed) }
    }

    var suppressed: Int { state.withLock { $0.suppressed } }

    func write(_ level: Log.Level, _ event: StaticString, _ fields: LogFields) {
        let now = clock()
        state.withLock { state in
            guard let held = state.admit("\(event)", at: now.monotonic) else { return }
            emit(line(level, event, fields, at: now.wall, ("suppressed", held)), &state, now)
        }
    }

    func repeating(
        _ level: Log.Level, _ event: StaticString, _ key: String, _ occurrences: Int, _ seconds: Int,
        _ fields: LogFields
    ) {
        let now = clock()
        state.withLock { state in
            let context = RepeatedLine(level: level, event: event, fields: fields)
            let key = "\(event) \(key)"
            switch state.repeated.add(key, context, occurrences: occurrences, every: seconds, now: now) {
            case .report: emit(line(level, event, fields, at: now.wall, ("repeated", 0)), &state, now)
            case .reportRepeated(let count):
                emit(line(level, event, fields, at: now.wall, ("repeated", count)), &state, now)
            case .suppress: state.suppressed += occurrences
            }
        }
    }

    func flushRepeated() {
        let now = clock()
        state.withLock { state in
            for due in state.repeated.removeDue(now: now.monotonic) {
                let context = due.context
                emit(
                    line(
                        context.level, context.event, context.fields, at: now.wall, ("repeated", due.count),
                        lastAt: due.lastAt), &state, now)
            }
        }
    }

    func record(_ level: Log.Level, _ event: StaticString, _ fields: LogFields) {
        let now = clock()
        state.withLock { emit(line(level, event, fields, at: now.wall, ("suppressed", 0)), &$0, now) }
    }

    /// Writes a line, after one about those that were lost before it.
    private func emit(_ bytes: [UInt8], _ state: inout State, _ now: Now) {
        if state.lost > 0,
            output(line(.warning, "log_lines_lost", [:], at: now.wall, ("lines", state.lost)))
        {
            state.lost = 0
        }
        guard state.lost > 0 || !output(bytes) else { return }
        state.lost += 1
        state.suppressed += 1
    }

    /// Returns a finished line; a count of 0 is omitted.
    private func line(
        _ level: Log.Level, _ event: StaticString, _ fields: LogFields, at time: UnixMilliseconds,
        _ count: (name: StaticString, value: Int), lastAt: UnixMilliseconds? = nil
    ) -> [UInt8] {
        var line = LogLine(format: format, level: level, journal: journal, time: time, event: event)
        for (key, value) in fields { line.add(key, value) }
        if count.value > 0 { line.add(count.name, .number(Int64(count.value))) }
        if let lastAt { line.add("last_at", .text(Timestamp.text(lastAt))) }
        return line.finished()
    }

    /// A line of a repeated event, to be written again with its count.
    private struct RepeatedLine: Sendable {
        var level: Log.Level
        var event: StaticString
        var fields: LogFields
    }

    /// How often each event was written within its current second.
    private struct State {
        struct Window {
            var began: Instant
            var lines = 0
            var held = 0
        }

        var windows: [String: Window] = [:]
        var repeated = RepeatedEvents<RepeatedLine>()
        var suppressed = 0
        /// Lines that could not be written since the last one that was.
        var lost = 0

        /// Returns how many lines of an event were suppressed before this one, or `nil` to suppress this one too.
        mutating func admit(_ event: String, at now: Instant) -> Int? {
            var window = windows[event] ?? Window(began: now)
            if now >= window.began.advanced(seconds: 1) {
                window.began = now
                window.lines = 0
            }
            window.lines += 1
            defer { windows[event] = window }
            guard window.lines <= Limits.Log.linesPerEventAndSecond else {
                window.held += 1
                suppressed += 1
                return nil
            }
            if windows.count >= Limits.Log.eventsRemembered { windows.removeAll() }
            let held = window.held
            window.held = 0
            return held
        }
    }
}
