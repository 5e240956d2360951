import ClusterLog

@testable import Cluster

extension ReplicaWorld {
    /// Each node keeps the last valid records that it has read or confirmed, to repair the log with them: all nodes keep the same, from
    /// where the last of them has begun.
    func compareKept() {
        let kept = nodes.map { node in
            node.replica.kept.records.map(\.position).filter { !forgets(node, $0) }
        }
        guard kept.allSatisfy({ !$0.isEmpty }), let first = kept.compactMap(\.first).max() else { return }
        compared += 1
        let common = kept.map { positions in positions.filter { $0 >= first } }
        for (node, positions) in zip(nodes, common).dropFirst() where positions != common[0] {
            let missing = Set(common[0]).symmetricDifference(positions).map(\.number).sorted()
            fail("kept: nodes 0 and \(node.number) differ at \(missing.prefix(5)) of \(positions.count)")
        }
    }
}
