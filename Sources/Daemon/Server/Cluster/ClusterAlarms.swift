import Basics
import Cluster
import ClusterLog
import NATSClient
import Operator

extension ClusterAlarm {
    /// The alarm in words: what is wrong, and what to do.
    var report: ShowCluster.Answer.Alarm {
        switch self {
        case .duplicateNode(let node):
            .init(
                cause: .duplicateNode, problem: "two processes run as node \(node.number)",
                action: "stop one of them, or give it the folder of another node")
        case .foreignCluster(let cluster):
            .init(
                cause: .foreignCluster,
                problem: "a node of the cluster \(cluster.text) uses the same account and prefix of NATS",
                action: "give each cluster an account or a log prefix of its own")
        case .clock(let node):
            .init(
                cause: .clock,
                problem:
                    "the clocks of node \(node.number) and this node differ by more than \(Limits.Cluster.clockMilliseconds) ms",
                action: "set the wrong one, for example by NTP")
        case .noFrameVersion:
            .init(
                cause: .noFrameVersion, problem: "no version of frames can be read by all nodes",
                action:
                    "upgrade the node with the oldest software; ccsctl cluster remove removes a node that is gone"
            )
        case .partitions(let node):
            .init(
                cause: .partitionCount,
                problem: "node \(node.number) was set up for another number of partitions",
                action: "give it the folder that ccsctl cluster found made for it")
        case .removedNode(let node):
            .init(
                cause: .removedNode,
                problem: "node \(node.number) was removed from the cluster, and its ccsd runs",
                action:
                    "stop it for good; if it is to belong to the cluster again, run ccsctl cluster admit \(node.number) on another node"
            )
        case .tooManyNodes:
            .init(
                cause: .tooManyNodes,
                problem: "there are more nodes than a cluster may have (\(Limits.Cluster.nodes))",
                action: "stop some of them, and remove them with ccsctl cluster remove")
        case .silentNode(let node):
            .init(
                cause: .nodeSilent,
                problem: "node \(node.number) is silent: others serve its partitions",
                action:
                    "start ccsd there, or repair the machine; if it will not return, run ccsctl cluster remove \(node.number)"
            )
        case .unowned(let partitions):
            .init(
                cause: .unowned,
                problem:
                    "\(PartitionList.named(partitions)) without an owner: messages are refused or wait",
                action: "check the servers of NATS (nats-server -m, its log), and that the nodes run")
        }
    }

    /// The alarm in one line, for the log.
    var words: String { "\(report.problem): \(report.action)" }
}

extension UnreadableRecord {
    /// What is wrong with the record.
    var words: String {
        switch self {
        case .damaged: "a node of this cluster has made it, and its content is impossible"
        case .newer(let version):
            "it is a frame of version \(version), and this node reads 1 to \(FrameHeader.newestVersion)"
        case .rival:
            "another node has owned the partition in the same epoch, so NATS has lost the first record of one of them"
        }
    }
}

extension LogHalt {
    /// The reason in words.
    var words: String {
        switch self {
        case .unreadable(let problem, let position):
            "the record at position \(position.number) cannot be read: \(problem.words)"
        case .inconsistent(let position):
            "the record at position \(position.number) contradicts what this node has written"
        }
    }
}

/// What the host of a cluster has to say besides the alarms of its membership.
extension ClusterHost {
    /// What is wrong, most urgent first.
    func alarms(_ now: Now) -> [ShowCluster.Answer.Alarm] {
        var found = membership.raisedAlarms.map(\.report)
        // One that has just started or lost its owner waits a moment; a node without any owner can do nothing.
        if membership.unownedAlarm == nil, replicas.allSatisfy({ router.owner(of: $0.partition) == nil }) {
            found.append(ClusterAlarm.unowned(Array(replicas.indices)).report)
        }
        if let seconds = disconnectedSeconds(now), seconds * 1_000 >= Limits.ClusterHost.readyMilliseconds {
            found.append(
                .init(
                    cause: .logDisconnected,
                    problem: "there has been no connection to NATS for \(seconds) s",
                    action:
                        "check that its servers run and can be reached from this machine: see cluster_log_unreachable in the log"
                ))
        }
        if let alarm = stall(now) { found.append(alarm) }
        found += logServers.compactMap(\.alarm)
        found += StreamAlarms.of(streamProblems, names: settings.names)
        let silent = streamProblems.keys.reduce(into: Set<String>()) { $0.formUnion($1.silentServers) }
        if let alarm = LogGroupWatch.alarm(logServers.map(\.group), besides: silent) { found.append(alarm) }
        found += PartitionAlarms.of(findings, copy: copy.words, names: settings.names)
        for node in membership.members where isUnlinked(node, now) {
            found.append(
                .init(
                    cause: .unlinked,
                    problem: "node \(node.number) sends heartbeats, but there is no link to it",
                    action:
                        "let the machines reach each other at the addresses of ccsctl cluster status; see cluster_link_failed in the log"
                ))
        }
        let order = ClusterAlarmCause.allCases
        return order.flatMap { cause in found.filter { $0.cause == cause } }
    }

    /// The alarm of logs that do not answer. While servers are changed for that reason, it stays.
    private func stall(_ now: Now) -> ShowCluster.Answer.Alarm? {
        if let since = health.unprovedSince,
            (disconnectedSeconds(now) ?? 0) * 1_000 < Limits.ClusterHost.readyMilliseconds
        {
            let span = now.monotonic.milliseconds(since: since)
            // As `ClusterContact.problem`, by which the node is not ready.
            guard span < Limits.ClusterHost.readyMilliseconds else {
                return .init(
                    cause: .logStalled,
                    problem:
                        "no server of NATS has confirmed anything for \(span / 1_000) s: nothing is acknowledged here",
                    action:
                        "check that more than half of the servers run and reach each other at their routes (cluster.routes), and that their disks have room"
                )
            }
        }
        let stalled = replicas.filter { isStalled($0, now) }
        guard let since = stalled.compactMap({ $0.replica.stalledSince }).min() else { return nil }
        let partitions = PartitionList.named(stalled.map(\.partition))
        return .init(
            cause: .logStalled,
            problem:
                "NATS has confirmed nothing for \(now.monotonic.milliseconds(since: since) / 1_000) s for \(partitions): nothing is acknowledged there",
            action:
                "check the servers of NATS: no stream is written without a majority of them, or when their disks or limits are full"
                + (stalled.count < replicas.count
                    ? "; if all run, it may have stopped for good: docs/cluster.md, a stream that has stopped"
                    : "")
        )
    }

    /// Whether the log of a partition has not answered for so long that its leader is not only being replaced.
    func isStalled(_ hosted: HostedReplica, _ now: Now) -> Bool {
        guard let since = hosted.replica.stalledSince else { return false }
        return now.monotonic.milliseconds(since: since) >= Limits.ClusterHost.stalledMilliseconds
    }
}
