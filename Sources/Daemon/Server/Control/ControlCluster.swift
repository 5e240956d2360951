import Basics
import Cluster
import Operator
import Transport

/// The commands for the cluster.
extension ControlServer {
    func showCluster() throws(OperatorProblem) -> ShowCluster.Answer {
        try askCluster { host in host.status(host.reactor.now) }
    }

    /// The cluster in the status of the daemon, by the figures of the last second.
    func clusterPart() -> ShowStatus.Answer.Cluster? {
        guard let member = daemon.core.cluster?.member else { return nil }
        let metrics = daemon.metrics
        let alarms = ClusterAlarmCause.allCases.indices.reduce(0) { $0 + metrics.value(.clusterAlarms, $1) }
        return .init(
            cluster: member.cluster.text, node: member.node, name: member.name,
            owned: metrics.value(.clusterPartitions, PartitionRole.owning.position),
            partitions: member.partitions, isConnected: metrics.value(.clusterLogDisconnected) == 0,
            alarms: alarms)
    }

    /// The alarms of the cluster.
    func clusterAlarms() throws(OperatorProblem) -> [ShowCluster.Answer.Alarm] {
        try askCluster { host in host.alarms(host.reactor.now) }
    }

    func handOver(_ command: HandOverPartition) throws(OperatorProblem) -> HandOverPartition.Answer {
        let (partition, target) = (command.partition, command.target)
        let cluster = try requireCluster()
        let outcome = Latch<(NodeNumber, ClusterHost.HandoverOutcome)>()
        cluster.mailbox.post { host in
            let source = host.node
            host.handOver(partition, to: target) { outcome.fulfil((source, $0)) }
        }
        guard let (source, came) = outcome.wait() else {
            throw OperatorProblem(
                "the handover of partition \(partition) did not end within \(Limits.Operator.answerSeconds) s",
                hint: "ccsctl cluster status shows who owns it")
        }
        switch came {
        case .took(let owner, let milliseconds):
            return HandOverPartition.Answer(
                partition: partition, source: source, owner: owner, milliseconds: milliseconds)
        case .resumed:
            throw OperatorProblem(
                "the successor did not take partition \(partition): node \(source.number) goes on owning it",
                hint: "look for cluster_ events in the log of the successor; then try again")
        case .unknownPartition(let partitions):
            throw OperatorProblem(
                "unknown partition \(partition): the cluster has \(partitions), from 0 to \(partitions - 1)",
                hint: "ccsctl cluster status lists them")
        case .refused(let refusal): throw refusal.problem(partition, target, source)
        }
    }

    func removeNode(_ command: RemoveNode) throws(OperatorProblem) -> RemoveNode.Answer {
        let (node, number) = (command.node, command.node.number)
        let outcome = try awaitCluster { $0.remove(node, outcome: $1) }
        switch outcome {
        case .removed(let name): return RemoveNode.Answer(node: node, name: name)
        case .unstored: throw unstoredRoster("removed", number)
        case .unknown:
            throw OperatorProblem(
                "unknown node \(number)", hint: "ccsctl cluster status lists all nodes")
        case .alive(let name):
            throw OperatorProblem(
                "node \(number) (\(name)) is alive: it sends heartbeats",
                hint: "stop its ccsd, wait some seconds, and repeat the command")
        case .ownNode:
            throw OperatorProblem(
                "node \(number) is this node",
                hint: "run the command on another node, once this ccsd is stopped"
            )
        case .already:
            throw OperatorProblem(
                "node \(number) is removed", hint: "ccsctl cluster admit \(number) takes it back")
        }
    }

    func admitNode(_ command: AdmitNode) throws(OperatorProblem) -> AdmitNode.Answer {
        let number = command.node
        switch try awaitCluster({ $0.admit(number, outcome: $1) }) {
        case .admitted(let name): return AdmitNode.Answer(node: number, name: name)
        case .unstored: throw unstoredRoster("admitted", number.number)
        case .ownNode:
            throw OperatorProblem(
                "node \(number.number) is this node", hint: "run the command on a node that was not removed")
        case .notRemoved:
            throw OperatorProblem(
                "node \(number.number) is not removed", hint: "ccsctl cluster status lists all nodes")
        }
    }

    private func unstoredRoster(_ what: String, _ number: UInt16) -> OperatorProblem {
        OperatorProblem(
            "node \(number) is \(what), but that could not be stored on this node yet; it is tried again",
            hint: "see store_failed in the log of ccsd; after a restart of this node, repeat the command")
    }

    /// Runs a query on the thread of the cluster.
    func askCluster<Answer: Sendable>(
        _ question: @escaping @Sendable (ClusterHost) -> Answer
    ) throws(OperatorProblem) -> Answer {
        try awaitCluster { host, answer in answer(question(host)) }
    }

    /// Asks the thread of the cluster for something that it answers later.
    private func awaitCluster<Answer: Sendable>(
        _ question: @escaping @Sendable (ClusterHost, @escaping @Sendable (Answer) -> Void) -> Void
    ) throws(OperatorProblem) -> Answer {
        let latch = Latch<Answer>()
        try requireCluster().mailbox.post { host in question(host) { latch.fulfil($0) } }
        guard let answer = latch.wait() else {
            throw OperatorProblem(
                "the thread of the cluster did not answer within \(Limits.Operator.answerSeconds) s",
                hint: "see the log of ccsd")
        }
        return answer
    }

    private func requireCluster() throws(OperatorProblem) -> ClusterPort {
        guard let cluster = daemon.core.cluster else {
            throw OperatorProblem(
                "this ccsd is no node of a cluster: cluster_directory is not set",
                hint: "run the command on a node, or found a cluster with ccsctl cluster found")
        }
        return cluster
    }
}

extension HandoverRefusal {
    /// Why a handover to `target` was refused on a node, and what to do.
    func problem(_ partition: Int, _ target: NodeNumber?, _ node: NodeNumber) -> OperatorProblem {
        let status = "ccsctl cluster status"
        return switch self {
        case .notOwner(let owner):
            OperatorProblem(
                owner.map { "node \($0.number) owns partition \(partition), not this node (\(node.number))" }
                    ?? "this node (\(node.number)) does not own partition \(partition), whose owner is unknown",
                hint: owner == nil
                    ? "\(status) shows its owner once there is one: run the command there"
                    : "run the command on that node: \(status) shows its address")
        case .underway(let successor):
            OperatorProblem(
                "partition \(partition) is being handed over to node \(successor.number)",
                hint: "wait two seconds; then \(status) shows who owns it")
        case .unfit(let other) where other == node:
            OperatorProblem(
                "node \(node.number) owns partition \(partition) already",
                hint: "name another node with --to, or none for the one with the fewest partitions")
        case .unfit(let other):
            OperatorProblem(
                "node \(other.number) cannot take partition \(partition): it is unknown, silent, draining, or does not follow the partition",
                hint: "\(status) shows its state: start its ccsd, or name another node")
        case .behind(let other, let records):
            OperatorProblem(
                "node \(other.number) is \(records) records behind in partition \(partition): expected at most \(Limits.Cluster.successorLag)",
                hint: "wait until it has caught up (\(status) on that node shows it), or name another node")
        case .noTarget:
            OperatorProblem(
                "no node can take partition \(partition): every other one is silent, draining or behind",
                hint: "\(status) shows why: start another node, or wait until it has caught up")
        }
    }
}
