import Basics
import Cluster
import ClusterSetup
import NodeLinks
import Operator

/// What is looked at once a second: gauges, and how long links are missing.
extension ClusterHost {
    /// Updates the figures, if they are due.
    func updateFigures(_ now: Now) {
        guard now.monotonic >= figuresDue else { return }
        figuresDue = now.monotonic.advanced(milliseconds: Limits.ClusterHost.figuresMilliseconds)
        noteLinks(now)
        reportStreamProblems()
        for hosted in replicas where hosted.loss.isSuspected { look(atStreamOf: hosted.partition) }
        contact.note(trouble: trouble(now))
        let alarms = alarms(now)
        tally.set(.clusterAlarms, to: Self.counts(alarms.map(\.cause)))
        var members = membership.members.compactMap { membership.member($0)?.status.word } + [.this]
        members += unseenNodes.map { _ in .unseen }
        tally.set(.clusterMembers, to: Self.counts(members))
        tally.set(.clusterPartitions, to: Self.counts(replicas.map { $0.replica.report.role.word }))
        tally.set(.clusterUnowned, to: replicas.count { router.owner(of: $0.partition) == nil })
        tally.set(.clusterBehind, to: replicas.reduce(0) { $0 &+ recordsBehind($1) })
        tally.set(.clusterVoids, to: replicas.reduce(0) { $0 &+ $1.replica.voidRecords })
        tally.set(.clusterLogDisconnected, to: disconnectedSince == nil ? 0 : 1)
        tally.set(.clusterLinks, to: links?.status.count ?? 0)
        tally.set(.clusterHeld, to: router.heldCount)
    }

    /// Why clients should use another node.
    private func trouble(_ now: Now) -> String? {
        if membership.roster.isRemoved(node) { return "this node was removed from the cluster" }
        let served = replicas.filter { router.standing(of: $0.partition) != .away }
        if !served.isEmpty, served.allSatisfy({ isStalled($0, now) }) {
            return "the log of the cluster confirms nothing"
        }
        let alive = membership.members.filter { membership.member($0)?.status == .alive }
        // Of two, neither is the better one.
        guard alive.count > 1, alive.allSatisfy({ isUnlinked($0, now) }) else { return nil }
        return "there is no link to any other node"
    }

    private static func counts<Word: Hashable>(_ words: [Word]) -> [Word: Int] {
        words.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }

    /// The nodes of the file that have sent nothing since this one started.
    var unseenNodes: [NodeNumber] {
        settings.file.nodes.map(\.number).filter {
            $0 != node && !membership.roster.isRemoved($0) && membership.member($0) == nil
        }
    }

    private func noteLinks(_ now: Now) {
        let unlinked = membership.members.filter {
            membership.member($0)?.status == .alive && !router.isLinked($0)
        }
        unlinkedSince = Dictionary(
            unlinked.map { ($0, unlinkedSince[$0] ?? now.monotonic) }, uniquingKeysWith: { first, _ in first }
        )
        membership.note(unlinked: Set(unlinked.filter { isUnlinked($0, now) }))
    }

    /// Whether a living node has had no link for longer than a new one takes.
    func isUnlinked(_ node: NodeNumber, _ now: Now) -> Bool {
        guard let since = unlinkedSince[node] else { return false }
        return now.monotonic.milliseconds(since: since) >= Limits.ClusterHost.unlinkedMilliseconds
    }
}
