import Synchronization

/// What all copies of a log share: the level, the lock and the memory of what repeats.
final class LogSink: Sendable {
    private let threshold: Atomic<UInt8>
    private let format: Log.Format
    private let journal: Bool
    private let clock: @Sendable () -> Now
    private let output: @Sendable ([UInt8]) -> Void
    private let state = Mutex(State())

    init(
        level: Log.Level, format: Log.Format, journal: Bool, clock: @escaping @Sendable () -> Now,
        write: @escaping @Sendable ([UInt8]) -> Void
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
            var line = LogLine(format: format, level: level, journal: journal, time: now.wall, event: event)
            for (key, value) in fields { line.add(key, value) }
            if held > 0 { line.add("suppressed", .number(Int64(held))) }
            output(line.finished())
        }
    }

    /// How often each event was written within its present second.
    private struct State {
        struct Window {
            var began: Instant
            var lines = 0
            var held = 0
        }

        var windows: [String: Window] = [:]
        var suppressed = 0

        /// How many lines of an event were held back before this one; nil: hold this one back too.
        mutating func admit(_ event: String, at now: Instant) -> Int? {
            var window = windows[event] ?? Window(began: now)
            if now >= window.began.advanced(seconds: 1) {
                window.began = now
                window.lines = 0
            }
            window.lines += 1
            defer { windows[event] = window }
            guard window.lines <= Limits.logLinesPerEventAndSecond else {
                window.held += 1
                suppressed += 1
                return nil
            }
            if windows.count >= Limits.logEventsRemembered { windows.removeAll() }
            let held = window.held
            window.held = 0
            return held
        }
    }
}
