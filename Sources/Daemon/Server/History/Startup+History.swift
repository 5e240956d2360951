import Basics
import Transport

extension Startup {
    /// Starts the threads of the message history. Without a port it is switched off, and its files are removed.
    func startHistory(
        _ port: HistoryPort?, _ clock: ClockStatus, _ mailboxes: [ReactorMailbox]
    ) throws(StartupFailure) {
        guard let port else { return HistoryFiles.removeAll(in: configuration.historyPath) }
        // Transferred to the new thread: this one does not use it again.
        nonisolated(unsafe) let writer = HistoryWriter(
            port: port, folder: configuration.historyPath, clock: clock, metrics: metrics[.history], log: log)
        try start("ccsd-history") { unsafe writer.run() }
        try start("ccsd-hist-read") {
            port.answerQuestions {
                for latch in mailboxes.ask({ $0.postHistory() }) {
                    // A busy reactor posts by itself by then.
                    _ = latch.wait(milliseconds: Limits.History.gatherMilliseconds)
                }
            }
        }
    }
}
