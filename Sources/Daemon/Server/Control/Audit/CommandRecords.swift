import Basics
import Synchronization

/// Records what operators do: each command in the log, and those that matter later in the audit log.
final class CommandRecords: Sendable {
    private let log: Log
    private let auditLog: AuditLog
    private let refusals = Mutex(RefusalLimit())

    init(log: Log, auditLog: AuditLog) {
        self.log = log
        self.auditLog = auditLog
    }

    /// Writes the audit line of a command to the log and, if it is of a kind that is kept, to the audit log. Of the refusals of one
    /// caller, those beyond the limit of a minute are only counted.
    func record(_ record: OperatorRecord, _ caller: ControlCaller, now: Now = .read()) {
        if record.isRefused {
            // The limit of a caller begins again only when the previous minute is reported.
            reportLeftOut(now: now)
            guard
                refusals.withLock({ $0.admit(caller, isKept: record.isKept, now: now.monotonic) })
            else { return }
        }
        write(record, caller, now)
    }

    /// Writes how many refusals were left out in the minutes that are over, or up to now at the end of the process.
    func reportLeftOut(now: Now = .read(), isEnd: Bool = false) {
        for leftOut in refusals.withLock({ $0.takeDue(now: now.monotonic, all: isEnd) }) {
            write(OperatorRecord(leftOut: leftOut), leftOut.caller, now)
        }
    }

    private func write(_ record: OperatorRecord, _ caller: ControlCaller, _ now: Now) {
        record.write(caller, log)
        if record.isKept { auditLog.append(record, caller, now: now.wall) }
    }
}
