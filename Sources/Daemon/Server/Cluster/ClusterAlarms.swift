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

    /// The alarm for a partition that has halted for this reason.
    func alarm(of partition: Int) -> ShowCluster.Answer.Alarm {
        let problem = "partition \(partition) has halted on this node: \(words)"
        switch self {
        case .unreadable(.newer, _):
            return .init(
                cause: .halted, problem: problem,
                action: "install the version of the other nodes, and restart")
        case .unreadable(.damaged, _):
            return .init(
                cause: .halted, problem: problem,
                action:
                    "restore a backup of a running node; if it halts at the same record, keep the log and report it"
            )
        case .unreadable(.rival, _):
            return .init(
                cause: .recordsLost, problem: problem,
                action:
                    "note what each node has applied (ccsctl cluster status); see docs/cluster.md, a log that has lost records"
            )
        case .inconsistent:
            return .init(
                cause: .halted, problem: problem,
                action: "keep the log and report it; then restore a backup of a running node")
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
        for hosted in replicas { found += alarms(of: hosted) }
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
            guard span < Limits.ClusterHost.stalledMilliseconds else {
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
        )
    }

    /// Whether the log of a partition has not answered for so long that its leader is not only being replaced.
    func isStalled(_ hosted: HostedReplica, _ now: Now) -> Bool {
        guard let since = hosted.replica.stalledSince else { return false }
        return now.monotonic.milliseconds(since: since) >= Limits.ClusterHost.stalledMilliseconds
    }

    /// The alarm of a node that needs records which the log does not have.
    private func absence(of hosted: HostedReplica) -> ShowCluster.Answer.Alarm? {
        let partition = hosted.partition
        if let first = hosted.replica.begins, let absence = hosted.replica.absence {
            return switch absence {
            case .lost:
                .init(
                    cause: .recordsLost,
                    problem:
                        "the log of partition \(partition) has lost records before position \(first.number), and this node has not those that count",
                    action: "\(copy.words); find out why NATS has lost them")
            case .purged:
                .init(
                    cause: .outdated,
                    problem:
                        "this node needs records of partition \(partition) that were purged: its log begins at position \(first.number)",
                    action: copy.words)
            }
        }
        guard hosted.replica.isMissingRecords else { return nil }
        return .init(
            cause: .recordsLost,
            problem:
                "NATS has lost records of partition \(partition) that were confirmed and that this node has not read",
            action:
                "nothing: a node that has them appends them again, or this one copies its store after \(Limits.ClusterLog.missingMilliseconds / 1_000) s; find out why NATS has lost them"
        )
    }

    private func alarms(of hosted: HostedReplica) -> [ShowCluster.Answer.Alarm] {
        let partition = hosted.partition
        var found: [ShowCluster.Answer.Alarm] = []
        if let reason = hosted.replica.haltReason { found.append(reason.alarm(of: partition)) }
        if let last = hosted.loss.lostAfter {
            found.append(
                .init(
                    cause: .recordsLost,
                    problem:
                        "the stream \(settings.names.stream(partition)) ends at position \(last.number), but this node has applied more: it has lost records",
                    action:
                        "nothing: the owner appends them again, which cluster_log_repaired reports; find out why NATS has lost them"
                ))
        }
        if let alarm = absence(of: hosted) { found.append(alarm) }
        let behind = recordsBehind(hosted)
        if behind > Limits.ClusterHost.recordsBehind {
            found.append(
                .init(
                    cause: .behind,
                    problem: "this node is \(behind) records behind the log of partition \(partition)",
                    action: "wait if it has just started; else look for a slow disk with ccsctl top"))
        }
        return found
    }
}
