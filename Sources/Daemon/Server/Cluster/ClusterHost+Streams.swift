import Basics
import Cluster
import ClusterLog
import ClusterSetup
import NATSClient
import Transport

/// The streams as such: their configuration, and what can be removed from them.
extension ClusterHost {
    /// Asks for the state and configuration of a partition's stream, now and once a minute.
    func examine(_ partition: Int) {
        look(atStreamOf: partition)
        reactor.schedule(
            at: reactor.now.monotonic.advanced(milliseconds: Limits.ClusterHost.examineMilliseconds)
        ) { [unowned self] _ in examine(partition) }
    }

    /// Asks for the configuration and the state of a stream, once.
    func look(atStreamOf partition: Int) {
        replicas[partition].loss.look(applied: replicas[partition].replica.report.applied)
        logs.examineStream(partition, settings.stream)
    }

    /// A stream as it is.
    func examined(_ partition: Int, _ info: StreamInfo, _ problems: [StreamProblem]) {
        let hosted = replicas[partition]
        hosted.streamProblems = problems + hosted.replicaWatch.look(info)
        handle(.examined(StreamState(hosted.streamProblems)), of: hosted, reactor.now)
        if let age = info.majorityAge {
            let now = reactor.now.monotonic
            health.heard(majorityAt: now.advanced(milliseconds: -age), now: now)
        }
        checkEnd(of: hosted, info)
        handle(.removed(first: info.first), of: hosted, reactor.now)
        purge(hosted, info)
    }

    /// A stream does not exist.
    func missing(_ partition: Int) {
        replicas[partition].streamProblems = [.missing]
        handle(.examined(.unseen), of: replicas[partition], reactor.now)
    }

    /// What is wrong with the streams, and with which of them.
    var streamProblems: [StreamProblem: [Int]] {
        replicas.reduce(into: [:]) { found, hosted in
            for problem in hosted.streamProblems { found[problem, default: []].append(hosted.partition) }
        }
    }

    /// Writes a line for each problem of streams that is new, or concerns others than before: one for all of them.
    func reportStreamProblems() {
        let problems = streamProblems
        for (problem, partitions) in problems where reportedProblems[problem] != partitions {
            log.repeating(
                problem.isPassing ? .warning : .error, "cluster_stream_unfit",
                by: "\(partitions) \(problem)",
                [
                    "partitions": .text(PartitionList.text(partitions)), "problem": .text("\(problem)"),
                ])
        }
        reportedProblems = problems
    }

    /// Compares the end of a stream with what this node had applied.
    private func checkEnd(of hosted: HostedReplica, _ info: StreamInfo) {
        guard hosted.loss.answered(last: info.last, majorityAge: info.majorityAge) else { return }
        reportLost(hosted)
        handle(.lost(after: info.last), of: hosted, reactor.now)
    }

    /// A log has lost records that this node has.
    func reportLost(_ hosted: HostedReplica) {
        log.repeating(
            .error, "cluster_records_lost", by: "\(hosted.partition)",
            [
                "stream": .text(settings.names.stream(hosted.partition)),
                "partition": LogValue(hosted.partition),
                "last": LogValue(Int(clamping: hosted.loss.shortAfter?.number ?? 0)),
                "applied": LogValue(Int(clamping: hosted.replica.report.applied.number)),
            ])
    }

    // MARK: Whether the log works

    /// Leaves a server of the log behind which nothing is confirmed, and asks streams for a proof that the log works.
    func proveLog(_ now: Now) {
        switch health.tick(dueSince: dueSince, isConnected: logs.isConnected, now: now.monotonic) {
        case .none: break
        case .leave: logs.leave()
        case .ask:
            let asked =
                dueSince == nil && health.unprovedSince == nil
                ? Limits.ClusterHost.idleStreams : Limits.ClusterHost.askedStreams
            for _ in 0..<min(asked, replicas.count) {
                look(atStreamOf: askedNext)
                askedNext = (askedNext + 1) % replicas.count
            }
        }
        contact.note(unprovedSince: health.unprovedSince)
    }

    /// Reports that a node can apply nothing more before it has copied a store.
    func report(_ absence: Replica.Absence, before begins: LogPosition, of hosted: HostedReplica) {
        figuresDue = .distantPast
        news.add(
            absence == .purged ? .outdated : .recordsMissing, of: hosted.partition,
            LogValue(Int(clamping: begins.number)), reactor.now.monotonic)
    }

    /// Has the owner remove the records that no node needs any more.
    private func purge(_ hosted: HostedReplica, _ info: StreamInfo) {
        let purge = membership.purge(
            of: hosted.partition, first: info.first, bytes: info.bytes,
            listed: settings.file.nodes.map(\.number))
        switch purge {
        case .nothing: break
        case .upTo(let last): logs.purge(upTo: last, of: hosted.partition)
        case .leavingBehind(let last):
            log.repeating(
                .warning, "cluster_log_purged", by: "\(hosted.partition)",
                [
                    "partition": LogValue(hosted.partition),
                    "position": LogValue(Int(clamping: last.next.number)),
                    "hint": .text("a node that is away will copy the store of another one"),
                ])
            logs.purge(upTo: last, of: hosted.partition)
        }
    }
}

extension StreamProblem {
    /// Whether it goes by itself, when servers of the log are back.
    var isPassing: Bool {
        switch self {
        // One that is not found may only be one that servers have not loaded after a restart.
        case .replicasSilent, .replicasBehind, .replicasFew, .missing: true
        default: false
        }
    }
}

extension StreamState {
    /// The state of a stream that has these problems.
    init(_ problems: [StreamProblem]) { self = problems.allSatisfy(\.isPassing) ? .fit : .unfit }
}
