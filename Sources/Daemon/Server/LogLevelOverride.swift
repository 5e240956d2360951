import Basics
import Synchronization

/// A level of the log that an operator has set instead of the configured one.
final class LogLevelOverride: Sendable {
    /// The level, and when the configured one returns.
    struct Setting: Sendable, Equatable {
        var level: Log.Level
        /// The end by the machine's clock, for operators; `nil` if only a reload ends it.
        var until: UnixMilliseconds?
        fileprivate var end: Instant?
    }

    private let log: Log
    private let setting = Mutex<Setting?>(nil)

    init(log: Log) { self.log = log }

    /// The level that an operator has set; `nil` if the configured one is in use.
    var current: Setting? { setting.withLock { $0 } }

    /// Sets a level for a number of seconds, or until the next reload.
    func set(_ level: Log.Level, seconds: Int?, now: Now) {
        setting.withLock { setting in
            setting = Setting(
                level: level, until: seconds.map { now.wall + Int64($0) * 1_000 },
                end: seconds.map { now.monotonic.advanced(seconds: $0) })
            change(to: level, because: "command")
        }
    }

    /// Returns to the configured level.
    func end(configured: Log.Level) {
        setting.withLock { setting in
            let wasSet = setting != nil
            setting = nil
            if wasSet { change(to: configured, because: "reload") } else { log.level = configured }
        }
    }

    /// Returns to the configured level if the time is over.
    func endIfDue(configured: Log.Level, now: Instant) {
        setting.withLock { current in
            guard let end = current?.end, end <= now else { return }
            current = nil
            change(to: configured, because: "time_over")
        }
    }

    /// Changes the level, and logs that while the more detailed of both levels is in use.
    private func change(to level: Log.Level, because reason: String) {
        let isMoreDetailed = level.rawValue < log.level.rawValue
        if isMoreDetailed { log.level = level }
        log.notice("log_level_changed", ["log_level": .text(level.word), "reason": .text(reason)])
        log.level = level
    }
}
