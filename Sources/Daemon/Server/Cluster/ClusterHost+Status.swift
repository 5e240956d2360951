import Basics
import Cluster
import ClusterLog
import ClusterSetup
import NATSClient
import NodeLinks
import Operator

/// What `ccsctl cluster status` shows.
extension ClusterHost {
    /// The cluster as this node sees it.
    func status(_ now: Now) -> ShowCluster.Answer {
        ShowCluster.Answer(
            cluster: settings.file.cluster.text, node: node, name: settings.membership.name,
            frameVersion: membership.frameVersion.map { Int($0) }, isDraining: membership.isDraining,
            log: logStatus(now), members: members(now), partitions: replicas.map { status(of: $0) },
            alarms: alarms(now))
    }

    private func logStatus(_ now: Now) -> ShowCluster.Answer.Log {
        let server = logs.isConnected ? logs.server : nil
        return .init(
            server: server?.name, version: server?.version,
            disconnectedSeconds: disconnectedSeconds(now).map { Int($0) },
            replicas: settings.file.log.replicas, syncs: logSyncs,
            problems: replicas.flatMap { hosted in
                hosted.streamProblems.map {
                    .init(
                        stream: settings.names.stream(hosted.partition), partition: hosted.partition,
                        problem: $0.description)
                }
            })
    }

    /// How long there has been no connection to the log. `nil` if there is one.
    func disconnectedSeconds(_ now: Now) -> Int64? {
        disconnectedSince.map { max(0, now.monotonic.milliseconds(since: $0)) / 1_000 }
    }

    // MARK: Members

    private func members(_ now: Now) -> [ShowCluster.Answer.Member] {
        let numbers = (unseenNodes + membership.members + [node]).sorted()
        let links = Dictionary(
            (self.links?.status ?? []).map { ($0.node, $0) }, uniquingKeysWith: { first, _ in first })
        return numbers.map { number in
            number == node ? ownStatus : status(of: number, links[number], now)
        }
    }

    private var ownStatus: ShowCluster.Answer.Member {
        let own = settings.membership
        return .init(
            node: node, name: own.name, status: .this, address: own.linkAddress, software: own.software,
            frameVersion: Int(own.frameVersions.upperBound), isDraining: membership.isDraining,
            owned: replicas.count { $0.replica.report.role.isOwner })
    }

    private func status(
        of number: NodeNumber, _ link: LinkStatus?, _ now: Now
    ) -> ShowCluster.Answer.Member {
        guard let member = membership.member(number) else {
            let listed = settings.file.nodes.first { $0.number == number }
            return .init(
                node: number, name: listed?.name ?? "", status: .unseen, address: listed?.address ?? "",
                isLinked: link != nil, roundTripMicroseconds: link?.roundTripMicroseconds.map { Int($0) })
        }
        let heartbeat = member.heartbeat
        let silence = max(0, now.monotonic.milliseconds(since: member.heard))
        let then = now.wall.subtractingReportingOverflow(silence).partialValue
        return .init(
            node: number, name: heartbeat.name, status: member.status.word, address: heartbeat.linkAddress,
            software: heartbeat.software, frameVersion: Int(heartbeat.frameVersions.upperBound),
            isDraining: heartbeat.isDraining,
            owned: heartbeat.partitions.count { $0.role.isOwner && member.status == .alive },
            isLinked: link != nil, roundTripMicroseconds: link?.roundTripMicroseconds.map { Int($0) },
            clockMilliseconds: Int(heartbeat.wall.subtractingReportingOverflow(then).partialValue),
            silentMilliseconds: Int(silence))
    }

    // MARK: Partitions

    private func status(of hosted: HostedReplica) -> ShowCluster.Answer.Partition {
        let report = hosted.replica.report
        return .init(
            partition: hosted.partition, owner: router.owner(of: hosted.partition),
            epoch: Int(clamping: report.epoch.number), role: report.role.word,
            applied: Int(clamping: report.applied.number), durable: Int(clamping: report.durable.number),
            behind: recordsBehind(hosted), unconfirmed: hosted.replica.unconfirmed,
            voids: hosted.replica.voidRecords)
    }

    /// Records of the log that the store does not have yet.
    func recordsBehind(_ hosted: HostedReplica) -> Int {
        let unread = logs.recordsBehind(hosted.partition) ?? 0
        let (sum, isOver) = unread.addingReportingOverflow(hosted.replica.lag)
        return Int(clamping: isOver ? .max : sum)
    }
}

extension NodeStatus {
    /// The status as a word.
    var word: MemberStatus {
        switch self {
        case .alive: .alive
        case .suspected: .suspected
        case .gone: .gone
        }
    }
}

extension PartitionReport.Role {
    /// The role as a word.
    var word: PartitionRole {
        switch self {
        case .absent: .absent
        case .following: .following
        case .claiming: .claiming
        case .owning: .owning
        case .releasing: .releasing
        case .halted: .halted
        }
    }
}
