import Basics
import Operator
import Store

/// The state that `ccsctl health` judges.
struct HealthState {
    typealias Text = (problem: String, action: String)

    /// The kind of the store's failure; `nil` if it accepts writes.
    var storeFailure: String?
    /// What `text(of:)` returns about damaged tables. `nil` if there is none.
    var storeDamage: String?
    var state = ServiceWord.serving
    var clockProblem: String?
    var registryBytes = 0
    /// 0 if there is no limit.
    var registryLimit = 0
    var diskFree = 0
    /// 0 if it could not be read.
    var diskSize = 0
    var openDescriptors = 0
    /// 0 if it could not be read.
    var mostDescriptors = 0
    /// The open connections of the fullest reactor.
    var connections = 0
    /// The connections of a reactor that the descriptors allow; 0 if it was not asked.
    var connectionLimit = 0
    /// Seconds since a connection was refused for lack of a descriptor; `nil` if none was.
    var secondsSinceRefusal: Int?
    var certificateNotAfter = UnixMilliseconds.max
    /// `nil` if there is no certificate for APNs.
    var apnsNotAfter: UnixMilliseconds?
    /// The alarms of the cluster, most urgent first; none without a cluster.
    var clusterAlarms: [ShowCluster.Answer.Alarm] = []
    /// Why the cluster was not asked.
    var clusterFailure: OperatorProblem?
    /// What was wrong with the last reload, or with the files of the certificate since; `nil` if nothing was.
    var reloadFailure: String?
    /// The credentials for APNs in each of their environments; `nil` if the gateway does not answer.
    var apns: [APNsStateRow]? = []
    /// Endpoints of webhooks that fail, and that have answered 410.
    var webhooksPaused = 0
    var webhooksGone = 0
    /// The folder of the store.
    var folder = ""

    /// Returns what is wrong, most urgent first.
    func findings(now: UnixMilliseconds) -> [CheckHealth.Finding] {
        CheckHealth.Cause.allCases.flatMap { cause in
            texts(of: cause, now).map {
                CheckHealth.Finding(cause: cause, problem: $0.problem, action: $0.action)
            }
        }
    }

    private func texts(of cause: CheckHealth.Cause, _ now: UnixMilliseconds) -> [Text] {
        switch cause {
        case .clusterAlarm: clusterFailure.map { [($0.text, $0.hint)] } ?? clusterTexts(isDegraded: false)
        case .clusterDegraded: clusterTexts(isDegraded: true)
        case .gatewayFailing: gatewayTexts
        default: text(of: cause, now).map { [$0] } ?? []
        }
    }

    private func text(of cause: CheckHealth.Cause, _ now: UnixMilliseconds) -> Text? {
        switch cause {
        case .storeFailing:
            storeFailure.map {
                (
                    "the store does not accept writes (\($0)): messages are refused",
                    "look for store_failed in the log; free space on the file system of \(folder), or check the disk"
                )
            }
        case .storeDamaged:
            storeDamage.map {
                (
                    $0,
                    "restore a backup: A damaged store in docs/operations.md; ccsd check --store names all tables"
                )
            }
        case .notServing: stateText
        case .registryFull: registryText
        case .diskLow:
            percent(diskFree, of: diskSize).flatMap { free in
                free >= Limits.Metrics.leastFreePercent
                    ? nil
                    : (
                        "\(diskFree) of \(diskSize) bytes are free on the file system of \(folder)",
                        "free space: at 0 messages are refused"
                    )
            }
        case .descriptorsLow:
            descriptorsProblem.map {
                (
                    $0,
                    "raise LimitNOFILE in the unit and restart, or find the clients with ccsctl sessions list"
                )
            }
        case .certificateExpiring:
            expiry("the certificate", certificateNotAfter, now).map {
                ($0, "renew it, then run ccsctl reload; ccsctl status shows when it expires")
            }
        case .apnsCertificateExpiring:
            apnsNotAfter.flatMap { expiry("a certificate for APNs", $0, now) }.map {
                ($0, "create a new one at Apple and add it with ccsctl apns add; ccsctl apns list shows it")
            }
        case .clockInDoubt:
            clockProblem.map {
                ($0, "set the clock; if it is correct, run ccsctl clock accept")
            }
        case .logDisconnected:
            clusterAlarms.first { $0.cause == .logDisconnected }.map { ($0.problem, $0.action) }
        // Of these there may be several.
        case .clusterAlarm, .clusterDegraded, .gatewayFailing: nil
        case .reloadFailed:
            reloadFailure.map {
                (
                    $0,
                    "run ccsctl check, which names each mistake with its line; mend it, then run ccsctl reload"
                )
            }
        }
    }

    /// What is wrong with the descriptors. Of those of the process, most of the connections' share may be in use before most of all
    /// are, since some are reserved for the store.
    private var descriptorsProblem: String? {
        let most = Limits.Metrics.mostDescriptorsPercent
        let open =
            "\(connections) of \(connectionLimit) connections that the descriptors allow on a thread are open"
        if let secondsSinceRefusal, secondsSinceRefusal < Limits.Metrics.refusalSeconds {
            return "connections are refused for lack of file descriptors: \(open)"
        }
        if let used = percent(connections, of: connectionLimit), used > most { return open }
        if let used = percent(openDescriptors, of: mostDescriptors), used > most {
            return "\(openDescriptors) of \(mostDescriptors) descriptors are open"
        }
        return nil
    }

    private var stateText: (problem: String, action: String)? {
        switch state {
        case .serving: nil
        case .drained:
            (
                "ccsd is drained: no client can connect",
                "run ccsctl drain --release, or restart ccsd; a drain that you ordered is not an error"
            )
        case .draining, .stopping:
            (
                "ccsd is \(state.rawValue): app servers are asked to reconnect",
                "wait until it has stopped, and start it; a drain that you ordered is not an error"
            )
        }
    }

    /// Returns the first damaged table and how many others there are. Returns `nil` if there is none.
    static func text(of damage: [StoreDamage]) -> String? {
        damage.first.map {
            "the store is damaged: \($0)" + (damage.count > 1 ? " (and \(damage.count - 1) more tables)" : "")
        }
    }

    /// The first alarm of each cause but the lost connection, and how many others of that cause there are.
    private func clusterTexts(isDegraded: Bool) -> [Text] {
        ClusterAlarmCause.allCases.filter { $0 != .logDisconnected && $0.isDegradation == isDegraded }
            .compactMap { cause in
                let alarms = clusterAlarms.filter { $0.cause == cause }
                guard let first = alarms.first else { return nil }
                let others = alarms.count > 1 ? " (and \(alarms.count - 1) more: ccsctl cluster status)" : ""
                return (first.problem + others, first.action)
            }
    }

    private var registryText: (problem: String, action: String)? {
        guard let used = percent(registryBytes, of: registryLimit), used > Limits.Metrics.mostRegistryPercent
        else { return nil }
        let state = registryBytes >= registryLimit ? "full: no device is added" : "nearly full"
        return (
            "the registry is \(state) (\(registryBytes) of \(registryLimit) bytes)",
            "raise registry_bytes and run ccsctl reload, or remove devices"
        )
    }

    private func percent(_ part: Int, of whole: Int) -> Int? { whole > 0 ? part * 100 / whole : nil }

    private func expiry(_ what: String, _ end: UnixMilliseconds, _ now: UnixMilliseconds) -> String? {
        guard end <= now + Int64(Limits.Metrics.certificateDays) * 86_400_000 else { return nil }
        return end <= now
            ? "\(what) has expired on \(Timestamp.text(end))" : "\(what) expires on \(Timestamp.text(end))"
    }
}
