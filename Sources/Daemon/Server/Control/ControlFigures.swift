import Basics
import Catalogue
import Delivery
import Operator
import Store

/// The commands that monitor the daemon.
extension ControlServer {
    func checkHealth() -> CheckHealth.Answer {
        let metrics = daemon.metrics
        let registry = daemon.storage.threads.registry
        var state = HealthState(
            storeFailure: daemon.storage.threads.lastFailure?.kind.rawValue,
            storeDamage: HealthState.text(of: daemon.storage.threads.damage),
            state: daemon.drainer.state.word, clockProblem: daemon.clock.problem,
            registryBytes: registry.bytes, registryLimit: registry.limit,
            diskFree: metrics.value(.diskFreeBytes), diskSize: metrics.value(.diskSizeBytes),
            openDescriptors: metrics.value(.processOpenDescriptors),
            mostDescriptors: metrics.value(.processMaxDescriptors),
            certificateNotAfter: daemon.certificates.notAfter,
            apnsNotAfter: daemon.gateways.credentials.firstExpiry, reloadFailure: daemon.reloadFailure,
            apns: daemon.gateways.apns.states().map { $0.map { APNsStateRow($0) } },
            webhooksPaused: metrics.value(.webhookEndpoints, 1),
            webhooksGone: metrics.value(.webhookEndpoints, 2),
            folder: daemon.configuration.dataDirectory)
        addConnections(to: &state)
        if daemon.core.cluster != nil {
            do throws(OperatorProblem) {
                state.clusterAlarms = try clusterAlarms()
            } catch { state.clusterFailure = error }
        }
        let findings = state.findings(now: daemon.clock.judgedMachine(.read()).wall)
        return CheckHealth.Answer(
            isHealthy: findings.isEmpty, state: state.state.rawValue, findings: findings)
    }

    /// Asks the reactors how many connections they have and could have.
    private func addConnections(to state: inout HealthState) {
        let now = Now.read().monotonic
        for room in daemon.core.mailboxes.ask({ $0.room }).compactMap({ $0.wait() }) {
            if room.open * max(1, state.connectionLimit) >= state.connections * room.limit {
                (state.connections, state.connectionLimit) = (room.open, room.limit)
            }
            guard let refusal = room.lastRefusal else { continue }
            let seconds = Int(now.milliseconds(since: refusal) / 1_000)
            state.secondsSinceRefusal = min(seconds, state.secondsSinceRefusal ?? seconds)
        }
    }

    func showFigures() -> ShowFigures.Answer {
        let now = Now.read()
        daemon.refreshGauges(now: now)
        let metrics = daemon.metrics
        let refusals = Metric.refusalReasons.enumerated().map { position, reason in
            WordCount(
                reason,
                RefusalInterface.allCases.indices.reduce(0) { $0 + metrics.value(.refusals, $1, position) })
        }
        return ShowFigures.Answer(
            version: Program.version, state: daemon.drainer.state.word.rawValue,
            uptimeMilliseconds: Int(now.monotonic.milliseconds(since: daemon.startedAt.monotonic)),
            downstream: milestones(direction: 0), upstream: milestones(direction: 1),
            waiting: words(.messagesWaiting), connections: words(.connectionsOpen),
            sessions: words(.sessionsOpen), refusals: refusals.filter { $0.count > 0 },
            latencies: [
                latency("ack_downstream", .ackTimes, 0), latency("ack_upstream", .ackTimes, 1),
                latency("delivery", .deliveryTimes), latency("store_sync", .storeSyncTimes),
                latency("reactor_turn", .reactorTurnTimes),
            ],
            senders: daemon.senderFigures.rows(now: now.monotonic).map { row in
                .init(
                    sender: row.sender, downstream: words(row.counts, isUpstream: false),
                    upstream: words(row.counts, isUpstream: true))
            },
            process: [
                WordCount("cpu_microseconds", metrics.value(.processCPU)),
                WordCount("resident_bytes", metrics.value(.processResidentMemory)),
                WordCount("open_descriptors", metrics.value(.processOpenDescriptors)),
                WordCount("disk_free_bytes", metrics.value(.diskFreeBytes)),
                WordCount("store_bytes", metrics.value(.storeBytes)),
            ], testClock: testClockRow)
    }

    func milestones(direction: Int) -> [WordCount] {
        Milestone.allCases.enumerated().map { position, milestone in
            WordCount(milestone.rawValue, daemon.metrics.value(.messages, direction, position))
        }
    }

    /// Returns the cells of a metric with one label.
    private func words(_ metric: Metric) -> [WordCount] {
        (metric.labels.first?.values ?? []).enumerated().map { position, word in
            // A gauge is the sum of the shards, which are not read at one instant.
            WordCount(word, max(0, daemon.metrics.value(metric, position)))
        }
    }

    private func words(_ counts: SenderCounts, isUpstream: Bool) -> [WordCount] {
        SenderCount.allCases.filter { $0.meaning.isUpstream == isUpstream }.map {
            WordCount($0.meaning.milestone.rawValue, counts[$0])
        }
    }

    private func latency(_ name: String, _ metric: Metric, _ first: Int = 0) -> ShowFigures.Latency {
        let bounds = metric.bounds
        let words = bounds.map { "\($0)" } + ["more"]
        let buckets = words.enumerated().map { WordCount($1, daemon.metrics.value(metric, first, $0)) }
        return ShowFigures.Latency(
            name: name, count: buckets.reduce(0) { $0 + $1.count },
            microseconds: daemon.metrics.value(metric, first, bounds.count + 1), buckets: buckets)
    }
}
