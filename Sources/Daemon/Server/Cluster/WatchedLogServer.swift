import Basics
import ClusterSetup
import NATSClient
import Operator
import Transport

/// A server of the log that is asked at its monitoring port whether it syncs each record.
struct WatchedLogServer {
    let monitor: LogMonitor
    /// The last report; a server that cannot be asked for a while is taken as it was.
    var report: LogServerReport?

    /// The alarm, if it does not sync.
    var alarm: ShowCluster.Answer.Alarm? {
        guard let report, !report.syncsAlways else { return nil }
        return .init(
            cause: .logUnsynced, problem: "at \(monitor.address), \(report.unsynced)",
            action: "set it in the configuration of the server (jetstream), and restart the server")
    }
}

extension ClusterHost {
    /// Whether all watched servers sync. `nil` if there are none, or one has not answered yet.
    var logSyncs: Bool? {
        let reports = logServers.compactMap(\.report)
        if reports.contains(where: { !$0.syncsAlways }) { return false }
        return reports.isEmpty || reports.count < logServers.count ? nil : true
    }

    /// Asks all watched servers, now and once a minute.
    func askLogServers() {
        for at in logServers.indices {
            logServers[at].monitor.ask { [unowned self] in answered($0, at) }
        }
        reactor.schedule(
            at: reactor.now.monotonic.advanced(milliseconds: Limits.ClusterHost.monitorMilliseconds)
        ) { [unowned self] _ in askLogServers() }
    }

    private func answered(_ result: Result<LogServerReport, LogMonitorProblem>, _ at: Int) {
        switch result {
        case .success(let report):
            if logServers[at].report != report { figuresDue = .distantPast }
            logServers[at].report = report
        case .failure(let problem):
            let address = logServers[at].monitor.address.description
            log.repeating(
                .warning, "cluster_monitor_failed", by: address,
                ["server": .text(address), "problem": .text("\(problem)")])
        }
    }
}
