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
    /// What is wrong with the group of all servers by its last answers.
    var group = LogGroupWatch()

    /// The alarm, if it does not sync.
    var alarm: ShowCluster.Answer.Alarm? {
        guard let report, !report.syncsAlways else { return nil }
        return .init(
            cause: .logUnsynced, problem: "at \(monitor.address), \(report.unsynced)",
            action: "set it in the configuration of the server (jetstream), and restart the server")
    }
}

/// Watches the group of all servers of the log as one of them reports it. What is found once may be the restart of a server or an
/// election.
struct LogGroupWatch {
    private var last: LogServerGroup?
    /// In how many looks in a row each server was silent, and the group without a leader.
    private var silent: [String: Int] = [:]
    private var leaderless = 0

    mutating func look(_ group: LogServerGroup?) {
        last = group
        let found = group?.silent ?? []
        silent = found.reduce(into: [:]) { $0[$1] = (silent[$1] ?? 0) + 1 }
        leaderless = group != nil && group?.leader == nil ? leaderless + 1 : 0
    }

    /// The alarm by the reports of all servers; servers that an alarm of the streams names are left out.
    static func alarm(_ watches: [Self], besides named: Set<String>) -> ShowCluster.Answer.Alarm? {
        let looks = Limits.JetStream.silentLooks
        let size = watches.compactMap { $0.last?.size }.max() ?? 0
        let group = "the group of all servers of NATS counts \(size)"
        if watches.contains(where: { $0.leaderless >= looks }), !watches.contains(where: \.hasLeader) {
            return .init(
                cause: .logDegraded,
                problem: "\(group) and has no leader: streams work, and none can get another server",
                action:
                    "start servers until more than half of those run; then remove those that will not return (docs/cluster.md, replace a nats-server)"
            )
        }
        let silent = watches.reduce(into: Set<String>()) { names, watch in
            names.formUnion(watch.silent.filter { $0.value >= looks }.keys)
        }.subtracting(named).sorted()
        guard !silent.isEmpty else { return nil }
        let commands = silent.map { "nats server cluster peer-remove \($0)" }
        return .init(
            cause: .logDegraded,
            problem:
                "\(group), and \(silent.joined(separator: ", ")) sends nothing: the next failure may leave it without a majority",
            action:
                "start it again; if it will not return, as a user of the system account: \(commands.joined(separator: "; ")) (docs/cluster.md, replace a nats-server)"
        )
    }

    private var hasLeader: Bool { last?.leader != nil }
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
            logServers[at].group.look(report.group)
        case .failure(let problem):
            logServers[at].group.look(nil)
            let address = logServers[at].monitor.address.description
            log.repeating(
                .warning, "cluster_monitor_failed", by: address,
                ["server": .text(address), "problem": .text("\(problem)")])
        }
    }
}
