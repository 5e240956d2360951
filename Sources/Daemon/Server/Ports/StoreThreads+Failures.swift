import Basics
import Catalogue
import Glibc
import Store

/// What the log and the metrics have of a store that fails.
extension StoreThreads {
    /// Ends the process, since the store does not have what the log has confirmed: the next one continues from the log.
    static func endProcess(_ error: StoreError, _ log: Log) {
        log.error(
            "store_behind_log",
            ["problem": .text(error.description), "hint": .text("this node starts again and reads its log")])
        log.flushRepeated()
        _exit(ExitCode.inputOutput.rawValue)
    }

    /// Counts and logs a failed read.
    static func record(failedRead error: StoreError, _ metrics: MetricShard, _ log: Log) {
        metrics.add(1, to: .storeFailures)
        log.repeating(
            .error, "store_read_failed", by: error.kind.rawValue,
            ["kind": .text(error.kind.rawValue), "problem": .text(error.description)])
    }
}
