import Basics
import Transport

extension Startup {
    /// Starts the thread of the message history. Returns `nil` if it is switched off; its files are then removed.
    func startHistory() throws(StartupFailure) -> HistoryPort? {
        guard let settings = configuration.history else {
            HistoryFiles.removeAll(in: configuration.historyPath)
            return nil
        }
        let port = HistoryPort(settings)
        // Transferred to the new thread: this one does not use it again.
        nonisolated(unsafe) let writer = HistoryWriter(
            port: port, folder: configuration.historyPath, metrics: metrics[.history], log: log)
        try start("ccsd-history") { unsafe writer.run() }
        return port
    }
}
