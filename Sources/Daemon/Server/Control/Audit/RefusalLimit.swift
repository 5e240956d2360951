import Basics

/// Limits how many refusals of one caller are recorded in a minute, and counts the others.
///
/// Without a limit, a program that repeats a refused command would rotate all other entries of the audit log away.
struct RefusalLimit {
    /// Refusals of one caller in a minute that were not recorded.
    struct LeftOut: Equatable {
        var caller: ControlCaller
        /// All of them.
        var count: Int
        /// Those that the audit log would have kept.
        var kept: Int
    }

    private struct Minute {
        var end: Instant
        var recorded = 0
        var leftOut: LeftOut
    }

    /// The current minute of each caller; those of others end with `takeDue`.
    private var minutes: [String: Minute] = [:]

    /// Counts a refusal. Returns whether it is to be recorded.
    mutating func admit(_ caller: ControlCaller, isKept: Bool, now: Instant) -> Bool {
        let key = caller.limitKey
        var minute =
            minutes[key]
            ?? Minute(
                end: now.advanced(seconds: Limits.OperatorAPI.refusalSeconds),
                leftOut: LeftOut(caller: caller, count: 0, kept: 0))
        defer { minutes[key] = minute }
        guard minute.recorded >= Limits.OperatorAPI.recordedRefusals else {
            minute.recorded += 1
            return true
        }
        minute.leftOut.caller = caller
        minute.leftOut.count += 1
        if isKept { minute.leftOut.kept += 1 }
        return false
    }

    /// Ends the minutes that are over, or all of them. Returns what was left out in them.
    mutating func takeDue(now: Instant, all: Bool = false) -> [LeftOut] {
        var due: [(key: String, leftOut: LeftOut)] = []
        for (key, minute) in minutes where all || minute.end <= now {
            minutes[key] = nil
            if minute.leftOut.count > 0 { due.append((key, minute.leftOut)) }
        }
        return due.sorted { $0.key < $1.key }.map(\.leftOut)
    }
}

extension ControlCaller {
    /// What the callers with one limit have in common: the user or the operator, whatever the process or the address.
    fileprivate var limitKey: String {
        switch self {
        case .local: "local"
        case .process(let user, _): "user \(user)"
        case .operator(let name, _): "operator \(name)"
        }
    }
}
